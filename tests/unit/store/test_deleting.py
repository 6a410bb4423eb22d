import dataclasses
from contextlib import closing
from pathlib import Path

import pytest
from support import event_logs

from handoff_console.runtime.process import this_process
from handoff_console.runtime.redaction import Redaction
from handoff_console.store import queries, reader
from handoff_console.store.analysis.findings import RULES_VERSION
from handoff_console.store.commands import append_command, open_commands
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.effects import StoreLedger, effects_of
from handoff_console.store.errors import SessionRunning, SessionUnknown
from handoff_console.store.integrity import problems
from handoff_console.store.leases import holder
from handoff_console.store.maintenance import delete_sessions, outdated_lines, rebuild
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.writer import open_sink

MARKER = "zanzibar"


@pytest.fixture
def store(path):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-secret", event_logs.charged_twice(f"Ask {MARKER} about my bill"))
        event_logs.write(sink, "s-other", event_logs.charged_twice())
        event_logs.write(sink, "s-failed", event_logs.failed(f"{MARKER} failed"))
    with closing(open_store(path)) as db:
        yield db


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob("handoff.db*"))


def test_nothing_that_was_said_only_there_is_left_in_the_file(store, path):
    before = bytes_of(path)

    deleted = delete_sessions(store, ["s-secret", "s-failed"])

    assert MARKER.encode() in before
    assert MARKER.encode() not in bytes_of(path)
    assert (deleted.sessions, deleted.is_wiped) == (2, True)
    assert list(reader.session_ids(store)) == ["s-other"]
    assert problems(store) == []


def test_what_others_said_as_well_stays(store):
    events = reader.load_events(store, "s-other")
    delete_sessions(store, ["s-secret"])

    assert reader.load_events(store, "s-other") == events
    assert reader.body(store, events[0].payload.flow_digest) == {"name": "support"}
    assert queries.session_count(store, SessionFilter(text="charged")) == 1
    assert queries.session_count(store, SessionFilter(text=MARKER)) == 1


def test_a_file_gives_its_space_back(path):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.charged_twice("x" * 1_000_000))
    large = path.stat().st_size
    with closing(open_store(path)) as db:
        delete_sessions(db, ["s-1"])

    assert large > 1_000_000
    assert path.stat().st_size < 200_000


def test_copies_in_the_log_are_reported_while_somebody_reads(store, path):
    store.execute("pragma busy_timeout = 1")
    with closing(open_reader(path)) as other:
        other.execute("begin")
        assert reader.last_seq(other, "s-secret") == 19
        deleted = delete_sessions(store, ["s-secret"])
        assert reader.last_seq(other, "s-secret") == 19

    assert not deleted.is_wiped
    assert list(reader.session_ids(store)) == ["s-other", "s-failed"]


def test_everything_that_hangs_on_a_session_goes_with_it(store):
    store.execute("insert into batches values (1, 'in.jsonl', 'f', 0, null)")
    store.execute("insert into batch_items values (1, 7, 1, '')")
    append_command(store, "s-secret", "approve", {"who": MARKER})
    StoreLedger(store, Redaction()).begin("k1", "s-secret")
    store.execute("insert into leases values ('s-secret', 't', 'elsewhere', 'b', 7, 0, 0)")
    delete_sessions(store, ["s-secret", "s-failed"])

    assert store.execute("select * from batch_items").fetchall() == [(1, 7, None, "")]
    assert open_commands(store, "s-secret") == []
    assert effects_of(store, "s-secret") == []
    assert holder(store, "s-secret") is None
    assert store.execute("select count(*) from findings").fetchone() == (0,)
    assert store.execute("select count(*) from session_summary").fetchone() == (1,)


def test_caches_of_before_are_stale(store):
    before = reader.generation(store)
    delete_sessions(store, ["s-secret"])

    assert (reader.generation(store), reader.last_deleted(store)) == (before + 1, 1)


def test_the_number_of_a_deleted_session_is_not_given_out_again(store, path):
    delete_sessions(store, ["s-failed", "s-other"])
    with open_sink(path) as sink:
        event_logs.write(sink, "s-new", event_logs.failed())

    assert reader.session_key(store, "s-new") == 4


def test_deleting_nothing_changes_nothing(store):
    assert delete_sessions(store, []) == (0, 0, True)
    assert reader.generation(store) == 0


def test_an_unknown_id_deletes_nothing(store):
    with pytest.raises(SessionUnknown):
        delete_sessions(store, ["s-other", "nobody"])

    assert len(list(reader.session_ids(store))) == 3


def test_a_session_that_runs_is_not_deleted(path):
    host, boot, pid, began = this_process()
    log = event_logs.at_work()
    first = log.events[0]
    payload = dataclasses.replace(
        first.payload, host=host, boot=boot, pid=pid, process_started=began
    )
    log.events[0] = first._replace(payload=payload)
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", log)

        with pytest.raises(SessionRunning) as raised:
            delete_sessions(sink.db, ["s-1"])
        assert reader.last_seq(sink.db, "s-1") == len(log.events)

    assert str(raised.value) == (
        f"Session 's-1' is running in process {pid}; wait for its end, or end the process, before "
        "you delete it."
    )


def test_a_damaged_session_can_be_deleted(store):
    store.execute("update events set payload = '{' where seq = 3 and session = 1")
    delete_sessions(store, ["s-secret"])

    assert problems(store) == []
    assert queries.session_count(store, SessionFilter(text="charged")) == 1


def derived(db):
    tables = ("session_summary", "findings", "session_words_data")
    return [db.execute(f"select * from {table}").fetchall() for table in tables[:2]]


def test_what_is_derived_can_be_made_again(store):
    before = derived(store)
    store.execute("update session_summary set outcome = 'wrong', rules_version = 0")
    store.execute("delete from findings")
    store.execute("insert into session_words (session_words) values ('delete-all')")
    outdated = outdated_lines(store, RULES_VERSION)
    told: list[tuple[int, int]] = []

    lines = rebuild(store, progress=lambda done, of: told.append((done, of)))

    assert derived(store) == before
    assert queries.session_count(store, SessionFilter(text=MARKER)) == 2
    assert (lines, outdated, outdated_lines(store, RULES_VERSION)) == (3, 3, 0)
    assert told == [(3, 3)]
    assert reader.generation(store) == 1


def test_a_rebuild_goes_in_steps(store, monkeypatch):
    monkeypatch.setattr("handoff_console.store.maintenance.SESSIONS_AT_ONCE", 2)
    told: list[tuple[int, int]] = []

    assert rebuild(store, progress=lambda done, of: told.append((done, of))) == 3
    assert told == [(2, 3), (3, 3)]


def test_an_open_session_gets_no_line(path):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.at_work())
        assert rebuild(sink.db) == 0
