"""What is shipped is what the code records today: else `make samples` has to be run again."""

import contextlib
import gzip
import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from handoff_console import sample_runs
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.make import FOLDER, main
from handoff_console.sample_runs.shipped import PACKED, is_shipped, unpack
from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import import_sessions
from handoff_console.store.schema import VERSION

SHIPPED = Path(sample_runs.__file__).parent
GONE = "gone.jsonl"
TABLES = ("session_keys", "kinds", "events", "bodies", "body_refs", "session_summary", "findings")
"""All but what is different in every store: its key, its age, SQLite's own tables."""


class Made(NamedTuple):
    """Where the samples were made once for all tests, beside a file of a session that is gone."""

    folder: Path
    said: str


@pytest.fixture(scope="module")
def made_anew(tmp_path_factory) -> Made:
    folder, said = tmp_path_factory.mktemp("made"), io.StringIO()
    (folder / FOLDER).mkdir()
    (folder / FOLDER / GONE).write_text("{}", "utf-8")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr("handoff_console.sample_runs.make.__file__", str(folder / "make.py"))
        main()
    return Made(folder, said.getvalue())


@pytest.fixture
def made(made_anew: Made) -> Path:
    return made_anew.folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The shipped store, unpacked."""
    unpack(tmp_path / "samples.db")
    return tmp_path / "samples.db"


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(open_reader(path)) as db:
        return {table: db.execute(f"select * from {table}").fetchall() for table in TABLES}


def test_the_shipped_files_are_those_that_are_made_now(made):
    names = [f"{recording.name}.jsonl" for recording in RECORDINGS]

    assert sorted(path.name for path in (SHIPPED / FOLDER).iterdir()) == sorted(names)
    for name in names:
        assert (SHIPPED / FOLDER / name).read_bytes() == (made / FOLDER / name).read_bytes(), (
            f"{name} is not what the code records today; run `make samples`"
        )


def test_the_shipped_store_holds_what_is_made_now(store, made, tmp_path):
    made_now = tmp_path / "made.db"
    made_now.write_bytes(gzip.decompress((made / PACKED).read_bytes()))

    assert contents(store) == contents(made_now), "run `make samples`"


def test_the_shipped_store_names_no_time_at_which_it_was_made(store):
    with closing(open_reader(store)) as db:
        (made_us,) = db.execute("select value from meta where name = 'created_at_us'").fetchone()

    assert made_us == RECORDINGS[0].at.timestamp() * 1e6


def test_the_shipped_store_is_one_small_file():
    assert (SHIPPED / PACKED).stat().st_size < 400_000
    assert [path.name for path in SHIPPED.iterdir() if ".db" in path.name] == [PACKED]


def test_the_shipped_store_is_of_the_schema_that_the_code_reads(store):
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        (version,) = db.execute("pragma user_version").fetchone()

    assert version == VERSION, "run `make samples`"


def test_the_store_opens_and_has_every_session(store):
    with closing(open_store(store)) as db:
        ids = list(reader.session_ids(db))

    assert ids == [recording.session_id for recording in RECORDINGS]


def test_the_store_is_unpacked_for_this_user_alone_and_never_over_another_file(store):
    assert is_shipped()
    assert store.stat().st_mode & 0o777 == 0o600
    store.write_text("mine", "utf-8")

    with pytest.raises(FileExistsError):
        unpack(store)

    assert store.read_text("utf-8") == "mine"


def test_making_samples_again_leaves_no_file_of_a_session_that_is_gone(made):
    assert not (made / FOLDER / GONE).exists()


def test_a_shipped_file_can_be_imported_and_exported_again(tmp_path):
    recording = RECORDINGS[-1]
    shipped = SHIPPED / FOLDER / f"{recording.name}.jsonl"

    with closing(open_store(tmp_path / "mine.db", create=True)) as db, shipped.open("rb") as file:
        done = import_sessions(db, file, source=shipped.name)
        exported = "".join(export_lines(db, [recording.session_id]))

    assert done.new == (recording.session_id,)
    assert exported.encode() == shipped.read_bytes()


def test_make_says_what_it_made(made_anew):
    folder, said = made_anew

    assert said == f"{len(RECORDINGS)} sessions in {folder / FOLDER} and in {folder / PACKED}\n"
