"""`handoff diff`: two attempts of a handoff, or two sessions, side by side in a terminal."""

import json

import pytest
from support import recorded

from handoff_console.sample_runs.shipped import unpack

pytestmark = pytest.mark.acceptance

CUT_OFF, EXPLAINED = "20261125-102000-41063c09", "20261125-100500-6e004ac9"
"""Two sessions of the flow `support`: in the first one billing (h2) hits its step limit."""
RETRIED = "20261124-085200-d692176b"
"""In this one h3 is the retry of h2."""


@pytest.fixture(autouse=True)
def samples(folder):
    unpack(folder / "handoff.db")


@pytest.fixture
def rerun(handoff) -> str:
    """Run billing again with higher limits, and return that session."""
    words = ("--limits", "max_steps=20", "--limits", "max_tokens=40000", "--mode", "live-reads")
    form = json.loads(handoff("rerun", CUT_OFF, "h2", *words, "--json").out)
    return str(form["runs"][0]["session_id"])


def test_a_rerun_and_what_it_repeats_are_compared_as_when_it_was_made(handoff, rerun):
    made = json.loads(handoff("diff", CUT_OFF, rerun, "--json").out)
    done = handoff("diff", CUT_OFF[-8:], rerun)

    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[:8] == [
        f"▲ limit_reached: steps   {CUT_OFF} · original",
        f"✓ ok                     {rerun} · live reads",
        "    limits.max_steps = 20",
        "    limits.max_tokens = 40000",
        "billing at t1/2.0 and what is below it · 1 handoff: 1 changed",
        "",
        "They first part at billing (t1/2.0): its request has another limits.max_steps: 6",
        "→ 20.",
    ]
    assert max(map(len, done.out.splitlines())) <= 80
    assert made["first_difference"] == {
        "path": "t1/2.0", "agent": "billing", "aspect": "request",
        "name": "limits.max_steps", "left": 6, "right": 20,
    }  # fmt: skip
    assert made["right"]["edits"] == {"limits": {"max_steps": 20, "max_tokens": 40_000}}
    assert (made["left"]["outcome"], made["left"]["limit"]) == ("limit_reached", "steps")


def test_a_rerun_of_the_first_handoff_is_compared_with_one_that_has_come_to_its_end(handoff):
    made = json.loads(handoff("rerun", EXPLAINED, "h1", "--json").out)
    again = made["runs"][0]["session_id"]

    form = json.loads(handoff("diff", EXPLAINED, again, "--json").out)

    assert form["path"] == "t1"
    assert (form["left"]["outcome"], form["right"]["outcome"]) == ("ok", "ok")


def test_a_run_whose_process_is_gone_is_interrupted_and_runs_no_more(handoff, folder):
    sides = [("s-gone", recorded.running(pid=4_194_000)), ("s-whole", recorded.refund_policy())]
    store = recorded.record(folder / "other.db", sides)

    done = handoff("diff", "s-gone", "s-whole", "--db", store)

    assert done.out.splitlines()[0].split() == ["↯", "interrupted", "s-gone", "·", "original"]


def test_two_sessions_are_compared_whole_and_the_cause_comes_first(handoff):
    form = json.loads(handoff("diff", CUT_OFF, EXPLAINED, "--json").out)

    assert form["path"] is None
    assert form["handoffs"] == {"same": 0, "changed": 3, "added": 0, "removed": 0}
    assert (form["first_difference"]["agent"], form["first_difference"]["name"]) == (
        "supervisor",
        "task",
    )


def test_one_handoff_of_each_is_compared_where_one_is_named(handoff):
    form = json.loads(handoff("diff", f"{CUT_OFF}:h2", EXPLAINED, "--json").out)

    assert form["path"] == "t1/2.0"
    assert [form[side]["handoff_id"] for side in ("left", "right")] == ["h2", "h2"]
    assert form["first_difference"]["name"] == "inputs.customer_id"


def test_the_outcome_of_a_named_handoff_is_its_own_also_where_it_is_all_of_its_session(
    handoff, rerun
):
    again = handoff("diff", f"{CUT_OFF}:h2", rerun).out.splitlines()
    roots = handoff("diff", f"{CUT_OFF}:h1", f"{EXPLAINED}:h1").out.splitlines()

    assert again[:2] == [
        f"▲ limit_reached: steps   {CUT_OFF}:h2 · original",
        f"✓ ok                     {rerun}:h2 · live reads",
    ]
    assert roots[:2] == [
        f"✓ ok                     {CUT_OFF}:h1 · original",
        f"✓ ok                     {EXPLAINED}:h1 · original",
    ]


def test_a_retry_is_compared_with_the_try_that_failed(handoff):
    done = handoff("diff", f"{RETRIED}:h2", f"{RETRIED}:h3")

    assert done.out.splitlines()[:2] == [
        f"✕ error                  {RETRIED}:h2 · original",
        f"✓ ok                     {RETRIED}:h3 · retry",
    ]
    assert "the model answers otherwise (step 1 error):\nthe model is overloaded" in done.out


def test_a_session_with_itself_has_no_difference(handoff):
    assert "Both sides are the same run." in handoff("diff", CUT_OFF, CUT_OFF).out


def test_what_is_not_there_is_said_in_a_sentence(handoff):
    gone = handoff("diff", CUT_OFF, "nobody")
    no_handoff = handoff("diff", f"{CUT_OFF}:h9", EXPLAINED)
    no_place = handoff("diff", f"{RETRIED}:h3", CUT_OFF)

    assert [done.status for done in (gone, no_handoff, no_place)] == [2, 2, 2]
    assert gone.err.startswith("handoff: There is no session 'nobody' in this store; ")
    assert no_handoff.err == (
        f"handoff: Session '{CUT_OFF}' has no handoff 'h9' to compare; it has h1, h2, h3: name one "
        f"as {CUT_OFF}:HANDOFF.\n"
    )
    assert no_place.err.startswith(f"handoff: Session '{CUT_OFF}' has no handoff at t1/1.0 to ")


@pytest.fixture
def imported(handoff, folder) -> str:
    """Take two sessions in whose ids, and whose handoffs' ids, of another program, have colons."""
    _import(handoff, folder, "trace:8")
    return _import(handoff, folder, "trace:9")


def _import(handoff, folder, session_id: str) -> str:
    lines = handoff("export", RETRIED).out
    for before, after in (("h2", "call:7"), ("h3", "step-3"), (RETRIED, session_id)):
        lines = lines.replace(f'"{before}"', f'"{after}"')
    (folder / "theirs.jsonl").write_text(lines, "utf-8")
    assert handoff("import", "theirs.jsonl").status == 0
    return session_id


def test_handoffs_of_an_import_are_named_as_their_program_named_them(handoff, imported):
    form = json.loads(handoff("diff", f"{imported}:call:7", f"{imported}:step-3", "--json").out)

    assert (form["left"]["session_id"], form["left"]["handoff_id"]) == ("trace:9", "call:7")
    assert (form["right"]["session_id"], form["right"]["handoff_id"]) == ("trace:9", "step-3")
    whole = json.loads(handoff("diff", imported, RETRIED, "--json").out)
    assert (whole["left"]["session_id"], whole["left"]["handoff_id"]) == ("trace:9", "")


def test_a_handoff_that_an_import_does_not_have_is_said_with_those_it_has(handoff, imported):
    done = handoff("diff", f"{imported}:call:8", RETRIED)

    assert (done.status, done.out) == (2, "")
    assert "Session 'trace:9' has no handoff 'call:8' to compare; it has h1, call:7" in done.err


def test_an_import_whose_id_ends_as_a_handoff_is_named_is_meant_as_a_whole(handoff, folder):
    ours, theirs = (_import(handoff, folder, f"run:{name}") for name in ("h8", "h9"))

    form = json.loads(handoff("diff", ours, theirs, "--json").out)

    assert [form[side]["session_id"] for side in ("left", "right")] == ["run:h8", "run:h9"]
    assert [form[side]["handoff_id"] for side in ("left", "right")] == ["", ""]


def test_a_name_that_fits_several_imports_is_refused_with_them(handoff, imported):
    for name in ("trace", "trace:h1", "trace:7"):
        done = handoff("diff", name, RETRIED)

        assert (done.status, done.out) == (2, "")
        assert "'trace' fits several sessions: trace:8, trace:9; " in done.err


def test_a_search_names_them_so_too(handoff, imported):
    words = ("bisect", f"{imported}:call:7", f"{imported}:step-3", "--plan", "--flow", "parcels")

    done = handoff(*words)

    assert (done.status, done.err) == (0, "")
