"""A store before something is done with it."""

from contextlib import closing
from pathlib import Path

from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.errors import StoreTooOld


def ready_store(path: Path) -> Path:
    """Return the path of a store that can be read: an older one is backed up and migrated.

    Raises:
        OpenError: It cannot be opened.
    """
    try:
        open_reader(path).close()
    except StoreTooOld:
        open_store(path).close()
    return path


def full_session_id(path: Path, asked: str) -> str:
    """Return the id of the one session whose id is, begins with or ends with `asked`.

    Raises:
        OpenError: The store cannot be opened.
        SessionUnknown: There is none.
        SessionAmbiguous: There are several.
    """
    with closing(open_reader(path)) as db:
        return reader.resolve_session(db, asked)
