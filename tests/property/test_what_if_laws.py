"""Laws of the what-if: nothing changed changes nothing, more takes nothing away, all adds up."""

from hypothesis import example, given
from hypothesis import strategies as st
from support.logs import random_log

from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.pool_replay import Replay
from handoff_console.store.analysis.what_if import (
    LOST,
    Change,
    Fate,
    courses,
    pool_marks,
    what_if,
)

CHOICES = st.lists(st.integers(0, 10_000), max_size=40)
TOKENS = st.integers(0, 1_000_000)


def played(choices):
    log = random_log(choices)
    return courses(Record(log.events, log.body))


@given(CHOICES)
def test_nothing_changed_changes_nothing(choices):
    course = played(choices)
    found = what_if(course, Change())

    assert found.changed == ()
    assert found.spent_low_tokens == found.spent_high_tokens
    same = what_if(course, Change(pool_tokens=1_000_000, max_workers=10, depth=1))
    assert [handoff.fate for handoff in same.handoffs] == [Fate.SAME] * len(same.handoffs)


@given(CHOICES, TOKENS)
def test_a_larger_pool_takes_nothing_away(choices, more):
    found = what_if(played(choices), Change(pool_tokens=1_000_000 + more))

    assert not [handoff for handoff in found.handoffs if handoff.fate in LOST]


@given(CHOICES, TOKENS, st.booleans(), st.integers(0, 4), st.integers(1, 900))
def test_the_pool_adds_up_whatever_changes(choices, tokens, generous, steps, most):
    change = Change(
        pool_tokens=tokens, everyone={"max_steps": steps, "max_tokens": most}, max_workers=steps
    )
    for course in played(choices):
        pool = Replay(course, change, generous=generous).run().pool
        assert pool.free + pool.open + pool.spent == tokens
        assert pool.open >= 0


@given(CHOICES)
@example([1381, 0, 0, 284, 789, 2249])  # a hop whose caller has closed draws from what is free
def test_below_the_first_mark_something_is_lost_and_at_it_nothing(choices):
    course = played(choices)
    marks = pool_marks(course)

    assert marks is not None
    at = what_if(course, Change(pool_tokens=marks.as_recorded_tokens))
    assert at.changed == ()
    if marks.as_recorded_tokens:
        below = what_if(course, Change(pool_tokens=marks.as_recorded_tokens - 1))
        assert any(handoff.fate in LOST for handoff in below.handoffs)
