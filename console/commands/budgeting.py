"""What another pool or other limits would have done to a session: for the page and the shell."""

import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.viewmodels.text import one_line
from handoff_console.console.viewmodels.what_if import FATE_WORDS, WhatIfView, what_if_view
from handoff_console.runtime.contract import Limits
from handoff_console.store import reader
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.pool_course import Course, courses
from handoff_console.store.analysis.what_if import Change, PoolMarks, WhatIf, pool_marks, what_if
from handoff_console.store.db import open_reader

LIMITS = tuple(Limits.model_fields)
"""What can be otherwise about the handoffs of an agent."""
_COUNTS = ("max_handoffs", "max_workers", "max_edge_repeats", "depth")
_POOL_KINDS = frozenset(
    {
        "session_started",
        "user_message_received",
        "handoff_requested",
        "handoff_rejected",
        "handoff_opened",
        "handoff_closed",
        "budget_reserved",
        "budget_charged",
        "budget_refunded",
        "budget_overdrawn",
        "model_called",
        "model_replied",
        "tool_returned",
        "cycle_stopped",
        "session_closed",
    }
)
"""What the course of a pool is made of."""


class Budgeted(NamedTuple):
    """A session, and what would have become of it."""

    session_id: str
    pool_tokens: int
    """As recorded, of the first request."""
    found: WhatIf
    marks: PoolMarks
    view: WhatIfView


def played_requests(
    db: sqlite3.Connection, session_id: str, *, until_seq: int | None = None
) -> tuple[Course, ...]:
    """Return the requests of a session as a what-if plays them; none without a user's message."""
    events = reader.load_events(db, session_id, until_seq=until_seq, kinds=_POOL_KINDS)
    return courses(Record(events, lambda digest: reader.body(db, digest)))


def budget_with(store_path: Path, asked: str, change: Change) -> Budgeted:
    """Return what a change would have done to a session, from its ledger alone.

    Args:
        store_path: The store.
        asked: The session, or how its id begins or ends.
        change: What is taken to have been otherwise.

    Raises:
        CommandError: The session has no request yet, or nobody in it is called so.
        StoreError: The store cannot be opened, or there is no such session.
    """
    with closing(open_reader(store_path)) as db:
        session_id = reader.resolve_session(db, asked)
        played = played_requests(db, session_id)
    marks = pool_marks(played)
    if marks is None:
        raise CommandError(f"Session {session_id!r} has no request yet, so it has no pool.")
    _check_names(session_id, played, change.limits)
    found = what_if(played, change)
    view = what_if_view(found, marks)
    return Budgeted(session_id, played[0].asked.pool_tokens, found, marks, view)


def budget_command(session_id: str, change: Change, *, store: str = "") -> str:
    """Return the `handoff budget …` that says the same.

    Args:
        session_id: The session.
        change: What is taken to have been otherwise.
        store: The store's file; empty for the one that the command would take anyway.
    """
    words = ["handoff", "budget", session_id, *_options(change)]
    return shlex.join([*words, *(["--db", store] if store else [])])


def budget_form(budgeted: Budgeted) -> dict[str, Any]:
    """Return `budget --json`."""
    found, marks = budgeted.found, budgeted.marks
    whys = {line.handoff_id: line.why for line in budgeted.view.lines}
    return {
        "session_id": budgeted.session_id,
        "change": _described(found.change),
        "pool_tokens": budgeted.pool_tokens,
        "pool_as_recorded_tokens": marks.as_recorded_tokens,
        "pool_without_refusals_tokens": marks.without_refusals_tokens,
        "spent_low_tokens": found.spent_low_tokens,
        "spent_high_tokens": found.spent_high_tokens,
        "lowest_free_tokens": found.lowest_free_tokens,
        "handoffs": [
            {
                "handoff_id": fate.handoff_id,
                "agent": fate.agent,
                "recorded": str(fate.recorded),
                "fate": FATE_WORDS[fate.fate],
                "limit": fate.limit,
                "why": whys[fate.handoff_id],
                "seq": fate.seq,
            }
            for fate in found.changed
        ],
        "unknown": list(found.unknown),
    }


def _check_names(
    session_id: str, played: Sequence[Course], limits: Mapping[str, Mapping[str, float]]
) -> None:
    known = list(dict.fromkeys(a.agent for one in played for a in one.handoffs.values()))
    for agent in limits:
        if agent not in known:
            shown = ", ".join(one_line(name, 60) for name in known)
            raise CommandError(
                f"Nobody in session {session_id!r} is called {agent!r}; there are: {shown}."
            )


def _described(change: Change) -> dict[str, Any]:
    """Return what is otherwise, as JSON; empty when nothing is."""
    said: dict[str, Any] = {
        name: value
        for name in ("pool_tokens", *_COUNTS)
        if (value := getattr(change, name)) is not None
    }
    limits = {agent: dict(own) for agent, own in change.limits.items() if own}
    for name, value in (("limits", limits), ("everyone", dict(change.everyone))):
        if value:
            said[name] = value
    return said


def _options(change: Change) -> Iterator[str]:
    if change.pool_tokens is not None:
        yield from ("--pool", str(change.pool_tokens))
    for name in _COUNTS:
        value = getattr(change, name)
        if value is not None:
            yield from (f"--{name.replace('_', '-')}", str(value))
    for name, number in change.everyone.items():
        yield from ("--limits", f"{name}={_number(number)}")
    for agent, own in change.limits.items():
        for name, number in own.items():
            yield from ("--limits", f"{agent}.{name}={_number(number)}")


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)
