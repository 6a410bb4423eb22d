"""The table of requirements names code and tests that exist, for every row."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "sources.md").read_text("utf-8").splitlines()
    if re.match(r"\| \d", line)
]
TESTS = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))


def test_every_row_has_a_line_in_order():
    assert [int(line[0]) for line in LINES] == list(range(1, 101))


@pytest.mark.parametrize("line", LINES, ids=[line[0] for line in LINES])
def test_what_a_line_names_exists(line):
    _, _, code, tests = line

    for path in re.findall(r"`([^`]+)`", code):
        assert (ROOT / path).exists(), path
    names = re.findall(r"`(test_\w+)`", tests)
    for name in names:
        assert f"def {name}(" in TESTS, name
    assert names or re.fullmatch(r"issue \d+", tests)


@pytest.mark.parametrize("line", LINES, ids=[line[0] for line in LINES])
def test_the_tests_of_a_line_say_which_row_they_prove(line):
    row, _, _, tests = line

    for name in re.findall(r"`(test_\w+)`", tests):
        above = TESTS.partition(f"def {name}(")[0].splitlines()[-12:]
        after = TESTS.partition(f"def {name}(")[2].splitlines()[:1]
        assert re.search(rf"\bR{row}\b", "\n".join(above + after)), name
