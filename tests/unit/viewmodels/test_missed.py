"""The sessions behind a low share, each with what became of it."""

from dataclasses import replace

import pytest
from support.routings import HANDED_ON, MONDAY, RIGHT, named

from handoff_console.console.viewmodels.missed import (
    missed_sentence,
    missed_session,
    missed_sessions,
)
from handoff_console.store.analysis.routing import HandedOn

TO_ACCOUNT = HANDED_ON
AND_BACK = replace(HANDED_ON, handed_on=(HandedOn("billing", "billing"),), final_agent="billing")
LIMIT = replace(RIGHT, first_pass=False, route_unknown=True, outcome="limit_reached")
FAILED = replace(RIGHT, first_pass=False, outcome="error")


def test_sessions_that_were_handed_on_or_not_answered_are_listed_the_newest_first():
    old, right, new, waiting = named(TO_ACCOUNT, RIGHT, FAILED, replace(RIGHT, first_pass=None))
    new = replace(new, started_at=MONDAY + 60)

    assert missed_sessions([old, right, new, waiting], {}) == (new, old)


def test_a_label_finds_those_that_the_wrong_agent_answered_all_the_same():
    silent, right = named(RIGHT, RIGHT)
    labels = {silent.session_id: "account", right.session_id: "billing or account"}

    assert missed_sessions([silent, right], labels) == (silent,)
    line = missed_session(silent, "Close my account", "account")
    assert (line.first, line.what) == ("billing", "not handed on; the label says account")


def test_each_line_says_what_became_of_it():
    said = [missed_session(it, "", "").what for it in (TO_ACCOUNT, AND_BACK, LIMIT, FAILED)]

    assert said == [
        "handed on to account",
        "handed on, and back",
        "a limit was reached: it is not known who was right",
        "failed there",
    ]


def test_who_a_called_worker_handed_on_to_is_told_and_not_who_answered_the_user():
    called = replace(TO_ACCOUNT, final_agent="supervisor")

    assert missed_session(called, "", "").what == "handed on to account"
    assert missed_sentence([called]) == ("Confused most often: billing, handed on to account (1).")


def test_branches_of_a_fork_are_told_each_by_itself():
    """orders → account and account → fraud; technical answered what it got."""
    forked = replace(
        HANDED_ON,
        first_targets=("orders", "account", "technical"),
        handed_on=(HandedOn("orders", "account"), HandedOn("account", "fraud")),
    )

    line = missed_session(forked, "", "")
    assert (line.first, line.what) == (
        "orders + account + technical",
        "handed on to account + fraud",
    )
    assert missed_sentence([forked]) == (
        "Confused most often: account, handed on to fraud (1); orders, handed on to account (1)."
    )


def test_a_later_handoff_that_was_handed_on_is_not_what_became_of_the_first():
    assert missed_session(replace(FAILED, corrective=1), "", "").what == "failed there"


def test_a_handoff_that_failed_under_a_session_that_was_answered_is_told_as_both():
    answered, over_a_fork = (
        replace(FAILED, outcome=outcome, first_targets=targets)
        for outcome, targets in (("ok", ("orders",)), ("not_found", ("billing", "orders")))
    )

    lines = [missed_session(it, "", "") for it in (answered, over_a_fork)]

    assert [(line.first, line.what) for line in lines] == [
        ("orders", "failed there; answered all the same"),
        ("billing + orders", "failed there; answered all the same"),
    ]


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("no handoff", "handed to nobody"),
        ("transient error", "failed there, by an error that may pass"),
        ("waiting", "waiting for an answer"),
        ("rerun", "a re-run"),
        ("interrupted", "interrupted"),
    ],
)
def test_a_session_without_a_result_is_not_told_as_kept_by_whoever_got_it(why, told):
    routing = replace(RIGHT, first_pass=None, not_eligible=why)

    assert missed_session(routing, "", "account").what == f"{told}; the label says account"


def test_agents_that_are_confused_are_named_the_most_often_first():
    to_orders, *rest = (
        replace(TO_ACCOUNT, handed_on=(HandedOn("billing", name),))
        for name in ("orders", "fraud", "technical")
    )

    assert missed_sentence([TO_ACCOUNT, to_orders, to_orders, *rest]) == (
        "Confused most often: billing, handed on to orders (2); billing, handed on to account (1); "
        "billing, handed on to fraud (1); and 1 other pair."
    )
    assert missed_sentence([AND_BACK, FAILED]) == ""
