"""One transaction: all of it is written, or nothing and one sentence says why."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from handoff_console.store.db import BUSY_SECONDS
from handoff_console.store.errors import StoreBusy, WriteFailed


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Hold the store's write lock; commit at the end, or write nothing if anything goes wrong.

    Raises:
        WriteFailed: SQLite did not take it. Other exceptions from inside pass through.
    """
    try:
        db.execute("begin immediate")
        yield
        db.execute("commit")
    except BaseException as error:
        if db.in_transaction:
            db.execute("rollback")
        if isinstance(error, sqlite3.Error | UnicodeEncodeError):
            raise _failure(error) from error
        raise


def _failure(error: Exception) -> WriteFailed:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            f"The store was locked by another process for {BUSY_SECONDS:g} seconds, and nothing "
            "was written; end the process that holds it and try again."
        )
    if name == "SQLITE_FULL":
        return WriteFailed(
            "The disk is full, and nothing was written; make room and try again, or record into "
            "another store."
        )
    return WriteFailed(
        f"The store did not take what was recorded ({error}), and nothing of it was written; "
        "`handoff doctor` checks the file."
    )
