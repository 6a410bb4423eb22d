"""What the user was shown last, at the end and before it."""

import pytest
from support.logs import Log

from handoff_console.store.analysis.answers import result_text, session_answer


def test_nothing_was_shown_before_an_answer():
    log = Log().user("Help")
    log.step(log.root("triage"))

    assert session_answer(log.events, log.body) == ""


def test_between_two_turns_it_is_the_answer_of_the_last_one_and_not_of_a_worker():
    log = Log().user("Help")
    root = log.root("triage")
    worker = log.call(root, "billing")
    log.close(worker, values={"text": "for triage alone"}).close(root, values={"text": "for you"})
    log.user("Thanks")

    assert session_answer(log.events, log.body) == "for you"


def test_without_its_body_the_notes_are_what_is_left():
    log = Log().user("Help")
    log.close(log.root("triage"), "error", notes="the ledger does not answer")

    assert session_answer(log.events, None) == "the ledger does not answer"


@pytest.mark.parametrize("value", [None, {}, {"of": "another stack"}, ["a list"], "a text"])
def test_a_result_of_another_form_has_no_text(value):
    assert result_text(lambda _: value, "digest") == ""


def test_a_session_that_closed_without_an_answer_tells_what_its_root_said():
    log = Log().user("Go")
    log.close(log.root("desk"), "error", notes="the ledger is closed").end()

    assert session_answer(log.events, None) == "the ledger is closed"
