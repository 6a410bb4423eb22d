"""What released versions recorded keeps loading, and keeps running again."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.releases import RECORDED, STORE, flows_of

from handoff_console.runtime import EventList, Flow
from handoff_console.runtime.events import Opaque
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.db import open_store
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import import_sessions
from handoff_console.store.recordings import recording_of

VERSIONS = sorted(path.name for path in RECORDED.iterdir())
SESSIONS = [
    (version, path.stem)
    for version in VERSIONS
    for path in sorted((RECORDED / version).glob("*.jsonl"))
]
EVENTS = {
    "0.1.0": {
        "acting": 34,
        "calling": 67,
        "forking": 39,
        "stopping": 65,
        "talking": 27,
        "transferring": 30,
    },
}
"""How many events each session has: none is lost on the way into a store."""


@pytest.fixture
def db(tmp_path):
    with closing(open_store(tmp_path / "handoff.db", create=True)) as db:
        yield db


@pytest.fixture(scope="module", params=VERSIONS)
def kept(request, tmp_path_factory):
    """The store that a version wrote, opened by this one."""
    path = tmp_path_factory.mktemp("kept") / "handoff.db"
    shutil.copyfile(RECORDED / request.param / STORE, path)
    with closing(open_store(path)) as db:
        yield request.param, db


def verified(db: sqlite3.Connection, session_id: str, flow: Flow) -> int:
    """Run every handoff of a session again, and the session to its end; ask nobody."""
    recording = recording_of(db, session_id)
    opened = [e.handoff_id for e in recording.events if e.kind == "handoff_opened"]
    for handoff_id in opened:
        came = asyncio.run(
            rerun(flow, recording, handoff_id, sink=EventList(reader.digest_key(db)))
        )
        assert (came.same_result, came.first_divergence) == (True, None), handoff_id
        assert (came.live_model_calls, came.live_tool_calls) == (0, 0), handoff_id
    sink = EventList(reader.digest_key(db))
    whole = asyncio.run(rerun(flow, recording, "h1", mode=Mode.CONTINUE, sink=sink))
    assert whole.same_result
    assert (whole.live_model_calls, whole.live_tool_calls) == (0, 0)
    return len(opened)


def test_every_version_has_its_sessions():
    assert {version: dict.fromkeys(names) for version, names in EVENTS.items()} == {
        version: dict.fromkeys(name for of, name in SESSIONS if of == version)
        for version in VERSIONS
    }


@pytest.mark.parametrize(("version", "name"), SESSIONS)
def test_a_session_file_of_a_released_version_loads_whole_and_verifies(db, version, name):
    with (RECORDED / version / f"{name}.jsonl").open("rb") as file:
        import_sessions(db, file, source=name)
    events = reader.load_events(db, name)

    assert len(events) == EVENTS[version][name]
    assert not [event for event in events if isinstance(event.payload, Opaque)]
    assert verified(db, name, flows_of(version)[name]()) >= 1


def test_the_store_of_a_released_version_is_opened_with_all_of_its_sessions(kept):
    version, db = kept

    assert sorted(reader.session_ids(db)) == sorted(EVENTS[version])
    for name, count in EVENTS[version].items():
        assert len(reader.load_events(db, name)) == count


def test_what_the_store_of_a_released_version_holds_verifies(kept):
    version, db = kept

    for name, flow in flows_of(version).items():
        assert verified(db, name, flow()) >= 1


def test_the_store_of_a_released_version_exports_what_its_files_hold(kept):
    version, db = kept

    for name in EVENTS[version]:
        lines = "".join(export_lines(db, [name])).encode()
        assert lines == Path(RECORDED, version, f"{name}.jsonl").read_bytes()
