"""What stood around a recorded handoff when it began, so that it can be run again alone.

A handoff depends on more than its request: on what the session had learned, on the transfers and
calls that had been made, on whose calls waited for it, and on how long they would wait.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.runtime.contract import RUNTIME, HandoffKind
from handoff_console.runtime.events import Event, HandoffOpened, Recording, StateSet
from handoff_console.runtime.guards import TurnCounters


@dataclass(frozen=True)
class Surroundings:
    """What stood around a handoff when it began."""

    state: Sequence[tuple[str, Any]]
    """What the session had learned, in order."""
    ancestors: tuple[str, ...]
    """Agents whose calls waited for it, outermost first."""
    transfers: Sequence[tuple[str, str]]
    """Of the same turn until then, its own included: who passed on to whom."""
    workers: int
    """Calls of the same turn until then, its own included."""
    earlier_workers: int
    """Calls of earlier turns."""
    bound_seconds: float
    """How long whoever waited for it would have waited; infinite where that is not known."""

    def restore(self, turn: TurnCounters) -> None:
        """Count again what had happened in the turn."""
        for source, target in self.transfers:
            turn.transferred(source, target)
        turn.transfers, turn.workers = len(self.transfers), self.workers


def surroundings(recording: Recording, opening: Event) -> Surroundings:
    """Return what stood around a handoff.

    Args:
        recording: The session.
        opening: The event that opened the handoff.
    """
    opened: dict[str, tuple[Event, HandoffOpened]] = {}
    state: list[tuple[str, Any]] = []
    for event in recording.events:
        if event.seq > opening.seq:
            break
        payload = event.payload
        if isinstance(payload, HandoffOpened):
            opened.setdefault(event.handoff_id or "", (event, payload))
        elif isinstance(payload, StateSet) and not payload.conflict:
            state += recording.body(payload.value).items()
    first_tries = [(event, one) for event, one in opened.values() if event.attempt == 1]
    here = [one for event, one in first_tries if event.turn == opening.turn]
    return Surroundings(
        state=state,
        ancestors=_ancestors(opened, opening.parent_id),
        transfers=[
            (one.source, one.target)
            for one in here
            if one.via is HandoffKind.TRANSFER and one.source != RUNTIME
        ],
        workers=sum(map(_is_worker, here)),
        earlier_workers=sum(
            _is_worker(one) for event, one in first_tries if event.turn < opening.turn
        ),
        bound_seconds=_bound(opened, opening),
    )


def _is_worker(opened: HandoffOpened) -> bool:
    return opened.via is HandoffKind.CALL and opened.depth > 0


def _ancestors(
    opened: dict[str, tuple[Event, HandoffOpened]], parent_id: str | None
) -> tuple[str, ...]:
    found: list[str] = []
    while parent_id in opened:
        event, parent = opened[parent_id]
        found.append(parent.target)
        parent_id = event.parent_id
    return tuple(reversed(found))


def _bound(opened: dict[str, tuple[Event, HandoffOpened]], opening: Event) -> float:
    """Return the seconds that were left to whoever waits: the caller, or the user's request."""
    waiting = opened.get(opening.parent_id or "")
    if waiting is None:  # the first hop of the request stands for the user
        waiting = next(
            (
                (event, one)
                for event, one in opened.values()
                if event.turn == opening.turn and event.parent_id is None
            ),
            None,
        )
    if waiting is None:
        return math.inf
    event, one = waiting
    return event.elapsed_seconds + one.deadline_seconds - opening.elapsed_seconds
