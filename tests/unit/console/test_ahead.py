"""A session is read while the browser still loads its page."""

import asyncio
import threading

import pytest
from support import recorded

from handoff_console.console import ahead, queries


def asked(path="/session", query=b"session=s-failed", method="GET", kind="http"):
    return {"type": kind, "method": method, "path": path, "query_string": query}


@pytest.fixture
def store(tmp_path, monkeypatch):
    path = recorded.record(tmp_path / "a.db", [("s-failed", recorded.double_charge())])
    monkeypatch.setenv("HANDOFF_DB", str(path))
    queries.record.clear()
    return path


@pytest.fixture
def reads(monkeypatch):
    """Return the sessions whose events were read, in order."""
    found = []
    load = queries.reader.load_events
    monkeypatch.setattr(
        queries.reader,
        "load_events",
        lambda db, session_id, **more: found.append(session_id) or load(db, session_id, **more),
    )
    return found


def test_a_request_for_a_sessions_page_begins_to_read_it_and_is_passed_on(monkeypatch):
    passed, read = [], threading.Event()
    monkeypatch.setattr(ahead, "read", lambda session_id: session_id == "s-failed" and read.set())

    async def page(scope, receive, send):
        passed.append(scope["path"])

    asyncio.run(ahead.ReadsAhead(page)(asked(), None, None))

    assert passed == ["/session"]
    assert read.wait(20)


@pytest.mark.parametrize(
    "scope",
    [
        asked(path="/"),
        asked(path="/_stcore/stream"),
        asked(query=b""),
        asked(query=b"session="),
        asked(query=b"session=a&session=b"),
        asked(query=b"\xff%ff=%"),
        asked(method="POST"),
        asked(kind="websocket"),
        {"type": "lifespan"},
    ],
)
def test_any_other_request_reads_nothing(scope):
    assert ahead.session_of(scope) == ""


def test_the_page_finds_what_was_read_ahead(store, reads):
    ahead.read("s-failed")
    found = queries.record(queries.version("s-failed"))

    assert found.header.outcome == "ok"
    assert reads == ["s-failed"]


def test_while_one_session_is_read_no_other_one_is(store, reads):
    with ahead._one:
        ahead.read("s-failed")

    assert reads == []


@pytest.mark.parametrize("session_id", ["unknown", "' OR 1=1", "\x00"])
def test_a_session_that_is_not_there_is_left_to_the_page(store, reads, session_id):
    ahead.read(session_id)
    assert reads == []


def test_whatever_a_record_does_to_its_reader_is_left_to_the_page(store, monkeypatch):
    monkeypatch.setattr(queries, "record", lambda found: {}[found])
    ahead.read("s-failed")

    assert not ahead._one.locked()


def test_a_store_that_cannot_be_read_is_left_to_the_page(store):
    store.write_bytes(b"not a database" * 100)
    ahead.read("s-failed")

    assert not ahead._one.locked()
