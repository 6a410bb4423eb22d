"""A store that lost a page, as a bad disk leaves it."""

import sqlite3
from contextlib import closing
from pathlib import Path


def damage_events(store: Path) -> None:
    """Overwrite the first page of a store's events, past the page's mark."""
    with closing(sqlite3.connect(store)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
        (page,) = db.execute("select rootpage from sqlite_schema where name = 'events'").fetchone()
        (size,) = db.execute("pragma page_size").fetchone()
    content = bytearray(store.read_bytes())
    content[(page - 1) * size + 8 : page * size] = b"\xff" * (size - 8)
    store.write_bytes(content)
