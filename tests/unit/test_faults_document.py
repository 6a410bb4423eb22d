"""docs/faults.md: every fault has a test of what is right here, and every test it names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "faults.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| reported", "| case"))
]
TESTS = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))


@pytest.mark.parametrize("line", LINES, ids=[line[0][:40] for line in LINES])
def test_every_fault_names_tests_that_exist(line):
    names = re.findall(r"`(test_\w+)`", line[-1])

    assert names
    for name in names:
        assert f"def {name}(" in TESTS, name


def test_all_of_the_faults_and_all_of_the_hard_cases_are_there():
    reports = [line for line in LINES if len(line) == 4]

    assert (len(reports), len(LINES) - len(reports)) == (38, 15)
