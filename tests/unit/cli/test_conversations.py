"""Talking to a session in the console: several turns, stopping, and what a thread leaves behind."""

import asyncio
import threading
import time
from contextlib import closing

import pytest
from support.mailboxes import mailbox, sent
from support.threads import joined

from handoff_console.console.commands import conversations, working
from handoff_console.console.commands.background import start_resume
from handoff_console.console.commands.conversations import (
    Listener,
    Phase,
    begin,
    phase_of,
    say_more,
)
from handoff_console.console.commands.errors import NotListening
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.going_on import go_on
from handoff_console.console.commands.resuming import Resumption
from handoff_console.console.commands.saying import decide
from handoff_console.console.commands.working import stop, stop_all
from handoff_console.runtime import Agent, Edge, Flow, ModelReply, delegate, say
from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store


def echo(call):
    return say(f"You said: {call.text}")


ECHO = Flow("echo", [Agent("parrot", "You repeat.", model=echo)])


@pytest.fixture
def store(tmp_path):
    """Make an empty store."""
    path = tmp_path / "talk.db"
    open_store(path, create=True).close()
    return path


def until(holds, seconds=30.0):
    """Wait until something holds."""
    last = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < last
        threading.Event().wait(0.01)


def over(session_id):
    until(lambda: not working.is_at_work(session_id))
    joined(f"session-{session_id}")


def events(store, session_id):
    with closing(open_reader(store)) as db:
        return reader.load_events(db, session_id)


def kinds(store, session_id):
    return [event.kind for event in events(store, session_id)]


def listens(session_id):
    until(lambda: phase_of(session_id) is Phase.LISTENING)


def test_what_is_said_after_an_answer_is_the_next_turn_of_the_same_session(store):
    session_id = begin(store, ECHO, "One", source="echo")
    listens(session_id)

    say_more(session_id, "Two")
    listens(session_id)
    assert stop(session_id)
    over(session_id)

    found = events(store, session_id)
    said = [e.payload.preview for e in found if e.kind == "user_message_received"]
    assert said == ["One", "Two"]
    assert found[-1].kind == "session_closed"
    assert (found[-1].payload.status, found[-1].payload.cancelled) == ("ok", False)
    assert phase_of(session_id) is None


def test_a_session_that_nobody_says_more_to_is_closed_after_a_while(store):
    session_id = begin(store, ECHO, "One", open_seconds=0.05)

    over(session_id)

    assert kinds(store, session_id)[-1] == "session_closed"
    with pytest.raises(NotListening, match="is over, or is run by another process"):
        say_more(session_id, "Two")


def test_what_is_said_in_the_moment_of_stopping_is_refused_and_not_lost():
    async def stopped_and_spoken_to():
        listener = Listener("s", 60.0)
        with listener.heard():
            waiting = asyncio.ensure_future(listener._next())
            await asyncio.sleep(0)
            listener._stop()
            listener._stop()  # a second click
            return listener.take("Wait!"), await waiting

    assert asyncio.run(stopped_and_spoken_to()) == (False, None)


def test_nothing_can_be_said_to_a_session_that_works_nor_can_nothing_be_said(store):
    gate = threading.Event()

    async def slow(call):
        while not gate.is_set():
            await asyncio.sleep(0.01)
        return say("done")

    session_id = begin(store, Flow("slow", [Agent("a", model=slow)]), "One")

    with pytest.raises(NotListening, match="is still at work"):
        say_more(session_id, "Two")
    gate.set()
    listens(session_id)
    with pytest.raises(NotListening, match="The message is empty"):
        say_more(session_id, "  ")
    stop(session_id)
    over(session_id)


def test_a_session_that_is_stopped_closes_what_is_open_and_is_cancelled(store):
    async def never(call):
        await asyncio.sleep(3_600)

    def ask(call):
        return delegate("worker", "Do it")

    boss = Agent("boss", edges=[Edge.call("worker", "Works.")], model=ask)
    flow = Flow("stuck", [boss, Agent("worker", model=never)])
    session_id = begin(store, flow, "Go")
    until(lambda: kinds(store, session_id).count("model_called") == 2)

    assert stop(session_id)
    over(session_id)

    found = events(store, session_id)
    closed = [e.payload.ended_by.value for e in found if e.kind == "handoff_closed"]
    assert closed == ["cancelled", "cancelled"]
    assert found[-1].kind == "session_closed"
    assert found[-1].payload.cancelled
    assert not stop(session_id)


def test_all_that_is_open_is_closed_when_the_console_ends(store):
    ids = [begin(store, ECHO, text) for text in ("One", "Two")]
    for session_id in ids:
        listens(session_id)

    assert stop_all(30)

    assert [kinds(store, session_id)[-1] for session_id in ids] == ["session_closed"] * 2


def test_a_mistake_in_the_code_of_a_flow_is_an_outcome_and_not_a_crash(store):
    def broken(call) -> ModelReply:
        raise ZeroDivisionError("division by zero")

    session_id = begin(store, Flow("mine", [Agent("a", model=broken)]), "Go", open_seconds=0)
    over(session_id)

    assert events(store, session_id)[-1].payload.status == "error"
    assert conversations.failure_of(session_id) == ""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_store_that_is_lost_meanwhile_is_said_in_a_sentence(store, monkeypatch):
    session_id = begin(store, ECHO, "One")
    listens(session_id)

    def full(*_args, **_kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(conversations.StoreSink, "commit", full)
    say_more(session_id, "Two")
    over(session_id)

    assert conversations.failure_of(session_id) == "It broke off: no space left on device"


def test_a_session_that_waits_for_a_person_goes_on_and_can_be_stopped_meanwhile(
    store, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    flow = load_flow("mail.py:flow").flow
    session_id = begin(store, flow, "Write to bob.")
    over(session_id)
    assert kinds(store, session_id)[-1] == "session_suspended"

    decide(store, session_id, approved=True)
    start_resume(store, session_id, Resumption(flow=flow))
    over(session_id)

    assert sent(tmp_path) == ["bob: Hello"]
    assert kinds(store, session_id)[-1] == "session_closed"


def test_more_can_be_said_after_a_person_has_decided(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    flow = load_flow("mail.py:flow").flow
    session_id = begin(store, flow, "Write to bob.", source="mail.py:flow")
    over(session_id)
    decide(store, session_id, approved=True)

    go_on(store, session_id, named_flows=("mail.py:flow",), open_seconds=30)
    listens(session_id)
    say_more(session_id, "Please note it.")
    listens(session_id)
    assert stop(session_id)
    over(session_id)

    found = events(store, session_id)
    said = [e.payload.preview for e in found if e.kind == "user_message_received"]
    assert said == ["Write to bob.", "Please note it."]
    assert sent(tmp_path) == ["bob: Hello", "noted this"]
    assert (found[-1].kind, found[-1].payload.cancelled) == ("session_closed", False)


def test_a_session_that_listens_after_a_decision_waits_again_where_it_has_to(
    store, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    flow = load_flow("mail.py:flow").flow
    session_id = begin(store, flow, "Write to bob.", source="mail.py:flow")
    over(session_id)
    decide(store, session_id, approved=False)
    go_on(store, session_id, named_flows=("mail.py:flow",), open_seconds=30)
    listens(session_id)

    say_more(session_id, "Write to carol.")
    over(session_id)

    assert kinds(store, session_id)[-1] == "session_suspended"
    decide(store, session_id, approved=True)
    go_on(store, session_id, named_flows=("mail.py:flow",))
    over(session_id)
    assert sent(tmp_path) == ["carol: Hello"]
