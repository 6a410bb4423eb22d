"""A question to the store: a connection for one answer, and the key that the answer is kept by."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from handoff_console.console.settings import store_path
from handoff_console.store.damage import damage_told
from handoff_console.store.db import open_reader


class Version(NamedTuple):
    """A session as it stood at one moment: the key under which everything about it is kept."""

    path: str
    session_id: str
    seq: int
    """Its last event."""
    generation: int
    """Of the store: counts deletions and rebuilds."""
    interrupted: bool = False
    """It is not closed, and its process is gone."""
    too_late: bool = False
    """It waits for decisions alone, and nobody gave them in time."""
    imported: bool = False
    """It came from a file."""


@contextmanager
def reading(path: str | None = None) -> Iterator[sqlite3.Connection]:
    """Open the console's store for one question."""
    asked = Path(path or store_path())
    with damage_told(asked), closing(open_reader(asked)) as db:
        yield db
