"""What of two records is compared: all of it, or one handoff and what is below it.

A re-run of one handoff is a session that has only this part of the tree; it keeps its paths.
"""

from collections.abc import Sequence
from typing import NamedTuple

from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.events import SessionStarted
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode

WHOLE_SESSION_MODE = "continue"
"""The re-run that goes on to the session's end, so that it has the whole tree."""


class Place(NamedTuple):
    """Where a handoff stands in a session's tree; re-runs keep it."""

    path: str
    attempt: int


class Scope(NamedTuple):
    """What is compared of two records."""

    path: str | None
    """The place, with all below; None: everything."""
    left: Sequence[HandoffNode]
    """In pre-order; so is the next."""
    right: Sequence[HandoffNode]


def scope_of(left: Record, right: Record) -> Scope:
    """Return what can be compared of two records.

    Where one repeats a part of what the other one is of, it is that part. Anything else, also
    re-runs that have no place in common, is compared whole.
    """
    mine, theirs = isolated_at(left), isolated_at(right)
    for place in (mine, theirs):
        if place is None or not _belong_together(left, right):
            continue
        parts = part_of(left, place), part_of(right, place)
        if all(parts):
            return Scope(place.path, *parts)
    return Scope(None, left.tree.nodes, right.tree.nodes)


def named_scope(left: Record, right: Record, handoffs: tuple[str, str]) -> Scope:
    """Return one handoff of each record, with what is below it; of an unknown one, nothing.

    Of a handoff that was retried it is the first attempt alone, where the other side is the retry.
    """
    one, other = (
        record.tree.by_id.get(name) for record, name in zip((left, right), handoffs, strict=True)
    )
    if one is None or other is None:
        return Scope(None, (), ())
    mine, theirs = _part(left, one), _part(right, other)
    if left is right or _begins(left) == _begins(right):
        mine, theirs = _without(mine, other, theirs), _without(theirs, one, mine)
    return Scope(one.path, mine, theirs)


def _part(record: Record, node: HandoffNode) -> tuple[HandoffNode, ...]:
    return part_of(record, Place(node.path, node.attempt))


def _begins(record: Record) -> str:
    return record.events[0].session_id if record.events else ""


def _without(
    part: tuple[HandoffNode, ...], other: HandoffNode, theirs: Sequence[HandoffNode]
) -> tuple[HandoffNode, ...]:
    """Leave the retry's part out of what it retries."""
    if not any(node.handoff_id == other.handoff_id and node.follows for node in part[1:]):
        return part
    retry = {node.handoff_id for node in theirs}
    return tuple(node for node in part if node.handoff_id not in retry)


def isolated_at(record: Record) -> Place | None:
    """Return the place that a re-run of one handoff stands for; None for a whole session."""
    started = next((payload for _, payload in record.of(SessionStarted)), None)
    nodes = record.tree.nodes
    if started is None or not started.rerun_of or started.rerun_mode == WHOLE_SESSION_MODE:
        return None
    return Place(nodes[0].path, nodes[0].attempt) if nodes else None


def part_of(record: Record, place: Place) -> tuple[HandoffNode, ...]:
    """Return the handoff at a place and all it led to, in pre-order; nothing if nobody is there.

    That is what it called, what transfers continue it, and its retry, and so on below them.
    """
    inside: set[str] = set()
    nodes = record.tree.nodes
    for node in sorted(nodes, key=lambda node: node.first_seq):  # a link points to what was before
        begins = not inside and (node.path, node.attempt) == place
        if begins or _leads_to(inside, node):
            inside.add(node.handoff_id)
    return tuple(node for node in nodes if node.handoff_id in inside)


def _leads_to(inside: set[str], node: HandoffNode) -> bool:
    if node.follows is not None and node.follows in inside:
        return True
    if node.via is HandoffKind.TRANSFER:
        return node.continues in inside
    return node.parent_id in inside


def _belong_together(left: Record, right: Record) -> bool:
    """Say whether two records are of one family: one repeats the other, or both the same one."""
    return bool(_family(left) & _family(right))


def _family(record: Record) -> set[str | None]:
    known: set[str | None] = {event.request_id for event in record.events}
    for event, started in record.of(SessionStarted):
        known |= {event.session_id, started.rerun_of}
    return known - {None, ""}
