"""The inbox of a session: what screens and other processes ask its writer to do.

They may not write events themselves; they append a command here, and the one process that writes
the session acts on it and says that it is done.
"""

import json
import sqlite3
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from handoff_console.runtime.canonical import canonical_text
from handoff_console.store.errors import AlreadySaid
from handoff_console.store.transactions import transaction
from handoff_console.store.words import storable


class Command(NamedTuple):
    """Something a session's writer is asked to do."""

    command: int
    """Its number, in the order they were asked."""
    session_id: str
    verb: str
    arguments: Mapping[str, Any]
    created_at: float
    """Seconds since 1970 (UTC)."""
    subject: str | None = None
    """What it is about, where only one command of its verb may be about that."""
    sent_by: str = ""


def append_command(
    db: sqlite3.Connection,
    session_id: str,
    verb: str,
    arguments: Mapping[str, Any],
    *,
    subject: str | None = None,
    sent_by: str = "",
) -> int:
    """Ask a session's writer to do something, and return the command's number.

    Args:
        db: A store opened for writing.
        session_id: The full id.
        verb: What is to be done.
        arguments: What the verb needs to know.
        subject: What it is about; a second command of the verb about the same is refused.
        sent_by: Who asks.

    Raises:
        AlreadySaid: There was a command of this verb about this subject before, done or not.
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        before = db.execute(
            "select sent_by from commands where session_id = ? and verb = ? and subject = ?",
            (session_id, verb, subject),
        ).fetchone()
        if before is not None:
            raise AlreadySaid(session_id, subject or "", before[0])
        made = db.execute(
            "insert into commands (session_id, verb, arguments, created_at_us, subject, sent_by)"
            " values (?, ?, ?, ?, ?, ?)",
            (
                session_id,
                verb,
                canonical_text(arguments),
                time.time_ns() // 1_000,
                subject,
                storable(sent_by),
            ),
        )
    return int(made.lastrowid or 0)


def open_commands(db: sqlite3.Connection, session_id: str) -> list[Command]:
    """Return what a session was asked to do and has not done, the oldest first."""
    rows = db.execute(
        "select command, session_id, verb, arguments, created_at_us, subject, sent_by"
        " from commands where session_id = ? and done_at_us is null order by command",
        (session_id,),
    )
    return [
        Command(number, name, verb, json.loads(arguments), created_at_us / 1e6, subject, sent_by)
        for number, name, verb, arguments, created_at_us, subject, sent_by in rows
    ]


def finish_command(db: sqlite3.Connection, command: int) -> bool:
    """Note that a command was acted on, and forget what it said; False when that was done before.

    What a person said may hold what the record leaves out, so no copy of it stays here.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        changed = db.execute(
            "update commands set done_at_us = ?, arguments = '{}'"
            " where command = ? and done_at_us is null",
            (time.time_ns() // 1_000, command),
        )
    return changed.rowcount == 1
