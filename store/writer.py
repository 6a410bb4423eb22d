"""The sink of the store: where a running session's events and bodies become rows.

Everything is buffered until `commit`, which writes it in one transaction: either all of it is there
afterwards or nothing. The commit that holds a session's end also writes its line in the inbox, its
findings and, at most twice a second, the words it is found by.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.events import Event
from handoff_console.store import reader
from handoff_console.store.bodies import BodyWriter, KeptBody
from handoff_console.store.db import open_store
from handoff_console.store.errors import SessionExists, WriteFailed
from handoff_console.store.index_queue import IndexQueue, catch_up, take_out
from handoff_console.store.open_session import OpenSession
from handoff_console.store.summary import Summary, summarise
from handoff_console.store.summary_rows import write_summary
from handoff_console.store.transactions import transaction
from handoff_console.store.words import words_of

REFRESH_SECONDS = 1.0
"""How old the inbox's line of an open session may get while it goes on."""

Summarise = Callable[[Sequence[Event], Callable[[str], Any]], Summary]

_INSERT_EVENT = f"insert into events values ({', '.join('?' * 12)})"


class StoreSink:
    """The one writing connection of a process; it belongs to the thread that made it.

    Args:
        db: A store opened for writing. The sink owns it from here on, and `close` closes it.
        summarise: Makes a session's line and findings from its events and a lookup of bodies.
    """

    def __init__(self, db: sqlite3.Connection, *, summarise: Summarise = summarise) -> None:
        self.db = db
        self.digest_key = reader.digest_key(db)
        self._summarise = summarise
        self._cursor = db.cursor()
        self._body_writer = BodyWriter(db)
        self._index = IndexQueue(db)
        self._generation = reader.generation(db)
        self._last_deleted = reader.last_deleted(db)
        self._kinds: dict[str, int] = dict(db.execute("select name, kind from kinds"))
        self._sessions: dict[str, OpenSession] = {}
        self._touched: dict[str, OpenSession] = {}
        self._fresh: list[OpenSession] = []
        self._bodies: list[tuple[OpenSession, str, bytes]] = []
        self._new_kinds: set[str] = set()
        self._synced = True
        catch_up(db, self._index)

    def append(self, event: Event, /) -> None:
        """Take an event; `commit` writes it.

        Raises:
            SessionExists: It is the first of a session that the store has already.
        """
        session = self._sessions.get(event.session_id) or self._meet(event.session_id)
        if event.seq == 1 and session.continued:
            raise SessionExists(event.session_id)
        kind = event.payload.kind
        number = self._kinds.get(kind)
        if number is None:
            self._new_kinds.add(kind)
        session.add(event, number or kind)
        self._touched[event.session_id] = session

    def keep(self, digest: str, body: bytes, session_id: str, /) -> None:
        """Take a body (canonical JSON) that events of this session name; `commit` writes it."""
        session = self._sessions.get(session_id) or self._meet(session_id)
        if session.first_mention(digest):
            self._bodies.append((session, digest, body))
            self._touched[session_id] = session

    def begin_line(self, batch: int, line: int, session_id: str) -> None:
        """Note that a session, which begins now, answers this line of a batch's input.

        It is written with the session's first events; the line counts as done when it is closed.
        """
        session = self._sessions.get(session_id) or self._meet(session_id)
        session.batch_line = batch, line
        self._touched[session_id] = session

    def commit(self, *, synced: bool = False) -> None:
        """Write all that was taken in one transaction.

        Without `synced` it survives the death of the process; with it, a power cut as well, and so
        does everything committed before.

        Raises:
            WriteFailed: Nothing was written; it is all kept for another try.
        """
        if not self._touched and (not synced or self._synced):
            return
        if synced:
            self._cursor.execute("pragma synchronous = full")
        try:
            with transaction(self.db):
                self._write()
        except BaseException:
            self._take_back()
            raise
        finally:
            if synced:
                self._cursor.execute("pragma synchronous = normal")
        self._synced = synced
        self._settle()
        if self._index.is_due:
            self._index.write()

    def close(self) -> None:
        """Write what is left, the index's queue included, and close the connection."""
        try:
            self.commit()
            self._index.write()
        finally:
            self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _meet(self, session_id: str) -> OpenSession:
        session = self._sessions[session_id] = OpenSession.meet(self.db, session_id)
        return session

    def _take_back(self) -> None:
        """Nothing was written: whatever keys were given out count no more."""
        self._body_writer.forget()
        for session in self._fresh:
            session.key = session.line_written_at = None
        self._fresh.clear()

    def _settle(self) -> None:
        """Forget what is in the store now."""
        for session in self._touched.values():
            if session.closes:
                del self._sessions[session.session_id]
            session.written()
        self._touched.clear()
        self._bodies.clear()
        self._fresh.clear()
        self._new_kinds.clear()

    def _write(self) -> None:
        touched = self._touched.values()
        self._check_generation()
        for session in touched:
            if session.key is None:
                self._register(session)
            elif session.requests_changed:
                self._write_requests(session)
            if session.continued and session.line_written_at is None:
                take_out(self.db, session.session_id)
        if self._bodies:
            self._body_writer.write(
                [KeptBody(_key(session), digest, text) for session, digest, text in self._bodies]
            )
        self._cursor.executemany(_INSERT_EVENT, self._rows())
        for session in touched:
            self._write_line(session)
        if not touched:  # a synced commit of nothing new: one page makes SQLite sync all before it
            self._cursor.execute("update meta set value = value where name = 'generation'")

    def _check_generation(self) -> None:
        (found,) = self._cursor.execute(
            "select value from meta where name = 'generation'"
        ).fetchone()
        if found == self._generation:
            return
        self._body_writer.forget()
        for session in self._touched.values():
            if session.key is not None and not self._is_there(session):
                raise WriteFailed(
                    f"Session {session.session_id!r} was deleted while it ran; nothing more of it "
                    "is recorded."
                )
        self._generation, self._last_deleted = found, reader.last_deleted(self.db)

    def _is_there(self, session: OpenSession) -> bool:
        row = self._cursor.execute(
            "select 1 from session_keys where session = ?", (session.key,)
        ).fetchone()
        return row is not None

    def _register(self, session: OpenSession) -> None:
        # Keys of deleted sessions stay unused, in case their writer has not noticed yet.
        try:
            self._cursor.execute(
                "insert into session_keys (session, session_id, requests) values"
                " (1 + max(ifnull((select max(session) from session_keys), 0), ?), ?, ?)",
                (self._last_deleted, session.session_id, canonical_text(list(session.requests))),
            )
        except sqlite3.IntegrityError as error:
            raise SessionExists(session.session_id) from error
        session.key = self._cursor.lastrowid
        self._fresh.append(session)
        if session.batch_line is not None:
            self._cursor.execute(
                "insert or replace into batch_items (batch, line, session) values (?, ?, ?)",
                (*session.batch_line, session.key),
            )

    def _write_requests(self, session: OpenSession) -> None:
        self._cursor.execute(
            "update session_keys set requests = ? where session = ?",
            (canonical_text(list(session.requests)), session.key),
        )

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        if self._new_kinds:
            self._cursor.executemany(
                "insert or ignore into kinds (name) values (?)",
                [(name,) for name in sorted(self._new_kinds)],
            )
            self._kinds = dict(self._cursor.execute("select name, kind from kinds"))
        for session in self._touched.values():
            first = _key(session) << 32
            if self._new_kinds:
                session.number_kinds(self._kinds)
            for row in session.rows:
                yield (first + row[0], *row[1:])

    def _write_line(self, session: OpenSession) -> None:
        now = time.monotonic()
        if not (session.closes or session.line_changed or self._is_stale(session, now)):
            return
        events = session.events
        if events is None:
            events = reader.load_events(self.db, session.session_id)
        if not events:
            return
        summary = self._summarise(events, self._body)
        write_summary(self._cursor, _key(session), summary)
        session.line_written_at = now
        if session.closes:
            self._index.add(_key(session), events[-1].seq, words_of(events, self._body))

    @staticmethod
    def _is_stale(session: OpenSession, now: float) -> bool:
        if session.line_written_at is None:
            return True
        # Reading a long session back for this would cost more than a fresh line is worth.
        return session.events is not None and now - session.line_written_at >= REFRESH_SECONDS

    def _body(self, digest: str) -> Any:
        return reader.body(self.db, digest)


def open_sink(path: str | Path, *, create: bool = False) -> StoreSink:
    """Open a store for recording into it; see `open_store` for what can go wrong."""
    return StoreSink(open_store(path, create=create))


def _key(session: OpenSession) -> int:
    if session.key is None:
        raise WriteFailed(f"Session {session.session_id!r} has no place in the store yet.")
    return session.key
