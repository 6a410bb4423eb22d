"""`handoff bisect`, as a user looks for the change that flips an outcome."""

import json

import pytest
from support.shops import shop

from handoff_console.console.cli import bisecting, rerunning

pytestmark = pytest.mark.acceptance

CUT_OFF = "I am customer 5120. Why was I charged twice last month?"


@pytest.fixture
def failed(handoff) -> str:
    """Run a session in which billing hits its step limit, and return its id."""
    return str(
        json.loads(handoff("run", "support", "--message", CUT_OFF, "--json").out)["session_id"]
    )


def again(handoff, session: str, *words: str) -> str:
    form = json.loads(handoff("rerun", session, "h2", *words, "--mode", "live-reads", "--json").out)
    return str(form["runs"][0]["session_id"])


def test_of_many_changes_the_one_that_matters_is_named(handoff, failed):
    good = again(
        handoff, failed, "--limits", "max_steps=20", "--limits", "max_tokens=40000",
        "--limits", "deadline_seconds=300", "--task", "List every payment of the month.",
    )  # fmt: skip

    done = handoff("bisect", f"{failed}:h2", good, "--repeats", "1")

    assert done.status == 0
    assert done.out.startswith("limits.max_steps and limits.max_tokens flip it together")
    assert (
        "  Not sure: if the change did nothing, such a difference would still come by" in done.out
    )
    assert "  limits.max_steps: 6 → 20\n" in done.out
    assert "task" not in done.out
    assert "4 differences: " in done.err
    assert "about 5,915 tokens each" in done.err


def test_its_reruns_are_not_recorded_and_a_plan_runs_nothing(handoff, failed):
    good = again(handoff, failed, "--limits", "max_steps=20", "--limits", "max_tokens=40000")
    planned = handoff("bisect", f"{failed}:h2", good, "--plan")
    done = handoff("bisect", f"{failed}:h2", good)

    assert done.out.endswith(
        "  If the change did nothing, so clear a difference would come by chance in 5 %\n"
        "  of cases.\n12 re-runs in all\n"
    )

    assert planned.out.startswith("2 differences: limits.max_steps, limits.max_tokens\n")
    (listed,) = json.loads(handoff("list", "--json").out)
    assert listed["reruns"] == 1


def test_ctrl_c_at_a_search_and_at_several_re_runs_says_what_is_left_of_them(
    handoff, failed, monkeypatch
):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bisecting, "find_cause", interrupted)
    monkeypatch.setattr(rerunning, "rerun_handoff", interrupted)

    search = handoff("bisect", f"{failed}:h2", f"{failed}:h1")
    several = handoff("rerun", failed, "h2", "--times", "3")

    assert (search.status, several.status) == (130, 130)
    assert search.err == "Cancelled; a search records nothing, so it begins anew the next time.\n"
    assert several.err == "Cancelled; the runs until then are recorded: handoff list --reruns\n"


def test_the_failed_one_in_the_place_of_the_good_one_is_refused(handoff, failed):
    words = ("--limits", "max_steps=20", "--limits", "max_tokens=40000", "--mode", "live-reads")
    form = json.loads(handoff("rerun", failed, "h2", *words, "--json").out)
    done = handoff("bisect", form["runs"][0]["session_id"], f"{failed}:h2")

    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "handoff: The attempt that is to be the good one came out as limit_reached; name the "
        "failed one first, and then one that went well.\n"
    )


def test_an_attempt_that_differs_in_nothing_is_a_no(handoff, failed):
    done = handoff("bisect", f"{failed}:h2", f"{failed}:h2")

    assert "Nothing that a re-run could change differs; nothing will run." in done.err
    assert "re-run" not in "".join(done.out.splitlines()[1:])

    assert (done.status, done.out.splitlines()[0]) == (
        1,
        "The two attempts differ in nothing that a re-run can change: run one of them",
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{}", "{}:h2"], "has several handoffs; say which one, as "),
        (["{}:h9", "{}:h2"], "has no handoff 'h9'; it has: h1, h2, h3."),
        (["nobody:h2", "{}:h2"], "There is no session 'nobody' in this store"),
        (
            ["{}:h2", "{}:h3"],
            "different agents, 'billing' and 'account'; name two of the same one.",
        ),
    ],
)
def test_what_cannot_be_looked_for_is_one_sentence(handoff, failed, words, sentence):
    done = handoff("bisect", *(word.replace("{}", failed) for word in words))

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1


COUNTS = """\
from handoff_console.runtime import Agent, Flow, answer

def clerk(call):
    is_told = "count twice" in call.messages[0]["content"]
    return answer("ok", "3 rows") if is_told else answer("error", "nothing")

flow = Flow("counts", [Agent("clerk", model=clerk, prompt="You count.\\nBe brief.\\nNever guess.")])
"""


def test_of_a_prompt_only_the_sentence_that_matters_is_named(handoff, folder):
    (folder / "counts.py").write_text(COUNTS)
    (folder / "good.md").write_text("You count.\nAlways count twice.\nBe kind.\nNever guess.")
    ran = json.loads(handoff("run", "counts.py:flow", "--message", "Count.", "--json").out)
    flow = ("--flow", "counts.py:flow")
    words = ("rerun", ran["session_id"], "h1", *flow, "--prompt", "good.md", "--json")
    good = json.loads(handoff(*words).out)["runs"][0]["session_id"]

    done = handoff("bisect", f"{ran['session_id']}:h1", good, *flow)

    assert done.out.startswith("prompt, part 2 alone flips it: 3 of 3 came out well")
    assert "  prompt, part 2: nothing → Always count twice.\n" in done.out


def test_what_is_not_as_it_was_recorded_is_said_before_anything_is_tried(handoff, folder):
    shop(folder)
    (folder / "model.py").write_text(
        "from shop import Rules, billing\nother = Rules(billing, name='other')\n"
    )
    flow = ("--flow", "shop.py:flow")
    form = handoff(
        "run", "shop.py:flow", "--message", "Why?", "--model", "billing=model.py:other", "--json"
    ).out
    good = json.loads(form)["session_id"]
    words = ("rerun", good, "h2", *flow, "--limits", "max_steps=1", "--json")
    failed = json.loads(handoff(*words, "--model", "model.py:other").out)["runs"][0]["session_id"]
    shop(folder, ("About money.", "Money."))
    said = [
        "This flow is not quite the one that was recorded:",
        "  the description of the transfer 'triage' → 'billing' is another one",
        "  billing asked the model 'other' when this was recorded, which only its own",
        "  program can make, and asks the flow's rules now; put it into the flow to ask",
        "  it again.",
        "1 difference: limits.max_steps",
    ]

    planned = handoff("bisect", failed, f"{good}:h2", *flow, "--plan")
    done = handoff("bisect", failed, f"{good}:h2", *flow)

    assert planned.out.splitlines()[:6] == said
    assert done.err.splitlines()[:6] == said
    assert done.out.startswith("limits.max_steps alone flips it: 3 of 3")


def test_where_nothing_is_tried_no_model_has_to_be_at_hand(handoff, folder, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    shop(folder)
    form = handoff("run", "shop.py:flow", "--message", "Why?", "--json").out
    name = f"{json.loads(form)['session_id']}:h2"
    shop(folder, ("model=billing", 'model="openai:gpt-4o"'))

    done = handoff("bisect", name, name, "--flow", "shop.py:flow", "--plan")

    assert done.out == "Nothing that a re-run could change differs; nothing will run.\n"


def test_of_an_agent_that_is_gone_it_is_one_sentence(handoff, folder):
    shop(folder)
    run = handoff("run", "shop.py:flow", "--message", "Why twice?", "--json")
    session = json.loads(run.out)["session_id"]
    words = ("rerun", session, "h2", "--flow", "shop.py:flow", "--limits", "max_steps=1", "--json")
    failed = json.loads(handoff(*words).out)["runs"][0]["session_id"]
    shop(folder, ('"billing"', '"bills"'))

    done = handoff("bisect", failed, f"{session}:h2", "--flow", "shop.py:flow")

    assert done.err == (
        "handoff: The flow 'shop' has no agent 'billing', who did this handoff; it has: bills, "
        "checker, triage.\n"
    )
