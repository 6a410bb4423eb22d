"""Acts that nobody decided on in time: their session waits for nobody any more."""

import sqlite3

from handoff_console.runtime.events import ApprovalRequested, SessionSuspended
from handoff_console.store import reader
from handoff_console.store.inbox import inbox_of
from handoff_console.store.recordings import is_imported


def is_too_late(db: sqlite3.Connection, session_id: str, *, now: float) -> bool:
    """Say whether time decided all that a suspended session waits for, which is a no.

    False where it also waits for an answer, which can always be given, where somebody decided
    something, where it came from a file, since nothing of it goes on, and where it is not
    suspended: as long as a process is at work, that process says when it is too late.

    Args:
        db: The store.
        session_id: The session.
        now: The time of day, in seconds since 1970.

    Raises:
        SessionUnknown: There is no such session.
    """
    if reader.last_kind(db, session_id) != "session_suspended" or is_imported(db, session_id):
        return False
    (last,) = reader.load_events(db, session_id, last=1)
    assert isinstance(last.payload, SessionSuspended)
    if last.payload.questions or inbox_of(db, session_id).decisions:
        return False
    ends = {
        event.payload.approval_id: event.at + event.payload.expires_seconds
        for event in reader.load_events(db, session_id, kinds={"approval_requested"})
        if isinstance(event.payload, ApprovalRequested)
    }
    waiting = [ends[one] for one in last.payload.approvals if one in ends]
    return bool(waiting) and max(waiting) < now
