"""Going on with a session, and running a handoff again, in the background of the console."""

from contextlib import closing
from dataclasses import replace

import pytest
from support.mailboxes import mailbox, sent
from support.threads import joined

from handoff_console.console.commands.background import (
    start_bisection,
    start_rerun,
    start_resume,
)
from handoff_console.console.commands.bisecting import Bisection, find_cause, plan_bisection
from handoff_console.console.commands.errors import CannotGoOn
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.jobs import Job, Stopped, job_of
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.resuming import Resumption
from handoff_console.console.commands.running import run_once
from handoff_console.console.commands.saying import decide
from handoff_console.runtime import RequestError
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.errors import SessionHeld
from handoff_console.store.leases import leased
from handoff_console.store.lineage import attempt_rows
from handoff_console.store.writer import open_sink


@pytest.fixture
def flow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    return load_flow("mail.py:flow").flow


@pytest.fixture
def store(tmp_path):
    return tmp_path / "handoff.db"


def kinds(store, session_id):
    with closing(open_reader(store)) as db:
        return [event.kind for event in reader.load_events(db, session_id)]


def test_a_session_goes_on_in_a_thread(flow, store, tmp_path):
    session_id = run_once(store, flow, "Write to bob.").session_id
    decide(store, session_id, approved=True)

    start_resume(store, session_id, Resumption(flow=flow))
    joined(f"session-{session_id}")

    assert sent(tmp_path) == ["bob: Hello"]
    assert kinds(store, session_id)[-1] == "session_closed"


def test_what_cannot_go_on_is_said_at_once(flow, store, tmp_path):
    session_id = run_once(store, flow, "Write to bob.").session_id

    with pytest.raises(CannotGoOn, match="still waits for a person"):
        start_resume(store, session_id, Resumption(flow=flow))
    with (
        closing(open_sink(store)) as sink,
        leased(sink.db, session_id),
        pytest.raises(SessionHeld, match="goes on with session"),
    ):
        start_resume(store, session_id, Resumption(flow=flow))
    assert sent(tmp_path) == []


def test_a_handoff_is_run_again_in_a_thread_as_often_as_asked(flow, store):
    session_id = run_once(store, flow, "note it").session_id
    told = []
    order = RerunOrder(
        handoff_id="h1", mode=Mode.WHAT_IF, times=3, named="mail.py:flow",
        tell=lambda done, total: told.append((done, total)),
    )  # fmt: skip

    first = start_rerun(store, session_id, order)
    joined(f"rerun-{session_id}-h1")

    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    with closing(open_reader(store)) as db:
        runs = [row["session_id"] for row in attempt_rows(db, session_id)]
    assert runs[0] == session_id
    assert (len(runs), first in runs) == (4, True)
    job = job_of(first)
    assert (job.runs, job.done, job.is_over, job.problem) == (runs[1:], 3, True, "")


def test_runs_end_after_the_one_that_is_under_way_when_somebody_stops_them(flow, store):
    session_id = run_once(store, flow, "note it").session_id

    def stop_at_the_second(done: int, _: int) -> None:
        if done == 1:
            job_of(attempt_ids(store, session_id)[1]).stop()

    order = RerunOrder(
        handoff_id="h1", mode=Mode.WHAT_IF, times=5, named="mail.py:flow", tell=stop_at_the_second
    )
    job = job_of(start_rerun(store, session_id, order))
    joined(f"rerun-{session_id}-h1")

    assert (job.was_stopped, job.is_over, len(job.runs)) == (True, True, 1)
    assert len(attempt_ids(store, session_id)) == 2


def test_what_flips_it_is_looked_for_in_a_thread(store):
    failed, good = failed_and_good(store)
    asked = Bisection(failed=failed, good=good, mode=Mode.LIVE_READS, repeats=1)
    name = start_bisection(store, asked)
    joined(name)
    job = job_of(name)

    assert [change.name for change in job.result.changes] == [
        "limits.max_steps", "limits.max_tokens",
    ]  # fmt: skip
    assert (job.is_over, job.done, job.problem) == (True, job.result.reruns, "")
    assert job.done <= job.total
    assert (
        len(attempt_ids(store, failed.removesuffix(":h2"))) == 2
    )  # its own re-runs are not recorded


def test_a_search_that_is_stopped_has_no_result(store):
    failed, good = failed_and_good(store)
    asked = Bisection(failed=failed, good=good, mode=Mode.LIVE_READS, named="support")
    ready = plan_bisection(store, asked)
    job = Job(ready.estimate.most_reruns)
    job.stop()

    with pytest.raises(Stopped):
        find_cause(store, replace(asked, tell=job.tell))
    assert job.result is None


def failed_and_good(store):
    """Run a session that fails, and its failed handoff again with limits that let it succeed."""
    failed = run_once(
        store, load_flow("support").flow, "I am customer 5120. Why was I charged twice last month?",
        source="support",
    ).session_id  # fmt: skip
    limits = Edits(limits={"max_steps": 20, "max_tokens": 40_000})
    order = RerunOrder(handoff_id="h2", mode=Mode.LIVE_READS, edits=limits)
    good = start_rerun(store, failed, order)
    joined(f"rerun-{failed}-h2")
    return f"{failed}:h2", good


def attempt_ids(store, session_id):
    with closing(open_reader(store)) as db:
        return [row["session_id"] for row in attempt_rows(db, session_id)]


@pytest.mark.parametrize("mode", list(Mode))
def test_its_id_is_known_in_every_mode(flow, store, mode):
    session_id = run_once(store, flow, "note it").session_id
    order = RerunOrder(handoff_id="h1", mode=mode, named="mail.py:flow")

    run = start_rerun(store, session_id, order)
    joined(f"rerun-{session_id}-h1")

    assert kinds(store, run)[0] == "session_started"


def test_what_cannot_be_run_again_is_said_at_once(flow, store):
    session_id = run_once(store, flow, "note it").session_id
    edits = Edits(limits={"steps": 1})

    with pytest.raises(RequestError, match="There is no limit 'steps'"):
        start_rerun(
            store,
            session_id,
            RerunOrder(handoff_id="h1", mode=Mode.WHAT_IF, edits=edits, named="mail.py:flow"),
        )
