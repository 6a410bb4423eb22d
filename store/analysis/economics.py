"""What a session cost in time, tokens and money, beside another one; and what a transfer costs.

Source: S4, "A research assistant that went parallel"; S2, "Token Economics and Latency".
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile
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
    """Of the model call that asked for it: without the transfer it could have done a step."""
    first_prompt_tokens: int
    """Input of the receiver's first call: what came along has to be read."""
    tokens_by_step: tuple[int, ...]
    """The tokens after each of the receiver's steps, those of asking included."""

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
    steps: dict[str | None, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    first: dict[str | None, int] = {}
    asked: list[tuple[str, HandoffRequested]] = []
    for event in events:
        match event.payload:
            case ModelReplied() as reply:
                steps[event.handoff_id][reply.step] += reply.input_tokens + reply.output_tokens
                first.setdefault(event.handoff_id, reply.input_tokens)
            case HandoffRequested(via=HandoffKind.TRANSFER) as request if event.handoff_id:
                asked.append((event.handoff_id, request))
    return tuple(
        TransferCost(
            handoff_id,
            request.source,
            request.target,
            asking := steps[request.continues][request.step],
            first[handoff_id],
            tuple(accumulate(steps[handoff_id].values(), initial=asking))[1:],
        )
        for handoff_id, request in asked
        if handoff_id in first
    )


def tokens_by_step(events: Iterable[Event], handoff_id: str) -> tuple[int, ...]:
    """Return what a handoff's own model calls had used after each of its steps."""
    steps: dict[int, int] = defaultdict(int)
    for event in events:
        if event.handoff_id == handoff_id and isinstance(event.payload, ModelReplied):
            reply = event.payload
            steps[reply.step] += reply.input_tokens + reply.output_tokens
    return tuple(accumulate(steps.values()))


def pays_off_at(lean: Sequence[int], other: Sequence[int]) -> int | None:
    """Return the step after which `lean` has used fewer tokens for good; None: there is none.

    Args:
        lean: Tokens after each step, what came before them included.
        other: The same of another way to do it; steps that only one of them has do not count.
    """
    pairs = list(zip(lean, other, strict=False))
    fewer = sum(1 for _ in takewhile(lambda pair: pair[0] < pair[1], reversed(pairs)))
    return len(pairs) - fewer + 1 if fewer else None


def _ratio(mine: float | None, its: float | None) -> float | None:
    return mine / its if mine is not None and its else None
