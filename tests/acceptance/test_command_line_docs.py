"""`docs/command-line.md` says all that the command line can do, and nothing else."""

import argparse
import json
import re
from pathlib import Path

import pytest
from support.recorded import FAILED, double_charge, record

from handoff_console.console.cli.parser import VERBS, parser

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


def test_why_json_is_as_documented(handoff, folder):
    record(folder / "handoff.db", [(FAILED, double_charge())])
    (documented,) = json_blocks("why")

    assert keys(json.loads(handoff("why", FAILED, "--json").out)) == keys(documented)


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
