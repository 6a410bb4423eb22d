"""The ledger of batches: which line of an input file became which session.

A batch is known by its fingerprint, so that the same command goes on where it stopped, whatever
stopped it. Sessions are linked by the sink (`StoreSink.begin_line`), in the transaction that holds
their first events.
"""

import sqlite3
import time
from typing import NamedTuple

from handoff_console.store.transactions import transaction
from handoff_console.store.words import storable

_COLUMNS = "batch, input_name, fingerprint, created_at_us, finished_at_us"
_ITEMS = """
    select item.batch, item.line, item.session, item.problem,
           case when kinds.name = 'session_suspended' then 'waiting'
                when kinds.name <> 'session_closed' then null
                when last.payload ->> 'status' is not null then last.payload ->> 'status'
                else iif(last.payload ->> 'cancelled', 'cancelled', 'unknown') end as outcome
    from batch_items item
    left join events last on last.event = (
        select max(event) from events
        where event > item.session << 32 and event < (item.session + 1) << 32)
    left join kinds on kinds.kind = last.kind
"""
"""The lines of batches, from the events themselves: `outcome` is null while a session runs, or when
it was interrupted; one that waits for a person is dealt with."""
_IN_BATCH = f"({_ITEMS} where item.batch = :batch)"


class Batch(NamedTuple):
    """One input file, run through one flow."""

    batch: int
    input_name: str
    fingerprint: str
    created_at: float
    """Seconds since 1970 (UTC)."""
    finished_at: float | None
    """None while lines are left."""


class Skipped(NamedTuple):
    """A line that could not be run."""

    line: int
    problem: str


def find_batch(db: sqlite3.Connection, fingerprint: str) -> Batch | None:
    """Return the batch of a fingerprint; None when there is none."""
    row = db.execute(f"select {_COLUMNS} from batches where fingerprint = ?", (fingerprint,))
    found = row.fetchone()
    return _batch(found) if found else None


def newest_batch(db: sqlite3.Connection, input_name: str) -> Batch | None:
    """Return the batch that was begun last on an input of this name; None when there is none."""
    found = db.execute(
        f"select {_COLUMNS} from batches where input_name = ? order by batch desc limit 1",
        (storable(input_name),),
    ).fetchone()
    return _batch(found) if found else None


def begin_batch(db: sqlite3.Connection, input_name: str, fingerprint: str) -> Batch:
    """Return the batch of a fingerprint, begun now if it is new.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        db.execute(
            "insert or ignore into batches (input_name, fingerprint, created_at_us)"
            " values (?, ?, ?)",
            (storable(input_name), fingerprint, time.time_ns() // 1_000),
        )
    batch = find_batch(db, fingerprint)
    assert batch is not None
    return batch


def done_lines(db: sqlite3.Connection, batch: int) -> set[int]:
    """Return the lines that need no further work: their session is closed, or they were skipped.

    A line whose session was interrupted or cancelled is not among them. One whose session came to
    its end and was deleted is: what somebody took out does not come back by itself.
    """
    rows = db.execute(
        f"select line from {_IN_BATCH} where session is null or outcome <> 'cancelled'",
        {"batch": batch},
    )
    return {row[0] for row in rows}


def release_session(db: sqlite3.Connection, session: int) -> None:
    """Let go of a session that is about to be deleted, inside the caller's transaction.

    A line that it answered stays done; one whose session was interrupted or cancelled is left.
    """
    db.execute(
        "delete from batch_items where session = :session and not exists (select 1 from"
        f" ({_ITEMS} where item.session = :session) where outcome <> 'cancelled')",
        {"session": session},
    )
    db.execute("update batch_items set session = null where session = ?", (session,))


def unfinished_sessions(db: sqlite3.Connection, batch: int) -> list[str]:
    """Return the sessions of a batch that are not closed: running now, or interrupted."""
    rows = db.execute(
        f"select keys.session_id from {_IN_BATCH} item"
        " join session_keys keys on keys.session = item.session"
        " where item.outcome is null order by item.line",
        {"batch": batch},
    )
    return [str(row[0]) for row in rows]


def outcome_counts(db: sqlite3.Connection, batch: int) -> dict[str, int]:
    """Return how many of a batch's lines that are done had each outcome, most first.

    Lines that were skipped had none.
    """
    rows = db.execute(
        f"select outcome, count(*) from {_IN_BATCH} where outcome <> 'cancelled'"
        " and problem = '' group by outcome order by count(*) desc, outcome",
        {"batch": batch},
    )
    return {str(outcome): int(count) for outcome, count in rows}


def skipped_lines(db: sqlite3.Connection, batch: int) -> list[Skipped]:
    """Return the lines of a batch that were skipped, in order."""
    rows = db.execute(
        "select line, problem from batch_items where batch = ? and problem <> '' order by line",
        (batch,),
    )
    return [Skipped(*row) for row in rows]


def skip_line(db: sqlite3.Connection, batch: int, line: int, problem: str) -> None:
    """Note that a line cannot be run, and why.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        db.execute(
            "insert or replace into batch_items (batch, line, problem) values (?, ?, ?)",
            (batch, line, storable(problem)),
        )


def finish_batch(db: sqlite3.Connection, batch: int) -> None:
    """Note that no line is left.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        db.execute(
            "update batches set finished_at_us = ? where batch = ? and finished_at_us is null",
            (time.time_ns() // 1_000, batch),
        )


def _batch(row: tuple[int, str, str, int, int | None]) -> Batch:
    batch, name, fingerprint, created_at_us, finished_at_us = row
    finished_at = None if finished_at_us is None else finished_at_us / 1e6
    return Batch(batch, name, fingerprint, created_at_us / 1e6, finished_at)
