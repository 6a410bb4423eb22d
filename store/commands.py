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
from handoff_console.store.transactions import transaction


class Command(NamedTuple):
    """Something a session's writer is asked to do."""

    command: int
    """Its number, in the order they were asked."""
    session_id: str
    verb: str
    arguments: Mapping[str, Any]
    created_at: float
    """Seconds since 1970 (UTC)."""


def append_command(
    db: sqlite3.Connection, session_id: str, verb: str, arguments: Mapping[str, Any]
) -> int:
    """Ask a session's writer to do something, and return the command's number.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        made = db.execute(
            "insert into commands (session_id, verb, arguments, created_at_us) values (?, ?, ?, ?)",
            (session_id, verb, canonical_text(arguments), time.time_ns() // 1_000),
        )
    return int(made.lastrowid or 0)


def open_commands(db: sqlite3.Connection, session_id: str) -> list[Command]:
    """Return what a session was asked to do and has not done, the oldest first."""
    rows = db.execute(
        "select command, session_id, verb, arguments, created_at_us from commands"
        " where session_id = ? and done_at_us is null order by command",
        (session_id,),
    )
    return [
        Command(number, name, verb, json.loads(arguments), created_at_us / 1e6)
        for number, name, verb, arguments, created_at_us in rows
    ]


def finish_command(db: sqlite3.Connection, command: int) -> bool:
    """Note that a command was acted on; False when somebody did so before.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        changed = db.execute(
            "update commands set done_at_us = ? where command = ? and done_at_us is null",
            (time.time_ns() // 1_000, command),
        )
    return changed.rowcount == 1
