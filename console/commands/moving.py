"""Sessions out of a store and into it, as JSON lines."""

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from handoff_console.console.commands.errors import CommandError, InputRefused
from handoff_console.console.commands.files import opened
from handoff_console.console.commands.looking import SessionRecord
from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import (
    Imported,
    check_first_session,
    import_sessions,
)
from handoff_console.store.progress import Progress

SQLITE_BEGINS = b"SQLite format 3\0"


def export_sessions(
    store_path: Path,
    asked: Sequence[str],
    write: Callable[[bytes], object],
    progress: Progress | None = None,
) -> int:
    """Write sessions as JSON lines, each once, and return how many.

    Args:
        store_path: The store.
        asked: Ids, or how they begin or end; empty is every session of the store.
        write: Takes the lines, UTF-8, one after the other.
        progress: Is told how many of how many sessions are written.

    Raises:
        OpenError: The store cannot be opened.
        SessionUnknown: One does not exist; nothing was written.
        SessionAmbiguous: One word fits several; nothing was written.
    """
    with closing(open_reader(store_path)) as db:
        words = asked or tuple(reader.session_ids(db))
        ids = list(dict.fromkeys(reader.resolve_session(db, word) for word in words))
        for line in export_lines(db, ids, progress):
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
        InputRefused: The file cannot be opened, or is a store; no store was made.
        ImportRefused: The file is not what `export` writes; the text names the line.
        SessionExists: The store has one of them with other content.
        StoreError: The store cannot be opened or does not take them.
    """
    with opened(file) as lines:
        _not_a_store(file, lines)
        if not store_path.exists():
            check_first_session(lines, source=file.name)
            lines.seek(0)
        with closing(open_store(store_path, create=True)) as db:
            return import_sessions(db, lines, source=file.name, progress=progress)


def _not_a_store(file: Path, content: BinaryIO) -> None:
    # Looked at and not read: a pipe cannot be read from its start again.
    if isinstance(content, BufferedReader) and content.peek(16).startswith(SQLITE_BEGINS):
        store = shlex.quote(str(file))
        raise InputRefused(
            str(file),
            None,
            "this is a store (a SQLite file), and not a file of sessions; look into it with "
            f"`handoff list --db {store}`, or write its sessions to a file that can be imported: "
            f"`handoff export --all --db {store} -o FILE`.",
        )


def read_file(file: Path, progress: Progress | None = None) -> Iterator[SessionRecord]:
    """Yield the sessions of a file, one in memory at a time, without taking them into any store.

    Each can be asked until the next one is.

    Raises:
        InputRefused: The file cannot be opened.
        ImportRefused: The file is not what `export` writes; the text names the line.
    """
    with tempfile.TemporaryDirectory(prefix="handoff-import-") as folder:
        store = Path(folder) / "read.db"
        import_file(store, file, progress)
        with closing(open_reader(store)) as db:
            for session_id in reader.session_ids(db):
                yield SessionRecord(db, session_id)


def _not_written(path: Path, error: OSError) -> CommandError:
    return CommandError(
        f"{path} cannot be written ({error.strerror or error}); name a file in a folder that you "
        "may write to."
    )
