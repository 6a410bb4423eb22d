"""What a case says is known before, and what has to go along with its handoff."""

from contextlib import closing
from dataclasses import replace

import pytest

from handoff_console.console.commands.comparing_versions import run
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.comparison_plans import plan
from handoff_console.store import reader
from handoff_console.store.analysis.comparison.compare import comparison
from handoff_console.store.db import open_reader
from handoff_console.store.experiments import load_experiment

FLOW = """
from pydantic import BaseModel
from handoff_console.runtime import Agent, Edge, Flow, Tool, hand_over, say, use


def look_up() -> dict[str, str]:
    'Look up what is due.'
    return {"due": "2026-12-01"}


def triage(call):
    if "due" in call.text and not call.results:
        return use("look_up")
    if "hello" in call.text:
        return say("Hello.")
    said = {"invoice": "", "amount": 12} if "bill" in call.text else {"invoice": "I-7"}
    return hand_over("billing", "a bill", **said)


flow = Flow(
    "desk",
    [
        Agent(
            "triage",
            tools=[Tool(look_up, remembers=("due",))],
            edges=[Edge.transfer("billing")],
            model=triage,
        ),
        Agent("billing", description="Bills.", model=lambda call: say("Done.")),
    ],
)
"""
CASES = """
{"id": "c1", "input": "My bill", "expected": ["billing"], "state": {"customer": "K-1"},
 "required_fields": ["customer", "invoice", "amount", "due"]}
{"id": "c2", "input": "I-7 is wrong", "expected": ["billing"], "required_fields": ["invoice"]}
{"id": "c3", "input": "Say hello", "expect": "direct", "required_fields": ["invoice"]}
{"id": "c4", "input": "The bill again", "expected": ["billing"]}
{"id": "c5", "input": "What is due", "expected": ["billing"], "required_fields": ["due"]}
""".replace("\n ", " ")


@pytest.fixture
def asked(tmp_path):
    (tmp_path / "desk.py").write_text(FLOW, "utf-8")
    (tmp_path / "cases.jsonl").write_text(CASES.strip(), "utf-8")
    for label in ("v1", "v2"):
        (tmp_path / "prompts" / label).mkdir(parents=True)
        text = f"---\nhandoff_description: Bills, as of {label}.\n---\n"
        (tmp_path / "prompts" / label / "billing.md").write_text(text, "utf-8")
    return Asked(
        ("v1", "v2"),
        str(tmp_path / "cases.jsonl"),
        flow=f"{tmp_path / 'desk.py'}:flow",
        model="own",
    )


def compared(store, asked):
    done = run(store, asked)
    with closing(open_reader(store)) as db:
        return load_experiment(db, done.experiment_id)


@pytest.mark.parametrize("mode", ["route", "full"])
def test_of_the_values_that_a_case_requires_those_that_went_along_are_counted(
    tmp_path, asked, mode
):
    made = compared(tmp_path / "handoff.db", replace(asked, mode=mode))

    # The customer was known before, the amount was sent, the invoice was empty, nothing is due;
    # in the last one a tool found out what is.
    assert [trial.completeness for trial in made.trials["v1"]] == [0.5, 1.0, None, None, 1.0]
    tile = next(it for it in comparison(made, "v1", "v2").tiles if it.key == "completeness")
    assert (tile.a, tile.b) == (pytest.approx(5 / 6), pytest.approx(5 / 6))
    assert tile.note == "mean of 3 cases"


def test_what_is_known_before_is_state_of_the_recorded_session(tmp_path, asked):
    store = tmp_path / "handoff.db"
    made = compared(store, replace(asked, mode="full"))

    with closing(open_reader(store)) as db:
        events = reader.load_events(db, made.trials["v1"][0].session_id)
        known = [reader.body(db, e.payload.value) for e in events if e.kind == "state_set"]
    assert known[0] == {"customer": "K-1"}


def test_a_case_runs_again_when_what_is_known_before_changes_and_not_when_its_label_does(
    tmp_path, asked
):
    store = tmp_path / "handoff.db"
    run(store, asked)
    cases = tmp_path / "cases.jsonl"
    cases.write_text(CASES.strip().replace("K-1", "K-2"), "utf-8")
    assert plan(store, asked).calls == 2

    cases.write_text(CASES.strip().replace('"invoice", "amount", "due"', '"invoice"'), "utf-8")
    assert plan(store, asked).calls == 0


def test_a_router_that_writes_no_values_has_no_completeness(tmp_path, asked):
    made = compared(tmp_path / "handoff.db", replace(asked, model="offline:bm25"))

    assert {trial.completeness for trial in made.trials["v1"]} == {None}
