"""What was changed for a re-run is read from its record: a file may hold anything."""

import pytest

from handoff_console.console.commands.errors import CannotGoOn
from handoff_console.console.commands.recorded_edits import recorded_edits, whole_edits
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.events import Event, Recording, SessionStarted


def rerun(body, *, edits="e"):
    started = SessionStarted(
        flow="desk", flow_digest="f", models={}, metadata={}, rerun_mode="what-if", edits=edits
    )
    event = Event("r1", 1, 0.0, 0.0, 0, None, None, None, None, 1, started)
    return Recording("r1", [event], {"e": body}.__getitem__)


def test_what_was_changed_is_what_was_described():
    changed = Edits(inputs={"customer": "4812"}, allowed_tools=(), limits={"max_steps": 3})

    assert recorded_edits(rerun(changed.described())) == changed
    assert whole_edits(rerun(changed.described()), "wait") == changed


@pytest.mark.parametrize("session", [rerun({"task": "x"}, edits=None), rerun(None)])
def test_where_nothing_was_changed_there_are_no_edits(session):
    assert recorded_edits(session) == Edits()


@pytest.mark.parametrize(
    "body", [[1, 2], 7, {"colour": "red"}, {"inputs": 5}, {"claimed": ["a"]}, {"limits": "many"}]
)
def test_changes_of_another_form_are_said_in_a_sentence(body):
    with pytest.raises(
        CannotGoOn, match=r"^What session 'r1' said has another form than its events say"
    ):
        recorded_edits(rerun(body))


def test_a_body_that_is_gone_is_said_in_a_sentence():
    with pytest.raises(CannotGoOn, match="'r1' said has "):
        recorded_edits(rerun({}, edits="gone"))


def test_a_value_that_was_left_out_is_not_taken_for_the_value():
    session = rerun({"inputs": {"iban": "[redacted: iban]"}})

    assert recorded_edits(session).inputs == {"iban": "[redacted: iban]"}
    with pytest.raises(CannotGoOn) as raised:
        whole_edits(session, "make the change again")
    assert str(raised.value) == (
        "A value that re-run 'r1' was given was left out of the record, so make the change again."
    )
