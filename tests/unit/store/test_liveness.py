import os
import subprocess
import sys

import pytest
from support import event_logs

from handoff_console.runtime.events import SessionResumed, SessionSuspended
from handoff_console.runtime.process import this_process
from handoff_console.store import liveness
from handoff_console.store.errors import SessionUnknown
from handoff_console.store.liveness import RecordedProcess, alive_process, is_interrupted, state_now

HERE = this_process()


def test_this_process_is_not_gone():
    assert not RecordedProcess(*HERE).is_gone


def test_a_process_that_ended_is_gone():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert RecordedProcess(HERE.host, HERE.boot, process.pid, 0.0).is_gone


@pytest.mark.skipif(not HERE.started, reason="this system does not say when a process began")
def test_a_later_process_of_the_same_number_is_not_taken_for_it():
    assert RecordedProcess(HERE.host, HERE.boot, HERE.pid, HERE.started - 60).is_gone
    assert not RecordedProcess(HERE.host, HERE.boot, HERE.pid, HERE.started + 1).is_gone
    assert not RecordedProcess(HERE.host, HERE.boot, HERE.pid, 0.0).is_gone


@pytest.mark.skipif(not HERE.boot, reason="this system does not name its starts")
def test_a_process_of_an_earlier_start_of_the_machine_is_gone():
    assert RecordedProcess(HERE.host, "another", HERE.pid, HERE.started).is_gone


@pytest.mark.parametrize("pid", [0, -1, 99_999_999])
def test_of_another_machine_nobody_knows(pid):
    assert not RecordedProcess("elsewhere", "", pid, 0.0).is_gone


def test_no_signal_is_sent_where_it_would_end_the_process(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(liveness, "process_started", lambda pid: pytest.fail("it was asked"))

    assert not RecordedProcess(HERE.host, HERE.boot, 99_999_999, 0.0).is_gone


@pytest.mark.parametrize(
    ("outcome", "payload", "imported", "now"),
    [
        ("ok", None, True, "ok"),
        ("running", None, False, "running"),
        ("running", "not json", False, "running"),
        ("running", "[]", False, "running"),
        ("running", '{"pid": "x"}', False, "running"),
        ("running", None, True, "incomplete"),
        ("waiting", None, True, "incomplete"),
    ],
)
def test_an_outcome_without_a_process_stays_as_it_is(outcome, payload, imported, now):
    assert state_now(outcome, payload, imported=imported) == now


def test_who_waits_for_a_person_is_not_interrupted_by_the_end_of_its_process():
    gone = f'{{"host":"{HERE.host}","boot":"another","pid":1}}'

    assert state_now("waiting", gone) == "waiting"
    assert state_now("running", gone) == "interrupted"


def test_the_process_that_took_a_session_up_last_counts(sink):
    log = event_logs.at_work()
    log.emit(None, SessionResumed(host=HERE.host, boot=HERE.boot, pid=os.getpid()))
    event_logs.write(sink, "s-1", log)

    assert alive_process(sink.db, "s-1") == os.getpid()
    assert not is_interrupted(sink.db, "s-1")


def test_a_session_whose_process_is_gone_is_interrupted(sink):
    log = event_logs.at_work()
    log.emit(None, SessionResumed(host=HERE.host, boot=HERE.boot, pid=99_999_999))
    event_logs.write(sink, "s-1", log)

    assert is_interrupted(sink.db, "s-1")
    assert alive_process(sink.db, "s-1") is None


def test_a_suspended_session_needs_no_process_and_is_run_by_none(sink):
    log = event_logs.waiting()
    log.emit(None, SessionResumed(host=HERE.host, boot=HERE.boot, pid=99_999_999))
    event_logs.write(sink, "s-gone", log)
    log.emit(None, SessionSuspended(questions=("h1",)))
    event_logs.write(sink, "s-1", log)
    here = event_logs.waiting()
    here.emit(None, SessionResumed(host=HERE.host, boot=HERE.boot, pid=os.getpid()))
    here.emit(None, SessionSuspended(questions=("h1",)))
    event_logs.write(sink, "s-2", here)

    assert is_interrupted(sink.db, "s-gone")
    assert not is_interrupted(sink.db, "s-1")
    assert alive_process(sink.db, "s-2") is None


def test_a_closed_session_is_neither(sink):
    log = event_logs.failed()
    event_logs.write(sink, "s-1", log)

    assert not is_interrupted(sink.db, "s-1")
    assert alive_process(sink.db, "s-1") is None


def test_an_unknown_session_is_named(sink):
    for ask in (is_interrupted, alive_process):
        with pytest.raises(SessionUnknown):
            ask(sink.db, "nobody")
