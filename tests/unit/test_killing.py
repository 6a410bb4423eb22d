"""The program that kills sessions notices what is lost or done twice, and says how far it is."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"

BROKEN = """
import sqlite3, sys
import killing
from killed_reruns import RerunCase
from rescue import SampleCase

def from_a_bad_disk(rescue):
    def rescued(case, folder, moment):
        db = sqlite3.connect(folder / "s.db", isolation_level=None)
        db.execute(sys.argv[1])
        db.close()
        rescue(case, folder, moment)

    return rescued

for kind in (RerunCase, SampleCase):
    kind.rescue = from_a_bad_disk(kind.rescue)
sys.exit(killing.main(sys.argv[2:]))
"""
"""Of what a process has left when it dies, something goes missing before the next one goes on."""


def killed(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=SUPPORT, capture_output=True, text=True, check=False
    )


def wrong(sums: Mapping[str, int]) -> dict[str, int]:
    may_be = ("samples", "moments", "questions", "runs", "deaths", "asked_again")
    return {name: count for name, count in sums.items() if count and name not in may_be}


@pytest.mark.parametrize(
    ("damage", "words", "counted"),
    [
        (
            "delete from events where event = (select max(event) from events)",
            ["domains-unknown"],
            {"events_lost": 3},
        ),
        (
            "update events set at_us = at_us + 1 where event & 4294967295 = 1",
            ["domains-unknown"],
            {"events_lost": 3},
        ),
        ("delete from effects", ["refunds-approved"], {"effects_twice": 2}),
        ("delete from effects", ["--reruns", "refunds-approved/h1/live"], {"effects_twice": 2}),
    ],
)
def test_it_counts_what_is_gone_or_done_twice_after_a_death(damage, words, counted):
    done = killed("-c", BROKEN, damage, "--jobs", "1", "--sum", *words)

    assert wrong(json.loads(done.stdout)) == counted
    assert done.returncode == 1


def test_handoffs_that_are_killed_while_they_run_again_come_to_the_same_end():
    done = killed("killing.py", "--reruns", "--every", "6", "--jobs", "1")

    *each, sums = map(json.loads, done.stdout.splitlines())
    assert (len(each), wrong(sums)) == (13, {})
    assert sums["deaths"] >= 20
    assert all(one["moments"] >= 9 for one in each)


def test_it_says_how_far_it_is_and_prints_the_sums_alone():
    done = killed("killing.py", "--sum", "--twice", "domains-unknown", "support-no-rule")

    sums = json.loads(done.stdout)
    assert (sums["samples"], sums["deaths"], wrong(sums)) == (2, 20, {})
    first, last = done.stderr.splitlines()
    assert first.startswith("1 of 2 samples, ")
    assert last == "2 of 2 samples, 20 deaths, 0 s left"
    assert done.returncode == 0


def test_stopped_it_says_what_it_counted_until_then_and_leaves_nothing(tmp_path):
    words = [sys.executable, "killing.py", "--twice", "support-no-rule", "coding-rounding"]
    program = subprocess.Popen(
        words, cwd=SUPPORT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip

    said = program.stderr.readline()
    program.send_signal(signal.SIGINT)
    printed, _ = program.communicate(timeout=60)

    assert said.startswith("1 of 2 samples, ")
    sums = json.loads(printed.splitlines()[-1])
    assert (program.returncode, sums["samples"], wrong(sums)) == (130, 1, {})
    assert sums["deaths"] >= 10
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["letter-edited"], "There is no sample 'letter-edited'; did you mean 'letters-edited'?\n"),
        (["x"], "There is no sample 'x'; the first is 'quarter-three-companies'.\n"),
        (["--reruns", "x"], "There is no re-run 'x'; the first is 'refunds-approved/h1/live'.\n"),
        (["--jobs", "0"], "--every and --jobs take a number from 1 on.\n"),
    ],
)
def test_what_it_does_not_understand_is_answered_in_a_sentence(words, said):
    done = killed("killing.py", *words)

    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
