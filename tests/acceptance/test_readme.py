"""What the README says can be typed can be typed, and prints what it says."""

import json
import re
import signal
import sys
import tomllib
from pathlib import Path

import pytest
from support.command import started
from support.shown import README as README_FILE
from support.shown import ROOT, examples, printed, without_what_varies

from handoff_console.console.commands.samples import fresh_samples

pytestmark = pytest.mark.acceptance

README = README_FILE.read_text("utf-8")
EXAMPLES = examples(README_FILE)
COMPARE = "compare v2 v4 --dataset servicedesk"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    code = re.search(r"```python\n(# desk\.py\n.*?)```", README, re.DOTALL)
    assert code
    (tmp_path / "desk.py").write_text(code[1], "utf-8")
    return tmp_path


def test_every_command_of_the_readme_is_one_that_is_tried():
    shown = re.findall(r"^\$ (.*?)(?:  +#.*)?$", README, re.MULTILINE)

    assert shown == [
        "make demo",
        "python3 -m venv .venv && .venv/bin/pip install -e .",
        "uv venv && uv pip install -e .",
        ".venv/bin/handoff demo",
        *(example.command for example in EXAMPLES),
        f"handoff {COMPARE}",
    ]
    assert [example.words[:2] for example in EXAMPLES] == [
        ["run", "support"], ["run", "desk.py:flow"],
    ]  # fmt: skip


def test_how_the_command_is_found_is_said_before_it_is_typed_without_its_folder():
    before = README.partition("\n$ handoff ")[0]

    assert "`. .venv/bin/activate` makes it `handoff`" in before


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_command_prints_what_the_readme_shows(tmp_path, example):
    done = printed(example, tmp_path)

    assert (done.status, done.err) == (0, "")
    assert without_what_varies(done.out) == without_what_varies(example.output)


def test_the_comparison_begins_as_the_readme_shows(handoff):
    shown = README.partition(f"$ handoff {COMPARE}\n")[2].partition("…\n")[0]

    done = handoff(*COMPARE.split())

    assert shown.count("\n") >= 3
    assert done.out.startswith(shown)
    assert done.status == 1  # the verdict, as the README says


def test_the_demo_prints_what_the_readme_shows(folder):
    (shown,) = re.findall(r"^\$ make demo\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    process = started(folder, "demo", "--no-browser")
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        printed_lines = [
            process.stderr.readline(), process.stdout.readline(), process.stderr.readline()
        ]  # fmt: skip
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert re.sub(r":\d+/", ":8501/", "".join(printed_lines)) == shown


def test_the_session_that_the_readme_sends_people_to_failed_and_says_why(handoff, folder):
    with fresh_samples() as store:
        lines = json.loads(handoff("list", "--json", "--limit", "100", "--db", store).out)
        first = lines[0]
        why = handoff("why", first["session_id"], "--db", store).out

    failed = [line for line in lines if line["outcome"] in {"error", "limit_reached"}]
    assert first == failed[0]
    assert len(failed) > 1  # the README says so
    assert first["verdict"] in " ".join(why.split())
    assert "Look first at " in why


@pytest.mark.parametrize("verb", ["list", "why", "run"])
def test_the_verbs_that_the_readme_names_are_there(handoff, verb):
    assert f"`handoff {verb} " in README or f"`handoff {verb}`" in README
    assert handoff(verb, "--help").status == 0


def test_the_extras_that_the_readme_installs_are_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    for extra in re.findall(r"'\.\[(\w+)\]'", README):
        assert extra in project["optional-dependencies"]


def test_the_flow_of_ones_own_has_at_most_twelve_lines_of_code(folder):
    lines = (folder / "desk.py").read_text("utf-8").splitlines()

    assert len([line for line in lines if line and not line.startswith("#")]) <= 12


def test_the_python_example_runs_with_a_list_for_a_sink(folder, monkeypatch, capsys):
    example = re.search(r"```python\n(import asyncio\n.*?)```", README, re.DOTALL)
    assert example
    monkeypatch.syspath_prepend(folder)

    exec(compile(example[1], "README.md", "exec"), {"__name__": "example"})
    sys.modules.pop("desk", None)

    answer, _, events = capsys.readouterr().out.strip().rpartition(" ")
    assert answer == "Billing here: your refund is on its way."
    assert int(events) >= 19


def test_the_two_commands_on_top_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text("utf-8")

    targets = re.findall(r"(?:\$ |`)make (\w+)", README)
    assert set(targets) == {"demo", "test"}
    for target in targets:
        assert re.search(rf"^{target}: ", makefile, re.MULTILINE)


def test_every_link_of_the_readme_leads_to_a_file():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_it_says_about_how_many_tests_there_are(request):
    said = int(re.search("some ([0-9,]+) of them", README)[1].replace(",", ""))

    if request.session.testscollected < said / 2:
        pytest.skip("only a run of the whole suite can count them")
    assert abs(request.session.testscollected - said) <= said / 10
