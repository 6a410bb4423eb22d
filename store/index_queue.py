"""Sessions on their way into the full-text index.

A transaction of its own for each session would cost more than the session's record (measured), so
that in a burst of them they go in together, at most twice a second.
"""

import sqlite3
import time

from handoff_console.store import reader
from handoff_console.store.transactions import transaction
from handoff_console.store.words import Words, add_words, not_indexed, remove_words, words_of

QUEUE_SECONDS = 0.5
QUEUE_SESSIONS = 64


class IndexQueue:
    """The words of sessions that closed, until they are written."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._waiting: dict[int, tuple[int, Words]] = {}
        self._written_at = 0.0

    def add(self, session: int, last_seq: int, words: Words) -> None:
        """Take the words of a session's events up to `last_seq`."""
        self._waiting[session] = last_seq, words

    @property
    def is_due(self) -> bool:
        """Whether the next transaction should write them."""
        return bool(self._waiting) and (
            len(self._waiting) >= QUEUE_SESSIONS
            or time.monotonic() - self._written_at >= QUEUE_SECONDS
        )

    def write(self) -> None:
        """Put all of them into the index in a transaction of its own."""
        if not self._waiting:
            return
        with transaction(self._db):
            for session in sorted(not_indexed(self._db, list(self._waiting))):
                last_seq, words = self._waiting[session]
                add_words(self._db, session, words)
                self._db.execute(
                    "update session_summary set indexed_seq = ? where session = ?",
                    (last_seq, session),
                )
        self._waiting.clear()
        self._written_at = time.monotonic()


def take_out(db: sqlite3.Connection, session_id: str) -> None:
    """Take a session's words out of the index, if they are in, in the caller's transaction."""
    session = reader.session_key(db, session_id)
    row = db.execute(
        "select indexed_seq from session_summary where session = ? and indexed_seq > 0",
        (session,),
    ).fetchone()
    if row is None:
        return
    events = reader.load_events(db, session_id, until_seq=row[0])
    remove_words(db, session, words_of(events, lambda digest: reader.body(db, digest)))
    db.execute("update session_summary set indexed_seq = 0 where session = ?", (session,))


def catch_up(db: sqlite3.Connection, queue: IndexQueue) -> None:
    """Queue the closed sessions that a killed process did not get to."""
    left = db.execute(
        "select k.session, k.session_id from session_summary s join session_keys k using (session)"
        " where s.indexed_seq is null"
    ).fetchall()
    for session, session_id in left:
        events = reader.load_events(db, session_id)
        words = words_of(events, lambda digest: reader.body(db, digest))
        queue.add(session, events[-1].seq, words)
