"""One transaction: all of it is written, or nothing and one sentence says why."""

import sqlite3
from types import TracebackType

from handoff_console.store.db import BUSY_SECONDS
from handoff_console.store.errors import StoreBusy, WriteFailed


class transaction:
    """Hold the store's write lock; commit at the end, or write nothing if anything goes wrong.

    A class and no generator: a session commits some three times, and that takes half of what a
    generator takes.

    Args:
        db: A connection that commits only when it is told to.
        cursor: One of its cursors, to save making two.

    Raises:
        WriteFailed: SQLite did not take it. Other exceptions from inside pass through.
    """

    __slots__ = ("_db", "_execute")

    def __init__(self, db: sqlite3.Connection, cursor: sqlite3.Cursor | None = None) -> None:
        self._db = db
        self._execute = db.execute if cursor is None else cursor.execute

    def __enter__(self) -> None:
        try:
            self._execute("begin immediate")
        except BaseException as error:
            self._give_up(error)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._execute("commit")
                return
        except BaseException as failed:
            self._give_up(failed)
            raise
        self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        if self._db.in_transaction:
            self._db.execute("rollback")
        if isinstance(error, sqlite3.Error | UnicodeEncodeError):
            raise _failure(error) from error


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
