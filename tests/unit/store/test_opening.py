import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from handoff_console.store import db as opening
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.errors import (
    ForeignStore,
    NetworkDrive,
    NotSqlite,
    OpenError,
    SqliteTooOld,
    StoreBusy,
    StoreIsFolder,
    StoreMissing,
    StoreTooNew,
    StoreTooOld,
)
from handoff_console.store.schema import APPLICATION_ID, MIGRATIONS, VERSION


def make_store_of_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        for step in MIGRATIONS[:version]:
            step(db)
        db.execute(f"pragma application_id = {APPLICATION_ID}")
        db.execute(f"pragma user_version = {version}")
        db.commit()


def test_a_new_store_can_be_read_and_written_by_its_owner_alone(path):
    with closing(open_store(path, create=True)) as db:
        db.execute("update meta set value = 7 where name = 'generation'")
        modes = {
            name.name: stat.S_IMODE(name.stat().st_mode) for name in path.parent.glob("handoff.db*")
        }

    assert modes == {"handoff.db": 0o600, "handoff.db-wal": 0o600, "handoff.db-shm": 0o600}


def test_a_store_that_was_closed_is_one_file(path):
    open_store(path, create=True).close()

    assert [name.name for name in path.parent.iterdir()] == ["handoff.db"]


def test_creating_a_store_that_exists_keeps_what_is_in_it(path):
    with closing(open_store(path, create=True)) as db:
        db.execute("update meta set value = 7 where name = 'generation'")

    with closing(open_store(path, create=True)) as db:
        row = db.execute("select value from meta where name = 'generation'").fetchone()
    assert row == (7,)


def test_every_store_has_a_digest_key_of_its_own(tmp_path):
    keys = set()
    for name in ("a.db", "b.db"):
        with closing(open_store(tmp_path / name, create=True)) as db:
            keys.add(db.execute("select value from meta where name = 'digest_key'").fetchone()[0])

    assert len(keys) == 2
    assert {len(key) for key in keys} == {32}


def test_the_writer_does_not_wait_for_the_disk_at_each_commit(path):
    with closing(open_store(path, create=True)) as db:
        settings = [
            db.execute(f"pragma {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete", "trusted_schema")
        ]

    assert settings == ["wal", 1, 1, 0]


def test_a_reader_cannot_change_anything(path):
    open_store(path, create=True).close()

    with (
        closing(open_reader(path)) as db,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        db.execute("delete from meta")


@pytest.mark.parametrize("opens", [open_store, open_reader])
def test_a_missing_store_is_named(path, opens):
    with pytest.raises(StoreMissing) as raised:
        opens(path)

    assert str(raised.value) == (
        f"There is no store at {path}; check the path, or make one with `handoff run` or "
        "`handoff import` (`handoff demo` shows samples without one)."
    )
    assert not path.exists()


@pytest.mark.parametrize("opens", [lambda path: open_store(path, create=True), open_reader])
def test_a_missing_folder_is_not_created_silently(tmp_path, opens):
    with pytest.raises(StoreMissing) as raised:
        opens(tmp_path / "no" / "handoff.db")

    assert str(raised.value) == (
        f"There is no folder {tmp_path / 'no'}; create it first or choose another path."
    )


@pytest.mark.parametrize("opens", [lambda path: open_store(path, create=True), open_reader])
def test_a_folder_is_not_a_store(tmp_path, opens):
    with pytest.raises(StoreIsFolder) as raised:
        opens(tmp_path)

    assert str(raised.value) == f"{tmp_path} is a folder; name the store's file inside it."


@pytest.mark.parametrize("content", [b"a text file", b"SQLite format 3\0" + b"\1" * 5000])
@pytest.mark.parametrize("opens", [lambda path: open_store(path, create=True), open_reader])
def test_a_file_that_is_no_database_is_left_as_it_is(path, opens, content):
    path.write_bytes(content)

    with pytest.raises(NotSqlite, match="is not a store; name a file that this program wrote"):
        opens(path)

    assert path.read_bytes() == content


def test_an_empty_file_is_no_store_for_a_reader(path):
    path.touch()

    with pytest.raises(NotSqlite):
        open_reader(path)
    with pytest.raises(NotSqlite):
        open_store(path)


@pytest.mark.parametrize("opens", [lambda path: open_store(path, create=True), open_reader])
def test_the_database_of_another_program_is_left_as_it_is(path, opens):
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table notes (text)")
    before = path.read_bytes()

    with pytest.raises(ForeignStore) as raised:
        opens(path)

    assert str(raised.value) == (
        f"{path} is a SQLite database of another program, which is left alone; name a file that "
        "this program wrote, or a new one."
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("opens", [open_store, open_reader])
def test_a_store_of_a_newer_version_is_refused(path, opens):
    make_store_of_version(path, VERSION)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"pragma user_version = {VERSION + 3}")

    with pytest.raises(StoreTooNew) as raised:
        opens(path)

    assert str(raised.value) == (
        f"{path} has schema version {VERSION + 3}, and this program knows versions up to "
        f"{VERSION}; install the newer version of handoff-console that wrote it."
    )
    assert (raised.value.found, raised.value.known) == (VERSION + 3, VERSION)


def test_an_older_store_is_backed_up_and_migrated(path):
    make_store_of_version(path, 5)

    with closing(open_store(path)) as db:
        version = db.execute("pragma user_version").fetchone()
        tables = {row[0] for row in db.execute("select name from sqlite_schema")}
    backup = path.with_name("handoff.db.v5.bak")
    with closing(sqlite3.connect(backup)) as db:
        old = db.execute("pragma user_version").fetchone()

    assert version == (VERSION,)
    assert {"commands", "handoffs", "sessions"} <= tables
    assert old == (5,)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(name.name for name in path.parent.iterdir()) == [path.name, backup.name]


def test_a_migration_that_fails_leaves_the_store_as_it_was(path, monkeypatch):
    make_store_of_version(path, 5)

    def broken(db: sqlite3.Connection) -> None:
        db.execute("create table half (a)")
        raise RuntimeError("no")

    monkeypatch.setattr("handoff_console.store.schema.MIGRATIONS", (*MIGRATIONS[:5], broken))
    with pytest.raises(RuntimeError, match="no"):
        open_store(path)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("pragma user_version").fetchone() == (5,)
        assert not db.execute("select 1 from sqlite_schema where name = 'half'").fetchone()


def test_a_reader_says_how_an_older_store_is_migrated(path):
    make_store_of_version(path, 5)

    with pytest.raises(StoreTooOld) as raised:
        open_reader(path)

    assert str(raised.value) == (
        f"{path} has schema version 5, and version {VERSION} is needed; run "
        f"`handoff doctor --db {path}` once, which keeps a backup and migrates it."
    )


def test_a_network_drive_is_refused_by_name(path, monkeypatch):
    monkeypatch.setattr(opening, "network_file_system", lambda _: "nfs4")

    with pytest.raises(NetworkDrive) as raised:
        open_store(path, create=True)

    assert str(raised.value) == (
        f"{path} is on a network drive (nfs4), where a store can be damaged; copy it to a disk of "
        "this machine and open the copy."
    )
    assert not path.exists()


def test_a_python_with_an_old_sqlite_is_told_so(path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")

    with pytest.raises(SqliteTooOld) as raised:
        open_store(path, create=True)

    assert str(raised.value) == (
        "This Python has SQLite 3.34.1, and a store needs 3.38 with full-text search; use another "
        "build of Python."
    )


def test_a_store_that_another_process_keeps_locked_is_busy(path, monkeypatch):
    make_store_of_version(path, 5)
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.01)

    with closing(sqlite3.connect(path)) as holder:
        holder.execute("begin exclusive")
        with pytest.raises(StoreBusy, match=r"locked by another process for 0\.01 seconds"):
            open_store(path)


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "what?.db", "#1.db", "ä.db"])
def test_a_path_may_hold_signs_that_addresses_may_not(tmp_path, name):
    with closing(open_store(tmp_path / name, create=True)):
        assert (tmp_path / name).exists()


def test_two_processes_may_create_the_same_store_at_once(path):
    code = (
        "import sys; from handoff_console.store.writer import open_sink\n"
        "sys.stdin.read(); open_sink(sys.argv[1], create=True).close()"
    )
    command = [sys.executable, "-c", code, str(path)]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.communicate(timeout=60)

    assert [process.returncode for process in both] == [0, 0]
    with closing(open_reader(path)) as db:
        assert db.execute("select count(*) from meta").fetchone() == (4,)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that another user of the machine may look into."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def open_as_somebody_else(action: str, path: Path) -> str:
    """Return what a user without special rights is told."""
    if os.geteuid() != 0:
        pytest.skip("only the administrator can try it as another user")
    code = (
        "import os, sys; from handoff_console.store.db import open_reader, open_store\n"
        "from handoff_console.store.errors import OpenError\n"
        "os.setgid(65534); os.setuid(65534)\n"
        f"try: print({action})\n"
        "except OpenError as error: print(type(error).__name__, error)"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() or done.stderr


def test_a_folder_without_write_permission_is_named(shared_folder):
    path = shared_folder / "handoff.db"

    said = open_as_somebody_else("open_store(sys.argv[1], create=True)", path)

    assert said == (
        f"FolderNotWritable The folder {shared_folder} may not be written to, which a store needs; "
        "choose another path or change the folder's permissions."
    )
    assert not path.exists()


def test_a_file_that_may_only_be_read_is_named(shared_folder):
    path = shared_folder / "handoff.db"
    open_store(path, create=True).close()
    path.chmod(0o644)
    shared_folder.chmod(0o777)

    said = open_as_somebody_else("open_store(sys.argv[1])", path)

    assert said.startswith(f"FileNotWritable {path} may be read only; copy it to where you may")


def test_a_file_of_somebody_else_is_named(shared_folder):
    path = shared_folder / "handoff.db"
    open_store(path, create=True).close()

    said = open_as_somebody_else("open_reader(sys.argv[1])", path)

    assert said == (
        f"FileNotReadable {path} may not be read; ask its owner, or change its permissions."
    )


def test_a_store_in_a_folder_that_may_only_be_read_can_be_looked_at(shared_folder):
    path = shared_folder / "handoff.db"
    open_store(path, create=True).close()
    path.chmod(0o644)

    said = open_as_somebody_else(
        "open_reader(sys.argv[1]).execute('select count(*) from meta').fetchone()", path
    )

    assert said == "(4,)"
    assert [name.name for name in shared_folder.iterdir()] == ["handoff.db"]


def test_every_reason_not_to_open_a_store_is_one_kind_of_error():
    assert {error.__name__ for error in OpenError.__subclasses__()} == {
        "FileNotReadable",
        "FileNotWritable",
        "FolderNotWritable",
        "ForeignStore",
        "NetworkDrive",
        "NotSqlite",
        "StoreBroken",
        "StoreIsFolder",
        "StoreMissing",
        "StoreTooNew",
        "StoreTooOld",
    }
