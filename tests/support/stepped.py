"""What a handoff was right after an event, told from the events alone and in the plainest way."""

from collections.abc import Sequence

from handoff_console.runtime.events import Event

_DECIDED = {
    "approval_requested": 1,
    "input_requested": 1,
    "approval_decided": -1,
    "input_given": -1,
}


def outcomes_at(events: Sequence[Event], seq: int) -> dict[str, str]:
    """Return how each handoff that was asked for by then stands, in a closed or waiting session."""
    found: dict[str, str] = {}
    open_questions: dict[str, int] = {}
    for event in events[:seq]:
        handoff, kind = event.handoff_id, event.kind
        if handoff is None:
            continue
        if kind == "handoff_requested":
            found[handoff] = "asked for"
        elif kind == "handoff_rejected":
            found[handoff] = "refused"
        elif kind == "handoff_opened":
            found[handoff] = "running"
        elif kind == "handoff_closed":
            found[handoff] = _ending(event)
        elif kind in _DECIDED:
            open_questions[handoff] = open_questions.get(handoff, 0) + _DECIDED[kind]
            found[handoff] = "waiting" if open_questions[handoff] else "running"
    return found


def _ending(event: Event) -> str:
    closed = event.payload
    if closed.ended_by in {"transferred", "cancelled"}:
        return str(closed.ended_by)
    return str(closed.status)
