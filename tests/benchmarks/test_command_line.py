"""What the command line costs: its help, its list, and a file of many requests.

Figures are CPU seconds of a process of its own, beside an empty Python in the same run.
"""

import json
import os
import subprocess
import sys

import pytest
from support.command import PROGRAM, environment

pytestmark = pytest.mark.benchmark

HELP_SECONDS = 0.4
REQUESTS = 2_000


def cpu_seconds(command, folder, *, times=5) -> float:
    """Return the least CPU time of a command, of so many runs."""
    found = []
    for _ in range(times):
        before = os.times()
        subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=True)
        after = os.times()
        found.append(
            after.children_user - before.children_user
            + after.children_system - before.children_system
        )  # fmt: skip
    return min(found)


def test_the_help_is_there_at_once(tmp_path):
    empty = cpu_seconds([sys.executable, "-c", "pass"], tmp_path)
    shown = cpu_seconds([*PROGRAM, "--help"], tmp_path)

    print(f"\nhandoff --help: {shown:.3f} s of CPU, an empty Python {empty:.3f} s")
    assert shown <= HELP_SECONDS


def test_a_file_of_requests_runs_by_the_hundred_a_second(tmp_path):
    words = ("savings account", "flight to Oslo", "wind the clock", "bake bread", "credit card")
    lines = [json.dumps({"text": f"{words[n % 5]} {n}", "label": str(n)}) for n in range(REQUESTS)]
    (tmp_path / "asked.jsonl").write_text("\n".join(lines))
    start = cpu_seconds([*PROGRAM, "flows", "domains"], tmp_path, times=2)

    took = cpu_seconds([*PROGRAM, "run", "domains", "--input", "asked.jsonl"], tmp_path, times=1)

    size = (tmp_path / "handoff.db").stat().st_size
    rate = REQUESTS / (took - start)
    print(f"\n{rate:.0f} sessions a second of CPU, {size / REQUESTS / 1000:.1f} KB a session")
    assert rate > 100
    assert size / REQUESTS < 8_000


def test_the_list_of_a_store_with_thousands_is_there_in_a_moment(tmp_path):
    lines = "\n".join(f"savings account {number}" for number in range(REQUESTS))
    (tmp_path / "asked.txt").write_text(lines)
    subprocess.run(
        [*PROGRAM, "run", "domains", "--input", "asked.txt"],
        cwd=tmp_path, env=environment(), capture_output=True, check=True,
    )  # fmt: skip

    shown = cpu_seconds([*PROGRAM, "list"], tmp_path, times=3)

    print(f"\nhandoff list over {REQUESTS:,} sessions: {shown:.2f} s of CPU")
    assert shown < 1.5
