"""`handoff budget`: what another pool or other limits would have done, from the ledger alone."""

import json
import shlex

import pytest
from support.recorded import FAILED, double_charge, record

from handoff_console.console.commands.budgeting import budget_command
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store.analysis.what_if import Change

pytestmark = pytest.mark.acceptance

CUT_OFF, DRY = "20261125-102000-41063c09", "20261124-094000-dfc928a1"
"""billing (h2) hits its step limit; the pool refuses three calls."""


@pytest.fixture(autouse=True)
def samples(folder):
    unpack(folder / "handoff.db")


def test_a_smaller_pool_refuses_and_says_what_nobody_can_know(handoff):
    done = handoff("budget", CUT_OFF[-8:], "--pool", "9000")

    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "1 handoff would have fared otherwise: 1 refused.",
        "3,572 tokens spent",
        "",
        "h2 billing           ▲ limit_reached   refused",
        "  the pool has 6,805 of the 12,000 tokens it asks for",
        "",
        "What the record cannot say",
        "  What supervisor would have done without a full answer is not recorded; what is",
        "  shown takes everybody to have done the same.",
        "",
        "pool        20,195  the least that changes nothing",
        "pool        50,000  as recorded",
        f"handoff open --session {CUT_OFF}",
    ]


def test_a_larger_pool_lets_through_what_was_refused_and_says_what_it_may_take(handoff):
    form = json.loads(handoff("budget", DRY, "--pool", "30000", "--json").out)

    assert [(one["handoff_id"], one["fate"]) for one in form["handoffs"]] == [
        ("h5", "let through"),
        ("h6", "let through"),
        ("h7", "let through"),
    ]
    assert (form["spent_low_tokens"], form["spent_high_tokens"]) == (3_116, 15_116)
    assert (form["pool_as_recorded_tokens"], form["pool_without_refusals_tokens"]) == (
        13_413,
        25_413,
    )
    assert form["change"] == {"pool_tokens": 30_000}


def test_what_a_higher_limit_would_not_have_ended_goes_on(handoff):
    lines = handoff("budget", CUT_OFF, "--limits", "billing.max_steps=20").out.splitlines()

    assert lines[3:5] == [
        "h2 billing           ▲ limit_reached   goes on",
        "  its steps would not end it any more",
    ]


def test_limits_are_said_for_one_agent_or_for_all(handoff):
    def limited(*words: str) -> tuple[object, list[str]]:
        form = json.loads(handoff("budget", CUT_OFF, "--json", *words).out)
        return form["change"], [one["agent"] for one in form["handoffs"]]

    assert limited("--limits", "billing.max_steps=2") == (
        {"limits": {"billing": {"max_steps": 2}}},
        ["billing"],
    )
    assert limited("--limits", "max_steps=1") == (
        {"everyone": {"max_steps": 1}},
        ["billing", "account"],
    )


def test_without_a_change_it_says_which_pools_are_worth_knowing_and_how_to_change_something(
    handoff,
):
    done = handoff("budget", DRY)

    assert done.out.startswith("Nothing would have changed.\n3,116 tokens spent\n")
    assert "pool        25,413  enough for all that was refused" in done.out
    assert done.err == "Say what is to be otherwise: --pool TOKENS, or --limits NAME=NUMBER.\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--limits", "nobody.max_steps=3"], "is called 'nobody'; there are: supervisor, billing"),
        (["--limits", "steps=3"], "names no limit; there are: max_steps, max_tokens, deadline_"),
        (["--limits", "max_steps=0.5"], "--limits max_steps has to be a whole number above 0."),
        (["--limits", "deadline_seconds=0"], "has to be a number above 0."),
        (["--limits", "max_steps=many"], "--limits max_steps=many is no number"),
        (["--limits", f"max_steps=1{'0' * 400}"], "00… is too large; write a number below 1,000,"),
        (["--limits", "deadline_seconds=1e999"], "=1e999 is too large; write a number below 1,"),
        (["--limits", "max_steps=-1e15"], "max_steps=-1e15 is too large; write a number below 1,"),
        (["--limits", "max_steps=NaN"], "--limits max_steps=NaN is no number"),
        (["--limits", "max_steps"], "write --limits NAME=NUMBER, or --limits AGENT.NAME=NUMBER."),
        (["--pool", "0"], "'0' is no whole number from 1 on"),
    ],
)
def test_what_cannot_be_otherwise_is_one_sentence(handoff, words, sentence):
    done = handoff("budget", CUT_OFF, *words)

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "change",
    [
        Change(),
        Change(pool_tokens=12_345_678, max_handoffs=0, max_workers=3, max_edge_repeats=1, depth=2),
        Change(everyone={"max_steps": 3, "deadline_seconds": 2.5}),
        Change(limits={"billing": {"max_steps": 2, "max_tokens": 4_000}}),
    ],
    ids=["nothing", "counts", "everyone", "an agent"],
)
def test_the_command_line_that_a_page_shows_says_what_the_page_was_asked(handoff, change):
    words = shlex.split(budget_command(CUT_OFF, change))[1:]

    form = json.loads(handoff(*words, "--json").out)

    counts = ("pool_tokens", "max_handoffs", "max_workers", "max_edge_repeats", "depth")
    said = {name: getattr(change, name) for name in (*counts, "limits", "everyone")}
    assert form["change"] == {
        name: value for name, value in said.items() if value not in (None, {})
    }


def test_nothing_is_written(handoff, folder):
    before = (folder / "handoff.db").read_bytes()

    handoff("budget", CUT_OFF, "--pool", "9000")

    assert (folder / "handoff.db").read_bytes() == before


def test_a_session_without_a_request_has_no_pool(handoff, folder):
    from support.logs import Log

    record(folder / "handoff.db", [("s-new", Log()), (FAILED, double_charge())])

    done = handoff("budget", "s-new", "--pool", "5")

    assert (done.status, done.out) == (2, "")
    assert done.err == ("handoff: Session 's-new' has no request yet, so it has no pool.\n")
