"""A session that was read from a file, and how it gets into a store: whole, or not at all."""

import sqlite3
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from handoff_console.runtime.canonical import canonical_text
from handoff_console.store import reader
from handoff_console.store.bodies import BodyWriter, References
from handoff_console.store.errors import BodyConflict, ImportRefused, SessionExists
from handoff_console.store.line_queue import Closed, write_line
from handoff_console.store.summary import summarise
from handoff_console.store.transactions import transaction
from handoff_console.store.words import storable


class IncomingEvent(NamedTuple):
    """An event as its row will be, with names where the row has numbers."""

    seq: int
    at_us: int
    elapsed_us: int
    turn: int
    request_id: str | None
    handoff_id: str | None
    parent_id: str | None
    path: str | None
    attempt: int
    kind: str
    version: int
    payload: str
    """Canonical JSON."""


@dataclass
class IncomingSession:
    """A session that is complete, and not in the store yet."""

    session_id: str
    digests: dict[str, None] = field(default_factory=dict)
    """Of every body it names, in order."""
    contents: dict[str, bytes] = field(default_factory=dict)
    """Bodies by digest, as canonical JSON; those left out are in the store already."""
    events: list[IncomingEvent] = field(default_factory=list)
    """All of them, numbered from 1."""


def put_in(db: sqlite3.Connection, session: IncomingSession, source: str) -> bool:
    """Write a session and what is derived from it; False when it is there already, the same.

    Args:
        db: A store opened for writing.
        session: The session.
        source: The name of the file it came from.

    Raises:
        SessionExists: One with this id and other content is there.
        ImportRefused: A body's digest stands for other content in this store.
        WriteFailed: The store did not take it.
    """
    try:
        with transaction(db):
            row = db.execute(
                "select session from session_keys where session_id = ?", (session.session_id,)
            ).fetchone()
            if row is not None:
                if _is_same(db, row[0], session):
                    return False
                raise SessionExists(session.session_id)
            _write(db, session, storable(source))
    except BodyConflict as error:
        raise ImportRefused(source, None, str(error)) from error
    return True


def _is_same(db: sqlite3.Connection, key: int, session: IncomingSession) -> bool:
    requests = reader.request_ids(db, key)
    rows = db.execute(
        "select seq, at_us, elapsed_us, turn, request, handoff_id, parent_id, path, attempt, name,"
        " version, payload from events join kinds using (kind)"
        " where event > ? << 32 and event < (? + 1) << 32 order by event",
        (key, key),
    )
    there = [(*row[:4], requests.get(row[4]), *row[5:]) for row in rows]
    return there == session.events and _bodies(db, key) == {
        digest: session.contents.get(digest) or _content(db, digest) for digest in session.digests
    }


def _bodies(db: sqlite3.Connection, key: int) -> dict[str, bytes]:
    found = {}
    for body in reader.bodies_of(db, key):
        digest, content = db.execute(
            "select digest, content from bodies where body = ?", (body,)
        ).fetchone()
        found[digest.hex()] = content.encode()
    return found


def _content(db: sqlite3.Connection, digest: str) -> bytes:
    text = reader.body_text(db, digest)
    return b"" if text is None else text.encode()


def _write(db: sqlite3.Connection, session: IncomingSession, source: str) -> None:
    names = dict.fromkeys(event.request_id for event in session.events if event.request_id)
    requests = {name: number for number, name in enumerate(names, 1)}
    key = db.execute(
        "insert into session_keys (session, session_id, requests, imported_from, imported_at_us)"
        " values (1 + max(ifnull((select max(session) from session_keys), 0), ?), ?, ?, ?, ?)",
        (
            reader.last_deleted(db),
            session.session_id,
            canonical_text(list(requests)),
            source,
            time.time_ns() // 1_000,
        ),
    ).lastrowid
    assert key is not None
    contents = {
        digest: session.contents.get(digest) or _content(db, digest) for digest in session.digests
    }
    BodyWriter(db).write(contents, [References(key << 32, list(session.digests))])
    kinds = _kinds(db, {event.kind for event in session.events})
    db.executemany(
        f"insert into events values ({', '.join('?' * 12)})",
        [
            (
                (key << 32) + event.seq,
                *event[1:4],
                requests.get(event.request_id or ""),
                *event[5:9],
                kinds[event.kind],
                *event[10:],
            )
            for event in session.events
        ],
    )
    closed = Closed(
        key, session.session_id, None, lambda digest: reader.body(db, digest), is_imported=True
    )
    write_line(db, closed, summarise)


def _kinds(db: sqlite3.Connection, names: set[str]) -> dict[str, int]:
    db.executemany(
        "insert or ignore into kinds (name) values (?)", [(name,) for name in sorted(names)]
    )
    return dict(db.execute("select name, kind from kinds"))
