"""The operator's own: who should have got a session, or a data set's case, as people say it.

Each labeller says it once of each.

A label is an agent, several joined by ` + ` where the message needs all of them, `direct`, or
`abstain`.
"""

import sqlite3
import time
from typing import NamedTuple

from handoff_console.store.reader import session_key
from handoff_console.store.transactions import transaction
from handoff_console.store.words import storable


class Label(NamedTuple):
    """What one person says of one session."""

    session_id: str
    labeller: str
    label: str
    labelled_at: float
    """Seconds since 1970 (UTC)."""


def set_label(db: sqlite3.Connection, session_id: str, labeller: str, label: str) -> None:
    """Keep what somebody says of a session; a second word of the same person replaces the first.

    Raises:
        SessionUnknown: There is no such session.
        WriteFailed: The store did not take it.
    """
    session_key(db, session_id)
    _set(db, session_id, labeller, label)


def _set(db: sqlite3.Connection, subject: str, labeller: str, label: str) -> None:
    with transaction(db):
        db.execute(
            "insert or replace into labels values (?, ?, ?, ?)",
            (subject, storable(labeller), storable(label), time.time_ns() // 1_000),
        )


def remove_label(db: sqlite3.Connection, session_id: str, labeller: str) -> None:
    """Forget what somebody said of a session; nothing happens where nothing was said.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        db.execute(
            "delete from labels where session_id = ? and labeller = ?",
            (session_id, storable(labeller)),
        )


def set_case_label(
    db: sqlite3.Connection, dataset: str, case_id: str, labeller: str, label: str
) -> None:
    """Keep what somebody says of a data set's case; a second word replaces the first.

    Raises:
        WriteFailed: The store did not take it.
    """
    _set(db, _subject(dataset, case_id), labeller, label)


def remove_case_label(db: sqlite3.Connection, dataset: str, case_id: str, labeller: str) -> None:
    """Forget what somebody said of a data set's case; nothing happens where nothing was said.

    Raises:
        WriteFailed: The store did not take it.
    """
    remove_label(db, _subject(dataset, case_id), labeller)


def case_labels(db: sqlite3.Connection, dataset: str) -> list[Label]:
    """Return every label of a data set's cases, the oldest first; `session_id` is the case's id."""
    before = _subject(dataset, "")
    rows = db.execute(
        "select substr(session_id, length(:before) + 1), labeller, label, labelled_at_us"
        " from labels where substr(session_id, 1, length(:before)) = :before"
        " order by labelled_at_us, session_id, labeller",
        {"before": before},
    )
    return [Label(case, who, label, at_us / 1e6) for case, who, label, at_us in rows]


def _subject(dataset: str, case_id: str) -> str:
    """Return what stands in the place of a session's id, and can be none: it has several lines."""
    return f"case\n{storable(dataset)}\n{storable(case_id)}"


def labels(db: sqlite3.Connection) -> list[Label]:
    """Return every label, the oldest first; those of deleted sessions are left out."""
    rows = db.execute(
        "select session_id, labeller, label, labelled_at_us from labels"
        " join session_keys using (session_id) order by labelled_at_us, session_id, labeller"
    )
    return [Label(session, who, label, at_us / 1e6) for session, who, label, at_us in rows]
