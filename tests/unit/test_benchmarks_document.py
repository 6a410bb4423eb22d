"""The page of benchmarks names each benchmark there is, and nothing else."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
BENCHMARKS = {
    name
    for path in (ROOT / "tests" / "benchmarks").glob("test_*.py")
    for name in re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
}


def test_every_benchmark_stands_on_the_page_once_and_nothing_else_does():
    assert sorted(re.findall(r"^\| `(test_\w+)`", PAGE, re.MULTILINE)) == sorted(BENCHMARKS)


def test_every_benchmark_is_left_out_of_the_normal_run():
    for path in (ROOT / "tests" / "benchmarks").glob("test_*.py"):
        assert "pytest.mark.benchmark" in path.read_text("utf-8"), path.name


def test_every_line_of_the_tables_says_what_is_measured_and_a_bound():
    for line in PAGE.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) == 3, line
            assert all(cells), line
