"""`docs/command-line.md` says all that the command line can do, and nothing else."""

import argparse
import json
import re
from pathlib import Path

import pytest
from support.recorded import FAILED, double_charge, record
from support.shown import COMMAND_LINE, examples, prepare, without_what_varies

from handoff_console.console.cli.parser import VERBS, parser
from handoff_console.console.commands import bench
from handoff_console.console.commands.samples import fresh_samples
from handoff_console.store.schema import VERSION

pytestmark = pytest.mark.acceptance

CUT_OFF = "I am customer 5120. Why was I charged twice last month?"
TEXT = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### handoff (\w+)\n(.*?)(?=^##|\Z)", TEXT, re.M | re.S))


def options_of(verb: str) -> set[str]:
    """Return what the parser takes after a verb, without what every verb takes."""
    (verbs,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    found = {option for action in verbs.choices[verb]._actions for option in action.option_strings}
    return found - {"-h", "--help", "--db"}


def json_blocks(verb: str) -> list[dict[str, object]]:
    """Return the JSON that a section shows."""
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", SECTIONS[verb], re.S)]


def keys(value: object) -> object:
    """Return the shape of a JSON value: keys in order, of a list those of its first item."""
    if isinstance(value, dict):
        return {key: keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [keys(value[0])] if value else []
    return None


def test_every_verb_is_documented_and_no_other():
    assert list(SECTIONS) == [verb.name for verb in VERBS]


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_option_of_a_verb_is_documented_and_no_other(verb):
    rows = re.findall(r"^\| (`-.*?) \|", SECTIONS[verb], re.M)
    documented = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(rows)))

    assert documented == options_of(verb)


def test_list_json_is_as_documented(handoff, folder):
    record(folder / "handoff.db", [(FAILED, double_charge())])
    (documented,) = json_blocks("list")

    (item,) = json.loads(handoff("list", "--json").out)

    assert list(item) == list(documented)


@pytest.mark.parametrize("example", examples(COMMAND_LINE), ids=lambda found: found.command)
def test_an_example_prints_what_the_document_shows(handoff, folder, example):
    prepare(example, folder)

    done = handoff(*example.words)

    assert (done.status, done.err) == (0, "")
    assert without_what_varies(done.out) == without_what_varies(example.output)


def test_the_json_of_list_and_why_is_that_of_the_samples(handoff, folder):
    with fresh_samples() as store:
        (item,) = json.loads(handoff("list", "--json", "--limit", "1", "--db", store).out)
        explained = json.loads(handoff("why", item["session_id"], "--json", "--db", store).out)

    assert json_blocks("list") == [item]
    assert json_blocks("why") == [explained]


def test_doctor_looks_at_what_the_document_shows(handoff):
    (shown,) = re.findall(r"\$ handoff doctor\n(.*?)```", SECTIONS["doctor"], re.DOTALL)
    handoff("run", "frontdesk")

    done = handoff("doctor")

    def checks(text: str) -> list[str]:
        return re.findall(r"^[✓!✕] (\w+)", text, re.MULTILINE)

    # `privacy` shows only where something is wrong.
    assert [name for name in checks(done.out) if name != "privacy"] == checks(shown)
    assert f"schema version {VERSION}," in shown


def test_diff_json_is_as_documented(handoff, folder):
    record(folder / "handoff.db", [(FAILED, double_charge())])
    (documented,) = json_blocks("diff")

    form = json.loads(handoff("diff", f"{FAILED}:h2", f"{FAILED}:h3", "--json").out)

    assert list(form) == list(documented)
    assert list(form["left"]) == list(documented["left"])
    assert list(form["first_difference"]) == list(documented["first_difference"])


def test_show_json_is_as_documented(handoff, folder):
    record(folder / "handoff.db", [(FAILED, double_charge())])
    (documented,) = json_blocks("show")

    form = json.loads(handoff("show", FAILED, "--json").out)

    assert list(form) == list(documented)
    assert list(form["handoffs"][0]) == list(documented["handoffs"][0])
    assert list(form["pool"][0]) == list(documented["pool"][0])


def test_what_show_says_of_a_waiting_session_is_as_documented(handoff, folder):
    (documented,) = json_blocks("show")
    handoff("run", "letters")
    handoff(
        "run", "helpdesk", "--message", "My login fails, and I have tried all your steps twice."
    )
    waiting = [
        json.loads(handoff("show", line["session_id"], "--json").out)["waiting_for"]
        for line in json.loads(handoff("list", "--json").out)
    ]

    for name in ("approvals", "questions"):
        (form,) = (found[name][0] for found in waiting if found[name])
        assert list(form) == list(documented["waiting_for"][name][0])
    assert all(list(found) == list(documented["waiting_for"]) for found in waiting)


def test_rerun_json_is_as_documented(handoff, folder):
    handoff("run", "support", "--message", CUT_OFF)
    (line,) = json.loads(handoff("list", "--json").out)
    words = ("rerun", line["session_id"], "h2", "--limits", "max_steps=9", "--json")
    documented, planned = json_blocks("rerun")

    form = json.loads(handoff(*words).out)
    again = json.loads(handoff(*words, "--times", "2").out)

    assert keys({**form, "edits": None}) == keys({**documented, "edits": None})
    for name in again["repeats"]:
        assert f"`{name}`" in SECTIONS["rerun"]
    assert keys(json.loads(handoff(*words, "--plan").out)) == keys(planned)


def test_bisect_json_is_as_documented(handoff, folder):
    handoff("run", "support", "--message", CUT_OFF)
    (line,) = json.loads(handoff("list", "--json").out)
    words = ("--limits", "max_steps=20", "--limits", "max_tokens=40000", "--mode", "live-reads")
    good = json.loads(handoff("rerun", line["session_id"], "h2", *words, "--json").out)
    (documented,) = json_blocks("bisect")

    done = handoff("bisect", f"{line['session_id']}:h2", good["runs"][0]["session_id"], "--json")

    form = json.loads(done.out)
    assert keys(form) == keys(documented)
    for name in ("conclusion", "changes", "passed_with", "passed_without", "reruns"):
        assert form[name] == documented[name]


def test_budget_json_is_that_of_the_samples(handoff):
    (documented,) = json_blocks("budget")
    with fresh_samples() as store:
        words = ("budget", documented["session_id"], "--pool", "9000", "--json", "--db", store)
        form = json.loads(handoff(*words).out)

    assert list(form) == list(documented)
    assert form == documented


def test_why_json_is_as_documented(handoff, folder):
    record(folder / "handoff.db", [(FAILED, double_charge())])
    (documented,) = json_blocks("why")

    assert keys(json.loads(handoff("why", FAILED, "--json").out)) == keys(documented)


def test_bench_json_is_as_documented(handoff, monkeypatch):
    monkeypatch.setattr(bench.bench, "__defaults__", (0.0,))
    monkeypatch.setattr(bench, "LARGE_HANDOFFS", 5)
    monkeypatch.setattr(bench, "SLICES", 1)
    (documented,) = json_blocks("bench")

    form = json.loads(handoff("bench", "--json").out)

    assert keys(form) == keys(documented)
    for figure in form["figures"]:
        assert f"`{figure['name']}`" in SECTIONS["bench"]


def test_import_json_is_as_documented(handoff, folder):
    record(folder / "handoff.db", [(FAILED, double_charge())])
    handoff("export", FAILED, "-o", "one.jsonl")
    (documented,) = json_blocks("import")

    form = json.loads(handoff("import", "one.jsonl", "--dry-run", "--json").out)

    assert keys(form) == keys(documented)
    assert list(form) == list(documented)


def test_batch_json_is_as_documented(handoff, folder):
    (folder / "asked.jsonl").write_text('{"text": "I need a refund"}\n{}\n')
    (documented,) = json_blocks("run")

    form = json.loads(
        handoff("run", "frontdesk", "--input", "asked.jsonl", "--on-bad-line", "skip", "--json").out
    )

    assert keys(form) == keys(documented)


def test_the_flow_in_twelve_lines_runs_as_it_stands(handoff, folder):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    (folder / "mine.py").write_text(code)

    done = handoff("run", "mine.py:flow", "--message", "I need a refund")

    assert sum(bool(line.strip()) for line in code.splitlines()) == 12
    assert "  Billing here: I can help with your refund." in done.out


def test_the_links_lead_somewhere():
    for target in re.findall(r"\]\(([\w./-]+)\)", TEXT):
        assert (Path(__file__).parents[2] / "docs" / target).exists(), target
