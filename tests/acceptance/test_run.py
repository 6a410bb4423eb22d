"""`handoff run` with one message, as a user types it."""

import json
import os
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest
from support.command import PROGRAM, environment, program

pytestmark = pytest.mark.acceptance

TWELVE_LINES = """\
from handoff_console.runtime import Agent, Edge, Flow, hand_over, say

def triage(call):
    return hand_over("billing", "billing question") if "refund" in call.text else None

def billing(call):
    return say("Billing here: I can help with your refund.")

flow = Flow("mine", [
    Agent("triage", model=triage, edges=[Edge.transfer("billing", "Refunds and invoices.")]),
    Agent("billing", model=billing),
])
"""


def test_a_session_prints_its_tree_its_answer_and_its_pool(handoff):
    done = handoff("run", "frontdesk", "--message", "I need a refund")

    shown = re.sub(r"[\d.]+ m?s\b", "T", done.out)
    shown = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "WHEN", shown)
    shown = re.sub(r"\d{8}-\d{6}-\w{8}", "ID", shown)
    assert [" ".join(line.split()) for line in shown.splitlines()] == [
        "I need a refund",
        "frontdesk · WHEN · T",
        "",
        "agent outcome steps tokens time",
        "triage → transferred 1 291 T",
        "↳ billing ✓ ok 1 87 T",
        "",
        "Billing here: I can help with your refund.",
        "",
        "pool 378 of 30,000 tokens used, 29,622 free",
        "verdict billing answered after 1 transfer; nothing stands out.",
        "session ID",
        "handoff open --session ID",
    ]
    assert (done.status, done.err) == (0, "")


def test_no_line_is_wider_than_80_columns_and_none_has_colours_in_a_file(handoff):
    done = handoff("run", "support", "--message", "Why was I charged twice last month?")

    assert max(map(len, done.out.splitlines())) <= 80
    assert "\x1b" not in done.out


def test_colours_come_on_request_and_go_with_no_color(folder):
    words = ("run", "frontdesk", "--message", "I need a refund")

    assert "\x1b[32m✓ ok\x1b[0m" in program(folder, *words, FORCE_COLOR="1").out
    assert "\x1b" not in program(folder, *words, FORCE_COLOR="1", NO_COLOR="1").out


def test_a_message_that_no_rule_matches_gets_an_honest_answer(handoff):
    done = handoff("run", "support", "--message", "qwertyuiop")

    assert done.status == 0
    assert "I do not know how to help with that" in done.out
    assert "answered that it does not know: no rule matches the message." in done.out


def test_without_a_message_a_sample_runs_its_first_example(handoff):
    assert handoff("run", "support").out.startswith("Why was I charged twice last month?\n")


def test_a_typed_request_of_a_sample_is_run_as_it_is(handoff):
    form = json.loads(handoff("run", "invoices", "--json").out)

    assert form["handoffs"][0]["task"].startswith("Find")


def test_json_has_the_documented_form(handoff):
    form = json.loads(handoff("run", "frontdesk", "--message", "I need a refund", "--json").out)

    assert list(form) == [
        "session_id", "flow", "prompt_version", "origin", "source", "started_at",
        "duration_seconds", "message", "outcome", "limit", "answer", "verdict", "pool", "cost",
        "currency", "handoffs", "findings", "metadata", "waiting_for",
    ]  # fmt: skip
    assert [(h["handoff_id"], h["target"], h["kind"], h["status"]) for h in form["handoffs"]] == [
        ("h1", "triage", "call", "transferred"),
        ("h2", "billing", "transfer", "ok"),
    ]
    assert form["pool"][0]["total_tokens"] == 30_000
    assert form == json.loads(handoff("show", form["session_id"], "--json").out)


def test_what_a_session_cost_is_shown_where_its_models_have_a_price(handoff, folder):
    (folder / "mine.py").write_text(TWELVE_LINES)
    words = ("run", "mine.py:flow", "--message", "a refund please")
    free = handoff(*words)
    (folder / "prices.toml").write_text(
        'currency = "EUR"\n[models.rules]\ninput_per_million = 10.0\noutput_per_million = 10.0\n'
    )

    form = json.loads(handoff(*words, "--json").out)
    shown = handoff("show", form["session_id"]).out

    spent = form["pool"][0]["spent_tokens"]
    assert (form["cost"], form["currency"]) == (pytest.approx(spent / 100_000), "EUR")
    assert f"\ncost     {spent / 100_000:.4f} EUR\n" in shown
    assert "\ncost " not in free.out


def test_a_flow_in_twelve_lines_runs_from_its_file(handoff, folder):
    (folder / "mine.py").write_text(TWELVE_LINES)

    done = handoff("run", "mine.py:flow", "--message", "a refund please")

    assert done.status == 0
    assert "Billing here: I can help with your refund." in done.out
    assert len(TWELVE_LINES.splitlines()) == 12


BROKEN = """\
from handoff_console.runtime import Agent, Flow, Tool, hand_over, say, use

def look(key: str) -> str:
    raise ValueError(f"no key {key}")

def triage(call):
    if call.text == "nowhere":
        return hand_over("nowhere", "it might help")
    if call.text == "number":
        return 7
    if call.text == "tool":
        return say("Sorry.") if call.results else use("look", key="a")
    return {}["missing"]

tool = Tool(look, description="Look a key up.")
flow = Flow("broken", [Agent("triage", model=triage, tools=[tool])])
wrong = lambda: Flow("wrong", [Agent("triage", model=lambda: "x")])
"""


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("raise", "The function of triage failed at broken.py, line 13: KeyError: 'missing'."),
        ("number", "The function of triage failed at broken.py, line 6: it returned int; it has "
         "to return text, a ModelReply, or a dict of a ModelReply's fields."),
        ("tool", "triage answered, though the tool look of triage failed at broken.py, line 4: "
         "ValueError: no key a."),
    ],
)  # fmt: skip
def test_a_mistake_in_a_function_of_ones_own_is_named_with_its_line(
    handoff, folder, message, verdict
):
    (folder / "broken.py").write_text(BROKEN)

    done = handoff("run", "broken.py:flow", "--message", message)

    assert (done.status, done.err) == (0, "")
    shown = " ".join(done.out.split())
    assert f"verdict {verdict} " in shown
    assert "Traceback" not in done.out
    assert "The model" not in done.out


def test_what_is_refused_again_and_again_is_one_row_of_the_tree_and_ends_soon(handoff, folder):
    (folder / "broken.py").write_text(BROKEN)

    done = handoff("run", "broken.py:flow", "--message", "nowhere")

    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[4].startswith("triage ▲ limit_reached: repeats 3 ")
    assert lines[5:7] == [
        "nowhere (3 times) ◂ ⊘ refused: not allowed",
        "'triage' may not transfer to 'nowhere'; it may transfer to: nobody.",
    ]
    assert "verdict triage asked 3 times for nowhere, whom it may not hand off to." in lines


def test_a_function_that_nobody_can_call_is_refused_before_a_store_is_made(handoff, folder):
    (folder / "broken.py").write_text(BROKEN.replace("wrong = lambda: ", "wrong = "))

    done = handoff("run", "broken.py:wrong", "--message", "x")

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(
        "handoff: Flow 'wrong' cannot run: the model of 'triage' is the function '<lambda>' "
        "(broken.py, line 17), which cannot be called with one argument"
    )
    assert not (folder / "handoff.db").exists()


def test_an_outcome_can_be_made_the_exit_status(handoff):
    words = ("run", "support", "--message", "qwertyuiop", "--fail-on")

    assert handoff(*words, "error", "limit_reached").status == 0
    assert handoff(*words, "ok").status == 1
    refused = handoff(*words, "okay")
    assert refused.status == 2
    assert refused.err.startswith("handoff: There is no outcome 'okay'; there are: ok, not_found,")


def test_a_smaller_pool_holds_for_the_session(handoff):
    form = json.loads(handoff("run", "support", "--pool", "20000", "--json").out)

    assert form["pool"][0]["total_tokens"] == 20_000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["suport"], "There is no flow 'suport' (is 'support' meant?); the samples are: "),
        (["nowhere.py:flow"], "There is no file "),
        (["support", "--message", " "], "The message is empty; say something with --message TEXT."),
        (
            ["support", "--prompts", "v9"],
            "Flow 'support' cannot run: there is no prompt version 'v9'",
        ),
        (["support", "--model", "gpt:x"], "wants the model 'gpt:x'"),
        (["support", "--model", "nobody=offline:bm25"], "has no agent 'nobody' to give a model to"),
        (["support", "--pool", "10"], "leaves nothing of a pool of 10; make the pool larger."),
        (["support", "--limit", "3"], "--limit and --again are for a file of requests"),
        (["support", "--input", "nowhere.txt"], "nowhere.txt: there is no such file"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_makes_no_store(handoff, folder, words, sentence):
    done = handoff("run", *words)

    assert done.status == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("words", [["--pool", "many"], ["--pool", "0"], ["--pool", "-5"]])
def test_a_number_that_is_none_is_wrong_usage(handoff, words):
    done = handoff("run", "support", *words)

    assert done.status == 2
    assert "(see `handoff run --help`)" in done.err
    assert "Traceback" not in done.err


def test_recorded_text_does_nothing_to_the_terminal(handoff, folder):
    (folder / "mine.py").write_text(
        TWELVE_LINES.replace("I can help", r"\x1b[2J\x1b]0;title\x07\u202eback\x00 I can help")
    )

    done = handoff("run", "mine.py:flow", "--message", "refund \x1b[31m\u202e\r\x07")

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", done.out + done.err)
    assert "I can help" in done.out


def test_the_store_is_named_before_or_after_the_verb_or_by_the_environment(
    handoff, folder, monkeypatch
):
    words = ("run", "frontdesk", "--message", "I need a refund")

    assert "--db one.db" in handoff(*words, "--db", "one.db").out
    handoff("--db", "two.db", *words)
    monkeypatch.setenv("HANDOFF_DB", str(folder / "three.db"))
    handoff(*words)

    assert {path.name for path in folder.glob("*.db")} == {"one.db", "two.db", "three.db"}


def test_a_store_is_for_its_user_alone_and_is_never_another_programs_file(handoff, folder):
    other = sqlite3.connect(folder / "other.db")
    other.execute("create table theirs (x)")
    other.close()
    (folder / "text.db").write_text("hello")

    handoff("run", "frontdesk", "--db", "new.db")
    foreign = handoff("run", "frontdesk", "--db", "other.db")
    text = handoff("run", "frontdesk", "--db", "text.db")

    assert (folder / "new.db").stat().st_mode & 0o777 == 0o600
    assert (foreign.status, text.status) == (2, 2)
    assert "other.db is a SQLite database of another program" in foreign.err
    assert "text.db is not a store" in text.err
    assert (folder / "text.db").read_text() == "hello"


def test_a_folder_that_may_not_be_written_to_is_named(handoff, folder):
    (folder / "locked").mkdir(mode=0o555)
    # Root may write to any folder of a disk, but nobody to the system's own.
    place = Path("/sys") if os.geteuid() == 0 else folder / "locked"

    done = handoff("run", "frontdesk", "--db", place / "handoff.db")

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"handoff: The folder {place} may not be written to, which a store")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_under_the_output_is_one_sentence(folder):
    program(folder, "run", "frontdesk")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, "list"], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True,
            env=environment(), check=False,
        )  # fmt: skip

    assert done.returncode == 2
    assert done.stderr.startswith("handoff: No space left on device")
    assert "Traceback" not in done.stderr
