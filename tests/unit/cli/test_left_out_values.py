"""Which values a person is asked for, and what stands for those that nobody is asked about."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from handoff_console.console.commands import left_out_values
from handoff_console.console.commands.errors import ValuesLeftOut
from handoff_console.console.commands.left_out_values import (
    asked_for,
    keep_while_waiting,
    said_values,
)
from handoff_console.runtime.gaps import Gap

SAID = Gap("message", "card number", 1, "My card is [redacted: card number].")
TWO = Gap("message", "card number", 2, "From [redacted: card number] to …")
CALLED = Gap("h1 step 1", "card number", 1, "charge [redacted: card number]", repeats=True)
RETURNED = Gap("h1 call 1.0", "card number", 1, "[redacted: card number] is charged", repeats=True)
DECIDED = Gap("h1 decision", "card number", 1, "[redacted: card number]")
ON_FILE = Gap("h1 call 2.0", "card number", 1, "[redacted: card number] is on file")


def places(*missing: Gap) -> list[tuple[str, int]]:
    return [(one.gap.place, one.number) for one in asked_for(missing)]


def test_what_models_and_tools_repeat_of_one_value_is_not_asked_for():
    assert places(SAID, CALLED, RETURNED) == [("message", 1)]


def test_what_nobody_said_is_asked_for_once():
    assert places(CALLED, RETURNED) == [("h1 step 1", 1)]


def test_which_of_two_values_a_model_repeats_is_asked_for():
    assert places(TWO, CALLED) == [("message", 1), ("message", 2), ("h1 step 1", 1)]


def test_what_a_tool_found_by_itself_is_asked_for():
    assert places(SAID, ON_FILE) == [("message", 1), ("h1 call 2.0", 1)]


def test_what_was_said_before_a_decision_repeats_nothing_of_it():
    assert places(SAID, CALLED, DECIDED) == [("message", 1), ("h1 decision", 1)]
    assert places(SAID, CALLED, DECIDED, RETURNED)[2:] == [("h1 call 1.0", 1)]


def test_an_empty_answer_takes_the_first_value():
    assert said_values(asked_for([TWO, CALLED]), ["4111", "5500", ""]) == {
        "card number": ["4111"],
        "card number in message": ["4111", "5500"],
        "card number in h1 step 1": ["4111"],
    }


def test_a_refusal_says_how_many_values_one_text_misses():
    refused = ValuesLeftOut("s1", [TWO, CALLED])

    assert "card number (2 in message, h1 step 1)" in str(refused)


@pytest.fixture
def hurried():
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried")
def test_many_sessions_begin_to_wait_at_the_same_time(monkeypatch):
    monkeypatch.setattr(left_out_values, "_originals", {})
    monkeypatch.setattr(left_out_values, "_SESSIONS_KEPT", 5)

    def wait(session: int) -> None:
        for turn in range(5_000):
            keep_while_waiting(f"s{session}-{turn}", {}, waits=True)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(wait, range(8)))

    assert len(left_out_values._originals) == 5
