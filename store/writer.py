"""The sink of the store: where a running session's events and bodies become rows.

Everything is buffered until `commit`, which writes it in one transaction: either all of it is there
afterwards or nothing. What is derived from a session (its line in the inbox, its findings, the
words it is found by) follows its end at once, or with that of others when many end in a row.
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from threading import current_thread, get_ident
from types import NoneType, TracebackType
from typing import Any, Self

from pydantic_core import from_json

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.events import Event
from handoff_console.store import reader
from handoff_console.store.bodies import BodyWriter
from handoff_console.store.db import open_store
from handoff_console.store.errors import SessionExists, SinkUnusable, WriteFailed
from handoff_console.store.line_queue import Closed, LineQueue, Summarise, catch_up, remove_line
from handoff_console.store.open_session import OpenSession
from handoff_console.store.summary import summarise
from handoff_console.store.transactions import transaction

_INSERT_EVENT = f"insert into events values ({', '.join('?' * 12)})"

# The module looks for a way to write each None it is given, in three places, and takes 3,400
# instructions to find none (measured: a fiftieth of a session). None stays None for everybody.
sqlite3.register_adapter(NoneType, {}.get)  # type: ignore[arg-type]


class StoreSink:
    """The one writing connection of a process; it belongs to the thread that made it.

    Args:
        db: A store opened for writing. The sink owns it from here on, and `close` closes it.
        summarise: Makes a session's line and findings from its events and a lookup of bodies.
    """

    def __init__(self, db: sqlite3.Connection, *, summarise: Summarise = summarise) -> None:
        self.db = db
        self._thread, self._thread_name = get_ident(), current_thread().name
        self.digest_key = reader.digest_key(db)
        self._cursor = db.cursor()
        self._body_writer = BodyWriter(db)
        self._lines = LineQueue(db, summarise)
        self._generation = reader.generation(db)
        self._last_deleted = reader.last_deleted(db)
        self._kinds: dict[str, int] = dict(db.execute("select name, kind from kinds"))
        self._sessions: dict[str, OpenSession] = {}
        self._touched: dict[str, OpenSession] = {}
        self._fresh: list[OpenSession] = []
        self._new_kinds: set[str] = set()
        self._synced = True
        self._is_closed = self._refused = False
        catch_up(db, self._lines)

    def append(self, event: Event, /) -> None:
        """Take an event; `commit` writes it.

        Raises:
            SessionExists: It is the first of a session that the store has already.
            SinkUnusable: The sink is closed, or another thread's.
        """
        session_id = event.session_id
        session = self._touched.get(session_id) or self._touch(session_id)
        if event.seq == 1 and session.continued:
            del self._touched[session_id], self._sessions[session_id]
            raise SessionExists(session_id)
        kind = event.payload.kind
        number = self._kinds.get(kind)
        if number is None:
            self._new_kinds.add(kind)
        session.add(event, number or kind)

    def keep(self, digest: str, body: bytes, session_id: str, /) -> None:
        """Take a body (canonical JSON) that events of this session name; `commit` writes it."""
        session = self._touched.get(session_id) or self._touch(session_id)
        session.add_body(digest, body)

    def begin_line(self, batch: int, line: int, session_id: str) -> None:
        """Note that a session, which begins now, answers this line of a batch's input.

        It is written with the session's first events; the line counts as done when it is closed.
        """
        self._touch(session_id).batch_line = batch, line

    def commit(self, *, synced: bool = False) -> None:
        """Write all that was taken in one transaction.

        Without `synced` it survives the death of the process; with it, a power cut as well, and so
        does everything committed before.

        Raises:
            WriteFailed: Nothing was written; it is all kept for another try.
            SinkUnusable: The sink is closed, or another thread's.
        """
        self._check_usable()
        if not self._touched and (not synced or self._synced):
            return
        if synced:
            self._cursor.execute("pragma synchronous = full")
        try:
            with transaction(self.db, self._cursor):
                self._write()
        except BaseException:
            self._take_back()
            self._refused = True
            raise
        finally:
            if synced:
                self._cursor.execute("pragma synchronous = normal")
        self._synced, self._refused = synced, False
        self._settle()
        self._lines.write_if_due()

    def discard(self, session_id: str) -> None:
        """Forget what was taken of a session and is not written, so that others can go on.

        For a session that the store refuses: nothing more of it will be recorded.
        """
        self._touched.pop(session_id, None)
        self._sessions.pop(session_id, None)

    def close(self) -> None:
        """Write what is left, the inbox's lines included, and close the connection, once.

        Not a session's beginning that the last commit could not write: nobody runs it any more.
        """
        if self._is_closed:
            return
        self._check_usable()
        for one in [one for one, it in self._touched.items() if self._refused and not it.key]:
            self.discard(one)
        try:
            self.commit()
            self._lines.write()
        finally:
            self._is_closed = True
            # While a cursor lives, SQLite keeps the file open and does not fold the log in.
            self._cursor.close()
            self._body_writer.close()
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

    def _touch(self, session_id: str) -> OpenSession:
        self._check_usable()
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = OpenSession.meet(self.db, session_id)
        self._touched[session_id] = session
        return session

    def _check_usable(self) -> None:
        # SQLite would say it too, in words about its own objects.
        if self._is_closed:
            raise SinkUnusable("is closed")
        if get_ident() != self._thread:
            raise SinkUnusable(
                f"was used in the thread {current_thread().name!r}, and takes events only in the "
                f"one that opened it, {self._thread_name!r}"
            )

    def _write(self) -> None:
        touched = self._touched.values()
        self._check_generation()
        for session in touched:
            if session.key is None:
                self._register(session)
            elif session.requests_changed:
                self._write_requests(session)
            if session.continued:
                remove_line(self.db, _key(session), session.session_id)
        contents = {digest: body for s in touched for digest, body in s.fresh_bodies.items()}
        if contents:
            self._body_writer.write(
                contents, [s.fresh_references(_key(s)) for s in touched if s.fresh_bodies]
            )
        if self._new_kinds:
            self._number_new_kinds()
        self._cursor.executemany(_INSERT_EVENT, self._rows())
        if not touched:  # a synced commit of nothing new: one page makes SQLite sync all before it
            self._cursor.execute("update meta set value = value where name = 'generation'")

    def _take_back(self) -> None:
        """Nothing was written: whatever keys were given out count no more."""
        self._body_writer.forget()
        for session in self._fresh:
            session.key = None
        self._fresh.clear()

    def _settle(self) -> None:
        """Forget what is in the store now."""
        for session in self._touched.values():
            session.written()
            if session.closes:
                del self._sessions[session.session_id]
                self._lines.add(
                    Closed(_key(session), session.session_id, session.events, self._lookup(session))
                )
        self._touched.clear()
        self._fresh.clear()
        self._new_kinds.clear()

    def _lookup(self, session: OpenSession) -> Any:
        kept, db = session.kept_bodies, self.db
        known: dict[str, Any] = {}

        def body(digest: str) -> Any:  # rules and words read the same results
            if digest not in known:
                text = kept.get(digest)
                known[digest] = reader.body(db, digest) if text is None else _value(text)
            return known[digest]

        return body

    def _check_generation(self) -> None:
        """Notice what other processes deleted since the last commit."""
        found = reader.generation(self._cursor)
        if found == self._generation:
            return
        self._body_writer.forget()
        for session in self._touched.values():
            if session.key is not None and not reader.has_session(self.db, session.key):
                raise WriteFailed(
                    f"Session {session.session_id!r} was deleted while it ran; nothing more of it "
                    "is recorded."
                )
        self._generation, self._last_deleted = found, reader.last_deleted(self.db)

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
        for session in self._touched.values():
            first = _key(session) << 32
            for row in session.rows:
                yield (first + row[0], *row[1:])

    def _number_new_kinds(self) -> None:
        self._cursor.executemany(
            "insert or ignore into kinds (name) values (?)",
            [(name,) for name in sorted(self._new_kinds)],
        )
        self._kinds = dict(self.db.execute("select name, kind from kinds"))
        for session in self._touched.values():
            session.number_kinds(self._kinds)


def open_sink(path: str | Path, *, create: bool = False) -> StoreSink:
    """Open a store for recording into it; see `open_store` for what can go wrong."""
    return StoreSink(open_store(path, create=create))


def _value(text: bytes) -> Any:
    try:
        return from_json(text)  # a third of the instructions of `json.loads` (measured)
    except ValueError:  # a lone surrogate, say
        return json.loads(text)


def _key(session: OpenSession) -> int:
    if session.key is None:
        raise WriteFailed(f"Session {session.session_id!r} has no place in the store yet.")
    return session.key
