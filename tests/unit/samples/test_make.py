"""What is shipped is what the code records today: else `make samples` has to be run again."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from handoff_console import sample_runs
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.make import FOLDER, STORE, main, make_samples
from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import import_sessions

SHIPPED = Path(sample_runs.__file__).parent
TABLES = ("session_keys", "kinds", "events", "bodies", "body_refs", "session_summary", "findings")
"""All but what is different in every store: its key, its age, SQLite's own tables."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_samples(folder)
    return folder


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return {table: db.execute(f"select * from {table}").fetchall() for table in TABLES}


def test_the_shipped_files_are_those_that_are_made_now(made):
    names = [f"{recording.name}.jsonl" for recording in RECORDINGS]

    assert sorted(path.name for path in (SHIPPED / FOLDER).iterdir()) == sorted(names)
    for name in names:
        assert (SHIPPED / FOLDER / name).read_bytes() == (made / FOLDER / name).read_bytes(), (
            f"{name} is not what the code records today; run `make samples`"
        )


def test_the_shipped_store_holds_what_is_made_now(made):
    assert contents(SHIPPED / STORE) == contents(made / STORE), "run `make samples`"


def test_the_shipped_store_is_one_small_file():
    assert (SHIPPED / STORE).stat().st_size < 1_000_000
    assert not list(SHIPPED.glob(f"{STORE}-*"))


def test_a_copy_of_the_store_opens_and_has_every_session(tmp_path):
    copy = tmp_path / STORE
    shutil.copyfile(SHIPPED / STORE, copy)

    with closing(open_store(copy)) as db:
        ids = list(reader.session_ids(db))

    assert ids == [recording.session_id for recording in RECORDINGS if recording.in_demo]


def test_making_samples_again_leaves_no_file_of_a_session_that_is_gone(tmp_path, made):
    shutil.copytree(made / FOLDER, tmp_path / FOLDER)
    gone = tmp_path / FOLDER / "gone.jsonl"
    gone.write_text("{}", "utf-8")

    make_samples(tmp_path)

    assert not gone.exists()


def test_a_shipped_file_can_be_imported_and_exported_again(tmp_path):
    recording = RECORDINGS[-1]
    shipped = SHIPPED / FOLDER / f"{recording.name}.jsonl"

    with closing(open_store(tmp_path / "mine.db", create=True)) as db, shipped.open("rb") as file:
        done = import_sessions(db, file, source=shipped.name)
        exported = "".join(export_lines(db, [recording.session_id]))

    assert done.new == (recording.session_id,)
    assert exported.encode() == shipped.read_bytes()


def test_make_says_what_it_made(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("handoff_console.sample_runs.make.__file__", str(tmp_path / "make.py"))

    main()

    shown = sum(recording.in_demo for recording in RECORDINGS)
    assert capsys.readouterr().out == (
        f"{len(RECORDINGS)} sessions in {tmp_path / FOLDER}, {shown} of them in "
        f"{tmp_path / STORE}\n"
    )
    with closing(open_reader(tmp_path / STORE)) as db:
        assert len(list(reader.session_ids(db))) == shown
