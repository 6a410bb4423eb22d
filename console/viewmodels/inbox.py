"""The list of sessions: one row each, all of it text that fits on a line."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handoff_console.console.viewmodels.command_lines import resume_line
from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.text import ago, amount, count, one_line
from handoff_console.runtime.contract import State, Status

_CALM = frozenset({Status.OK.value, Status.NOT_FOUND.value, State.RUNNING.value})
"""Outcomes that ask nobody to look."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One session in the list."""

    session_id: str
    outcome: str
    """A `Status` or `State`: the key of its glyph, colour and word."""
    verdict: str
    """What happened, in one sentence; for a session that goes on, that it does."""
    asked: str
    """How the user's first message begins."""
    agent: str
    """At fault; a dash when nobody is."""
    depth: str
    """`1 · 2`: how deep calls nested, and the most transfers of a request."""
    tokens: str
    """`3,120 of 20,000`."""
    tokens_title: str
    age: str
    at: str
    """When it started, in full."""
    flow: str
    fault: bool
    """It asks for somebody's attention."""
    reruns: str = ""
    """`3 re-runs`; empty for a session that nobody ran again."""
    is_unfolded: bool = False
    """They stand below it."""
    is_rerun: bool = False
    """It stands under the session it repeats."""


def inbox_rows(
    sessions: Iterable[Mapping[str, Any]], *, now: float, store: str = ""
) -> tuple[InboxRow, ...]:
    """Return the rows of the list, in the order given.

    Args:
        sessions: Rows of the store's `session_rows`, with its column names; a value that is missing
            (None, NaN, NaT) is as good as empty.
        now: The time of day in seconds since 1970, for the ages.
        store: The store as a command line has to name it; empty where it needs no name.
    """
    return tuple(_row(_Fields(session), now, store) for session in sessions)


def showing(shown: int, first: int, total: int, filtered: bool) -> str:
    """Return which part of the list is in sight: `Showing 1 to 50 of 5,512 sessions.`.

    Args:
        shown: Rows in sight.
        first: The number of the first of them, from 1.
        total: Sessions that match.
        filtered: Whether a filter is in force.
    """
    of = "matching session" if filtered else "session"
    if not total:
        return "No session matches." if filtered else "No session yet."
    if shown == total:
        return f"Showing {count(total, of)}."
    return f"Showing {amount(first)} to {amount(first + shown - 1)} of {count(total, of)}."


def trials_left_out(trials: int) -> str:
    """Return where the sessions of comparisons are, beginning with a space; nothing for none."""
    if not trials:
        return ""
    which = count(trials, "session of comparisons", "sessions of comparisons")
    return f" Left out: {which}; choose an experiment under labels to see them."


class _Fields:
    """One row of the store, read without trusting that a value is there."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    def text(self, name: str) -> str:
        value = self._row.get(name)
        return value if isinstance(value, str) else ""

    def moment(self, name: str) -> float:
        """Return a time of day in seconds since 1970, whether it is a number or a date."""
        value = self._row.get(name)
        try:
            return _finite(value.timestamp() if isinstance(value, datetime) else value)
        except ValueError:  # pandas' missing date is a datetime that has no time
            return 0.0

    def whole(self, name: str) -> int:
        return int(_finite(self._row.get(name)))


def _finite(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return number if math.isfinite(number) else 0.0


def _row(row: _Fields, now: float, store: str) -> InboxRow:
    outcome = row.text("outcome") or State.UNKNOWN.value
    used, pool = row.whole("tokens_used"), row.whole("pool_tokens")
    at_fault = one_line(row.text("agent_at_fault"), 40)
    share = used / pool if pool else 0.0
    turns, started = row.whole("turns"), row.moment("started_at")
    reruns = row.whole("reruns")
    return InboxRow(
        session_id=row.text("session_id"),
        outcome=outcome,
        verdict=_verdict(row.text("verdict"), outcome, row.text("session_id"), store),
        asked=one_line(row.text("message"), 160),
        agent=at_fault or "–",
        depth=f"{row.whole('depth')} · {row.whole('hops')}",
        tokens=f"{amount(used)} of {amount(pool)}" if pool else amount(used),
        tokens_title=f"{share:.0%} of the pool"
        + (f", {count(turns, 'turn')}" if turns > 1 else ""),
        age=ago(now - started) if started else "–",
        at=moment(started) if started else "",
        flow=one_line(row.text("flow"), 60),
        fault=outcome not in _CALM or bool(at_fault),
        reruns=count(reruns, "re-run") if reruns else "",
    )


def rerun_rows(attempts: Iterable[Mapping[str, Any]], *, now: float) -> tuple[InboxRow, ...]:
    """Return the rows of re-runs, which stand under the session they repeat.

    Args:
        attempts: Rows of the store's `attempt_rows`, the session itself left out.
        now: As for `inbox_rows`.
    """
    return tuple(_rerun_row(_Fields(attempt), now) for attempt in attempts)


def _rerun_row(row: _Fields, now: float) -> InboxRow:
    used, pool = row.whole("tokens_used"), row.whole("pool_tokens")
    started, mode = row.moment("started_at"), one_line(row.text("rerun_mode"), 20)
    again = "a re-run of it" if row.whole("level") > 1 else "it"
    return InboxRow(
        session_id=row.text("session_id"),
        outcome=row.text("outcome") or State.UNKNOWN.value,
        verdict=f"{one_line(row.text('rerun_handoff'), 20)} of {again} was run again ({mode}).",
        asked="",
        agent="–",
        depth="",
        tokens=f"{amount(used)} of {amount(pool)}" if pool else amount(used),
        tokens_title="",
        age=ago(now - started) if started else "–",
        at=moment(started) if started else "",
        flow="",
        fault=False,
        is_rerun=True,
    )


def _verdict(sentence: str, outcome: str, session_id: str, store: str) -> str:
    said = one_line(sentence, 240) or _without_verdict(outcome)
    if outcome == State.INTERRUPTED:
        return f"{said} To go on: {resume_line(session_id, store=store)}"
    return said


_WITHOUT_VERDICT = {
    State.RUNNING.value: "Still open: at work, or listening for another message.",
    State.WAITING.value: "Waits for a person.",
    State.INTERRUPTED.value: "Its process is gone; what was done until then is recorded.",
}


def _without_verdict(outcome: str) -> str:
    return _WITHOUT_VERDICT.get(outcome, "There is no verdict yet.")
