"""The flows of the sessions that 0.1.0 recorded. They stay as they are, and are run again.

Between them they come to every kind of handoff, of end and of wait that 0.1.0 had.
"""

from pydantic import BaseModel

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    Flow,
    Limits,
    Tool,
    ToolError,
    TransientModelError,
    answer,
    delegate,
    hand_over,
    say,
    timed,
    together,
    use,
)

SMALL = Limits(max_steps=4, max_tokens=2_000, deadline_seconds=20)


class Refund(BaseModel):
    """What billing answers with."""

    order_id: str
    euros: float


def find_order(order_id: str) -> dict[str, str]:
    """Find an order."""
    return {"order_id": order_id, "serial": "SN-77", "state": "delivered"}


def find_nothing(order_id: str) -> str:
    """Look where nothing is."""
    raise ToolError(f"there is no order {order_id}")


def note(text: str) -> str:
    """Write a note."""
    return f"noted: {text}"


def mail(to: str, text: str) -> str:
    """Write to a customer."""
    return f"sent to {to}"


FIND = Tool(find_order, inline=True, remembers=("serial",))
NOTHING = Tool(find_nothing, inline=True)
NOTE = Tool(note, inline=True, effect=Effect.WRITE)
MAIL = Tool(mail, inline=True, effect=Effect.EXTERNAL)


def transferring() -> Flow:
    """A transfer with facts, claims and session state; an answer that has to be repaired."""

    def triage(call):
        if not call.results:
            return together(use("find_order", order_id="A-1001"), text="Let me look.")
        return hand_over("billing", "charged twice", order_id="A-1001", refund="approved, today")

    def billing(call):
        if call.step == 1:
            return say("I refund 29 euros")
        return timed(answer("ok", order_id="A-1001", euros=29.0), 1.5)

    return Flow(
        "transferring",
        [
            Agent("triage", "Route.", tools=[FIND], edges=[Edge.transfer("billing", "Bills.")],
                  model=triage, output_schema="Refund"),
            Agent("billing", "Refund.", model=billing, output_schema="Refund"),
        ],
        schemas={"Refund": Refund},
    )  # fmt: skip


def calling() -> Flow:
    """Parallel calls: one nested, one that fails for a moment, one that finds nothing."""

    def boss(call):
        if not call.results:
            return together(
                delegate("finder", "Find the order", order_id="A-1"),
                delegate("moody", "Try it"),
                delegate("middle", "Ask further"),
            )
        return say(", ".join(result.value["status"] for result in call.results))

    def finder(call):
        return (
            answer("not_found", notes="none")
            if call.results
            else use("find_nothing", order_id="A-1")
        )

    def moody(call):
        if call.attempt == 1:
            raise TransientModelError("busy")
        return say("worked")

    def middle(call):
        if not call.results:
            return delegate("deep", "Look there")
        return say(call.results[0].value["data"]["text"])

    return Flow(
        "calling",
        [
            Agent("boss", "Lead.", model=boss, edges=[
                Edge.call("finder", "F.", limits=SMALL),
                Edge.call("moody", "M.", limits=SMALL),
                Edge.call("middle", "D."),
            ]),
            Agent("finder", "Find.", tools=[NOTHING], model=finder),
            Agent("moody", "Try.", model=moody),
            Agent("middle", "Pass on.", model=middle, edges=[
                Edge.call("deep", "D.", limits=SMALL)
            ]),
            Agent("deep", "Look.", model=lambda call: timed(say("deep down"), 2)),
        ],
        depth=2,
    )  # fmt: skip


def forking() -> Flow:
    """Two requests in one message, and who puts the answers together."""

    def triage(call):
        return together(hand_over("billing", "money"), hand_over("tech", "router", box="R-9"))

    return Flow(
        "forking",
        [
            Agent("triage", "Split.", model=triage, edges=[
                Edge.transfer("billing", "Money.", context="slice"),
                Edge.transfer("tech", "Boxes.", context="full_history"),
            ]),
            Agent("billing", "Pay.", model=lambda call: timed(say("It is paid."), 3)),
            Agent("tech", "Mend.", model=lambda call: timed(say("It is mended."), 1)),
            Agent("merger", "Merge.", model=lambda call: say("Paid, and mended.")),
        ],
        aggregator="merger",
    )  # fmt: skip


def acting() -> Flow:
    """A write, an act that a person has to approve, and a person who is asked."""

    def clerk(call):
        if not call.results:
            return use("note", text="card 4111 1111 1111 1111")
        if len(call.results) == 1:
            return use("mail", to="bob", text="Your refund is on its way.")
        return hand_over("human", "is that all?")

    return Flow(
        "acting",
        [Agent("clerk", "Act.", tools=[NOTE, MAIL], may_write=True, model=clerk,
               edges=[Edge.transfer("human", "A person.")])],
    )  # fmt: skip


def stopping() -> Flow:
    """A loop that is stopped, a tool that is denied, a worker at its step cap."""

    def one(call):
        refused = [result for result in call.results if "refused" in result.content]
        if refused:
            return say("It goes round in circles.")
        return hand_over("two", "yours")

    def two(call):
        if not call.results:
            return together(use("delete", name="all"), delegate("busy", "Look and look"))
        return hand_over("one", "yours")

    return Flow(
        "stopping",
        [
            Agent("one", "One.", model=one, edges=[Edge.transfer("two", "T.")]),
            Agent("two", "Two.", model=two, edges=[
                Edge.transfer("one", "O."), Edge.call("busy", "B.", limits=SMALL),
            ]),
            Agent("busy", "Busy.", tools=[FIND],
                  model=lambda call: use("find_order", order_id=f"A-{call.step}")),
        ],
    )  # fmt: skip


def talking() -> Flow:
    """Two turns; the second begins with who answered the first."""
    return Flow(
        "talking",
        [
            Agent("triage", "Route.", edges=[Edge.transfer("shop", "S.")],
                  model=lambda call: hand_over("shop", "buys")),
            Agent("shop", "Sell.", model=lambda call: say("Anything else?")),
        ],
    )  # fmt: skip


FLOWS = {
    make.__name__: make for make in (transferring, calling, forking, acting, stopping, talking)
}
