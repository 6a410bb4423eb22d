"""Taking sessions out for good, and making what is derived again."""

import json
import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from handoff_console.store import reader
from handoff_console.store.batches import release_session
from handoff_console.store.errors import SessionRunning, StoreDamaged
from handoff_console.store.line_queue import Closed, Summarise, remove_line, write_line
from handoff_console.store.liveness import alive_process
from handoff_console.store.progress import Progress
from handoff_console.store.summary import summarise
from handoff_console.store.transactions import transaction

SESSIONS_AT_ONCE = 200
"""How many sessions a rebuild writes in one transaction, so that writers get their turn."""


class Deleted(NamedTuple):
    """What a deletion took away."""

    sessions: int
    bodies: int
    """Bodies that no other session names."""
    is_wiped: bool
    """False: another process is reading, so that copies are left in the log (`-wal`) until it has
    finished and the store is written to again."""


def delete_sessions(db: sqlite3.Connection, session_ids: Collection[str]) -> Deleted:
    """Take sessions out: their events, what only they said, and everything derived from it.

    The freed space is overwritten. Backups of older versions (`.v*.bak`) are not touched. A batch
    remembers that a line was done with a session that is gone; one whose session never came to an
    end is left to be run.

    Args:
        db: A store opened for writing.
        session_ids: Full ids; none is fine.

    Raises:
        SessionUnknown: One is not there; nothing was deleted.
        SessionRunning: One is being written now; nothing was deleted.
        WriteFailed: The store did not take it; nothing was deleted.
    """
    with transaction(db):
        doomed = {reader.session_key(db, name): name for name in session_ids}
        for name in doomed.values():
            pid = alive_process(db, name)
            if pid is not None:
                raise SessionRunning(name, pid)
        orphans = _only_named_by(db, doomed)
        is_damaged = False
        for session, name in doomed.items():
            is_damaged = not _take_out_of_index(db, session, name) or is_damaged
            release_session(db, session)
            inside = session << 32, (session + 1) << 32
            db.execute("delete from events where event >= ? and event < ?", inside)
            db.execute("delete from body_refs where ref >= ? and ref < ?", inside)
            for table in ("commands", "effects", "leases", "labels"):
                db.execute(f"delete from {table} where session_id = ?", (name,))
            db.execute("delete from session_keys where session = ?", (session,))
        db.executemany("delete from bodies where body = ?", [(body,) for body in orphans])
        if doomed:
            # The index marks what is gone and drops it when it is merged: merge it now.
            db.execute("insert into session_words (session_words) values ('optimize')")
            db.execute(
                "update meta set value = max(value, ?) where name = 'last_deleted'", (max(doomed),)
            )
            _next_generation(db)
    if is_damaged:
        rebuild(db)
    is_wiped = _give_back_space(db) if doomed else True
    return Deleted(len(doomed), len(orphans), is_wiped)


def rebuild(
    db: sqlite3.Connection, *, summarise: Summarise = summarise, progress: Progress | None = None
) -> int:
    """Make everything derived again: lines, findings and the full-text index.

    Args:
        db: A store opened for writing.
        summarise: Makes a line and findings from a session's events.
        progress: Is told how many of how many sessions are done.

    Returns:
        How many sessions have a line now; those that are not closed get none.

    Raises:
        StoreDamaged: An event cannot be read; sessions before it are done.
    """
    with transaction(db):
        db.execute("delete from session_summary")
        db.execute("delete from findings")
        db.execute("insert into session_words (session_words) values ('delete-all')")
        _next_generation(db)
    every = db.execute("select session, session_id from session_keys order by session").fetchall()
    for start in range(0, len(every), SESSIONS_AT_ONCE):
        some = every[start : start + SESSIONS_AT_ONCE]
        with transaction(db):
            for session, session_id in some:
                _rewrite_line(db, session, session_id, summarise)
        if progress is not None:
            progress(start + len(some), len(every))
    return int(db.execute("select count(*) from session_summary").fetchone()[0])


def outdated_lines(db: sqlite3.Connection, rules_version: int) -> int:
    """Return how many lines were made by other rules than these; `rebuild` makes them again."""
    row = db.execute(
        "select count(*) from session_summary where rules_version <> ?", (rules_version,)
    ).fetchone()
    return int(row[0])


def _take_out_of_index(db: sqlite3.Connection, session: int, session_id: str) -> bool:
    """Remove a session's line; False when its events are too damaged to tell its words."""
    try:
        remove_line(db, session, session_id)
    except StoreDamaged:
        return False
    return True


def _rewrite_line(
    db: sqlite3.Connection, session: int, session_id: str, summarise: Summarise
) -> None:
    # Between two transactions a writer may have written the line, or somebody deleted the session.
    row = db.execute(
        "select imported_from is not null from session_keys where session = ?"
        " and not exists (select 1 from session_summary where session = ?)",
        (session, session),
    ).fetchone()
    if row is not None and (row[0] or reader.is_closed(db, session_id)):
        closed = Closed(
            session, session_id, None, lambda digest: reader.body(db, digest), bool(row[0])
        )
        write_line(db, closed, summarise)


def _only_named_by(db: sqlite3.Connection, sessions: Collection[int]) -> set[int]:
    """Return the bodies that these sessions name and no other one does."""
    candidates: set[int] = set()
    for session in sessions:
        rows = db.execute(
            "select bodies from body_refs where ref >= ? and ref < ?",
            (session << 32, (session + 1) << 32),
        )
        for (bodies,) in rows:
            candidates.update(json.loads(bodies))
    if candidates:
        for ref, bodies in db.execute("select ref, bodies from body_refs"):
            if ref >> 32 not in sessions:
                candidates.difference_update(json.loads(bodies))
    return candidates


def _next_generation(db: sqlite3.Connection) -> None:
    db.execute("update meta set value = value + 1 where name = 'generation'")


def _give_back_space(db: sqlite3.Connection) -> bool:
    """Shrink the file and empty the log; False when a reader keeps the log from being emptied."""
    # A script, because `execute` would stop after the first page.
    db.executescript("pragma incremental_vacuum")
    (busy, _, _) = db.execute("pragma wal_checkpoint(truncate)").fetchone()
    return not busy
