"""How a question to the store becomes rows or a DataFrame."""

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handoff_console.store.liveness import state_now

if TYPE_CHECKING:
    import pandas as pd  # loaded by those who ask for a frame: it takes longer than the question


def frame_of(
    db: sqlite3.Connection, sql: str, columns: list[str], values: Mapping[str, Any]
) -> "pd.DataFrame":
    """Return the rows of a statement as a frame; its columns are there when no row is."""
    import pandas as pd

    return pd.DataFrame(rows_of(db, sql, values), columns=columns)


def rows_of(db: sqlite3.Connection, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a statement, which may ask `state_now` of sessions that are open."""
    _teach(db)
    try:
        return db.execute(sql, values).fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
        # Half a character, which JSON may hold and UTF-8 may not.
        db.text_factory = _readable
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.text_factory = str


def _readable(text: bytes) -> str:
    return text.decode(errors="replace")


def _teach(db: sqlite3.Connection) -> None:
    known: dict[tuple[str, str], str] = {}

    def judged(outcome: str, started: str | None, imported_from: str | None) -> str:
        key = outcome, started or ""
        if key not in known:
            known[key] = state_now(outcome, started, imported=imported_from is not None)
        return known[key]

    db.create_function("state_now", 3, judged)


def with_times(frame: "pd.DataFrame", *columns: str) -> "pd.DataFrame":
    """Return the frame with columns of microseconds since 1970 as UTC timestamps."""
    import pandas as pd

    for column in columns:
        frame[column] = pd.to_datetime(frame[column].astype("Int64"), unit="us", utc=True)
    return frame
