"""What the screens about re-runs ask the store: attempts, comparisons, what a form starts from.

Answers are kept by the sessions' last events, as in `queries`; those that stay are views.
"""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from handoff_console.console import rerun_state
from handoff_console.console.commands.attempt_names import AttemptName, attempt_named
from handoff_console.console.commands.bisecting import Bisection, SearchPlan
from handoff_console.console.commands.estimates import Plan, plan_rerun
from handoff_console.console.commands.left_out_values import left_out
from handoff_console.console.commands.looking import SessionRecord
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerun_records import record_of, recorded_order
from handoff_console.console.commands.rerun_start import Start, best_named, source_of
from handoff_console.console.commands.side_by_side import side_by_side
from handoff_console.console.commands.waiting import pending_of
from handoff_console.console.family_queries import Member
from handoff_console.console.kept_pasts import plan_now, search_now, start_now
from handoff_console.console.queries import Version, reading, version
from handoff_console.console.settings import named_flows, store_path
from handoff_console.console.viewmodels.attempts import AttemptStrip, attempt_strip, edit_lines
from handoff_console.console.viewmodels.comparison import ComparisonView
from handoff_console.console.viewmodels.differences import PairView, pair_view
from handoff_console.console.viewmodels.rerun_plan import MODE_TITLES
from handoff_console.console.viewmodels.resumption import ResumptionView, resumption_view
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.contract import State
from handoff_console.runtime.gaps import Gap
from handoff_console.store import reader
from handoff_console.store.analysis.asked_with import sender_of
from handoff_console.store.analysis.diff import Comparison
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.lineage import Attempt, attempts
from handoff_console.store.analysis.nodes import HandoffTree
from handoff_console.store.errors import SessionAmbiguous
from handoff_console.store.recordings import recording_of


def handoff_attempts(members: Sequence[Member], handoff_id: str) -> tuple[Attempt, ...]:
    """Return the attempts of a handoff in a family; none where the first session does not have it.

    Args:
        members: The family.
        handoff_id: The handoff, by its id in the session that all repeat: re-runs keep it.
    """
    chosen = members if len(members) <= ALL_MEMBERS else _concerned(members, handoff_id)
    return _attempts(tuple(chosen), handoff_id)


ALL_MEMBERS = 50
"""Of a larger family only those are read that repeat the handoff, or what such a one repeats."""


def _concerned(members: Sequence[Member], handoff_id: str) -> list[Member]:
    wanted = {member.version.session_id for member in members if member.handoff_id == handoff_id}
    parents = {member.version.session_id: member.rerun_of for member in members}
    for session_id in list(wanted):
        while (session_id := parents.get(session_id, "")) and session_id not in wanted:
            wanted.add(session_id)
    first = members[0].version.session_id
    return [one for one in members if one.version.session_id in wanted | {first}]


@lru_cache(maxsize=64)
def _attempts(members: tuple[Member, ...], handoff_id: str) -> tuple[Attempt, ...]:
    if not members:
        return ()
    with reading(members[0].version.path) as db:
        original, *rest = (_record(db, member, handoff_id) for member in members)
        return attempts(original, rest, handoff_id)


def strip_of(found: Sequence[Attempt], selected: tuple[str, str] | None) -> AttemptStrip:
    """Return the attempts as the strip shows them; `selected` is session and handoff."""
    return attempt_strip(found, selected=selected)


class Compared(NamedTuple):
    """Two runs side by side, kept as long as they are looked at."""

    found: Comparison
    view: ComparisonView
    left: AttemptName
    """As a command line names it; so is the next."""
    right: AttemptName

    def pair(self, place: int) -> PairView:
        """Return all that differs in one handoff."""
        return pair_view(self.found.pairs[place])


def compared(
    left: Member,
    right: Member,
    names: tuple[str, str] | None,
    handoffs: tuple[str, str] = ("", ""),
) -> Compared:
    """Compare two sessions, or two attempts of a handoff, as they stand now.

    Raises:
        CommandError: A session has no such handoff.
    """
    return _compared(left, right, names, handoffs)


@lru_cache(maxsize=8)
def _compared(
    left: Member, right: Member, names: tuple[str, str] | None, handoffs: tuple[str, str]
) -> Compared:
    sides = [
        AttemptName(member.version.session_id, handoff_id)
        for member, handoff_id in zip((left, right), handoffs, strict=True)
    ]
    with reading(left.version.path) as db:
        both = side_by_side(db, sides[0], sides[1], names)
    return Compared(both.found, both.view, both.left, both.right)


def _record(db: sqlite3.Connection, member: Member, handoff_id: str | None) -> Record:
    """Return a session as the analysis takes it; of one that is whole, perhaps a part of it."""
    part = None if member.mode else handoff_id
    return record_of(db, member.version.session_id, part)


def names_of(
    left: AttemptName, right: AttemptName, found: Sequence[Attempt], handoff_id: str
) -> tuple[str, str] | None:
    """Return what to call two attempts of a handoff: `attempt 1`; None for any others.

    Args:
        left: One of them, its session with the full id.
        right: The other one.
        found: The attempts that there are.
        handoff_id: Which one is meant of a session that has several.
    """
    numbers: dict[AttemptName, int] = {}
    for one in found:
        numbers[AttemptName(one.session_id, one.handoff_id)] = one.number
        if one.handoff_id == handoff_id or AttemptName(one.session_id) not in numbers:
            numbers[AttemptName(one.session_id)] = one.number
    if left not in numbers or right not in numbers:
        return None
    return f"attempt {numbers[left]}", f"attempt {numbers[right]}"


def attempt_said(said: str) -> AttemptName:
    """Return the attempt that an address names; where several fit, a session that is none."""
    try:
        with reading() as db:
            return attempt_named(db, said)
    except SessionAmbiguous:
        return AttemptName(said)


def sides() -> tuple[AttemptName | None, AttemptName | None]:
    """Return the two attempts that the address puts side by side; None where it names none."""
    left, right = rerun_state.sides()
    return attempt_said(left) if left else None, attempt_said(right) if right else None


class RerunSentence(NamedTuple):
    """What a re-run is, in words."""

    how: str
    """`What if: billing (h2) of session … again.`"""
    changes: str
    """What was changed, and how much of it was real."""
    original_is_there: bool


def rerun_sentence(rerun: Member) -> RerunSentence:
    """Return what a re-run repeats, and with what change."""
    with reading() as db:
        order = recorded_order(db, rerun.version.session_id)
    there = version(rerun.rerun_of) is not None
    title = MODE_TITLES[order.mode]
    lines = edit_lines(order.edits.described())
    changes = f"Changed: {'; '.join(lines)}." if lines else "Nothing was changed."
    if not there:
        changes += " The session that it repeats is gone from this store."
    how = f"{title}: {order.handoff_id} of session {one_line(rerun.rerun_of, 60)} again."
    return RerunSentence(how, changes, there)


def start(found: Version, handoff_id: str, named: str) -> Start:
    """Return what the form for running a handoff again starts from.

    Raises:
        HandoffConsoleError: It cannot be run again; the text says why.
    """
    return start_now(found, handoff_id, named)


def asked_by(found: Version, handoff_id: str) -> str:
    """Return the handoff that asked for a refused one; empty for any other."""
    with reading(found.path) as db:
        node = SessionRecord(db, found.session_id).tree.by_id.get(handoff_id)
    if node is None or node.outcome is not State.REFUSED:
        return ""
    return sender_of(node) or ""


def flow_of(session_id: str) -> tuple[str, str]:
    """Return which flow a session ran, as its record says, and which of the user's own that is."""
    with reading() as db:
        source = source_of(db, session_id)
    return source, best_named(source, named_flows())


def plan(session_id: str, order: RerunOrder) -> Plan:
    """Return what a re-run will take.

    Raises:
        HandoffConsoleError: It cannot be run; the text says why.
    """
    found = version(session_id)
    return plan_now(found, order) if found else plan_rerun(store_path(), session_id, order)


def search_plan(asked: Bisection) -> SearchPlan:
    """Return what a search for what flips an outcome will try.

    Raises:
        HandoffConsoleError: It cannot be tried; the text says why.
    """
    return search_now(asked)


def resumption(found: Version, tree: HandoffTree) -> ResumptionView:
    """Return what going on with an interrupted session means."""
    with reading(found.path) as db:
        events = reader.load_events(db, found.session_id, kinds=_ANSWER_KINDS)
        waits = pending_of(db, found.session_id)
        return resumption_view(tree, events, waits, _left_out(found))


_ANSWER_KINDS = frozenset({"model_called", "model_replied", "tool_called", "tool_returned"})


@lru_cache(maxsize=16)
def _left_out(found: Version) -> tuple[Gap, ...]:
    with reading(found.path) as db:
        return tuple(left_out(recording_of(db, found.session_id)))
