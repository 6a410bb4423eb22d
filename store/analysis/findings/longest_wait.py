"""What a handoff spent most of its time on: a tool, a call of its model, or another agent."""

from collections.abc import Iterable
from typing import NamedTuple

from handoff_console.runtime.events import ModelReplied, ToolReturned
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name

_MOST = 0.5
"""The share of the whole time from which on one wait explains it."""


class Wait(NamedTuple):
    """Something that a handoff waited for."""

    seconds: float
    seq: int
    """The event that ended it, or the last of it."""
    of: str
    """What was waited for, as the middle of a sentence: `its tool find`."""
    name: str
    """The tool or the agent; empty for a model."""


def longest_wait(record: Record, node: HandoffNode) -> Wait | None:
    """Return what took at least half of a closed handoff's time; None when nothing did."""
    _, closed = record.closings[node.handoff_id]
    longest = max(_waits(record, node), default=None)
    whole = closed.duration_seconds
    return longest if longest and whole > 0 and longest.seconds >= _MOST * whole else None


def _waits(record: Record, node: HandoffNode) -> Iterable[Wait]:
    for event in record.came_back.get(node.handoff_id, ()):
        match event.payload:
            case ToolReturned(tool=tool, duration_seconds=took):
                name = as_name(tool)
                yield Wait(took, event.seq, f"its tool {name}", name)
            case ModelReplied(step=step, latency_seconds=took):
                yield Wait(took, event.seq, f"its model in step {step}", "")
    for child in record.tree.children.get(node.handoff_id, ()):
        if child.opened_seconds is not None and child.closed_seconds is not None:
            took, name = child.closed_seconds - child.opened_seconds, as_name(child.agent)
            yield Wait(took, child.last_seq, name, name)
