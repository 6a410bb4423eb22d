"""Whether the process that ran a session is still there: judged when it is asked, never stored."""

import json
import sqlite3
import sys
from typing import NamedTuple

from handoff_console.runtime.contract import State
from handoff_console.runtime.process import boot_id, process_started, this_process
from handoff_console.store import reader

START_TOLERANCE_SECONDS = 2.0
"""The system counts its own start in whole seconds, and a clock may be set meanwhile."""


class RecordedProcess(NamedTuple):
    """What a session recorded of the process that ran it."""

    host: str
    boot: str
    pid: int
    started: float
    """Seconds since 1970; 0 where the system did not say."""

    @property
    def is_of_this_machine(self) -> bool:
        """Whether this machine can tell what became of it."""
        return self.pid > 0 and self.host == this_process().host

    @property
    def is_gone(self) -> bool:
        """Whether it has certainly ended; of another machine nobody knows."""
        if not self.is_of_this_machine:
            return False
        if self.boot and self.boot != boot_id():
            return True
        if sys.platform == "win32":  # a signal to see whether it is there would end it
            return False
        started = process_started(self.pid)
        if started is None:
            return True
        is_known = self.started > 0 and started > 0
        return is_known and abs(started - self.started) > START_TOLERANCE_SECONDS


def process_of(db: sqlite3.Connection, session_id: str) -> RecordedProcess | None:
    """Return the process that ran a session last; None when none was recorded here.

    Raises:
        SessionUnknown: There is no such session.
    """
    session = reader.session_key(db, session_id)
    row = db.execute(
        f"{PROCESS_SQL} and exists (select 1 from session_keys keys where keys.session = :session"
        " and imported_from is null)",
        {"session": session},
    ).fetchone()
    return recorded_process(row[0]) if row else None


PROCESS_SQL = """
    select payload from events where event = (
        select max(event) from events join kinds using (kind)
        where event > :session << 32 and event < (:session + 1) << 32
        and name in ('session_started', 'session_resumed'))
"""
"""The payload that names the process which took up the session `:session` last."""


def recorded_process(payload: str | None) -> RecordedProcess | None:
    """Return the process that `session_started` or `session_resumed` names, from its payload."""
    try:
        said = json.loads(payload or "{}")
        return RecordedProcess(
            str(said.get("host", "")),
            str(said.get("boot", "")),
            int(said.get("pid", 0)),
            float(said.get("process_started", 0.0)),
        )
    except (ValueError, TypeError, AttributeError):
        return None


def is_interrupted(db: sqlite3.Connection, session_id: str) -> bool:
    """Say whether a session that is not closed was left by its process, which is gone.

    False for a closed one, for one that waits for a person (which needs no process), and for one of
    another machine: nobody here can tell.

    Raises:
        SessionUnknown: There is no such session.
    """
    if reader.last_kind(db, session_id) in _NEEDS_NO_PROCESS:
        return False
    process = process_of(db, session_id)
    return process is not None and process.is_gone


def alive_process(db: sqlite3.Connection, session_id: str) -> int | None:
    """Return the id of the process of this machine that still runs a session; None when none does.

    Raises:
        SessionUnknown: There is no such session.
    """
    process = process_of(db, session_id)
    if process is None or not process.is_of_this_machine or process.is_gone:
        return None
    return None if reader.last_kind(db, session_id) in _NEEDS_NO_PROCESS else process.pid


_NEEDS_NO_PROCESS = {"session_closed", "session_suspended"}


def state_now(outcome: str, process_payload: str | None, *, imported: bool = False) -> str:
    """Return an outcome as it is at this moment: `running` may have become `interrupted`.

    Args:
        outcome: As the events tell it.
        process_payload: The payload that names the process which took it up last.
        imported: It came from a file and goes on nowhere: what is not closed is `incomplete`.
    """
    if outcome not in {State.RUNNING, State.WAITING}:
        return outcome
    if imported:
        return State.INCOMPLETE.value
    process = recorded_process(process_payload)
    if outcome == State.RUNNING and process is not None and process.is_gone:
        return State.INTERRUPTED.value
    return outcome
