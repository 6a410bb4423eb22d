"""Who goes on with a session: one process at a time, and no longer than it lives.

A session that was suspended or interrupted can be taken up by any process. Two that try at once
would both ask models, and act, for the same handoffs; the lease lets one of them through.
"""

import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from handoff_console.runtime.process import this_process
from handoff_console.store.errors import SessionHeld
from handoff_console.store.liveness import RecordedProcess
from handoff_console.store.transactions import transaction


@contextmanager
def leased(db: sqlite3.Connection, session_id: str, *, take_over: bool = False) -> Iterator[None]:
    """Hold the lease of a session.

    A lease whose process of this machine is gone holds nobody up. Of a process of another machine
    nobody here can tell, so it counts as alive.

    Args:
        db: A store opened for writing.
        session_id: The full id; the session need not be there.
        take_over: Also take it from a process of another machine, which the user knows is gone.

    Raises:
        SessionHeld: Another process, or another thread of this one, has it.
        WriteFailed: The store did not take it.
    """
    token = secrets.token_hex(8)
    _take(db, session_id, token, take_over=take_over)
    try:
        yield
    finally:
        with transaction(db):
            db.execute("delete from leases where session_id = ? and token = ?", (session_id, token))


def holder(db: sqlite3.Connection, session_id: str) -> RecordedProcess | None:
    """Return the process that goes on with a session now; None when none does."""
    row = db.execute(
        "select host, boot, pid, process_started_us from leases where session_id = ?",
        (session_id,),
    ).fetchone()
    if row is None:
        return None
    host, boot, pid, started_us = row
    process = RecordedProcess(host, boot, pid, started_us / 1e6)
    return None if process.is_gone else process


def _take(db: sqlite3.Connection, session_id: str, token: str, *, take_over: bool) -> None:
    me = this_process()
    with transaction(db):
        held_by = holder(db, session_id)
        if held_by and not (take_over and not held_by.is_of_this_machine):
            raise SessionHeld(
                session_id, held_by.pid, "" if held_by.host == me.host else held_by.host
            )
        db.execute(
            "insert or replace into leases values (?, ?, ?, ?, ?, ?, ?)",
            (
                session_id,
                token,
                me.host,
                me.boot,
                me.pid,
                round(me.started * 1e6),
                time.time_ns() // 1_000,
            ),
        )
