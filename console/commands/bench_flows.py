"""The sessions that `handoff bench` runs: small flows whose models answer at once."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    delegate,
    hand_over,
    say,
    together,
    use,
)

QUESTION = "Why was I charged twice last month?"
_TOKENS = 10_000_000
"""So that no pool ends a session before its work is done."""


class Invoices(BaseModel):
    """What a worker answers with."""

    invoices: list[int]
    total: int


def _list_invoices(customer_id: str) -> dict[str, Any]:
    return {"customer_id": customer_id, "invoices": [1_204, 1_377]}


_LIST = Tool(_list_invoices, name="list_invoices", description="List invoices.", inline=True)


def one_transfer() -> Flow:
    """Return a triage that hands over to billing, which answers."""
    return _triage("one_transfer", lambda _call: say("It was an upgrade."))


def with_a_tool() -> Flow:
    """Return the same, but billing looks the invoices up first."""

    def billing(call: ModelCall) -> ModelReply:
        return say("It was an upgrade.") if call.results else _look_up()

    return _triage("with_a_tool", billing, [_LIST])


def two_workers() -> Flow:
    """Return a supervisor that asks two workers at once, each of whom uses a tool."""

    def supervisor(call: ModelCall) -> ModelReply:
        if call.results:
            return say("Both found the same.")
        return together(delegate("worker", "Find 4812"), delegate("worker", "Find 4813"))

    def worker(call: ModelCall) -> ModelReply:
        return answer(invoices=[1_204, 1_377], total=2) if call.results else _look_up()

    limits = Limits(max_steps=6, max_tokens=5_000)
    return Flow(
        "two_workers",
        [
            Agent("supervisor", edges=[Edge.call("worker", "Invoices.", limits=limits)],
                  model=supervisor),
            Agent("worker", tools=[_LIST], output_schema="Invoices", model=worker),
        ],
        schemas={"Invoices": Invoices},
        pool_tokens=_TOKENS,
    )  # fmt: skip


def chain(handoffs: int) -> Flow:
    """Return two agents that hand a task to each other so often, and then answer."""
    left = handoffs

    def passing_to(target: str) -> Callable[[ModelCall], ModelReply]:
        def pass_on(_call: ModelCall) -> ModelReply:
            nonlocal left
            left -= 1
            if left < 0:
                left = handoffs
                return say("Done.")
            return hand_over(target, "it is the other's turn")

        return pass_on

    return Flow(
        "chain",
        [
            Agent("one", edges=[Edge.transfer("two", "The other.")], model=passing_to("two")),
            Agent("two", edges=[Edge.transfer("one", "The other.")], model=passing_to("one")),
        ],
        pool_tokens=_TOKENS,
        max_handoffs=handoffs,
        max_edge_repeats=handoffs,
    )


def _triage(name: str, billing: Callable[[ModelCall], ModelReply], tools: Any = ()) -> Flow:
    route = Edge.transfer("billing", "Invoices and refunds.")
    return Flow(
        name,
        [
            Agent("triage", edges=[route], model=lambda _call: hand_over("billing", "invoices")),
            Agent("billing", tools=tools, model=billing),
        ],
        pool_tokens=_TOKENS,
    )


def _look_up() -> ModelReply:
    return use("list_invoices", customer_id="4812")
