"""Tool calls that a re-run refused because the record has no answer to them."""

from collections.abc import Iterable
from typing import NamedTuple

from handoff_console.console.viewmodels.text import count
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import Event, ToolCalled, ToolReturned
from handoff_console.runtime.rerun_player import NOT_RECORDED

KINDS = frozenset({"tool_called", "tool_returned"})
"""What is needed to say it."""


class Unanswered(NamedTuple):
    """How many there were."""

    calls: int
    acts: int
    """Those among them of tools that do more than read."""


def unanswered(events: Iterable[Event]) -> Unanswered:
    """Count them; what is no re-run has none."""
    effects: dict[tuple[str | None, int, int], Effect] = {}
    calls = acts = 0
    for event in events:
        match event.payload:
            case ToolCalled() as called:
                effects[event.handoff_id, called.step, called.index] = called.effect
            case ToolReturned(error=error) as returned if error == NOT_RECORDED:
                effect = effects.get((event.handoff_id, returned.step, returned.index), Effect.READ)
                calls, acts = calls + 1, acts + (effect is not Effect.READ)
    return Unanswered(calls, acts)


def unanswered_sentence(found: Unanswered) -> str:
    """Return how many calls had no recorded answer, and which mode has one; empty for none."""
    if not found.calls:
        return ""
    ways = (
        "live asks the tools, and acts after a yes" if found.acts else "live-reads asks the tools"
    )
    return f"{count(found.calls, 'tool call')} without a recorded answer; {ways}."
