"""The list of sessions: a row of text each, and how many are in sight."""

import math
from typing import Any

import pandas as pd
import pytest

from handoff_console.console.viewmodels.inbox import InboxRow, inbox_rows, showing

NOW = 1_767_603_600.0


def row(**fields: Any) -> InboxRow:
    session = {
        "session_id": "20260105-090000-k3f9",
        "outcome": "ok",
        "verdict": "billing answered after 1 transfer; nothing stands out.",
        "message": "Why was I charged twice?",
        "agent_at_fault": None,
        "problem_handoff_id": "h2",
        "depth": 0,
        "hops": 1,
        "turns": 1,
        "tokens_used": 3_120,
        "pool_tokens": 20_000,
        "started_at": NOW - 125,
        "duration_seconds": 14.2,
        "flow": "support",
        "prompt_version": "",
        "origin": "run",
    }
    return inbox_rows([{**session, **fields}], now=NOW)[0]


def test_a_session_is_one_row_of_text():
    shown = row()

    assert shown.asked == "Why was I charged twice?"
    assert (shown.tokens, shown.tokens_title) == ("3,120 of 20,000", "16% of the pool")
    assert (shown.age, shown.at) == ("2 min ago", "2026-01-05 08:57:55 UTC")
    assert (shown.depth, shown.agent, shown.fault) == ("0 · 1", "–", False)


@pytest.mark.parametrize(
    ("outcome", "fault"),
    [
        ("ok", False),
        ("not_found", False),
        ("running", False),
        ("needs_input", True),
        ("error", True),
        ("limit_reached", True),
        ("interrupted", True),
        ("waiting", True),
    ],
)
def test_some_outcomes_ask_for_attention(outcome, fault):
    assert row(outcome=outcome).fault is fault


def test_an_ok_session_in_which_somebody_is_at_fault_asks_for_attention():
    shown = row(agent_at_fault="billing")

    assert (shown.agent, shown.fault) == ("billing", True)


def test_a_session_without_a_verdict_says_why():
    assert row(verdict="", outcome="running").verdict == (
        "Still open: at work, or listening for another message."
    )
    assert row(verdict="", outcome="unknown").verdict == "There is no verdict yet."


def test_missing_values_are_as_good_as_empty():
    (shown,) = inbox_rows([{"session_id": "s", "pool_tokens": math.nan, "flow": None}], now=NOW)

    assert (shown.outcome, shown.tokens, shown.flow) == ("unknown", "0", "")


def test_a_start_may_be_a_number_or_a_date():
    assert row(started_at=pd.Timestamp(NOW - 60, unit="s", tz="UTC")).age == "1 min ago"
    assert (row(started_at=pd.NaT).age, row(started_at=pd.NaT).at) == ("–", "")


def test_hostile_text_fits_on_its_line():
    shown = row(message="\x1b[31m<b>\n" * 100_000, verdict="x" * 10_000, agent_at_fault="\u202ey\n")

    assert len(shown.asked) <= 160
    assert len(shown.verdict) <= 240
    assert shown.agent == "y"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((50, 1, 5_512, False), "Showing 1 to 50 of 5,512 sessions."),
        ((12, 5_501, 5_512, False), "Showing 5,501 to 5,512 of 5,512 sessions."),
        ((3, 1, 3, False), "Showing 3 sessions."),
        ((1, 1, 1, True), "Showing 1 matching session."),
        ((0, 1, 0, False), "No session yet."),
        ((0, 1, 0, True), "No session matches."),
    ],
)
def test_the_list_says_which_part_is_in_sight(arguments, sentence):
    assert showing(*arguments) == sentence
