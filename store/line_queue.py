"""Closed sessions on their way into the inbox: their line, findings and words.

A transaction of its own for each would cost a quarter more than the session's record (measured), so
that in a burst of sessions they are written together, at most twice a second. Until then, readers
read such a session from its events.
"""

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from handoff_console.runtime.events import Event
from handoff_console.store import reader
from handoff_console.store.summary import Summary, as_imported
from handoff_console.store.summary_rows import write_summary
from handoff_console.store.transactions import transaction
from handoff_console.store.words import add_words, remove_words, words_of

QUEUE_SECONDS = 0.5
QUEUE_EVENTS = 2_000
"""Kept in memory by the queue, all sessions together."""

Body = Callable[[str], Any]
Summarise = Callable[[Sequence[Event], Body], Summary]


class Closed(NamedTuple):
    """A session that waits for its line."""

    session: int
    session_id: str
    events: Sequence[Event] | None
    """All of them; None when they are to be read back."""
    body: Body
    is_imported: bool = False
    """It goes on nowhere, so that it has a line even if the record breaks off."""


class LineQueue:
    """What is still to be written about sessions that closed."""

    def __init__(self, db: sqlite3.Connection, summarise: Summarise) -> None:
        self._db = db
        self._summarise = summarise
        self._waiting: dict[int, Closed] = {}
        self._events = 0
        self._written_at = 0.0

    def add(self, closed: Closed) -> None:
        """Take a session that has just closed."""
        self._waiting[closed.session] = closed
        self._events += len(closed.events) if closed.events is not None else QUEUE_EVENTS

    def write_if_due(self) -> None:
        """Write them unless that was done a moment ago."""
        if self._waiting and (
            self._events >= QUEUE_EVENTS or time.monotonic() - self._written_at >= QUEUE_SECONDS
        ):
            self.write()

    def write(self) -> None:
        """Write all of them, in one transaction."""
        if not self._waiting:
            return
        with transaction(self._db):
            for closed in self._waiting.values():
                if not _has_line(self._db, closed.session):
                    write_line(self._db, closed, self._summarise)
        self._waiting.clear()
        self._events = 0
        self._written_at = time.monotonic()


def write_line(db: sqlite3.Connection, closed: Closed, summarise: Summarise) -> None:
    """Write what is derived from a session that has no line, in the caller's transaction."""
    events = closed.events
    if events is None:
        events = reader.load_events(db, closed.session_id)
    if events:
        summary = summarise(events, closed.body)
        if closed.is_imported:
            summary = as_imported(summary)
        write_summary(db, closed.session, summary, events[-1].seq)
        add_words(db, closed.session, words_of(events, closed.body))


def remove_line(db: sqlite3.Connection, session: int, session_id: str) -> None:
    """Take a session's line, findings and words away, in the caller's transaction."""
    row = db.execute(
        "select closed_seq from session_summary where session = ?", (session,)
    ).fetchone()
    if row is None:
        return
    events = reader.load_events(db, session_id, until_seq=row[0])
    remove_words(db, session, words_of(events, lambda digest: reader.body(db, digest)))
    db.execute("delete from findings where session = ?", (session,))
    db.execute("delete from session_summary where session = ?", (session,))


def catch_up(db: sqlite3.Connection, queue: LineQueue) -> None:
    """Queue the closed sessions that a killed process did not get to."""
    left = db.execute("""
        select keys.session, keys.session_id from session_keys keys
        join events last on last.event = (
            select max(event) from events
            where event > keys.session << 32 and event < (keys.session + 1) << 32)
        where last.kind = (select kind from kinds where name = 'session_closed')
        and not exists (select 1 from session_summary s where s.session = keys.session)
    """).fetchall()
    for session, session_id in left:
        queue.add(Closed(session, session_id, None, lambda digest: reader.body(db, digest)))


def _has_line(db: sqlite3.Connection, session: int) -> bool:
    row = db.execute("select 1 from session_summary where session = ?", (session,)).fetchone()
    return row is not None
