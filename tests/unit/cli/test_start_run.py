"""Starting a session in the background, as the live screen does."""

import time
from contextlib import closing

import pytest
from support.threads import joined

from handoff_console.console.commands.conversations import start_run
from handoff_console.console.commands.errors import FlowNotFound
from handoff_console.console.commands.running import run_once
from handoff_console.runtime import Agent, Flow, say
from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.errors import StoreMissing


@pytest.fixture
def store(tmp_path):
    """Make an empty store."""
    path = tmp_path / "live.db"
    open_store(path, create=True).close()
    return path


def wait_for(session_id):
    """Wait until the thread of a session has ended."""
    joined(f"session-{session_id}")


def kinds(store, session_id):
    with closing(open_reader(store)) as db:
        return [event.kind for event in reader.load_events(db, session_id)]


def test_a_session_can_be_read_as_soon_as_its_id_is_known(store):
    session_id = start_run(store, "frontdesk", "I need a refund", speed=0)

    assert kinds(store, session_id)[:2] == ["session_started", "user_message_received"]
    wait_for(session_id)
    assert kinds(store, session_id)[-1] == "session_closed"


def test_a_sample_takes_the_time_that_a_language_model_would(store):
    began = time.monotonic()
    session_id = start_run(store, "frontdesk", "I need a refund", speed=20)
    assert "session_closed" not in kinds(store, session_id)
    wait_for(session_id)

    assert time.monotonic() - began > 0.03


def test_two_sessions_run_side_by_side_in_one_store(store):
    ids = [start_run(store, "support", "Why was I charged twice?", speed=20) for _ in range(2)]
    for session_id in ids:
        wait_for(session_id)

    assert [kinds(store, session_id)[-1] for session_id in ids] == ["session_closed"] * 2


def test_what_cannot_be_started_says_so_at_once(store, tmp_path):
    with pytest.raises(FlowNotFound, match="There is no flow 'nothing'"):
        start_run(store, "nothing", "Hello")
    with pytest.raises(StoreMissing):
        start_run(tmp_path / "missing.db", "frontdesk", "Hello")


def test_metadata_and_source_are_recorded_with_a_session(tmp_path):
    flow = Flow("mine", [Agent("a", model=lambda call: say("hello"))])

    done = run_once(tmp_path / "one.db", flow, "Hi", source="mine.py:flow", metadata={"id": "7"})

    with closing(open_reader(tmp_path / "one.db")) as db:
        started = reader.load_events(db, done.session_id, until_seq=1)[0].payload
    assert (started.flow_source, started.metadata, started.origin) == (
        "mine.py:flow", {"id": "7"}, "run",
    )  # fmt: skip
