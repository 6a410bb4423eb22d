import random
import time

from handoff_console.store.analysis.common_runs import (
    EXACT_EDITS,
    Gap,
    Run,
    aligned,
    common_runs,
    gaps,
)


def longest(left: str, right: str) -> int:
    """The length of the longest common subsequence, by the textbook."""
    row = [0] * (len(right) + 1)
    for mine in left:
        above = row
        row = [0]
        for place, theirs in enumerate(right):
            row.append(above[place] + 1 if mine == theirs else max(above[place + 1], row[place]))
    return row[-1]


def test_runs_are_what_both_have_in_order():
    assert common_runs("abcdxef", "zabcef") == [Run(0, 1, 3), Run(5, 4, 2)]


def test_equal_sequences_are_one_run_and_strangers_have_none():
    assert common_runs("abc", "abc") == [Run(0, 0, 3)]
    assert common_runs("abc", "xyz") == []
    assert common_runs("", "xyz") == []
    assert common_runs("", "") == []


def test_small_sequences_are_compared_exactly():
    chosen = random.Random(4812)
    for _ in range(400):
        letters = chosen.choice(["ab", "abcd", "abcdefghijkl"])
        left, right = ("".join(chosen.choices(letters, k=chosen.randrange(25))) for _ in range(2))
        runs = common_runs(left, right)
        assert sum(run.length for run in runs) == longest(left, right), (left, right)
        for run in runs:
            assert left[run.left :][: run.length] == right[run.right :][: run.length]


def test_gaps_are_what_lies_between_runs():
    assert list(gaps([Run(1, 0, 2), Run(4, 2, 1)], 6, 3)) == [
        Gap(0, 1, 0, 0),
        Gap(3, 4, 2, 2),
        Gap(5, 6, 3, 3),
    ]
    assert list(gaps([], 2, 0)) == [Gap(0, 2, 0, 0)]
    assert list(gaps([Run(0, 0, 3)], 3, 3)) == []


def test_a_large_sequence_with_many_changes_is_cut_where_a_stretch_stands_once():
    chosen = random.Random(1)
    left = chosen.choices(range(500), k=20_000)
    right = [item if chosen.random() > 0.1 else -1 for item in left]
    assert sum(a != b for a, b in zip(left, right, strict=True)) > 2 * EXACT_EDITS

    found = sum(run.length for run in common_runs(left, right))

    assert found >= sum(item >= 0 for item in right) * 0.99


def test_sequences_that_have_nothing_to_hold_on_to_come_to_an_end():
    chosen = random.Random(1)
    left, right = (chosen.choices("ab", k=60_000) for _ in range(2))
    before = time.process_time()

    runs = common_runs(left, right)

    assert time.process_time() - before < 15
    assert all(left[r.left] == right[r.right] for r in runs)


def test_items_are_aligned_by_the_strictest_key_first():
    left = ["a1", "b1", "a2"]
    right = ["a2", "b9", "a3"]

    # By all of it, a2 alone; what is left before and after it has no partner on the other side.
    assert aligned(left, right, [str]) == [(2, 0)]
    assert aligned(left, right, [lambda item: item[0]]) == [(0, 0), (1, 1), (2, 2)]
    assert aligned(["x", "b1"], ["x", "b9"], [str, lambda item: item[0]]) == [(0, 0), (1, 1)]
