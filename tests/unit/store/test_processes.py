"""Several processes on one file, and processes that die."""

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support import event_logs

from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.integrity import problems
from handoff_console.store.writer import open_sink

TESTS = Path(__file__).parents[2]

WRITES = f"""
import os, signal, sys
sys.path.insert(0, {str(TESTS)!r})
from support import event_logs
from handoff_console.store.writer import open_sink

sink = open_sink(sys.argv[1], create=True)
dies_after, sessions = int(sys.argv[2]), int(sys.argv[3])
commits = 0
for number in range(sessions):
    name = f"{{sys.argv[4]}}-{{number}}"
    for event in event_logs.keep(sink, name, event_logs.charged_twice(name)):
        sink.append(event)
        if event.kind in ("model_called", "session_closed"):
            commits += 1
            if commits == dies_after:
                sink.db.set_trace_callback(
                    lambda sql: os.kill(os.getpid(), signal.SIGKILL) if sql == "commit" else None
                )
            sink.commit()
            print(name, event.seq, flush=True)
sink.close()
"""


def start(
    path: Path, *, dies_after: int = 0, sessions: int = 1, name: str = "s"
) -> subprocess.Popen:
    command = [sys.executable, "-c", WRITES, str(path), str(dies_after), str(sessions), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_what_one_process_has_open_no_other_takes_from_under_it(path):
    with closing(open_store(path, create=True)) as db:
        db.execute("update meta set value = 7 where name = 'generation'")
        open_reader(path).close()  # as a screen does, beside a session that is open
        log = Path(f"{path}-wal").stat().st_ino

        start(path).communicate(timeout=60)

        assert Path(f"{path}-wal").stat().st_ino == log
        db.execute("update meta set value = 8 where name = 'generation'")
        assert list(reader.session_ids(db)) == ["s-0"]
    with closing(open_reader(path)) as db:
        assert reader.generation(db) == 8


def committed(said: str) -> dict[str, int]:
    """Return the last event of each session that its writer was told is safe."""
    return {name: int(seq) for name, seq in (line.split() for line in said.splitlines())}


@pytest.mark.parametrize("dies_after", [1, 2, 3, 4, 6])
def test_a_writer_that_is_killed_in_a_commit_leaves_what_it_committed_before(path, dies_after):
    process = start(path, dies_after=dies_after, sessions=3)
    said, _ = process.communicate(timeout=60)

    assert process.returncode == -signal.SIGKILL
    with closing(open_store(path, create=True)) as db:
        there = {name: reader.last_seq(db, name) for name in reader.session_ids(db)}
        assert there == committed(said)
        assert problems(db) == []


def test_a_writer_that_is_killed_at_any_moment_leaves_every_committed_event(path):
    for attempt in range(6):
        process = start(path, sessions=500, name=f"a{attempt}")
        lines = [process.stdout.readline() for _ in range(5 + 37 * attempt)]
        process.kill()
        rest, _ = process.communicate(timeout=60)
        told = committed("".join(lines) + rest.rpartition("\n")[0])

        with closing(open_reader(path)) as db:
            for name, seq in told.items():
                assert reader.last_seq(db, name) >= seq
                assert len(reader.load_events(db, name)) == reader.last_seq(db, name)

    open_sink(path).close()
    with closing(open_store(path)) as db:
        closed = "select count(*) from events join kinds using (kind) where name = 'session_closed'"
        lines_written = db.execute("select count(*) from session_summary").fetchone()
        assert db.execute(closed).fetchone() == lines_written
        assert problems(db) == []


def test_two_readers_and_two_writers_work_on_one_file(path):
    open_store(path, create=True).close()
    writers = [start(path, sessions=40, name=name) for name in ("a", "b")]
    seen = 0
    with closing(open_reader(path)) as one, closing(open_reader(path)) as two:
        while any(writer.poll() is None for writer in writers):
            for db in (one, two):
                for name in list(reader.session_ids(db))[-2:]:
                    seen += len(reader.load_events(db, name))
            for writer in writers:
                writer.stdout.readline()
        outcomes = [writer.wait(timeout=60) for writer in writers]
        for writer in writers:
            writer.stdout.close()

    with closing(open_store(path)) as db:
        assert outcomes == [0, 0]
        assert seen > 0
        assert db.execute("select count(*) from session_summary").fetchone() == (80,)
        assert db.execute("select count(*) from events").fetchone() == (80 * 19,)
        assert problems(db) == []


def test_a_process_that_ends_without_closing_its_sink_leaves_its_sessions(path):
    code = WRITES.replace("sink.close()", "os._exit(7)")
    command = [sys.executable, "-c", code, str(path), "0", "2", "s"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)

    assert done.returncode == 7
    with closing(open_reader(path)) as db:
        assert [reader.last_seq(db, f"s-{number}") for number in range(2)] == [19, 19]


def test_a_reader_sees_the_store_as_it_was_while_it_reads(path):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.at_work())
        with closing(open_reader(path)) as db:
            db.execute("begin")
            before = reader.last_seq(db, "s-1")
            event_logs.write(sink, "s-2", event_logs.failed())
            assert list(reader.session_ids(db)) == ["s-1"]
            assert reader.last_seq(db, "s-1") == before
            db.execute("rollback")
            assert list(reader.session_ids(db)) == ["s-1", "s-2"]
