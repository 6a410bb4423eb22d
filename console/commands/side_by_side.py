"""Two attempts of a handoff, or two sessions, side by side: for the page and for `handoff diff`."""

import sqlite3
from typing import Any, NamedTuple

from handoff_console.console.commands.attempt_names import AttemptName
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.rerun_forms import comparison_form
from handoff_console.console.commands.rerun_records import record_of
from handoff_console.console.memory import undisturbed
from handoff_console.console.viewmodels.comparison import ComparisonView, comparison_view
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.events import SessionStarted
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.analysis.bodies import read_fields
from handoff_console.store.analysis.diff import Comparison, compare
from handoff_console.store.analysis.figures import Figures
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.payoff import payoffs

_NAMED = 8
"""So many handoffs are named to somebody who asked for one that is not there."""


class SideBySide(NamedTuple):
    """Two runs that were compared."""

    left: AttemptName
    """With the full id; so is the next."""
    right: AttemptName
    found: Comparison
    view: ComparisonView
    records: tuple[Record, Record]


def side_by_side(
    db: sqlite3.Connection,
    left: AttemptName,
    right: AttemptName,
    names: tuple[str, str] | None = None,
) -> SideBySide:
    """Compare two sessions, or a handoff of each with what is below it.

    Of a re-run of one handoff and the session it repeats, that handoff is compared. Where a handoff
    of only one side is named, the other side's is the one that it repeats or that stands at the
    same place.

    Args:
        db: The store.
        left: One of the two; the id may be how it begins or ends.
        right: The other one.
        names: What to call them; by default as they are named.

    Raises:
        SessionUnknown, SessionAmbiguous: There is no such session, or there are several.
        CommandError: There is no such handoff.
    """
    with undisturbed(keep=False):
        return _side_by_side(db, left, right, names)


def _side_by_side(
    db: sqlite3.Connection,
    left: AttemptName,
    right: AttemptName,
    names: tuple[str, str] | None,
) -> SideBySide:
    left, right, parts = _sides(db, left, right)
    mine, theirs = (
        record_of(db, one.session, part or None)
        for one, part in zip((left, right), parts, strict=True)
    )
    handoffs = None
    if left.handoff_id or right.handoff_id:
        handoffs = _handoff(mine, left, theirs, right), _handoff(theirs, right, mine, left)
        left = left._replace(handoff_id=handoffs[0])
        right = right._replace(handoff_id=handoffs[1])
    found = compare(mine, theirs, handoffs=handoffs)
    view = comparison_view(found, mine, theirs, names=names or (str(left), str(right)))
    return SideBySide(left, right, found, view, (mine, theirs))


def _sides(
    db: sqlite3.Connection, left: AttemptName, right: AttemptName
) -> tuple[AttemptName, AttemptName, tuple[str, str]]:
    """Return both with their full ids, and what is read of each: a handoff, or all of it."""
    left, right = (
        one._replace(session=reader.resolve_session(db, one.session)) for one in (left, right)
    )
    mine, theirs = _repeats(db, left.session), _repeats(db, right.session)
    if left.handoff_id or right.handoff_id:
        left = left._replace(handoff_id=left.handoff_id or mine)
        right = right._replace(handoff_id=right.handoff_id or theirs)
        return left, right, (left.handoff_id, right.handoff_id)
    # A re-run of one handoff has nothing but that; of what it is compared with, that is enough.
    part = theirs or mine
    return left, right, ("" if mine else part, "" if theirs else part)


def sides_form(both: SideBySide) -> dict[str, Any]:
    """Return `diff --json`."""
    figures = both.found.left, both.found.right
    sides = zip((both.left, both.right), both.records, figures, strict=True)
    left, right = (_side(*side) for side in sides)
    return {
        "left": left,
        "right": right,
        "path": both.found.path,
        **comparison_form(both.found, ("left", "right")),
        "payoffs": [one._asdict() for one in payoffs(both.found, *both.records)],
    }


def _side(name: AttemptName, record: Record, figures: Figures) -> dict[str, Any]:
    started = next((payload for _, payload in record.of(SessionStarted)), None)
    return {
        "session_id": name.session,
        "handoff_id": name.handoff_id,
        "mode": started.rerun_mode if started else "",
        "edits": dict(read_fields(record.body, started.edits)) if started else {},
        "outcome": figures.outcome,
        "limit": figures.limit,
        "steps": figures.steps,
        "tokens_used": figures.tokens_used,
        "seconds": figures.seconds,
    }


def _repeats(db: sqlite3.Connection, session_id: str) -> str:
    """Return the handoff that a session runs again alone; empty for a session that is whole."""
    for event in reader.load_events(db, session_id, kinds={"session_started"}):
        started = event.payload
        if isinstance(started, SessionStarted) and started.rerun_mode not in ("", Mode.CONTINUE):
            return started.rerun_handoff
    return ""


def _handoff(mine: Record, name: AttemptName, theirs: Record, other: AttemptName) -> str:
    """Return the handoff of one side: the one that is named, or that stands where the other does.

    Raises:
        CommandError: It is not there.
    """
    if not name.handoff_id:
        place = theirs.tree.by_id.get(other.handoff_id)
        for node in mine.tree.nodes:
            if place and (node.path, node.attempt) == (place.path, place.attempt):
                return node.handoff_id
        said = f"handoff at {one_line(place.path, 60)}" if place else "such handoff"
    elif name.handoff_id in mine.tree.by_id:
        return name.handoff_id
    else:
        said = f"handoff {name.handoff_id!r}"
    known = [node.handoff_id for node in mine.tree.nodes]
    shown = ", ".join(known[:_NAMED]) or "none"
    more = f" and {len(known) - _NAMED:,} more" if len(known) > _NAMED else ""
    raise CommandError(
        f"Session {name.session!r} has no {said} to compare; it has {shown}{more}: name one as "
        f"{name.session}:HANDOFF."
    )
