"""A recorded session as the runtime takes it."""

import io
from contextlib import closing

import pytest
from support import event_logs

from handoff_console.runtime.canonical import canonical, digest
from handoff_console.store import reader
from handoff_console.store.db import open_store
from handoff_console.store.errors import SessionUnknown, StoreDamaged
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import import_sessions
from handoff_console.store.recordings import is_imported, kept_digests, recording_of


@pytest.fixture
def elsewhere(sink, tmp_path):
    """Another store, with another key, into which session s-1 was imported."""
    event_logs.write(sink, "s-1", event_logs.charged_twice())
    lines = "".join(export_lines(sink.db, ["s-1"])).encode()
    with closing(open_store(tmp_path / "other.db", create=True)) as other:
        import_sessions(other, io.BytesIO(lines), source="one.jsonl")
        yield other


def named(recording) -> dict[str, list[str]]:
    """The digests that events name, by kind."""
    found: dict[str, list[str]] = {}
    for event in recording.events:
        for field in event.payload.digests:
            value = getattr(event.payload, field)
            if isinstance(value, str):
                found.setdefault(event.kind, []).append(value)
    return found


def test_of_a_session_recorded_here_all_is_as_it_was_recorded(sink):
    events = event_logs.write(sink, "s-1", event_logs.charged_twice())
    recording = recording_of(sink.db, "s-1")

    assert (recording.session_id, recording.events) == ("s-1", events)
    assert not is_imported(sink.db, "s-1")
    for digests in named(recording).values():
        for name in digests:
            if reader.body_text(sink.db, name) is not None:
                assert digest(canonical(recording.body(name)), sink.digest_key) == name


def test_an_imported_session_has_the_digests_that_this_store_would_make(sink, elsewhere):
    before = recording_of(sink.db, "s-1")
    after = recording_of(elsewhere, "s-1")
    key = reader.digest_key(elsewhere)

    assert is_imported(elsewhere, "s-1")
    assert named(before).keys() == named(after).keys()
    for kind, digests in named(after).items():
        for old, new in zip(named(before)[kind], digests, strict=True):
            if reader.body_text(sink.db, old) is None:
                continue  # a hash of something that is not kept
            assert old != new
            assert digest(canonical(after.body(new)), key) == new
            if kind == "model_called":  # a context names other bodies, by their new digests
                node = after.body(new)
                assert [after.body(m) for m in node["messages"]] == [
                    before.body(m) for m in before.body(old)["messages"]
                ]
            else:
                assert after.body(new) == before.body(old)


def test_a_body_that_is_missing_is_damage_when_it_is_asked_for(sink):
    event_logs.write(sink, "s-1", event_logs.charged_twice())
    recording = recording_of(sink.db, "s-1")
    message = next(
        e.payload.message for e in recording.events if e.turn and e.kind.startswith("user")
    )
    sink.db.execute("delete from bodies where digest = ?", (bytes.fromhex(message),))

    with pytest.raises(StoreDamaged, match="'s-1' said is not all there"):
        recording.body(message)


def test_for_one_handoff_only_what_it_needs_is_read(sink):
    event_logs.write(sink, "s-1", event_logs.charged_twice())
    whole, one = recording_of(sink.db, "s-1"), recording_of(sink.db, "s-1", "h1")
    last = recording_of(sink.db, "s-1", "h2")

    around = {"session_started", "user_message_received"}
    assert one.events == [e for e in whole.events if e.path or e.kind in around]
    assert {e.kind for e in last.events if e.path == "t1"} <= {e.kind for e in whole.events}
    assert [e for e in last.events if e.handoff_id == "h2"] == [
        e for e in whole.events if e.handoff_id == "h2"
    ]


def test_a_handoff_that_is_not_there_leaves_the_whole_session(sink):
    event_logs.write(sink, "s-1", event_logs.charged_twice())

    assert len(recording_of(sink.db, "s-1", "h99").events) == 19


def test_what_a_session_said_is_known_by_its_digests(sink):
    event_logs.write(sink, "s-1", event_logs.charged_twice())
    event_logs.write(sink, "s-2", event_logs.failed())
    digests = kept_digests(sink.db, "s-1")

    assert digests
    assert all(reader.body_text(sink.db, name) is not None for name in digests)
    stored = sink.db.execute("select count(*) from bodies").fetchone()[0]
    assert len(digests | kept_digests(sink.db, "s-2")) == stored


def test_an_unknown_session_is_named(sink):
    for ask in (recording_of, kept_digests, is_imported):
        with pytest.raises(SessionUnknown):
            ask(sink.db, "nobody")
