"""A number and its word."""

import re
from pathlib import Path

import pytest

from handoff_console import runtime
from handoff_console.runtime.counting import count

RECORDED = sorted((Path(runtime.__file__).parents[1] / "sample_runs/recorded").glob("*.jsonl"))

ONE_OF_MANY = re.compile(
    r"(?<![\w.,:-])1 (messages|steps|seconds|tokens|times|transfers|calls|handoffs|tools|bytes)\b"
)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0 steps"),
        (1, "1 step"),
        (2, "2 steps"),
        (1_200, "1,200 steps"),
        (1.0, "1 step"),
        (2.5, "2.5 steps"),
        (30.0, "30 steps"),
    ],
)
def test_a_word_fits_its_number(number, said):
    assert count(number, "step") == said


def test_a_word_with_a_plural_of_its_own_takes_it():
    assert [count(number, "reply", "replies") for number in (1, 2)] == ["1 reply", "2 replies"]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_no_recorded_session_says_one_of_many(path):
    assert ONE_OF_MANY.findall(path.read_text()) == []
