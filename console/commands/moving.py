"""Sessions out of a store and into it, as JSON lines."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from handoff_console.console.commands.errors import CommandError, InputRefused
from handoff_console.console.commands.looking import SessionRecord
from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import (
    Imported,
    announced_sessions,
    import_sessions,
)

Progress = Callable[[int, int], None]
"""Is told how many of how many sessions are done."""


def export_sessions(
    store_path: Path, asked: Sequence[str], write: Callable[[bytes], object]
) -> int:
    """Write sessions as JSON lines, each once, and return how many.

    Args:
        store_path: The store.
        asked: Ids, or how they begin or end; empty is every session of the store.
        write: Takes the lines, UTF-8, one after the other.

    Raises:
        OpenError: The store cannot be opened.
        SessionUnknown: One does not exist; nothing was written.
        SessionAmbiguous: One word fits several; nothing was written.
    """
    with closing(open_reader(store_path)) as db:
        words = asked or tuple(reader.session_ids(db))
        ids = list(dict.fromkeys(reader.resolve_session(db, word) for word in words))
        for line in export_lines(db, ids):
            write(line.encode())
    return len(ids)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that is there in the end as a whole, or is as it was before.

    It can be read by this user alone, as the store it comes from.

    Raises:
        CommandError: It cannot be written.
    """
    try:
        number, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise _not_written(path, error) from error
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise _not_written(path, error) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def import_file(store_path: Path, file: Path, progress: Progress | None = None) -> Imported:
    """Take the sessions of a file into a store; a missing store is made.

    Raises:
        InputRefused: The file cannot be opened; no store was made.
        ImportRefused: The file is not what `export` writes; the text names the line.
        SessionExists: The store has one of them with other content.
        StoreError: The store cannot be opened or does not take them.
    """
    with _opened(file) as lines:
        announced_sessions(lines, source=file.name)  # no store is made for another kind of file
        lines.seek(0)
        with closing(open_store(store_path, create=True)) as db:
            return import_sessions(db, lines, source=file.name, progress=progress)


@contextmanager
def read_file(file: Path) -> Iterator[list[SessionRecord]]:
    """Read the sessions of a file without taking them into any store.

    Raises:
        InputRefused: The file cannot be opened.
        ImportRefused: The file is not what `export` writes; the text names the line.
    """
    with tempfile.TemporaryDirectory(prefix="handoff-import-") as folder:
        store = Path(folder) / "read.db"
        import_file(store, file)
        with closing(open_reader(store)) as db:
            yield [SessionRecord(db, session_id) for session_id in reader.session_ids(db)]


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        known = {
            FileNotFoundError: "there is no such file; check the path.",
            IsADirectoryError: "it is a folder; name a file in it.",
        }
        problem = known.get(type(error), f"it cannot be read ({error.strerror or error}).")
        raise InputRefused(str(path), None, problem) from error
    with file:
        yield file


def _not_written(path: Path, error: OSError) -> CommandError:
    return CommandError(
        f"{path} cannot be written ({error.strerror or error}); name a file in a folder that you "
        "may write to."
    )
