"""SECURITY.md: what it says is protected is, and what it says is not is not."""

import dataclasses
import re
from contextlib import closing
from pathlib import Path

import pytest
from support import event_logs
from support.experiments import experiment

from handoff_console.runtime import Decision, Tool
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.redaction import Redaction
from handoff_console.store.db import open_store
from handoff_console.store.experiment_writing import begin_experiment
from handoff_console.store.inbox import put_answer, put_decision, take_over
from handoff_console.store.maintenance import delete_sessions
from handoff_console.store.writer import open_sink

DOCUMENT = (Path(__file__).parents[2] / "SECURITY.md").read_text("utf-8")
CARD = "4111 1111 1111 1111"


def examples(beginning: str) -> list[str]:
    """Return what stands in backticks in the list after a line of the document."""
    _, _, after = DOCUMENT.partition(f"{beginning}\n\n")
    return re.findall(r"`([^`]+)`", after.partition("\n\n")[0])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "handoff.db"


@pytest.fixture
def db(path):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s1", event_logs.waiting())
    with closing(open_store(path)) as db:
        yield db


def is_in_the_file(path: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in path.parent.glob("handoff.db*"))


@pytest.mark.parametrize("text", examples("Removed from text, for example:"))
def test_what_is_said_to_be_removed_is(text):
    assert "[redacted: " in Redaction().clean_text(text)


@pytest.mark.parametrize("text", examples("Not removed from text, for example:"))
def test_what_is_said_to_stay_does(text):
    assert Redaction().clean_text(text) == text


def test_there_are_examples_of_both():
    assert len(examples("Removed from text, for example:")) == 11
    assert len(examples("Not removed from text, for example:")) == 10


def test_the_second_word_of_a_value_without_quotes_stays():
    assert "of `password: open sesame` the second word stays" in DOCUMENT
    assert Redaction().clean_text("password: open sesame") == (
        "password: [redacted: password] sesame"
    )


def test_what_a_person_said_stays_as_it_is_until_the_session_has_taken_it_over(db, path):
    decision = Decision(
        approval_id="h1.1.0", approved=True, shown="d1", arguments={"pin": "pin4812x"}, note="n77x"
    )
    put_answer(db, "s1", "h1#1", CARD)
    put_decision(db, "s1", decision)

    assert all(is_in_the_file(path, text) for text in (CARD, "pin4812x", "n77x"))

    take_over(db, "s1", {"h1#1", "h1.1.0"})
    db.execute("pragma wal_checkpoint(truncate)")

    assert not any(is_in_the_file(path, text) for text in (CARD, "pin4812x", "n77x"))


def test_the_requests_of_a_data_set_stay_as_they_are_also_when_sessions_are_deleted(db, path):
    made = experiment(["a"], {"v1": ["a"], "v2": ["a"]})
    cases = [dataclasses.replace(made.cases[0], text=f"My card {CARD}")]
    begin_experiment(db, dataclasses.replace(made, cases=cases), ())

    delete_sessions(db, ["s1"])
    db.execute("pragma wal_checkpoint(truncate)")

    assert is_in_the_file(path, CARD)


def test_an_external_tool_needs_a_yes_unless_the_flow_says_otherwise():
    def send(to: str) -> str:
        """Send it."""
        return to

    assert Tool(send, effect=Effect.EXTERNAL).needs_approval
    assert not Tool(send, effect=Effect.EXTERNAL, approval=False).needs_approval
