"""What every handoff has to pass, whatever the model says."""

import pytest
from support.sessions import play

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    Flow,
    FlowError,
    HandoffRequest,
    Tool,
    delegate,
    hand_over,
    say,
    use,
)
from handoff_console.runtime.guards import Refusal, asks_for_handoff
from handoff_console.runtime.ledger import MemoryLedger


def bank(*, ingress=(), trust: int = 2, ask=hand_over, edge=Edge.transfer) -> Flow:
    """Return a flow in which a little trusted desk hands over to a more trusted vault."""

    def desk(call):
        return say("refused") if call.results else ask("vault", "open it", amount=900)

    return Flow(
        "bank",
        [
            Agent("desk", edges=[edge("vault", "V.")], model=desk),
            Agent("vault", trust=trust, ingress=ingress, model=lambda call: say("opened")),
        ],
    )


def small_amounts(request: HandoffRequest) -> str | None:
    amount = request.inputs.get("amount", 0)
    return f"{amount} is more than 500" if amount > 500 else None


@pytest.mark.parametrize(("ask", "edge"), [(hand_over, Edge.transfer), (delegate, Edge.call)])
def test_more_trust_is_not_given_without_a_check(ask, edge):  # R72
    played = play(bank(ask=ask, edge=edge))

    refused = played.one("handoff_rejected")
    assert (refused.rule, refused.reason) == (
        "trust",
        "'desk' (trust 1) may not hand off to 'vault' (trust 2), which checks nothing that comes "
        "in.",
    )
    assert played.routes() == ["user → desk"]


def test_what_a_check_finds_wrong_stays_out():  # R72
    refused = play(bank(ingress=[small_amounts])).one("handoff_rejected")

    assert (refused.rule, refused.reason) == (
        "ingress",
        "'vault' did not take the request: 900 is more than 500.",
    )


def test_what_passes_the_checks_comes_in():  # R72
    assert play(bank(ingress=[lambda request: None])).result.answer == "opened"
    assert play(bank(trust=1)).result.answer == "opened"


def test_checks_hold_for_the_trusted_too():
    assert play(bank(trust=1, ingress=[small_amounts])).one("handoff_rejected").rule == "ingress"


@pytest.mark.parametrize(
    ("name", "is_handoff"),
    [
        ("transfer_to_billing", True),
        ("delegate_to_", True),
        ("transfer", False),
        ("handoff_to_billing", False),
        ("my_transfer_to_billing", False),
    ],
)
def test_a_handoff_is_asked_for_by_name(name, is_handoff):
    assert asks_for_handoff(name) is is_handoff


@pytest.mark.parametrize(("rule", "stops"), [("cycle", True), ("handoffs", True), ("pool", False)])
def test_asking_again_for_a_loop_ends_the_handoff(rule, stops):
    assert Refusal(rule, "no").stops is stops


def test_arguments_of_a_handoff_that_are_no_object_open_nothing():
    broken = {"tool_calls": [{"name": "transfer_to_vault", "arguments": "[1"}]}

    def desk(agent: str, messages: list):
        return "refused" if messages[-1]["role"] == "tool" else broken

    flow = bank(trust=1).changed(
        agents=[
            Agent("desk", edges=[Edge.transfer("vault", "V.")], model=desk),
            Agent("vault", model=lambda call: say("opened")),
        ]
    )

    assert play(flow).one("handoff_rejected").reason == (
        "'desk' asked 'vault' with arguments that are no JSON object."
    )


def test_a_payload_that_is_no_object_is_a_value_of_its_own():
    flow = Flow(
        "odd",
        [
            Agent(
                "a",
                edges=[Edge.transfer("b", "B.")],
                model=lambda call: {  # a rule may return a dict as well
                    "tool_calls": [
                        {
                            "name": "transfer_to_b",
                            "arguments": {"reason": 5, "payload": [1, 2], "extra": "x"},
                        }
                    ]
                },
            ),
            Agent("b", model=lambda call: say(str(dict(call.inputs)))),
        ],
    )

    played = play(flow)

    assert played.result.answer == "{'payload': [1, 2], 'extra': 'x'}"
    assert played.of("handoff_requested")[1].reason == "5"


def test_a_handoff_without_a_reason_says_so():
    call = {"name": "transfer_to_b", "arguments": {}}
    flow = Flow(
        "silent",
        [
            Agent("a", edges=[Edge.transfer("b", "B.")], model=lambda c: {"tool_calls": [call]}),
            Agent("b", model=lambda call: say("ok")),
        ],
    )

    assert play(flow).of("handoff_requested")[1].reason == "(no reason given)"


def test_nobody_is_called_like_the_person_behind_every_flow():
    with pytest.raises(FlowError, match=r"an agent is called 'human', which stands for a person"):
        Flow("f", [Agent("human")])


def test_limits_by_name_are_a_profile_of_the_flow():
    agents = [Agent("a", edges=[Edge.call("b", "B.", limits="quick")]), Agent("b")]

    with pytest.raises(FlowError) as refused:
        Flow("f", agents)

    assert str(refused.value) == (
        "Flow 'f' cannot run: the edge 'a' → 'b' wants the limits 'quick', which is no profile of "
        "it; there are: none."
    )


def test_an_act_that_was_begun_and_never_ended_is_not_repeated():
    written = []

    async def note(text: str) -> str:
        """Write a note."""
        written.append(text)
        return "noted"

    class Begun(MemoryLedger):
        def is_open(self, key: str, /) -> bool:
            return True

    flow = Flow(
        "acts",
        [
            Agent(
                "a",
                tools=[Tool(note, effect=Effect.WRITE)],
                may_write=True,
                model=lambda call: say("stopped") if call.results else use("note", text="hi"),
            )
        ],
    )

    played = play(flow, ledger=Begun())

    assert written == []
    denied = played.one("tool_denied")
    assert denied.rule == "outcome_unknown"
    assert "nobody knows whether it happened" in denied.reason
