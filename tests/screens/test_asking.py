"""Approving, changing, refusing and answering in the page; what is said goes on by itself."""

import os
import threading
import time
from contextlib import closing

import pytest
import streamlit as st
from support.mailboxes import asked_long_ago, mailbox, sent
from support.seen import component, text
from support.threads import joined

from handoff_console.console.commands import working
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.left_out_values import keep_while_waiting
from handoff_console.console.commands.running import run_once
from handoff_console.console.commands.saying import decide
from handoff_console.console.settings import FLOWS_VARIABLE
from handoff_console.store import reader
from handoff_console.store.db import open_reader


@pytest.fixture
def waiting(tmp_path, monkeypatch):
    """A function that runs the flow of a user until it waits, in a console that knows the flow."""
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    path = tmp_path / "sessions.db"
    monkeypatch.setenv("HANDOFF_DB", str(path))
    monkeypatch.setenv(FLOWS_VARIABLE, '["mail.py:flow"]')
    st.cache_resource.clear()

    def run(message="Write to bob.", **options):
        flow = load_flow("mail.py:flow").flow
        return run_once(path, flow, message, source="mail.py:flow", **options).session_id

    return run


def rests(session_id):
    joined(f"session-{session_id}")
    assert not working.is_at_work(session_id)


def kinds(session_id):
    with closing(open_reader(os.environ["HANDOFF_DB"])) as db:
        return [event.kind for event in reader.load_events(db, session_id)]


def button(page, label):
    return next(one for one in page.button if one.label == label)


def test_a_waiting_session_shows_all_that_will_be_sent_and_who_asks(screen, waiting):
    session_id = waiting()
    page = screen("session", session=session_id)
    key = f"asked/{session_id}/h1.1.0"

    assert not page.exception
    head = text(page, f"{key}/head")
    assert head.startswith("waiting clerk wants to use mail external: it reaches people or systems")
    assert "h1 · t1" in head
    # Asked and drawn within the same second, or not: a day, or all but a second of it.
    assert any(f"No answer within {day} is a no." in head for day in ("23 h 59 min", "24 h 0 min"))
    assert text(page, f"{key}/sent") == "Exactly this will be sent to bob"


def test_what_nobody_answered_in_time_can_only_be_gone_on_without(screen, waiting, tmp_path):
    waiting()
    session_id = asked_long_ago(tmp_path / "sessions.db")
    page = screen("session", session=session_id)
    key = f"asked/{session_id}/h1.1.0"

    assert not page.exception
    assert text(page, f"{key}/sent") == "This was to be sent to bob"
    assert "Nobody decided in time, which is a no; the session can go on" in text(page, "header")
    said = text(page, f"{key}/said")
    assert said == "Nobody answered until 2020-01-02 09:00:00 UTC, which is a no."
    assert f"{key}/yes" not in [one.key for one in page.button]

    button(page, "Go on").click().run()
    rests(session_id)

    assert kinds(session_id)[-1] == "session_closed"
    assert sent(tmp_path) == []


def test_a_yes_in_the_page_sends_exactly_what_was_shown_and_the_session_goes_on(
    screen, waiting, tmp_path
):
    session_id = waiting()
    page = screen("session", session=session_id)

    button(page, "Yes, send exactly this").click().run()
    rests(session_id)

    assert sent(tmp_path) == ["bob: Hello"]
    assert kinds(session_id)[-1] == "session_closed"
    after = screen("session", session=session_id)
    assert not any("asked/" in element.proto.id for element in after.get("bidi_component"))


def test_changed_arguments_are_sent_with_their_spaces(screen, waiting, tmp_path):
    session_id = waiting()
    page = screen("session", session=session_id)
    page = page.toggle[0].set_value(True).run()
    page.text_input(key=f"asked/{session_id}/h1.1.0/value/to").set_value("carol  ")
    page.text_input(key=f"asked/{session_id}/h1.1.0/note").set_value("bob has left")

    button(page.run(), "Yes, send it as changed").click().run()
    rests(session_id)

    assert sent(tmp_path) == ["carol  : Hello"]
    with closing(open_reader(os.environ["HANDOFF_DB"])) as db:
        events = reader.load_events(db, session_id)
    (decided,) = (e.payload for e in events if e.kind == "approval_decided")
    assert (decided.approved, decided.note) == (True, "bob has left")


def test_a_no_sends_nothing_and_the_agent_goes_on(screen, waiting, tmp_path):
    session_id = waiting()
    page = screen("session", session=session_id)

    button(page, "No, do not send it").click().run()
    rests(session_id)

    assert sent(tmp_path) == []
    assert kinds(session_id)[-1] == "session_closed"


def test_a_second_window_is_told_that_another_one_decided(screen, waiting, tmp_path):
    session_id = waiting()
    page = screen("session", session=session_id)
    decide(tmp_path / "sessions.db", session_id, approved=False, decided_by="Ana")

    page = button(page, "Yes, send exactly this").click().run()

    assert text(page, "asking_told") == (
        "h1.1.0 was dealt with before by Ana, in another window or from a shell; that counts, and "
        "what you said now was not taken."
    )
    assert text(page, f"asked/{session_id}/h1.1.0/said") == "No, says Ana"
    button(page, "Go on").click().run()
    rests(session_id)
    assert sent(tmp_path) == []


def test_what_was_left_out_of_the_record_has_to_be_said_before_a_yes(screen, waiting, tmp_path):
    session_id = waiting("Write the card.")
    keep_while_waiting(session_id, {}, waits=False)  # as in another process
    page = screen("session", session=session_id)
    key = f"asked/{session_id}/h1.1.0"

    assert text(page, f"{key}/missing") == (
        "The value of text was left out of the record: say it below together with a yes, or say no."
    )
    page = button(page, "Yes, send exactly this").click().run()
    assert text(page, "asking_told") == (
        "Nothing was decided. Say each value that was left out of its record, or let the agents "
        "read the marks."
    )
    page.checkbox[0].check()  # of what its clerk had written itself
    page = button(page, "Yes, send exactly this").click().run()
    assert text(page, "asking_told") == ("Nothing was decided: say the value of text, or say no.")
    page = page.toggle[0].set_value(True).run()
    page.text_input(key=f"{key}/value/text").set_value("no card")
    button(page.run(), "Yes, send it as changed").click().run()
    rests(session_id)

    assert sent(tmp_path) == ["bob: no card"]


def test_a_question_is_answered_in_the_page(screen, waiting):
    session_id = waiting("Ask the boss.")
    page = screen("session", session=session_id)
    key = f"asked/{session_id}/h2#1"

    assert text(page, f"{key}/question").startswith("waiting A person is asked h2 · t1~1")
    page.text_input(key=f"{key}/answer").set_value("Not now.")
    button(page, "Send the answer").click().run()
    rests(session_id)

    assert kinds(session_id)[-1] == "session_closed"
    assert "input_given" in kinds(session_id)


def test_an_empty_answer_is_not_sent(screen, waiting):
    session_id = waiting("Ask the boss.")

    page = button(screen("session", session=session_id), "Send the answer").click().run()

    assert text(page, "asking_told") == "The answer is empty; say something."
    assert kinds(session_id)[-1] == "session_suspended"


def test_no_code_is_loaded_that_the_user_did_not_name(screen, waiting, tmp_path, monkeypatch):
    session_id = waiting()
    monkeypatch.delenv(FLOWS_VARIABLE)
    page = screen("session", session=session_id)
    named = f"--flow mail.py:flow --db {tmp_path / 'sessions.db'}"

    page = button(page, "Yes, send exactly this").click().run()

    assert text(page, "asking_told") == (
        "What you said is kept. The session ran a flow of your own, and no code is run because a "
        f"record says so: go on with `handoff resume {session_id} {named}`, or open the console "
        f"with `handoff open {named}`."
    )
    assert sent(tmp_path) == []


def test_a_sample_that_waits_in_a_store_of_samples_goes_on(screen, store):
    flow = load_flow("letters").flow
    session_id = run_once(store, flow, flow.examples[0], source="letters").session_id
    page = screen("session", session=session_id)
    assert component(page, f"asked/{session_id}/h1.2.0/head")

    button(page, "No, do not send it").click().run()
    began = time.monotonic()
    while kinds(session_id)[-1] != "session_closed":
        assert time.monotonic() < began + 60
        threading.Event().wait(0.05)


def test_whoever_ran_it_here_is_shown_what_will_really_be_done(screen, waiting, tmp_path):
    session_id = waiting("Write the card.")
    page = screen("session", session=session_id)

    assert "4111 1111 1111 1111" in text(page, f"asked/{session_id}/h1.1.0/sent")
    button(page, "Yes, send exactly this").click().run()
    rests(session_id)
    assert sent(tmp_path) == ["bob: card 4111 1111 1111 1111"]
