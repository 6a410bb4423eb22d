"""Sessions gone for good, and what is derived made again."""

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from handoff_console.runtime.contract import State
from handoff_console.runtime.events import Event, UserMessageReceived
from handoff_console.store import maintenance, queries, reader
from handoff_console.store.db import open_store
from handoff_console.store.maintenance import Deleted
from handoff_console.store.progress import Progress
from handoff_console.store.session_filter import SessionFilter


class Doomed(NamedTuple):
    """A session that is about to be deleted, as a person recognises it."""

    session_id: str
    message: str
    """How its first message begins; empty where it has none."""


def doomed_sessions(store_path: Path, asked: Sequence[str]) -> list[Doomed]:
    """Return the sessions that are meant, each once, before anything is done to them.

    Raises:
        OpenError: The store cannot be opened.
        SessionUnknown: One does not exist.
        SessionAmbiguous: One word fits several.
    """
    with closing(open_store(store_path)) as db:
        ids = dict.fromkeys(reader.resolve_session(db, word) for word in asked)
        return [Doomed(name, _preview(reader.load_events(db, name, until_seq=2))) for name in ids]


def old_sessions(store_path: Path, before: datetime) -> tuple[list[Doomed], int]:
    """Return the sessions that began before a moment, and how many more of them have to stay.

    Re-runs and trials of comparisons count like any other. What runs or waits for a person stays.

    Raises:
        OpenError: The store cannot be opened.
    """
    wanted = SessionFilter(until=before, reruns=True, trials=True)
    with closing(open_store(store_path)) as db:
        rows = queries.session_rows(db, wanted, limit=queries.session_count(db, wanted))
    old = [
        Doomed(row["session_id"], row["message"]) for row in rows if row["outcome"] not in _AT_WORK
    ]
    return old, len(rows) - len(old)


_AT_WORK = frozenset({State.RUNNING, State.WAITING})


def delete_sessions(store_path: Path, session_ids: Sequence[str]) -> Deleted:
    """Delete sessions by their full ids, and everything that only they said.

    Raises:
        OpenError: The store cannot be opened.
        SessionUnknown: One does not exist; nothing was deleted.
        SessionRunning: One is being recorded now; nothing was deleted.
    """
    with closing(open_store(store_path)) as db:
        return maintenance.delete_sessions(db, session_ids)


def rebuild(store_path: Path, progress: Progress | None = None) -> int:
    """Make every session's line, findings and index entries again, and return how many.

    Raises:
        OpenError: The store cannot be opened.
        StoreDamaged: An event cannot be read.
    """
    with closing(open_store(store_path)) as db:
        return maintenance.rebuild(db, progress=progress)


def _preview(events: Sequence[Event]) -> str:
    asked = [event.payload for event in events if isinstance(event.payload, UserMessageReceived)]
    return asked[0].preview if asked else ""
