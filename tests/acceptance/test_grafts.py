"""`handoff rerun --mode continue --graft`: a session goes on from what a re-run came to."""

import json

import pytest
from support.shops import shop

pytestmark = pytest.mark.acceptance

FLOW = ("--flow", "shop.py:flow")


@pytest.fixture
def session(handoff, folder) -> str:
    """A session in which the user says who they are, so that billing (h2) gets it as a fact."""
    shop(folder)
    form = handoff("run", "shop.py:flow", "--message", "I am 5120. Why twice?", "--json").out
    return str(json.loads(form)["session_id"])


def rerun(handoff, session, *words, handoff_id="h2"):
    done = handoff("rerun", session, handoff_id, *FLOW, *words, "--json")
    return json.loads(done.out)["runs"][0]


@pytest.mark.parametrize("changed", ["customer=4812", "month=10"])
@pytest.mark.parametrize("mode", ["live-reads", "what-if"])
def test_what_was_set_for_a_transfer_is_taken_over_with_its_answers(
    handoff, session, changed, mode
):
    words = ("--set", f"inputs.{changed}", "--mode", mode)
    graft = rerun(handoff, session, *words)["session_id"]
    words = ("--mode", "continue", "--graft", graft)

    plan = handoff("rerun", session, "h2", *FLOW, *words, "--plan").out
    came = rerun(handoff, session, *words)

    assert "no model call\n" in plan
    assert (came["live_model_calls"], came["first_divergence"]) == (0, None)
    assert came["answer"] == "Invoice i2 was charged twice."


def test_what_somebody_sets_is_told_as_a_fact_also_where_the_session_goes_on(handoff, session):
    again = rerun(handoff, session, "--set", "inputs.customer=4812", "--mode", "continue")
    printed = handoff("show", again["session_id"], "--printed").out

    assert "customer=4812" in printed
    assert "Claimed" not in printed


def test_a_model_that_answered_for_a_rerun_is_not_asked_again(handoff, session):
    words = ("--model", "shop.py:mine", "--mode", "live-reads")
    mine = rerun(handoff, session, *words, handoff_id="h1")["session_id"]
    words = ("--model", "offline:bm25", "--mode", "live-reads")
    named = rerun(handoff, session, *words, handoff_id="h1")["session_id"]

    for graft in (mine, named):
        words = ("--mode", "continue", "--graft", graft)
        came = rerun(handoff, session, *words, handoff_id="h1")
        assert (came["live_model_calls"], came["first_divergence"]) == (0, None)


def test_what_is_changed_besides_is_asked_and_counted(handoff, session):
    words = ("--model", "offline:bm25", "--mode", "live-reads")
    graft = rerun(handoff, session, *words, handoff_id="h1")["session_id"]
    words = ("--mode", "continue", "--graft", graft, "--model", "offline:bm25-split")

    plan = handoff("rerun", session, "h1", *FLOW, *words, "--plan").out
    came = rerun(handoff, session, *words, handoff_id="h1")

    assert plan.splitlines()[1].startswith("  5 model calls, about ")
    assert plan.splitlines()[-1] == (
        "  more is changed than for the re-run that it takes over, in all: model = "
        "offline:bm25-split"
    )
    assert came["live_model_calls"] == 1
