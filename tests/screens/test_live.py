"""The live screen: what is started, followed, said next and stopped, and what cannot be."""

import os
import threading
import time
from contextlib import closing

import pytest
from support import recorded
from support.seen import component, text

from handoff_console.console import runs, state
from handoff_console.console.commands import conversations, working
from handoff_console.console.settings import FLOWS_VARIABLE
from handoff_console.sample_runs import NAMES
from handoff_console.store import reader
from handoff_console.store.db import open_reader

BROKEN = """
from handoff_console.runtime import Agent, Flow

def answers(call):
    return 1 / 0

flow = Flow("mine", [Agent("a", model=answers)], examples=("Go",), description="Mine.")
"""


def until(holds):
    last = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < last
        threading.Event().wait(0.02)


def say(page, message):
    """Type a message into the box that starts a session, and press Enter."""
    return page.chat_input(key=state.MESSAGE).set_value(message).run()


def at_once(page):
    page.get("button_group")[0].set_value("at once")
    return page


def run_of(page):
    return page.query_params["run"]


def events(session_id):
    with closing(open_reader(os.environ["HANDOFF_DB"])) as db:
        return reader.load_events(db, session_id)


def button(page, label):
    return next(one for one in page.button if one.label == label)


@pytest.fixture(autouse=True)
def ended():
    """End what a test has started."""
    yield
    assert working.stop_all(30)


@pytest.mark.usefixtures("store")
def test_every_sample_can_be_chosen_and_offers_examples(screen):
    page = screen("live")

    assert not page.exception
    assert len(page.selectbox(key=state.FLOW).options) == len(NAMES)
    assert "Why was I charged twice last month?" in text(page, "examples")
    assert text(page, "about").startswith("A supervisor asks two read-only workers in parallel")
    assert text(page, "nothing").startswith("Nothing runs yet Start a session: its handoffs")


@pytest.mark.usefixtures("store")
def test_enter_starts_a_session_that_is_followed_and_listens_for_more(screen):
    page = say(at_once(screen("live")), "Which plan am I on?")
    session_id = run_of(page)
    until(lambda: conversations.phase_of(session_id) is conversations.Phase.LISTENING)
    page = page.run()

    assert not page.exception
    assert "Which plan am I on?" in text(page, "header")
    assert text(page, "header").startswith("running")
    assert component(page, "tree")["rows"][0][2] == "supervisor"
    assert page.query_params["name"] == "support"
    assert page.chat_input(key=state.NEXT_MESSAGE).placeholder.startswith("Say more")


@pytest.mark.usefixtures("store")
def test_what_is_said_next_is_the_next_turn_and_both_are_shown(screen):
    page = say(at_once(screen("live", name="switchboard")), "I need a refund")
    session_id = run_of(page)
    until(lambda: conversations.phase_of(session_id) is conversations.Phase.LISTENING)

    page.run().chat_input(key=state.NEXT_MESSAGE).set_value("My login fails").run()
    until(lambda: conversations.phase_of(session_id) is conversations.Phase.LISTENING)
    page = page.run()

    said = [e.payload.preview for e in events(session_id) if e.kind == "user_message_received"]
    assert said == ["I need a refund", "My login fails"]
    assert "I need a refund" in text(page, "answer")
    assert "My login fails" in text(page, "answer")
    button(page, "End the session").click().run()
    until(lambda: not working.is_at_work(session_id))
    assert events(session_id)[-1].kind == "session_closed"


@pytest.mark.usefixtures("store")
def test_a_session_at_work_is_stopped_with_what_is_open_closed(screen):
    page = say(screen("live"), "Why was I charged twice last month?")
    session_id = run_of(page)

    button(page, "■ Stop").click().run()
    until(lambda: not working.is_at_work(session_id))

    assert events(session_id)[-1].payload.cancelled
    assert "cancelled" in text(page.run(), "header")


@pytest.mark.usefixtures("store")
def test_a_new_session_ends_the_one_that_only_listened(screen):
    page = say(at_once(screen("live")), "Which plan am I on?")
    first = run_of(page)
    until(lambda: conversations.phase_of(first) is conversations.Phase.LISTENING)

    page = say(page.run(), "Which plan am I on?")

    assert run_of(page) != first
    until(lambda: not working.is_at_work(first))
    assert events(first)[-1].kind == "session_closed"


def test_a_store_that_takes_nothing_is_named_in_one_sentence(screen, store):
    page = screen("live")
    store.chmod(0o400)
    store.write_bytes(b"no longer a store, and long enough to be looked at" * 100)

    page = say(page, "Hello")

    assert not page.exception
    assert str(store) in text(page, "problem")


def test_a_session_from_a_link_is_followed(screen, sessions):
    page = screen("live", run=recorded.FAILED)

    assert not page.exception
    assert "billing hit its step limit" in text(page, "header")
    assert text(page, "answer") == "ok supervisor You were charged once."


@pytest.mark.usefixtures("store")
def test_a_link_chooses_its_flow(screen):
    page = screen("live", name="bank")

    assert page.selectbox(key=state.FLOW).value == "bank"
    assert page.query_params["name"] == "bank"


@pytest.mark.usefixtures("store")
def test_a_session_or_a_flow_that_is_not_there_is_said(screen):
    gone = screen("live", run="gone")
    unknown = screen("live", name="nothing")

    assert text(gone, "nothing").endswith("There is no session 'gone' in this store.")
    (sentence,) = [e for e in unknown.get("bidi_component") if "unknown" in e.proto.id]
    assert "There is no flow 'nothing'" in sentence.proto.bytes.decode()


@pytest.mark.usefixtures("store")
def test_no_code_is_loaded_because_an_address_names_it(screen, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("open('loaded', 'w')\n" + BROKEN)

    page = screen("live", name=f"{mine}:flow")

    assert "This console was not started with the flow" in text(page, "unknown_flow")
    assert not (tmp_path / "loaded").exists()


@pytest.mark.usefixtures("store")
def test_a_mistake_in_a_flow_of_the_user_is_an_outcome_with_its_words(
    screen, tmp_path, monkeypatch
):
    (tmp_path / "mine.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FLOWS_VARIABLE, '["mine.py:flow"]')
    page = say(screen("live"), "Go")
    session_id = run_of(page)
    until(lambda: conversations.phase_of(session_id) is not conversations.Phase.WORKING)

    header = text(page.run(), "header")

    assert page.selectbox(key=state.FLOW).value == "mine.py:flow"
    assert header.startswith("running")  # it is open for another message
    assert "The function of a failed at mine.py" in header
    answer = text(page, "answer")
    assert answer.startswith("error a")
    assert "ZeroDivisionError" in header + answer


@pytest.mark.usefixtures("store")
def test_a_file_that_was_broken_meanwhile_is_named_and_the_samples_stay(
    screen, tmp_path, monkeypatch
):
    (tmp_path / "mine.py").write_text("flow = ")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FLOWS_VARIABLE, '["mine.py:flow"]')

    page = screen("live")

    assert not page.exception
    assert len(page.selectbox(key=state.FLOW).options) == len(NAMES)
    assert "mine.py, line 1 could not be imported (SyntaxError" in text(page, "broken")


def test_the_first_sample_begins_with_its_first_message():
    assert runs.first_message() == "Why was I charged twice last month?"
