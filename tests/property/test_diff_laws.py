"""Laws of comparing: nothing is lost, and what is the same is never called different."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
from support.logs import random_log

from handoff_console.runtime.canonical import canonical
from handoff_console.store.analysis.common_runs import common_runs, gaps
from handoff_console.store.analysis.diff import compare
from handoff_console.store.analysis.differences import changed_fields
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.text_diff import Side, text_diff

TEXTS = st.text(alphabet="ab \n.7é\x00", max_size=80)
ITEMS = st.lists(st.integers(0, 4), max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
CHOICES = st.lists(st.integers(0, 10_000), max_size=40)


@given(TEXTS, TEXTS)
def test_the_segments_of_a_diff_give_both_texts_back(left, right):
    parts = text_diff(left, right)

    assert "".join(p.text for p in parts if p.side is not Side.RIGHT) == left
    assert "".join(p.text for p in parts if p.side is not Side.LEFT) == right
    assert all(part.text for part in parts)
    sides = [part.side for part in parts]
    assert all(one is not other for one, other in itertools.pairwise(sides))


@given(ITEMS, ITEMS)
def test_runs_and_gaps_cover_both_sequences_without_overlap(left, right):
    runs = common_runs(left, right)
    between = list(gaps(runs, len(left), len(right)))

    assert sum(run.length for run in runs) + sum(
        gap.left_end - gap.left_start for gap in between
    ) == len(left)
    assert sum(run.length for run in runs) + sum(
        gap.right_end - gap.right_start for gap in between
    ) == len(right)
    assert all(
        left[run.left : run.left + run.length] == right[run.right : run.right + run.length]
        for run in runs
    )


@given(JSON, JSON)
def test_two_values_differ_exactly_when_a_part_of_them_does(left, right):
    assert list(changed_fields(left, left)) == []
    assert bool(list(changed_fields(left, right))) == (canonical(left) != canonical(right))


@given(CHOICES)
def test_a_session_is_the_same_as_itself(choices):
    log = random_log(choices)
    record = Record(log.events, log.body)
    comparison = compare(record, record)

    assert comparison.is_same
    assert [pair.left for pair in comparison.pairs] == list(record.tree.nodes)
    assert comparison.left == comparison.right
    assert comparison.settings == ()


@given(CHOICES, CHOICES)
def test_every_handoff_of_both_sides_stands_in_exactly_one_pair(left, right):
    mine, theirs = (Record(log.events, log.body) for log in map(random_log, (left, right)))
    comparison = compare(mine, theirs)

    shown = [pair.left.handoff_id for pair in comparison.pairs if pair.left]
    assert shown == [node.handoff_id for node in mine.tree.nodes]
    others = [pair.right.handoff_id for pair in comparison.pairs if pair.right]
    assert sorted(others) == sorted(node.handoff_id for node in theirs.tree.nodes)
    assert comparison.is_same == all(pair.change == "same" for pair in comparison.pairs)
