"""`handoff rerun`, as a user runs one handoff again."""

import json
import re

import pytest
from support.mailboxes import MAIL, mailbox, sent
from support.terminals import typed

from handoff_console.console.viewmodels.text import seconds
from handoff_console.sample_runs.shipped import unpack

pytestmark = pytest.mark.acceptance

MORE = ("--limits", "max_steps=20", "--limits", "max_tokens=40000")
"""Enough for billing to come to its end."""
CUT_OFF = "I am customer 5120. Why was I charged twice last month?"


@pytest.fixture
def cut_off(handoff, folder) -> str:
    """Run a session in which billing hits its step limit, and return its id."""
    return str(
        json.loads(handoff("run", "support", "--message", CUT_OFF, "--json").out)["session_id"]
    )


def everything(handoff, session: str) -> str:
    """Return all that a store has of a session."""
    return str(handoff("export", session).out)


def test_unchanged_it_asks_nobody_and_gives_the_recorded_result(handoff, cut_off):
    before = everything(handoff, cut_off)

    for handoff_id in ("h1", "h2", "h3"):
        form = json.loads(handoff("rerun", cut_off, handoff_id, "--json").out)
        assert (form["mode"], form["same_result"], form["live_model_calls"]) == ("verify", True, 0)
        assert form["first_divergence"] is None
    assert everything(handoff, cut_off) == before


def test_it_first_says_what_it_takes_then_where_it_differs(handoff, cut_off):
    done = handoff("rerun", cut_off, "h2", *MORE, "--mode", "live-reads")

    assert done.err.splitlines() == [
        "billing (h2) again, live-reads; recorded as limit_reached",
        "  6 model calls, about 5,915 tokens if it goes as it went",
        "  at most 20 steps and 40,000 tokens each, by its limits",
        "  6 tool calls that only read",
    ]
    out = done.out.splitlines()
    assert out[0] == "▲ limit_reached  recorded"
    assert out[1].startswith("✓ ok             another result · 10 asked, 0 replayed · ")
    assert (
        "They first part at billing (t1/2.0): its request has another limits.max_steps: 6\n→ 20."
        in (done.out)
    )
    assert "  status: limit_reached (steps) → ok" in out
    assert max(map(len, out)) <= 80


def test_with_the_tool_that_was_denied_it_is_shown_what_came_of_it(handoff):
    ran = json.loads(handoff("run", "disclosure", "--json").out)

    done = handoff(
        "rerun", ran["session_id"], "h2", "--mode", "live-reads",
        "--tools", "crm.profile,payments.list_methods",
    )  # fmt: skip

    assert done.status == 0
    out = done.out.splitlines()
    assert out[1].startswith("✓ ok             another result")
    assert "They first part at collector (t1/1.0): its request has another allowed_tools:" in out
    assert '["crm.profile"] → ["crm.profile", "payments.list_methods"].' in out
    assert "  status: error → ok" in out
    # It asked with these arguments both times; what differs is that it was let.
    assert not any("payments.list_methods, step 2 arguments" in line for line in out)
    assert "step 2 error: denied: not_allowed → nothing" in " ".join(done.out.split())


def test_without_a_handoff_it_says_which_there_are_and_which_to_try(handoff, cut_off):
    done = handoff("rerun", cut_off)

    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"handoff: Say which handoff of session '{cut_off}' to run again: h1 (supervisor, ok), "
        f"h2 (billing, limit_reached), h3 (account, ok); write `handoff rerun {cut_off} h2`.\n"
    )


def test_runs_and_their_summary_go_by_one_clock(handoff, folder):
    unpack(folder / "handoff.db")

    out = handoff("rerun", "41063c09", "h2", "--mode", "verify", "--times", "2").out

    runs = [line for line in out.splitlines() if "the same result" in line]
    assert [line.rsplit(" · ", 1)[1] for line in runs[:2]] == ["7.4 s", "7.4 s"]
    assert "5,915 tokens each · 7.4 s each" in out
    assert "Verified 2 times, all came to the same result: every answer was the" in out


def test_what_parted_and_what_waits_go_by_the_clock_of_their_record_too(handoff, folder):
    unpack(folder / "handoff.db")

    parted = handoff("rerun", "6e004ac9", "h2", "--set", "inputs.customer=1", "--mode", "verify",
                     "--json")  # fmt: skip
    waits = handoff("rerun", "7142f50c", "h1", "--mode", "live", "--json")

    (parted,), (waits,) = (json.loads(done.out)["runs"] for done in (parted, waits))
    assert (parted["outcome"], parted["seconds"]) == ("diverged", 0.0)
    assert waits["outcome"] == "waiting"
    assert waits["seconds"] > 0


def test_a_version_saved_beside_the_store_is_found_by_run_and_rerun(handoff, folder, cut_off):
    # Where the console's editor saves what began as a sample's version.
    saved = folder / "prompts" / "support" / "mine"
    saved.mkdir(parents=True)
    (saved / "billing.md").write_text("Look twice.\n")

    again = handoff("rerun", cut_off, "h2", "--prompts", "mine", "--json")
    ran = handoff("run", "support", "--prompts", "mine", "--message", CUT_OFF, "--json")

    assert (again.status, json.loads(again.out)["edits"]) == (0, {"prompt": "Look twice."})
    assert json.loads(ran.out)["prompt_version"] == "mine"


def test_a_plan_runs_nothing(handoff, cut_off):
    done = handoff("rerun", cut_off, "h2", "--set", "inputs.customer_id=4812", "--plan")

    assert done.out.startswith("billing (h2) again, what-if; recorded as limit_reached\n")
    listed = json.loads(handoff("list", "--json").out)
    assert [line["session_id"] for line in listed] == [cut_off]
    assert listed[0]["reruns"] == 0


def test_a_change_is_recorded_and_shown_with_the_original(handoff, cut_off):
    words = ("--set", "inputs.customer_id=4812", "--mode", "live-reads", "--json")
    form = json.loads(handoff("rerun", cut_off, "h2", *words).out)

    assert form["edits"] == {"inputs": {"customer_id": "4812"}}
    assert form["comparison"]["first_difference"] == {
        "path": "t1/2.0",
        "agent": "billing",
        "aspect": "request",
        "name": "inputs.customer_id",
        "recorded": "5120",
        "now": "4812",
    }
    (listed,) = json.loads(handoff("list", "--json").out)
    assert (listed["session_id"], listed["reruns"]) == (cut_off, 1)


def test_several_times_say_how_often_it_came_out_how(handoff, cut_off):
    done = handoff("rerun", cut_off, "h3", "--times", "3")
    form = json.loads(handoff("rerun", cut_off, "h3", "--times", "3", "--json").out)

    assert "account (h3) again, what-if, 3 times; recorded as ok" in done.err
    assert "3 of 3 came out ok, all with the same result" in done.out
    assert (len(form["runs"]), form["live_model_calls"]) == (3, 6)
    assert form["repeats"]["outcomes"] == {"ok": 3}
    assert form["repeats"]["pass_rate_low"] == pytest.approx(0.4385, abs=1e-4)


def test_a_tool_that_is_said_to_return_something_else_is_believed(handoff, cut_off):
    page = {"payments": [], "next_page": None}
    done = handoff(
        "rerun",
        cut_off,
        "h2",
        "--tool-result",
        f"billing.list_payments={json.dumps(page)}",
        "--json",
    )

    form = json.loads(done.out)
    assert form["mode"] == "what-if"
    assert form["runs"][0]["outcome"] != "limit_reached"


def test_continue_goes_live_where_an_input_changed_and_nowhere_else(handoff, cut_off):
    words = ("--mode", "continue", *MORE, "--json")
    unchanged = json.loads(handoff("rerun", cut_off, "h2", "--mode", "continue", "--json").out)
    whole = json.loads(handoff("rerun", cut_off, "h2", *words).out)

    alone = ("--mode", "live-reads", *MORE, "--json")
    first = json.loads(handoff("rerun", cut_off, "h2", *alone).out)["runs"][0]["session_id"]
    grafted = json.loads(handoff("rerun", cut_off, "h2", *words, "--graft", first).out)

    assert (unchanged["live_model_calls"], unchanged["same_result"]) == (0, True)
    assert whole["live_model_calls"] == 10 + 1  # billing from its first step, and who reads it
    assert grafted["live_model_calls"] == 1
    assert whole["runs"][0]["answer"] == grafted["runs"][0]["answer"]
    assert "incomplete" not in whole["runs"][0]["answer"]


def test_the_answers_of_a_rerun_count_in_the_place_of_those_that_they_replace(handoff, cut_off):
    alone = ("--mode", "live-reads", *MORE, "--json")
    first = json.loads(handoff("rerun", cut_off, "h2", *alone).out)
    words = ("rerun", cut_off, "h2", "--mode", "continue")
    graft = ("--graft", first["runs"][0]["session_id"])

    def planned_and_found(*more: str) -> tuple[int, int, int]:
        plan = json.loads(handoff(*words, *more, "--plan", "--json").out)
        (run,) = json.loads(handoff(*words, *more, "--json").out)["runs"]
        return plan["replayed_answers"], plan["further_model_calls"], run["replayed_answers"]

    assert planned_and_found() == (19, 0, 19)
    assert planned_and_found(*graft) == (26, 1, 25)  # who reads the new result is asked
    assert "  at most 26 recorded answers taken over\n" in handoff(*words, *graft).err


def test_what_was_changed_for_a_rerun_comes_with_its_answers(handoff, cut_off):
    alone = ("--mode", "live-reads", *MORE, "--json")
    first = json.loads(handoff("rerun", cut_off, "h2", *alone).out)["runs"][0]["session_id"]
    words = ("rerun", cut_off, "h2", "--mode", "continue", "--graft", first)
    grafted = json.loads(handoff(*words, "--json").out)
    own = json.loads(handoff(*words, "--limits", "max_steps=30", "--plan", "--json").out)
    done = handoff(*words)

    assert grafted["edits"] == {"limits": {"max_steps": 20, "max_tokens": 40_000}}
    assert grafted["live_model_calls"] == 1  # who reads what it came to
    assert "incomplete" not in grafted["runs"][0]["answer"]
    assert own["edits"] == {"limits": {"max_steps": 30, "max_tokens": 40_000}}
    assert (
        "as in the re-run that it takes over, with changed: limits.max_steps = 20, "
        "limits.max_tokens = 40000" in done.err
    )


def test_what_a_continued_session_is_compared_with_is_the_whole_session(handoff, cut_off):
    done = handoff("rerun", cut_off, "h2", "--mode", "continue")

    assert "recorded as limit_reached" in done.err  # the handoff
    assert done.out.startswith(
        "✓ ok             recorded\n"
        "✓ ok             the same result · 0 asked, 19 replayed · 9,487 tokens"
    )


def test_a_recorded_answer_of_a_worker_keeps_the_limit_that_it_had_hit(handoff, cut_off):
    done = handoff("rerun", cut_off, "h1", "--mode", "what-if")

    assert "\nNothing differs but what the runs took.\n" in done.out
    (again,) = json.loads(handoff("list", "--reruns", "--json", "--limit", "1").out)
    assert (
        "├─ billing                 ◂ ▲ limit_reached: steps"
        in handoff("show", again["session_id"]).out
    )
    why = handoff("why", again["session_id"]).out
    assert "billing hit its step limit when that was recorded; supervisor answered" in why


def test_a_value_that_one_run_lacks_is_no_other_value(handoff, cut_off):
    added = handoff("rerun", cut_off, "h2", "--set", "inputs.currency=EUR").out
    gone = handoff("rerun", cut_off, "h2", "--unset", "inputs.until").out

    assert "its request has a further inputs.currency:" in added
    assert "its request has no inputs.until: 2026-10-31" in gone


def test_no_tool_at_all_is_a_change(handoff, cut_off):
    form = json.loads(handoff("rerun", cut_off, "h2", "--tools", "", "--json").out)

    assert (form["mode"], form["edits"]) == ("what-if", {"allowed_tools": []})
    assert form["comparison"]["first_difference"]["name"] == "allowed_tools"


def test_a_verification_that_parts_from_the_recording_is_a_no(handoff, folder, cut_off):
    (folder / "other.md").write_text("Be brief.")
    done = handoff("rerun", cut_off, "h2", "--prompt", "other.md", "--mode", "verify")

    assert done.status == 1
    assert "first other question at t1/2.0 step 1" in done.out
    assert "billing follows rules; it does not read its prompt" in done.err


def test_another_model_is_asked_at_that_place_alone(handoff, folder, cut_off):
    (folder / "model.py").write_text(
        "from handoff_console.runtime import answer\n"
        "def honest(call):\n"
        "    return answer('not_found', 'I was asked instead.')\n"
    )
    words = ("rerun", cut_off, "h2", "--model", "model.py:honest", "--json")
    form = json.loads(handoff(*words).out)

    assert form["runs"][0]["outcome"] == "not_found"
    assert form["live_model_calls"] == 1
    assert form["edits"] == {"model": "rules"}


def test_a_verification_asks_no_model_that_is_named_either(handoff, cut_off, folder):
    (folder / "model.py").write_text("def other(call):\n    raise SystemExit('I was asked.')\n")
    done = handoff("rerun", cut_off, "h2", "--mode", "verify", "--model", "model.py:other")

    assert "the same result · 0 asked, 12 replayed" in done.out
    assert "Every answer is the recorded one" in done.err


def test_a_model_is_recorded_with_its_settings(handoff, cut_off, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    name = "openai:gpt-4o-mini?temperature=0.5&max_tries=1"
    form = json.loads(handoff("rerun", cut_off, "h2", "--model", name, "--plan", "--json").out)

    assert form["edits"] == {"model": name}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["h99"], "has no handoff 'h99'; it has: h1, h2, h3."),
        (["h2", "--limits", "steps=3"], "There is no limit 'steps'; there are: deadline_seconds,"),
        (["h2", "--limits", "max_steps=many"], "--limits max_steps=many is no number"),
        (["h2", "--limits", f"max_tokens=1{'0' * 400}"], "00… is too large; write a number below"),
        (["h2", "--limits", "max_steps=0"], "The edited request is not valid: limits.max_steps: "),
        (["h2", "--tools", "shell"], "Agent 'billing' has no tool 'shell'; it has: "),
        (["h2", "--set", "customer_id=1"], "names no input; write --set inputs.NAME."),
        (["h2", "--set", "inputs.x"], "'inputs.x' is not understood; write --set inputs.NAME=JSON"),
        (["h2", "--unset", "x"], "--unset x names no input; write --unset inputs.NAME."),
        (["h2", "--packet", "facts.x=1"], "names no part of a packet that can be changed; write g"),
        (["h2", "--packet", "goal=x"], "No packet came along with this handoff"),
        (["h2", "--task", "two\nlines"], "the task has several lines"),
        (["h2", "--output-schema", "No"], "There is no schema 'No'; there are: "),
        (["h2", "--tool-result", "x"], "'x' is not understood; write --tool-result TOOL=JSON."),
        (["h2", "--tool-result", 'billing.list_payments={"a":'], "begins as JSON and is none: {"),
        (["h2", "--set", "inputs.orders=[1, 2"], "--set inputs.orders begins as JSON and is none"),
        (["h2", "--arm", "billing.list_payments", "--mode", "what-if"], "--mode live acts again"),
        (["h2", "--prompt", "nowhere.md"], "nowhere.md: No such file"),
        (["h2", "--prompts", "v9"], "Flow 'support' cannot run: there is no prompt version 'v9'"),
        (["h2", "--model", "gpt:x"], "wants the model 'gpt:x'"),
        (["h2", "--graft", "x"], "taken over only with --mode continue"),
    ],
)
def test_what_cannot_be_run_again_is_one_sentence_and_runs_nothing(
    handoff, cut_off, words, sentence
):
    done = handoff("rerun", cut_off, *words)

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
    (listed,) = json.loads(handoff("list", "--json").out)
    assert listed["reruns"] == 0


@pytest.fixture
def mailed(handoff, folder) -> str:
    """Run a session that wrote a letter, and return its id."""
    mailbox(folder)
    form = json.loads(handoff("run", "mail.py:flow", "--message", "Write to bob.", "--json").out)
    handoff("approve", form["session_id"])
    handoff("resume", form["session_id"], "--flow", "mail.py:flow")
    assert sent(folder) == ["bob: Hello"]
    return str(form["session_id"])


FLOW = ("--flow", "mail.py:flow")


def test_code_is_run_only_from_a_file_that_is_named(handoff, mailed):
    done = handoff("rerun", mailed, "h1")

    assert (done.status, done.out) == (2, "")
    assert "name it as path/to/file.py:name (--flow in a shell) to run that code again" in done.err
    assert handoff("rerun", mailed, "h1", *FLOW).status == 0


@pytest.mark.parametrize("mode", ["verify", "what-if", "live-reads", "live", "continue"])
def test_an_act_that_was_done_is_not_done_again_in_any_mode(handoff, folder, mailed, mode):
    before = everything(handoff, mailed)
    form = json.loads(handoff("rerun", mailed, "h1", *FLOW, "--mode", mode, "--json").out)

    assert sent(folder) == ["bob: Hello"]
    assert form["runs"][0]["outcome"] == "ok"
    assert form["same_result"]
    assert everything(handoff, mailed) == before


def test_an_armed_act_is_announced_and_happens_again_only_after_a_yes(handoff, folder, mailed):
    words = ("rerun", mailed, "h1", *FLOW, "--mode", "live", "--arm", "mail")
    done = handoff(*words)
    before = sent(folder)
    (rerun,) = json.loads(handoff("list", "--json", "--outcome", "waiting", "--reruns").out)
    handoff("approve", rerun["session_id"])
    handoff("resume", rerun["session_id"], *FLOW)

    assert "  DONE AGAIN, each after a yes: mail" in done.err
    assert before == ["bob: Hello"]
    assert sent(folder) == ["bob: Hello", "bob: Hello"]


def test_at_a_terminal_an_armed_act_is_asked_for_at_once(handoff, folder, mailed):
    words = ["rerun", mailed, "h1", *FLOW, "--mode", "live", "--arm", "mail"]

    typed(folder, words, ["no\n"])
    before = sent(folder)
    status, shown = typed(folder, words, ["y\n"])

    assert before == ["bob: Hello"]
    assert "Send it? Only y is a yes." in shown
    (said,) = re.findall(r"tokens · ([\w. ]+)", shown)
    # What took as long as it had, as it is written, has no line of its own.
    assert re.findall(r"  time .* → ([\d.]+ \w+)", shown) in ([said], [])
    again = re.findall(r"handoff show (\S+)", shown)[-1]
    form = json.loads(handoff("diff", f"{mailed}:h1", again, "--json").out)
    assert seconds(form["right"]["seconds"]) == said
    assert "  Done: " in shown
    assert (status, sent(folder)) == (0, ["bob: Hello", "bob: Hello"])


def test_another_act_than_the_recorded_one_needs_a_yes_of_its_own(handoff, folder, mailed):
    done = handoff("rerun", mailed, "h1", *FLOW, "--mode", "live", "--task", "Write to eve.")

    assert "waits for a person" in done.err
    assert sent(folder) == ["bob: Hello"]


def test_a_changed_tool_is_announced_before_anything_runs(handoff, folder, mailed):
    (folder / "mail.py").write_text(MAIL.replace("Send a letter", "Post a letter"))
    live = handoff("rerun", mailed, "h1", *FLOW, "--mode", "live-reads")

    assert live.err.splitlines()[:2] == [
        "This flow is not quite the one that was recorded:",
        "  the tool 'mail' of 'clerk' has another source and description",
    ]


def test_what_is_another_one_about_a_tool_is_told_in_words(handoff, folder, mailed):
    (folder / "mail.py").write_text(MAIL.replace('{"sent_to": to}', '{"posted_to": to}'))
    source = handoff("rerun", mailed, "h1", *FLOW, "--mode", "live-reads").out
    (folder / "mail.py").write_text(MAIL.replace('text: str = "Hello"', 'text: str = "Hi"'))
    schema = handoff("rerun", mailed, "h1", *FLOW, "--mode", "live-reads").out

    assert "\nThey first part at clerk (t1): its tool mail has another source.\n" in source
    assert "\n  offered tools mail: source: one version → another version\n" in source
    said = " ".join(schema.split())
    assert (
        "its tool mail has another schema of its arguments (properties.text.default): Hello → Hi."
        in said
    )


def test_a_slip_in_how_many_times_starts_nothing(handoff):
    done = handoff("rerun", "nobody", "h1", "--times", "100000")

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("handoff: It runs 1 to 1,000 times at once, and 100,000 are asked")


def test_a_value_that_was_left_out_of_the_record_is_asked_for(handoff, folder):
    mailbox(folder)
    form = json.loads(
        handoff(
            "run", "mail.py:flow", "--message", "Note card number 4111 1111 1111 1111", "--json"
        ).out
    )
    refused = handoff("rerun", form["session_id"], "h1", *FLOW, "--mode", "what-if")
    said = handoff(
        "rerun", form["session_id"], "h1", *FLOW, "--mode", "what-if", "--task", "Note nothing."
    )

    marked = handoff("rerun", form["session_id"], "h1", *FLOW, "--mode", "what-if", "--leave-marks")

    assert "The task holds a value that was left out of the record" in refused.err
    assert said.status == 0
    assert marked.status == 0


def test_what_a_tool_returned_with_a_value_that_was_left_out_is_told(handoff, folder):
    card = '{"sent_to": to, "card": "4111 1111 1111 1111"}'
    (folder / "mail.py").write_text(MAIL.replace('{"sent_to": to}', card))
    form = json.loads(handoff("run", "mail.py:flow", "--message", "Write to bob.", "--json").out)
    handoff("approve", form["session_id"])
    handoff("resume", form["session_id"], *FLOW)

    def notes(*words: str) -> list[str]:
        plan = handoff("rerun", form["session_id"], "h1", *FLOW, *words, "--plan", "--json").out
        return list(json.loads(plan)["notes"])

    told = (
        "What mail returned holds a value that was left out of the record, and the model reads a "
        "mark in its place; say the value with --value, or pretend that it returned the whole of it"
    )
    assert notes("--mode", "what-if") == [f"{told}, or let live-reads ask it again."]
    assert notes("--mode", "live") == [f"{told}."]
    assert notes("--mode", "what-if", "--value", "card number=4111 1111 1111 1111") == []
    assert notes("--mode", "what-if", "--tool-result", "mail={}") == []
    assert notes("--mode", "live", "--arm", "mail") == []
    assert notes("--mode", "verify") == notes("--mode", "continue") == []
    assert notes("--mode", "continue", "--limits", "max_steps=9")[-1] == (
        "Values were left out of this record; whoever is really asked from here on reads marks in "
        "their place, but for those that are said with --value."
    )


def test_an_act_that_is_done_again_is_no_recorded_answer(handoff, mailed):
    words = ("rerun", mailed, "h1", *FLOW, "--mode", "live", "--plan", "--json")
    as_it_was, again = (json.loads(handoff(*words, *more).out) for more in ((), ("--arm", "mail")))

    assert (as_it_was["replayed_answers"], as_it_was["effects_repeated"]) == (1, [])
    assert (again["replayed_answers"], again["effects_repeated"]) == (0, ["mail"])


def test_an_imported_session_is_verified_and_changed_like_one_recorded_here(handoff, cut_off):
    handoff("export", cut_off, "-o", "one.jsonl")
    handoff("import", "one.jsonl", "--db", "other.db")

    for handoff_id in ("h1", "h2", "h3"):
        words = ("rerun", cut_off, handoff_id, "--json", "--db", "other.db")
        form = json.loads(handoff(*words).out)
        assert (form["same_result"], form["live_model_calls"]) == (True, 0)
    limits = (*MORE, "--mode", "continue")
    changed = json.loads(handoff("rerun", cut_off, "h2", *limits, "--json", "--db", "other.db").out)
    assert changed["live_model_calls"] == 11
