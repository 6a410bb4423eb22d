import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from support import event_logs

from handoff_console.runtime.canonical import canonical, digest
from handoff_console.runtime.events import Event, Opaque
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.errors import (
    BodyConflict,
    SessionExists,
    SinkUnusable,
    StoreBusy,
    WriteFailed,
)
from handoff_console.store.line_queue import LineQueue
from handoff_console.store.maintenance import delete_sessions
from handoff_console.store.writer import open_sink


def events_of(db, session_id="s-1"):
    return reader.load_events(db, session_id)


def lines(db):
    return db.execute("select count(*) from session_summary").fetchone()[0]


def words_found(db, text):
    query = "select rowid from session_words where session_words match ? order by rowid"
    return [row[0] for row in db.execute(query, (text,))]


def test_a_session_is_read_back_as_it_was_recorded(sink, reading):
    recorded = event_logs.write(sink, "s-1", event_logs.charged_twice())

    assert events_of(reading) == recorded


def test_nothing_is_in_the_store_before_a_commit(sink, reading):
    for event in event_logs.keep(sink, "s-1", event_logs.charged_twice()):
        sink.append(event)
    before = reading.execute("select count(*) from session_keys").fetchone()
    sink.commit()

    assert before == (0,)
    assert reader.last_seq(reading, "s-1") == 19


def test_a_body_that_many_sessions_name_is_kept_once(sink, reading):
    for number in range(3):
        event_logs.write(sink, f"s-{number}", event_logs.charged_twice())
    bodies = reading.execute("select count(*), count(distinct content) from bodies").fetchone()

    assert bodies[0] == bodies[1]
    flow = events_of(reading, "s-0")[0].payload.flow_digest
    assert {events_of(reading, f"s-{n}")[0].payload.flow_digest for n in range(3)} == {flow}
    assert reader.body(reading, flow) == {"name": "support"}


def test_a_body_that_another_process_kept_is_found(path):
    for number in range(2):
        with open_sink(path, create=True) as sink:
            event_logs.write(sink, f"s-{number}", event_logs.charged_twice())

    with closing(open_reader(path)) as db:
        assert db.execute("select count(*) - count(distinct content) from bodies").fetchone() == (
            0,
        )
        assert reader.bodies_of(db, 1) == reader.bodies_of(db, 2)


def test_several_sessions_may_be_recorded_at_once(sink, reading):
    both = [event_logs.keep(sink, name, event_logs.charged_twice(name)) for name in ("s-1", "s-2")]
    for pair in zip(*both, strict=True):
        for event in pair:
            sink.append(event)
        sink.commit()

    assert [events_of(reading, "s-1"), events_of(reading, "s-2")] == both


def test_a_closed_session_has_its_line_findings_and_words(sink, reading):
    event_logs.write(sink, "s-1", event_logs.failed("Where is parcel 77?"))

    row = reading.execute(
        "select outcome, severity, flow, preview, agents, closed_seq from session_summary"
    ).fetchone()
    codes = reading.execute("select code, severity from findings").fetchall()
    assert row == ("error", 0, "support", "Where is parcel 77?", '["parcels"]', 9)
    assert codes == [("model_failed", "error")]
    assert words_found(reading, "parcel") == [1]


def test_a_session_that_is_not_closed_has_no_line(sink, reading):
    event_logs.write(sink, "s-1", event_logs.at_work())

    assert lines(reading) == 0


def test_lines_of_a_burst_of_sessions_are_written_together(sink, reading):
    event_logs.write(sink, "s-1", event_logs.charged_twice())
    event_logs.write(sink, "s-2", event_logs.charged_twice())
    event_logs.write(sink, "s-3", event_logs.charged_twice())
    during = lines(reading)
    sink.close()

    assert during == 1
    assert lines(reading) == 3
    assert words_found(reading, "charged") == [1, 2, 3]


def test_what_a_killed_process_left_without_a_line_gets_one(path):
    sink = open_sink(path, create=True)
    for name in ("s-1", "s-2"):
        event_logs.write(sink, name, event_logs.charged_twice())
    sink.db.close()  # as if it had died: the queue is gone
    with closing(open_reader(path)) as db:
        assert lines(db) == 1

    open_sink(path).close()

    with closing(open_reader(path)) as db:
        assert lines(db) == 2
        assert words_found(db, "charged") == [1, 2]


def test_a_line_that_somebody_else_wrote_is_not_written_twice(path):
    first = open_sink(path, create=True)
    for name in ("s-1", "s-2"):
        event_logs.write(first, name, event_logs.charged_twice())
    open_sink(path).close()
    first.close()

    with closing(open_reader(path)) as db:
        assert lines(db) == 2
        assert words_found(db, "charged") == [1, 2]


def test_a_session_that_goes_on_after_its_end_is_open_again(path):
    log = event_logs.charged_twice("Why was I charged twice?")
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", log)
    log.user("And what about the parcel?")
    root = log.root("parcels")
    log.step(root).close(root, "not_found")
    with open_sink(path) as sink:
        for event in event_logs.keep(sink, "s-1", log)[19:]:
            sink.append(event)
        sink.commit()
        with closing(open_reader(path)) as db:
            between = lines(db), words_found(db, "charged")
        sink.append(event_logs.keep(sink, "s-1", log.end("not_found"))[-1])

    with closing(open_reader(path)) as db:
        assert between == (0, [])
        assert lines(db) == 1
        assert words_found(db, "charged parcel") == [1]
        assert db.execute("select turns, outcome from session_summary").fetchone() == (
            2,
            "not_found",
        )
        assert {e.request_id for e in events_of(db)} == {None, "s-1-r1", "s-1-r2"}


def test_a_session_longer_than_what_is_kept_in_memory_gets_the_same_line(path, monkeypatch):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.failed())
    monkeypatch.setattr("handoff_console.store.open_session.EVENTS_KEPT", 3)
    monkeypatch.setattr("handoff_console.store.open_session.BYTES_KEPT", 10)
    monkeypatch.setattr("handoff_console.store.open_session.DIGESTS_REMEMBERED", 2)
    with open_sink(path) as sink:
        event_logs.write(sink, "s-2", event_logs.failed())

    with closing(open_reader(path)) as db:
        rows = db.execute("select * from session_summary").fetchall()
        assert rows[0][1:] == rows[1][1:]
        assert words_found(db, "parcel") == [1, 2]
        assert reader.bodies_of(db, 1) == reader.bodies_of(db, 2)


def test_an_id_that_is_taken_is_refused_and_the_next_session_is_recorded(sink, reading):
    event_logs.write(sink, "s-1", event_logs.charged_twice())

    with pytest.raises(SessionExists, match="'s-1' already, with other content; delete it first"):
        event_logs.write(sink, "s-1", event_logs.failed())
    event_logs.write(sink, "s-2", event_logs.failed())

    assert len(events_of(reading)) == 19
    assert reader.last_seq(reading, "s-2") == 9


@pytest.mark.parametrize("name", ["", "a\0b", "a\ud800"])
def test_an_id_that_no_store_can_hold_is_refused(sink, name):
    log = event_logs.failed()

    with pytest.raises(WriteFailed, match=r"cannot be stored; use letters, digits and `-`\."):
        event_logs.write(sink, name, log)


def test_events_of_a_kind_that_is_not_known_are_kept_as_they_are(sink, reading):
    log = event_logs.at_work()
    unknown = Opaque("moon_risen", 3, {"phase": "full", "of": [1, 2]})
    log.emit("h1", unknown)
    recorded = event_logs.write(sink, "s-1", log)

    assert events_of(reading)[-1] == recorded[-1]
    assert events_of(reading)[-1].payload == unknown


def test_text_that_is_no_valid_unicode_is_recorded_and_found(sink, reading):
    log = event_logs.failed("a\0b \ud800 needle")
    recorded = event_logs.write(sink, "s-1", log)

    assert events_of(reading) == recorded
    assert reading.execute("select preview from session_summary").fetchone() == (
        "a\N{REPLACEMENT CHARACTER}b ? needle",
    )
    assert words_found(reading, "needle") == [1]


def test_a_full_disk_writes_nothing_and_loses_nothing(sink, reading):
    event_logs.write(sink, "s-1", event_logs.failed())
    pages = sink.db.execute("pragma page_count").fetchone()[0]
    sink.db.execute(f"pragma max_page_count = {pages}")
    log = event_logs.charged_twice("x" * 100_000)
    with pytest.raises(WriteFailed) as raised:
        event_logs.write(sink, "s-2", log)
    during = reading.execute("select count(*) from session_keys").fetchone()
    sink.db.execute("pragma max_page_count = 1000000")
    sink.commit()

    assert str(raised.value) == (
        "The disk is full, and nothing was written; make room and try again, or record into "
        "another store."
    )
    assert during == (1,)
    assert reader.last_seq(reading, "s-2") == 19


def test_a_store_that_is_locked_for_too_long_is_an_error_of_one_sentence(sink, path):
    sink.db.execute("pragma busy_timeout = 1")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(WriteFailed, match="was locked by another process"):
            event_logs.write(sink, "s-1", event_logs.failed())
    sink.commit()

    assert reader.last_seq(sink.db, "s-1") == 9


def test_a_session_that_could_not_begin_leaves_nothing_behind_when_the_store_is_free_again(
    path, db
):
    sink = open_sink(path)
    sink.db.execute("pragma busy_timeout = 1")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(StoreBusy):
            event_logs.write(sink, "s-1", event_logs.at_work())
    sink.close()

    assert db.execute("select count(*) from session_keys").fetchone() == (0,)


def test_an_event_number_that_is_there_already_is_refused_as_a_whole(sink, reading):
    recorded = event_logs.write(sink, "s-1", event_logs.at_work())
    sink.append(recorded[-1]._replace(seq=len(recorded) + 1))
    sink.append(recorded[-1])

    with pytest.raises(WriteFailed, match="UNIQUE"):
        sink.commit()
    sink.discard("s-1")

    assert events_of(reading) == recorded


def test_a_synced_commit_is_on_the_disk_before_it_returns(sink):
    for event in event_logs.keep(sink, "s-1", event_logs.at_work()):
        sink.append(event)
    said: list[str] = []
    sink.db.set_trace_callback(said.append)
    sink.commit(synced=True)
    sink.db.set_trace_callback(None)

    assert said[0] == "pragma synchronous = full"
    assert said[1] == "begin immediate"
    assert said[-2:] == ["commit", "pragma synchronous = normal"]
    assert sink.db.execute("pragma synchronous").fetchone() == (1,)


def test_a_synced_commit_of_nothing_new_syncs_what_was_committed_before(sink):
    event_logs.write(sink, "s-1", event_logs.at_work())
    said: list[str] = []
    sink.db.set_trace_callback(said.append)
    sink.commit(synced=True)
    first = list(said)
    sink.commit(synced=True)

    assert first[0] == "pragma synchronous = full"
    assert "update meta set value = value where name = 'generation'" in first
    assert said == first


def test_a_commit_without_anything_new_costs_nothing(sink):
    said: list[str] = []
    sink.db.set_trace_callback(said.append)
    sink.commit()

    assert said == []


def test_a_body_under_the_digest_of_another_one_is_not_taken_for_it(path):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.charged_twice())
    with open_sink(path) as sink:
        forged = digest(canonical({"name": "support"}), sink.digest_key)
        sink.keep(forged, canonical({"name": "other"}), "s-2")
        with pytest.raises(BodyConflict, match=f"under the digest {forged}"):
            sink.commit()
        sink.discard("s-2")
        event_logs.write(sink, "s-3", event_logs.charged_twice())

    with closing(open_reader(path)) as db:
        assert list(reader.session_ids(db)) == ["s-1", "s-3"]
        assert reader.body(db, forged) == {"name": "support"}


def test_a_session_that_was_deleted_while_it_ran_is_not_recorded_into_another_one(path):
    log = event_logs.at_work()
    with open_sink(path, create=True) as first:
        events = event_logs.write(first, "s-1", log)
        with open_sink(path) as other:
            delete_sessions(other.db, ["s-1"])
            event_logs.write(other, "s-2", event_logs.charged_twice())
        first.append(events[-1]._replace(seq=events[-1].seq + 1))
        with pytest.raises(WriteFailed, match="Session 's-1' was deleted while it ran"):
            first.commit()
        first.discard("s-1")

    with closing(open_reader(path)) as db:
        assert list(reader.session_ids(db)) == ["s-2"]
        assert db.execute("select distinct session from events").fetchall() == [(2,)]


def test_a_body_that_was_deleted_meanwhile_is_kept_anew(path):
    with open_sink(path, create=True) as first:
        event_logs.write(first, "s-1", event_logs.charged_twice())
        with open_sink(path) as other:
            delete_sessions(other.db, ["s-1"])
        recorded = event_logs.write(first, "s-2", event_logs.charged_twice())

    with closing(open_reader(path)) as db:
        assert events_of(db, "s-2") == recorded
        assert reader.body(db, recorded[0].payload.flow_digest) == {"name": "support"}


def test_a_line_of_a_batch_is_linked_to_its_session_with_its_first_events(sink, reading):
    sink.db.execute("insert into batches values (1, 'in.jsonl', 'f', 0, null)")
    sink.begin_line(1, 7, "s-1")
    before = reading.execute("select count(*) from batch_items").fetchone()
    event_logs.write(sink, "s-1", event_logs.at_work())

    assert before == (0,)
    assert reading.execute("select batch, line, session from batch_items").fetchall() == [(1, 7, 1)]


def test_times_are_kept_to_the_microsecond(sink, reading):
    log = event_logs.failed()
    odd = 1_767_603_600.123457
    log.events[:] = [e._replace(at=odd, elapsed_seconds=0.000001) for e in log.events]
    event_logs.write(sink, "s-1", log)
    first: Event = events_of(reading)[0]

    assert (first.at, first.elapsed_seconds) == (odd, 0.000001)


def test_the_queue_is_written_at_once_when_it_holds_many_events(sink, reading, monkeypatch):
    monkeypatch.setattr("handoff_console.store.line_queue.QUEUE_EVENTS", 30)
    for number in range(3):
        event_logs.write(sink, f"s-{number}", event_logs.charged_twice())

    assert lines(reading) == 3


def test_a_sink_that_was_closed_leaves_one_file(path):
    sink = open_sink(path, create=True)
    event_logs.write(sink, "s-1", event_logs.charged_twice())
    sink.close()

    assert [name.name for name in path.parent.iterdir()] == ["handoff.db"]


def test_a_sink_is_used_in_the_thread_that_opened_it_and_says_so_elsewhere(sink, reading):
    log = event_logs.charged_twice()
    *recorded, last = event_logs.write(sink, "s-1", log)
    said = (
        r"This sink was used in the thread 'elsewhere_0', and takes events only in the one that "
        r"opened it, 'MainThread'; open one where it is used: `with open_sink\(path\) as sink:`\. "
        r"Several may record into one store\."
    )

    with ThreadPoolExecutor(1, thread_name_prefix="elsewhere") as elsewhere:
        for use in (
            lambda: event_logs.write(sink, "s-2", log),
            lambda: sink.append(last),  # of a session that the sink knows
            sink.commit,
            sink.close,
        ):
            with pytest.raises(SinkUnusable, match=said):
                elsewhere.submit(use).result()

    event_logs.write(sink, "s-3", log)
    assert list(reader.session_ids(reading)) == ["s-1", "s-3"]
    assert events_of(reading) == [*recorded, last]


def test_a_sink_that_was_closed_takes_nothing_and_says_so(path):
    sink = open_sink(path, create=True)
    *_, last = event_logs.write(sink, "s-1", event_logs.failed())
    sink.close()
    sink.close()

    for use in (
        lambda: event_logs.write(sink, "s-2", event_logs.failed()),
        lambda: sink.append(last),
        sink.commit,
    ):
        with pytest.raises(SinkUnusable, match=r"This sink is closed; open one where it is used:"):
            use()


def test_an_empty_queue_writes_nothing(sink):
    said: list[str] = []
    sink.db.set_trace_callback(said.append)
    LineQueue(sink.db, lambda events, body: None).write()

    assert said == []
