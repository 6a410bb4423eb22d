"""`handoff list`, `show`, `why` and `flows`: finding a session and the reason it failed."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import PROGRAM, environment, program
from support.recorded import FAILED, HEALTHY, HOSTILE, double_charge, hostile, record, refund_policy

pytestmark = pytest.mark.acceptance


@pytest.fixture
def store(folder: Path) -> Path:
    """Make a store with a failed, a healthy and a hostile session."""
    path = folder / "handoff.db"
    logs = [(FAILED, double_charge()), (HEALTHY, refund_policy()), (HOSTILE, hostile())]
    return record(path, logs)


def ids(done):
    """Return the sessions of `list --json`, in order."""
    return [item["session_id"] for item in json.loads(done.out)]


@pytest.mark.usefixtures("store")
def test_the_list_has_failed_sessions_first_with_message_and_verdict(handoff):
    done = handoff("list")

    lines = done.out.splitlines()
    assert lines[0].startswith("✕ error")
    assert HOSTILE in lines[0]
    place = next(number for number, line in enumerate(lines) if FAILED in line)
    assert lines[place + 1] == "  Why was I charged twice last month?"
    assert lines[place + 2].startswith("  billing hit its step limit")
    assert "Showing 3 sessions." in lines
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--outcome", "error"], [HOSTILE]),
        (["--outcome", "error", "--outcome", "ok"], [HOSTILE, FAILED, HEALTHY]),
        (["--flow", "support", "--outcome", "ok"], [FAILED, HEALTHY]),
        (["--flow", "sales"], []),
        (["--agent", "ledger"], [FAILED]),
        (["--finding", "limit_as_answer"], [FAILED]),
        (["--search", "charged twice"], [FAILED]),
        (["--search", "refund ta"], [HEALTHY]),
        (["--since", "2020-01-01", "--limit", "1"], [HOSTILE]),
        (["--limit", "1", "--offset", "1"], [FAILED]),
        (["--since", "2126-01-01"], []),
    ],
)
def test_filters_and_pages_narrow_the_list(handoff, words, found):
    assert ids(handoff("list", "--json", *words)) == found


@pytest.mark.usefixtures("store")
def test_a_flow_that_no_session_ran_is_answered_with_those_that_ran(handoff):
    done = handoff("list", "--flow", "nope")

    assert done.status == 0
    assert done.out == (
        "No session matches.\nNo session is of the flow 'nope'; there are: support.\n"
    )
    assert handoff("list", "--flow", "support", "--search", "zebra").out == "No session matches.\n"


@pytest.mark.usefixtures("store")
def test_the_list_says_which_part_of_it_is_in_sight(handoff):
    assert "Showing 1 to 1 of 3 sessions." in handoff("list", "--limit", "1").out
    assert "There are 3; --offset 9 leaves out all of them." in handoff("list", "--offset", "9").out
    assert handoff("list", "--search", "nothing like it").out == "No session matches.\n"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--outcome", "okay"], "There is no outcome 'okay'; there are: ok, not_found,"),
        (["--outcome", "refused"], "limit_reached, waiting, running, interrupted, cancelled, inc"),
        (["--search", "  "], "There is nothing to search for; write some words after --search."),
        (["--finding", "lost"], "There is no finding 'lost'; there are: any, error, warning"),
        (["--label", "intent"], "'intent' is no label; write KEY=VALUE, such as intent=refund."),
        (["--since", "yesterday"], "'yesterday' is no point in time; write a date such as"),
        (["--since", "9" * 6 + "d"], "is no point in time"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(handoff, words, sentence):
    done = handoff("list", *words)

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err


@pytest.mark.usefixtures("store")
def test_list_json_has_the_documented_form(handoff):
    (item,) = json.loads(handoff("list", "--json", "--search", "charged").out)

    assert {name: item[name] for name in ("session_id", "outcome", "flow", "handoffs")} == {
        "session_id": FAILED, "outcome": "ok", "flow": "support", "handoffs": 4,
    }  # fmt: skip
    assert item["agent_at_fault"] == "billing"
    assert item["source"] is None


@pytest.mark.usefixtures("store")
def test_a_session_is_named_by_any_unique_part_of_its_ends(handoff):
    assert handoff("show", "s-fail").out == handoff("show", FAILED).out
    assert handoff("show", "failed").out == handoff("show", FAILED).out
    ambiguous, unknown = handoff("show", "s-h"), handoff("why", "nobody")
    assert ambiguous.err == (
        "handoff: 's-h' fits several sessions: s-healthy, s-hostile; give more of the id.\n"
    )
    assert unknown.err.startswith("handoff: There is no session 'nobody' in this store;")
    assert ambiguous.status == unknown.status == 2


@pytest.mark.usefixtures("store")
def test_the_tree_marks_the_cause_and_says_why_a_handoff_was_refused(handoff):
    lines = handoff("show", FAILED).out.splitlines()

    tree = lines[lines.index("") + 1 : lines.index("", lines.index("") + 1)]
    shown = [(line[:29].rstrip(), line[29:56].strip()) for line in tree]
    assert shown == [
        ("agent", "outcome"),
        ("triage", "→ transferred"),
        ("↳ supervisor", "✓ ok"),
        ("└─ billing                 ◂", "▲ limit_reached: steps"),
        ("   ├─ ledger", "∅ not_found"),
        ("   └─ ledger", "⊘ refused: too few tokens"),
        (tree[6][:29].rstrip(), tree[6][29:56].strip()),
    ]
    assert tree[6].startswith("        ")


def test_a_session_is_printed_as_a_program_that_prints_its_handoffs_would(handoff):
    handoff("run", "orders", "--message", "My order A-1001 arrived broken, I want a replacement")
    (line,) = json.loads(handoff("list", "--json").out)

    done = handoff("show", line["session_id"], "--printed")

    route, first, goal, *_, answer = done.out.splitlines()
    assert route.startswith("'My order A-1001 arrived broken, I want a replacement': triage -> ")
    assert first == "Handoff from triage to fulfilment"
    assert goal == "Goal: My order A-1001 arrived broken, I want a replacement"
    assert answer.startswith("I propose to send another table lamp for order A-1001.")


@pytest.mark.usefixtures("store")
def test_events_and_transcript_are_a_line_each(handoff):
    events = handoff("show", FAILED, "--events").out.splitlines()
    form = json.loads(handoff("show", FAILED, "--events", "--json").out)

    assert len(events) == len(form["events"])
    assert "session started" in events[0]
    assert [event["kind"] for event in form["events"][:3]] == [
        "session_started", "user_message_received", "handoff_requested",
    ]  # fmt: skip
    assert form["events"][1]["payload"]["preview"] == "Why was I charged twice last month?"
    transcript = handoff("show", FAILED, "--transcript").out
    assert "[handoff] triage -> supervisor (a charge has to be explained)" in transcript


@pytest.mark.usefixtures("store")
def test_why_names_the_cause_its_evidence_and_where_to_look(handoff):
    out = handoff("why", FAILED).out

    assert "limit_as_answer" in out
    assert "  event " in out
    assert "  → " in out
    assert "Look first at h3 (billing), event " in out
    assert f"  handoff open --session {FAILED}\n" in out


def test_why_of_a_session_that_waits_names_no_agent_to_blame(handoff):
    handoff("run", "letters", "--message", "Please write to Mr Lindqvist that it comes on Friday.")
    (session,) = json.loads(handoff("list", "--json").out)

    out = handoff("why", session["session_id"]).out

    assert "clerk waits for a decision." in out
    assert "Look first at h1, event 14:" in out


@pytest.mark.usefixtures("store")
def test_why_json_has_the_documented_form(handoff):
    form = json.loads(handoff("why", FAILED, "--json").out)

    assert list(form) == ["session_id", "source", "outcome", "verdict", "findings", "look_first"]
    assert list(form["look_first"][0]) == ["agent", "step", "seq", "handoff_id", "reason"]
    assert form["look_first"][0]["agent"] == "billing"
    assert {"code", "severity", "sentence", "advice", "evidence"} <= form["findings"][0].keys()


@pytest.mark.usefixtures("store")
def test_why_of_all_sessions_is_an_object_a_line(handoff):
    lines = handoff("why", "--all", "--json").out.splitlines()

    assert [json.loads(line)["session_id"] for line in lines] == [FAILED, HEALTHY, HOSTILE]
    assert json.loads(lines[1])["look_first"] == []


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([FAILED, "--fail-on", "limit_as_answer"], 1),
        ([FAILED, "--fail-on", "ping_pong"], 0),
        ([FAILED, "--fail-on", "ping_pong", "error"], 1),
        ([HEALTHY, "--fail-on", "any"], 0),
        (["--all", "--fail-on", "error"], 1),
        (["--all", "--fail-on", "pingpong"], 2),
        ([], 2),
    ],
)
def test_a_finding_can_be_made_the_exit_status(handoff, words, status):
    assert handoff("why", *words).status == status


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "words",
    [["list"], ["show", HOSTILE], ["show", HOSTILE, "--events"], ["why", HOSTILE], ["why", "--all"],
     ["show", HOSTILE, "--transcript"], ["show", HOSTILE, "--json"], ["list", "--json"]],
    ids=" ".join,
)  # fmt: skip
def test_hostile_text_does_nothing_to_the_terminal(handoff, words):
    done = handoff(*words)

    assert done.status == 0
    assert not set(done.out) & {chr(code) for code in (*range(0x0A), *range(0x0B, 0x20), 0x7F)}
    assert "\u202e" not in done.out
    assert len(done.out) < 3_000_000


@pytest.mark.usefixtures("store")
def test_a_pipe_that_is_closed_early_is_no_error(folder):
    process = subprocess.Popen(
        [*PROGRAM, "show", HOSTILE, "--events", "--json"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()

    assert (process.wait(timeout=60), said) == (0, b"")


@pytest.mark.usefixtures("store")
def test_a_terminal_without_utf8_gets_question_marks_instead_of_an_error(folder):
    done = program(folder, "list", PYTHONIOENCODING="ascii")

    assert done.status == 0
    assert done.out.startswith("? error")


@pytest.mark.parametrize(
    "verb",
    [["list"], ["show", "x"], ["why", "x"], ["why", "--all"], ["delete", "x", "--yes"],
     ["rebuild"], ["export", "x"], ["export", "--all", "-o", "out.jsonl"]],
    ids=" ".join,
)  # fmt: skip
def test_a_missing_store_is_one_sentence_and_is_not_made(handoff, folder, verb):
    done = handoff(*verb)

    assert (done.status, done.out) == (2, "")
    assert "There is no store at" in done.err
    assert list(folder.iterdir()) == []


def test_a_store_of_a_newer_version_is_refused(handoff, store):
    with sqlite3.connect(store) as db:
        db.execute("pragma user_version = 999")
    db.close()

    done = handoff("list")

    assert done.status == 2
    assert "has schema version 999, and this program knows versions up to" in done.err


def test_sample_flows_are_listed_and_described(handoff):
    listed, one = handoff("flows"), handoff("flows", "support")

    assert "support" in listed.out
    assert "“Why was I charged twice last month?”" in listed.out
    assert "calls billing: " in one.out
    assert "goes along: the request alone; has to have: customer_id, since," in one.out
    assert "  pool            50,000 tokens for all its handoffs together\n" in one.out
    assert listed.out.startswith("Start here\n  support ")
    assert {flow["flow"] for flow in json.loads(handoff("flows", "--json").out)} > {"support"}
    form = json.loads(handoff("flows", "support", "--json").out)
    assert form["agents"][0]["edges"][0]["kind"] == "call"
    assert max(map(len, listed.out.splitlines())) <= 80


def test_a_flow_is_described_with_the_prompts_of_each_of_its_versions(handoff, folder):
    own, fourth = (
        handoff("flows", "servicedesk"),
        handoff("flows", "servicedesk", "--prompts", "v4"),
    )
    form = json.loads(handoff("flows", "servicedesk", "--prompts", "v4", "--json").out)

    assert "prompts: the flow's own; versions: v1, v2, v3, v4 (--prompts V)\n" in own.out
    assert "prompts: version v4; versions: v1, v2, v3, v4 (--prompts V)\n" in fourth.out
    assert "handoff run servicedesk --prompts v4 --message" in fourth.out
    assert (form["prompt_version"], form["prompt_versions"]) == ("v4", ["v1", "v2", "v3", "v4"])
    assert handoff("flows", "servicedesk", "--prompts", "v9").err == (
        "handoff: Flow 'servicedesk' cannot run: there is no prompt version 'v9'; there are: v1, "
        "v2, v3, v4.\n"
    )
    assert handoff("flows", "--prompts", "v4") == (
        2, "", "handoff: Prompt versions belong to a flow; name it: FLOW --prompts V.\n"
    )  # fmt: skip
    assert list(folder.iterdir()) == []


def test_a_flow_shows_what_each_agent_may_do_and_what_is_probably_not_meant(handoff):  # R77
    letters, monolith = handoff("flows", "letters"), handoff("flows", "monolith")

    assert "  prompt     117 characters\n" in letters.out
    assert (
        "  tools      customers.find, letters.send (reaches outside, asks a person first)\n"
    ) in letters.out
    assert "with more than 10 it is probably two agents." in monolith.out
    form = json.loads(handoff("flows", "monolith", "--json").out)
    assert form["agents"][0]["prompt_characters"] == 262
    assert len(form["warnings"]) == 1


def test_an_empty_store_says_how_to_get_a_session(handoff, folder):
    from handoff_console.store.db import open_store

    open_store(folder / "handoff.db", create=True).close()

    assert handoff("list").out == "No session yet.\nRecord one: handoff run support\n"


def test_the_module_runs_where_the_command_is_not_on_the_path(folder):
    done = subprocess.run(
        [sys.executable, "-m", "handoff_console.console.cli", "--version"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout.startswith("handoff-console ")
