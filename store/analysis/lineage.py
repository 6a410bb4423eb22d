"""The attempts of a handoff: the original, its retry, and every re-run of it, side by side.

A re-run is a session of its own that names what it repeats. A re-run of a re-run belongs to the
same node of the tree, because re-runs keep its path.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from handoff_console.runtime.events import Event, ReplayDiverged, SessionStarted
from handoff_console.store.analysis.bodies import read_fields
from handoff_console.store.analysis.figures import Figures, figures_of, totals
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.handoff_work import HandoffWork
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.scope import WHOLE_SESSION_MODE, Place, part_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run of a node of the tree."""

    number: int
    """1, 2, 3 … in the order they began."""
    session_id: str
    handoff_id: str
    repeats: int | None
    """The number of the attempt it was made from; None for the first."""
    mode: str
    """Of a re-run: `verify`, `what-if`, `live-reads`, `live`, `continue`. Empty for a run of the
    original session."""
    edits: Mapping[str, Any] = field(hash=False)
    """What was changed for it; empty when nothing was."""
    flow: str
    """The digest of the flow that it was run with; equal ones, equal flows, their tools included.
    Empty for a run of the original session."""
    graft: str
    """The re-run whose answers it took over in the place of the recorded ones; else empty."""
    left_out: str
    """What it was told of what the record leaves out, and whether it read marks; else empty."""
    started_at: float
    """Seconds since 1970 (UTC)."""
    figures: Figures
    """Of the handoff and all below it; of a re-run that went on to the end, of the whole session,
    because that is what it cost."""
    outcome: str
    """Of the handoff, past its transfers and its retry: a `Status` or a `State`."""
    limit: str
    """For `limit_reached`, which limit."""
    result: str
    """The digest of its result: equal ones are equal to the byte. Empty while there is none."""
    saved_tokens: int
    """What recorded answers had taken when they were real, whole handoffs included."""
    diverged_at: str
    """Where it first asked for something else than was recorded, `t1/2.0 step 2`; else empty."""

    @property
    def is_rerun(self) -> bool:
        """It is a session of its own."""
        return bool(self.mode)


def attempts(original: Record, reruns: Iterable[Record], handoff_id: str) -> tuple[Attempt, ...]:
    """Return all attempts of a handoff, in the order they began; none of an unknown one.

    Args:
        original: The session that has the handoff.
        reruns: Re-runs, in any order; those of other handoffs and other sessions are left out.
        handoff_id: The handoff, by its id in the original.
    """
    node = original.tree.by_id.get(handoff_id)
    if node is None:
        return ()
    found: list[Attempt] = []
    for one in _own(original, node.path):
        before = _numbered(found, one.session_id, one.node.follows or "")
        found.append(_attempt(one, len(found) + 1, before))
    members = family(original, reruns)
    known = {_session(record): record for record in (original, *(rerun for rerun, _ in members))}
    for rerun, started in members:
        again = _again(rerun, started, node.path)
        if again is not None:
            before = _numbered(found, started.rerun_of, started.rerun_handoff)
            source = known[started.rerun_of]
            found.append(_attempt(again, len(found) + 1, before, started, source))
    return tuple(found)


def family(original: Record, reruns: Iterable[Record]) -> list[tuple[Record, SessionStarted]]:
    """Return the re-runs of a session, and of its re-runs, in the order they began.

    A re-run comes after what it repeats, whatever its clock says.
    """
    made: dict[str, list[tuple[Record, SessionStarted]]] = defaultdict(list)
    for rerun in reruns:
        for _, started in rerun.of(SessionStarted):
            made[started.rerun_of].append((rerun, started))
    found: list[tuple[Record, SessionStarted]] = []
    waiting: list[tuple[float, str, int, Record, SessionStarted]] = []
    parent = _session(original)
    while True:
        for rerun, started in made.pop(parent, ()):
            at, name = rerun.events[0].at, _session(rerun)
            heappush(waiting, (at, name, len(waiting), rerun, started))
        if not waiting:
            return found
        _, parent, _, rerun, started = heappop(waiting)
        found.append((rerun, started))


def _session(record: Record) -> str:
    return record.events[0].session_id if record.events else ""


def _numbered(found: Sequence[Attempt], session_id: str, handoff_id: str) -> int | None:
    """Return the number of an attempt by what it was recorded as; None when it is not there."""
    for attempt in found:
        if (attempt.session_id, attempt.handoff_id) == (session_id, handoff_id):
            return attempt.number
    return None


@dataclass(frozen=True, slots=True)
class _One:
    """One attempt, as it lies in its record."""

    record: Record
    node: HandoffNode
    last: HandoffNode
    """The handoff that answered for it."""
    nodes: Sequence[HandoffNode]
    """All that it took."""

    @property
    def session_id(self) -> str:
        return _session(self.record)


def _own(original: Record, path: str) -> list[_One]:
    """Return what the session itself has at a place: one run, or the first one and its retry."""
    nodes = [node for node in original.tree.nodes if node.path == path]
    nodes.sort(key=lambda node: node.attempt)
    found = []
    for node, later in zip(nodes, (*nodes[1:], None), strict=True):
        part = part_of(original, Place(path, node.attempt))
        if later is None:
            found.append(_One(original, node, original.tree.last_of_chain(node.handoff_id), part))
        else:
            rest = {other.handoff_id for other in part_of(original, Place(path, later.attempt))}
            mine = [other for other in part if other.handoff_id not in rest]
            found.append(_One(original, node, node, mine))
    return found


def _again(rerun: Record, started: SessionStarted, path: str) -> _One | None:
    """Return what a re-run has at the place it repeats, if that is the place in question."""
    node = rerun.tree.by_id.get(started.rerun_handoff)
    if node is None or node.path != path:
        return None
    is_whole = started.rerun_mode == WHOLE_SESSION_MODE
    nodes = rerun.tree.nodes if is_whole else part_of(rerun, Place(path, node.attempt))
    return _One(rerun, node, rerun.tree.last_of_chain(node.handoff_id), nodes)


def _attempt(
    one: _One,
    number: int,
    repeats: int | None,
    started: SessionStarted | None = None,
    source: Record | None = None,
) -> Attempt:
    record, node, last = one.record, one.node, one.last
    works = _works(record, one.nodes)
    figures = totals(record.tree, one.nodes, [figures_of(work) for work in works])
    closed = record.closings.get(last.handoff_id)
    saved = figures.saved_tokens + (_saved_calls(works, source) if source else 0)
    return Attempt(
        number=number,
        session_id=one.session_id,
        handoff_id=node.handoff_id,
        repeats=repeats,
        mode=started.rerun_mode if started else "",
        edits=read_fields(record.body, started.edits) if started else {},
        flow=started.flow_digest if started else "",
        graft=started.metadata.get("graft", "") if started else "",
        left_out=_left_out(started.metadata) if started else "",
        started_at=_at(record, node),
        figures=figures,
        outcome=last.outcome.value,
        limit=last.limit,
        result=(closed[1].result or "") if closed else "",
        saved_tokens=saved,
        diverged_at=next((event.place for _, event in record.of(ReplayDiverged)), ""),
    )


def _left_out(labels: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {labels[name]}" for name in ("values", "marks") if name in labels)


def _works(record: Record, nodes: Sequence[HandoffNode]) -> list[HandoffWork]:
    own: dict[str, list[Event]] = {node.handoff_id: [] for node in nodes}
    for event in record.events:
        if event.handoff_id in own:
            own[event.handoff_id].append(event)
    return [HandoffWork(node, own[node.handoff_id], record.body) for node in nodes]


def _at(record: Record, node: HandoffNode) -> float:
    return next((e.at for e in record.events if e.seq == node.first_seq), 0.0)


def _saved_calls(works: Iterable[HandoffWork], source: Record) -> int:
    """Return what calls had taken whose results were taken over as a whole."""
    saved = 0
    for work in works:
        if work.is_replayed:
            place = Place(work.node.path, work.node.attempt)
            saved += sum(node.tokens_used for node in part_of(source, place))
    return saved
