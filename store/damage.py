"""A damaged file shows wherever it is read; what SQLite says then becomes one sentence."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handoff_console.store.errors import StoreDamaged

_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")
_DAMAGED_TEXT = ("Could not decode to UTF-8", "malformed JSON")


def damage(error: BaseException | None, path: Path) -> StoreDamaged | None:
    """Return what to say about an error that a damaged file brought about; None for all others.

    Args:
        error: What was raised; what it was raised from counts as well.
        path: The store that was read.
    """
    while error is not None:
        if isinstance(error, sqlite3.Error) and _is_damage(error):
            return StoreDamaged(
                f"{path} is damaged ({error}); `handoff doctor` says where. Restore a copy, or "
                "export what can still be read (`handoff export SESSION -o FILE`)."
            )
        error = error.__cause__
    return None


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Let a damaged file be one sentence, whatever reads it inside.

    Raises:
        StoreDamaged: It is damaged. Other exceptions pass through.
    """
    try:
        yield
    except Exception as error:
        found = damage(error, path)
        if found is None:
            raise
        raise found from error


def _is_damage(error: sqlite3.Error) -> bool:
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(_DAMAGE) or str(error).startswith(_DAMAGED_TEXT)
