"""Opening a store: for writing by the one writer of a process, or for reading by anybody.

The file is in write-ahead mode: readers never wait for the writer, nor it for them. A connection
belongs to the thread that opened it; close it when done (`with closing(open_store(path)) as db`).
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handoff_console.store.errors import (
    FileNotReadable,
    FileNotWritable,
    FolderNotWritable,
    ForeignStore,
    NetworkDrive,
    NotSqlite,
    OpenError,
    SqliteTooOld,
    StoreBroken,
    StoreBusy,
    StoreIsFolder,
    StoreMissing,
    StoreTooNew,
    StoreTooOld,
)
from handoff_console.store.file_systems import network_file_system
from handoff_console.store.schema import APPLICATION_ID, VERSION, migrate

BUSY_SECONDS = 10.0
"""How long a connection waits for a lock that another process holds."""

CHECKPOINT_PAGES = 4_000
"""How long the log may get (16 MB) before it is folded in, which syncs the disk twice."""

_NEEDED_SQLITE = (3, 38, 0)  # `->>` in views; STRICT tables came before it


def open_store(path: str | Path, *, create: bool = False) -> sqlite3.Connection:
    """Open a store for writing; one of an older version is backed up and migrated.

    Args:
        path: The store's file. Its `-wal` and `-shm` lie beside it while it is open.
        create: Make the file (readable by this user alone) when there is none. Its folder has to
            exist.

    Raises:
        OpenError: It cannot be opened; the class says why. Nothing was changed.
        StoreBusy: Another process kept it locked for `BUSY_SECONDS`.
    """
    path = Path(path).absolute()
    _check_place(path, create=create)
    if not os.access(path.parent, os.W_OK):
        raise FolderNotWritable(path)
    if create:
        _create_file(path)
    if not os.access(path, os.W_OK):
        raise FileNotWritable(path)
    _check_file(path, empty_is_new=create)
    db = _connect(path, "rw")
    with _closed_on_failure(db, path):
        _prepare(db, path, create=create)
    return db


def open_reader(path: str | Path) -> sqlite3.Connection:
    """Open a store for reading; nothing this connection does can change it.

    Raises:
        OpenError: It cannot be opened; the class says why.
    """
    path = Path(path).absolute()
    _check_place(path, create=False)
    _check_file(path, empty_is_new=False)
    # Without a log beside it and without the right to make one, the file cannot change under us.
    frozen = not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()
    db = _connect(path, "ro", "&immutable=1" if frozen else "")
    with _closed_on_failure(db, path):
        version = _version(db, path)
        if version < VERSION:
            raise StoreTooOld(path, version, VERSION)
    return db


@contextmanager
def _closed_on_failure(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Close a connection that cannot be used, and say why in one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        db.close()
        raise _opening_failed(path, error) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        db.close()
        raise _not_readable(path, error) from error
    except BaseException:
        db.close()
        raise


def _check_place(path: Path, *, create: bool) -> None:
    if sqlite3.sqlite_version_info < _NEEDED_SQLITE:
        raise SqliteTooOld(sqlite3.sqlite_version, ".".join(map(str, _NEEDED_SQLITE[:2])))
    if path.is_dir():
        raise StoreIsFolder(path)
    if not path.parent.is_dir() or not (create or path.exists()):
        raise StoreMissing(path)
    file_system = network_file_system(path.parent)
    if file_system is not None:
        raise NetworkDrive(path, file_system)


def _create_file(path: Path) -> None:
    # Made here and not by SQLite: its own files take over these permissions.
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass
    except OSError as error:  # root may write everywhere, but not in every kind of folder
        raise FolderNotWritable(path) from error


def _check_file(path: Path, *, empty_is_new: bool) -> None:
    # Never opened here: to close a file drops all locks that this process has on it, also those of
    # connections to it. Another process would then take away the log that they write to.
    try:
        is_empty = path.stat().st_size == 0
    except OSError as error:
        raise FileNotReadable(path) from error
    if not os.access(path, os.R_OK):
        raise FileNotReadable(path)
    if is_empty and not empty_is_new:
        raise NotSqlite(path)


def _connect(path: Path, mode: str, more: str = "") -> sqlite3.Connection:
    db = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}{more}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        cached_statements=256,
    )
    db.execute("pragma trusted_schema = off")
    return db


def _prepare(db: sqlite3.Connection, path: Path, *, create: bool) -> None:
    version = _version(db, path, empty_is_new=create)
    if version == 0:
        db.execute("pragma auto_vacuum = incremental")  # has no effect once a table is there
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = normal")
    db.execute("pragma fullfsync = on")
    db.execute("pragma secure_delete = on")
    db.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
    if version < VERSION:
        if version:
            _back_up(db, path, version)
        _migrate(db, path, create=create)


def _version(db: sqlite3.Connection, path: Path, *, empty_is_new: bool = False) -> int:
    (ours,) = db.execute("pragma application_id").fetchone()
    (version,) = db.execute("pragma user_version").fetchone()
    # Reads the schema, which comes first in any case, so that damage to it shows here.
    is_empty = db.execute("select 1 from sqlite_schema limit 1").fetchone() is None
    if is_empty and empty_is_new and not version and ours in (0, APPLICATION_ID):
        return 0
    if ours != APPLICATION_ID or version < 1:
        raise ForeignStore(path)
    if version > VERSION:
        raise StoreTooNew(path, version, VERSION)
    return int(version)


def _migrate(db: sqlite3.Connection, path: Path, *, create: bool) -> None:
    db.execute("begin immediate")
    try:
        # Asked again: another process may have been faster.
        migrate(db, _version(db, path, empty_is_new=create))
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise


def _back_up(db: sqlite3.Connection, path: Path, version: int) -> None:
    """Copy the store as it is to `FILE.v<version>.bak`, complete or not at all."""
    backup = Path(f"{path}.v{version}.bak")
    unfinished = Path(f"{backup}.{os.getpid()}-{time.time_ns()}")
    _create_file(unfinished)
    copy = sqlite3.connect(unfinished)
    try:
        db.backup(copy)
    except BaseException:
        copy.close()
        unfinished.unlink()
        raise
    copy.close()
    unfinished.replace(backup)


def _not_readable(path: Path, error: Exception) -> OpenError:
    # What is damaged may be the text of SQLite's own message, which then cannot be decoded.
    if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
        return NotSqlite(path)
    return StoreBroken(path)


def _opening_failed(path: Path, error: sqlite3.OperationalError) -> Exception:
    if error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            f"{path} was locked by another process for {BUSY_SECONDS:g} seconds; try again, or "
            "end the process that holds it."
        )
    if error.sqlite_errorname.startswith("SQLITE_READONLY"):
        return FileNotWritable(path)
    return OpenError(path, f"{path} cannot be opened ({error}); check that the disk has room.")
