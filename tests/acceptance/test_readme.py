"""What the README says can be typed can be typed, and prints what it says."""

import re
import sys
from pathlib import Path

import pytest
from support.command import program

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
VARIES = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "WHEN"),
    (r"\d{8}-\d{6}-[0-9a-f]{8}", "SESSION"),
    (r" *\d+(?:\.\d+)? (?:ms|s|µs)\b", " TIME"),
)


def shown_commands() -> list[tuple[str, str]]:
    """Return the README's `handoff run` commands with the output that stands below each."""
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    found = []
    for block in blocks:
        command, _, output = block.partition("\n")
        if command.startswith("$ handoff run"):
            found.append((command.removeprefix("$ handoff "), output))
    return found


def without_what_varies(text: str) -> list[str]:
    for pattern, name in VARIES:
        text = re.sub(pattern, name, text)
    return [line.rstrip() for line in text.strip().splitlines()]


def words(command: str) -> list[str]:
    return [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', command)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    code = re.search(r"```python\n(# desk\.py\n.*?)```", README, re.DOTALL)
    assert code
    (tmp_path / "desk.py").write_text(code[1], "utf-8")
    return tmp_path


def test_there_are_two_commands_to_run():
    assert len(shown_commands()) == 2


@pytest.mark.parametrize(("command", "output"), shown_commands())
def test_a_command_prints_what_the_readme_shows(folder, command, output):
    done = program(folder, *words(command))

    assert (done.status, done.err) == (0, "")
    assert without_what_varies(done.out) == without_what_varies(output)


def test_the_flow_of_ones_own_has_at_most_twelve_lines_of_code(folder):
    lines = (folder / "desk.py").read_text("utf-8").splitlines()

    assert len([line for line in lines if line and not line.startswith("#")]) <= 12


def test_the_python_example_runs_with_a_list_for_a_sink(folder, monkeypatch, capsys):
    example = re.search(r"```python\n(import asyncio\n.*?)```", README, re.DOTALL)
    assert example
    monkeypatch.syspath_prepend(folder)
    code = "from desk import flow\n" + example[1]

    exec(compile(code, "README.md", "exec"), {"__name__": "example"})
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
