"""How long a transfer takes until its receiver says something.

Source: S2, "Transition latency".
"""

from collections.abc import Iterable
from typing import NamedTuple

from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.events import (
    Event,
    FirstTokenReceived,
    HandoffRequested,
    ModelReplied,
)


class Transition(NamedTuple):
    """A transfer, from its request to its receiver's first token."""

    handoff_id: str
    source: str
    target: str
    seconds: float
    streamed: bool
    """False: the model does not stream, so the whole reply was waited for."""


def transitions(events: Iterable[Event]) -> tuple[Transition, ...]:
    """Return the transfers whose receivers said something, by the order of their requests.

    One that was refused, or whose receiver never answered, has no latency and is left out.
    """
    asked: dict[str, tuple[float, HandoffRequested]] = {}
    found: dict[str, Transition] = {}
    for event in events:
        payload, handoff_id = event.payload, event.handoff_id
        if handoff_id is None:
            continue
        if isinstance(payload, HandoffRequested) and payload.via is HandoffKind.TRANSFER:
            asked.setdefault(handoff_id, (event.elapsed_seconds, payload))
        elif handoff_id in asked and handoff_id not in found:
            streamed = isinstance(payload, FirstTokenReceived)
            if streamed or (isinstance(payload, ModelReplied) and not payload.error):
                started, request = asked[handoff_id]
                seconds = round(event.elapsed_seconds - started, 6)
                found[handoff_id] = Transition(
                    handoff_id, request.source, request.target, seconds, streamed
                )
    return tuple(found[handoff_id] for handoff_id in asked if handoff_id in found)
