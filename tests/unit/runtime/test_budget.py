"""One pool for a whole request."""

import pytest

from handoff_console.runtime.budget import Pool
from handoff_console.runtime.errors import BudgetError


def figures(pool: Pool) -> tuple[int, int, int]:
    assert pool.free + pool.open + pool.spent == pool.total  # R26
    return pool.free, pool.open, pool.spent


def test_a_reservation_leaves_the_pool_and_what_is_not_used_comes_back():  # R25
    pool = Pool(1_000)

    pool.reserve("h2", None, 400)
    assert figures(pool) == (600, 400, 0)
    assert pool.charge("h2", 150) == 0
    assert figures(pool) == (600, 250, 150)
    assert pool.refund("h2") == 250
    assert figures(pool) == (850, 0, 150)


def test_a_refused_reservation_changes_nothing():  # R26
    pool = Pool(1_000)
    pool.reserve("h2", None, 800)

    with pytest.raises(
        BudgetError,
        match=r"^Handoff 'h3' asked for 300 tokens; 200 of 1,000 can be reserved\. Ask for less or "
        r"make the pool larger\.$",
    ):
        pool.reserve("h3", None, 300)

    assert figures(pool) == (200, 800, 0)


def test_a_handoff_holds_one_grant_at_a_time():
    pool = Pool(1_000)
    pool.reserve("h2", None, 100)

    with pytest.raises(
        BudgetError, match=r"^Handoff 'h2' holds a grant already; refund it first\.$"
    ):
        pool.reserve("h2", None, 100)

    assert figures(pool) == (900, 100, 0)


def test_nobody_reserves_less_than_nothing():
    pool = Pool(1_000)

    with pytest.raises(BudgetError, match="asked for -5 tokens"):
        pool.reserve("h2", None, -5)

    assert figures(pool) == (1_000, 0, 0)


def test_the_finish_floor_stays_with_the_root():  # R27
    pool = Pool(1_000, finish_floor=300)

    assert pool.available(None, keep_floor=True) == 700
    with pytest.raises(BudgetError, match="700 of 1,000 can be reserved"):
        pool.reserve("h2", None, 701)
    pool.reserve("h2", None, 701, keep_floor=False)

    assert pool.rest("h1") == 299


def test_a_childs_grant_is_carved_from_its_callers():
    pool = Pool(1_000)
    pool.reserve("h2", None, 600)

    pool.reserve("h3", "h2", 500)

    assert figures(pool) == (400, 600, 0)
    assert (pool.rest("h2"), pool.rest("h3")) == (100, 500)
    with pytest.raises(BudgetError, match="'h4' asked for 101 tokens; 100 of 1,000"):
        pool.reserve("h4", "h2", 101)


def test_a_childs_rest_goes_back_to_its_caller_while_that_is_open():
    pool = Pool(1_000)
    pool.reserve("h2", None, 600)
    pool.reserve("h3", "h2", 500)
    pool.charge("h3", 200)

    assert pool.refund("h3") == 300
    assert pool.rest("h2") == 400
    assert figures(pool) == (400, 400, 200)


def test_a_childs_rest_is_free_when_its_caller_has_closed_before():
    pool = Pool(1_000)
    pool.reserve("h2", None, 600)
    pool.reserve("h3", "h2", 500)

    pool.refund("h2")
    pool.refund("h3")

    assert figures(pool) == (1_000, 0, 0)


def test_what_a_call_used_beyond_its_grant_comes_from_what_is_free():
    pool = Pool(1_000)
    pool.reserve("h2", None, 900)

    assert pool.charge("h2", 1_050) == 150

    assert figures(pool) == (-50, 0, 1_050)
    assert pool.available(None, keep_floor=False) == -50


def test_the_root_overdraws_the_pool_itself():
    pool = Pool(100)

    assert pool.charge("h1", 90) == 0
    assert pool.charge("h1", 30) == 20
    assert pool.charge("h1", 5) == 5
    assert figures(pool) == (-25, 0, 125)


def test_a_handoff_without_a_grant_has_nothing_to_give_back():
    assert Pool(100).refund("h1") is None


def test_a_transfer_may_count_on_what_its_sender_gives_back():
    pool = Pool(1_000)
    pool.reserve("h2", None, 900)
    pool.charge("h2", 100)

    assert pool.available(None, keep_floor=False) == 100
    assert pool.available(None, keep_floor=False, returning="h2") == 900
    assert pool.available(None, keep_floor=False, returning="h1") == 100
