"""What a session cost in time, tokens and money, beside another one; and what a transfer costs.

Source: S4, "A research assistant that went parallel"; S2, "Token Economics and Latency".
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.events import (
    BudgetCharged,
    Event,
    HandoffOpened,
    HandoffRequested,
    ModelReplied,
)


class Totals(NamedTuple):
    """What one session took."""

    seconds: float
    """From its first event to its last."""
    tokens: int
    """Input plus output, as charged."""
    cost: float | None
    """In the currency of the flow's prices; None where a model has no price."""
    model_calls: int
    handoffs: int
    """Opened ones, the user's own requests left out."""


class Ratios(NamedTuple):
    """How many times as much one session took as another; None where nothing can be said."""

    seconds: float | None
    tokens: float | None
    cost: float | None


class TransferCost(NamedTuple):
    """What a transfer cost, and what its receiver's steps added up to."""

    handoff_id: str
    source: str
    target: str
    asking_tokens: int
    """Output of the reply that asked for it: the payload has to be written."""
    first_prompt_tokens: int
    """Input of the receiver's first call: what came along has to be read."""
    tokens_by_step: tuple[int, ...]
    """The receiver's tokens after each of its steps, those of asking included."""

    @property
    def overhead_tokens(self) -> int:
        """What it cost before the receiver had done anything."""
        return self.asking_tokens + self.first_prompt_tokens


def totals(events: Iterable[Event]) -> Totals:
    """Add up what a session took; no events took nothing."""
    first: float | None = None
    last = 0.0
    tokens = calls = handoffs = 0
    cost: float | None = 0.0
    for event in events:
        first = event.elapsed_seconds if first is None else first
        last = event.elapsed_seconds
        match event.payload:
            case BudgetCharged() as charge:
                tokens += charge.tokens
                cost = None if cost is None or charge.cost is None else cost + charge.cost
            case ModelReplied():
                calls += 1
            case HandoffOpened() as opened if event.parent_id is not None or opened.continues:
                handoffs += 1
    return Totals(round(last - (first or 0.0), 6), tokens, cost, calls, handoffs)


def ratios(session: Totals, other: Totals) -> Ratios:
    """Return how many times as much as `other` a session took."""
    return Ratios(
        _ratio(session.seconds, other.seconds),
        _ratio(session.tokens, other.tokens),
        _ratio(session.cost, other.cost),
    )


def transfer_costs(events: Iterable[Event]) -> tuple[TransferCost, ...]:
    """Return what each transfer cost whose receiver said something, in the order of their requests.

    A reply that asks for several at once is counted for each of them.
    """
    replied: dict[tuple[str | None, int], ModelReplied] = {}
    steps: dict[str | None, list[int]] = defaultdict(list)
    first: dict[str | None, int] = {}
    asked: list[tuple[str, HandoffRequested]] = []
    for event in events:
        match event.payload:
            case ModelReplied() as reply:
                replied[event.handoff_id, reply.step] = reply
                steps[event.handoff_id].append(reply.input_tokens + reply.output_tokens)
                first.setdefault(event.handoff_id, reply.input_tokens)
            case HandoffRequested(via=HandoffKind.TRANSFER) as request if event.handoff_id:
                asked.append((event.handoff_id, request))
    costs = []
    for handoff_id, request in asked:
        reply_of = replied.get((request.continues, request.step))
        if handoff_id in first:
            asking = reply_of.output_tokens if reply_of else 0
            spent = tuple(accumulate(steps[handoff_id], initial=asking))[1:]
            costs.append(
                TransferCost(
                    handoff_id, request.source, request.target, asking, first[handoff_id], spent
                )
            )
    return tuple(costs)


def pays_off_at(lean: TransferCost, other: TransferCost) -> int | None:
    """Return the first step of the receiver after which `lean` has cost less; None: it never has.

    Steps that only one of them has are not compared.
    """
    pairs = zip(lean.tokens_by_step, other.tokens_by_step, strict=False)
    return next((step for step, (mine, its) in enumerate(pairs, 1) if mine < its), None)


def _ratio(mine: float | None, its: float | None) -> float | None:
    return mine / its if mine is not None and its else None
