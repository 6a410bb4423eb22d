"""Sessions gone for good, and what is derived made again."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from handoff_console.runtime.events import Event, UserMessageReceived
from handoff_console.store import maintenance, reader
from handoff_console.store.db import open_store
from handoff_console.store.maintenance import Deleted


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


def delete_sessions(store_path: Path, session_ids: Sequence[str]) -> Deleted:
    """Delete sessions by their full ids, and everything that only they said.

    Raises:
        OpenError: The store cannot be opened.
        SessionUnknown: One does not exist; nothing was deleted.
        SessionRunning: One is being recorded now; nothing was deleted.
    """
    with closing(open_store(store_path)) as db:
        return maintenance.delete_sessions(db, session_ids)


def rebuild(store_path: Path, progress: Callable[[int, int], None] | None = None) -> int:
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
