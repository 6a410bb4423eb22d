import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff_console.store.analysis.paired import (
    Pairs,
    chi_square_tail,
    cochrans_q,
    detectable_points,
    holm,
    mcnemar,
    needed_cases,
    paired_interval,
    pairs_of,
)

counts = st.integers(0, 300)
some_pairs = st.builds(Pairs, counts, counts, counts, counts)


def swapped(pairs: Pairs) -> Pairs:
    return Pairs(pairs.both, pairs.only_b, pairs.only_a, pairs.neither)


@given(counts, counts)
def test_mcnemar_is_the_exact_test_of_scipy(only_a, only_b):
    from scipy.stats import binomtest

    found = mcnemar(Pairs(5, only_a, only_b, 5))

    flips = only_a + only_b
    expected = binomtest(min(only_a, only_b), flips, 0.5).pvalue if flips else 1.0
    assert found == pytest.approx(expected, abs=1e-9)


def test_mcnemar_is_the_exact_test_of_statsmodels():
    from statsmodels.stats.contingency_tables import mcnemar as oracle

    for only_a, only_b in [(0, 1), (1, 0), (0, 9), (11, 36), (500, 554), (3, 3)]:
        expected = oracle([[70, only_a], [only_b, 20]], exact=True).pvalue
        assert mcnemar(Pairs(70, only_a, only_b, 20)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "pairs", [Pairs(0, 0, 0, 0), Pairs(1, 0, 0, 0), Pairs(0, 0, 0, 1), Pairs(40, 0, 0, 3)]
)
def test_where_nothing_differs_chance_explains_everything(pairs):
    assert (mcnemar(pairs), pairs.difference) == (1.0, 0.0)


def test_one_case_that_flips_says_nothing():
    assert mcnemar(Pairs(0, 0, 1, 0)) == 1.0


def test_the_paired_interval_is_the_published_one():
    """R. G. Newcombe, Statistics in Medicine 17 (1998), table III, method 10: 36, 12, 2, 0."""
    low, high = paired_interval(Pairs(both=36, only_a=2, only_b=12, neither=0))

    assert (round(low, 4), round(high, 4)) == (0.0569, 0.3404)


@given(some_pairs)
def test_swapping_the_sides_turns_the_interval_round_and_keeps_p(pairs):
    low, high = paired_interval(pairs)
    other_low, other_high = paired_interval(swapped(pairs))

    assert (other_low, other_high) == pytest.approx((-high, -low), abs=1e-12)
    assert mcnemar(pairs) == mcnemar(swapped(pairs))
    assert swapped(pairs).difference == -pairs.difference


@given(some_pairs)
def test_the_interval_holds_what_was_seen_and_stays_a_difference_of_shares(pairs):
    low, high = paired_interval(pairs)

    assert -1 <= low <= pairs.difference <= high <= 1


def test_of_no_cases_nothing_is_known():
    assert paired_interval(Pairs(0, 0, 0, 0)) == (-1.0, 1.0)


def test_of_one_case_hardly_anything_is():
    low, high = paired_interval(Pairs(0, 0, 1, 0))

    assert low < 0.05
    assert high == 1.0


def test_pairs_are_counted_case_by_case():
    a, b = [True, True, False, False, True], [True, False, True, False, True]

    assert pairs_of(a, b) == Pairs(both=2, only_a=1, only_b=1, neither=1)
    assert pairs_of(a, b).flips == 0.4


def test_holm_is_that_of_statsmodels():
    from statsmodels.stats.multitest import multipletests

    draw = random.Random(5)
    for length in range(1, 13):
        values = [round(draw.random() ** 3, draw.choice((2, 9))) for _ in range(length)]
        expected = list(multipletests(values, method="holm")[1])
        assert holm(values) == pytest.approx(expected, abs=1e-12)
    assert holm([]) == []


def test_cochrans_q_is_that_of_statsmodels():
    from statsmodels.stats.contingency_tables import cochrans_q as oracle

    draw = random.Random(7)
    for sides in (2, 3, 4, 5):
        table = [[draw.random() < 0.4 + 0.1 * side for _ in range(60)] for side in range(sides)]
        rows = [list(map(int, case)) for case in zip(*table, strict=True)]
        expected = oracle(__import__("numpy").array(rows))
        found = cochrans_q(table)
        assert found == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)


def test_sides_that_agree_everywhere_are_not_told_apart():
    assert cochrans_q([[True, False]] * 3) == (0.0, 1.0)
    assert cochrans_q([[], []]) == (0.0, 1.0)


def test_one_side_cannot_be_compared():
    with pytest.raises(ValueError, match="two sides or more, not 1"):
        cochrans_q([[True]])


@given(st.floats(0.001, 200), st.integers(1, 12))
def test_the_tail_of_chi_square_is_that_of_scipy(value, freedom):
    from scipy.stats import chi2

    assert chi_square_tail(value, freedom) == pytest.approx(chi2.sf(value, freedom), abs=1e-12)


def exact_power(cases: int, difference: float, flips: float) -> float:
    from scipy.stats import binom

    total, up = 0.0, (flips + difference) / (2 * flips)
    for count in range(cases + 1):
        rejected = [k for k in range(count) if 2 * binom.cdf(min(k, count - k), count, 0.5) <= 0.05]
        total += binom.pmf(count, cases, flips) * binom.pmf(rejected, count, up).sum()
        total += binom.pmf(count, cases, flips) * (count >= 6) * binom.pmf(count, count, up)
    return float(total)


def test_so_many_cases_have_a_power_of_80_percent_and_one_less_has_not():
    cases = needed_cases(20, 0.3)

    assert cases == 61
    assert exact_power(cases, 0.20, 0.3) >= 0.8 > exact_power(cases - 1, 0.20, 0.3)


@pytest.mark.parametrize(
    ("points", "flips", "published"),
    [
        (2, 0.1, 2_058),
        (3, 0.06, 573),
        (3, 0.1, 933),
        (3, 0.2, 1_828),
        (5, 0.2, 671),
        (10, 0.3, 249),
    ],
)
def test_needed_cases_are_within_3_percent_of_those_found_by_simulation(points, flips, published):
    assert needed_cases(points, flips) == pytest.approx(published, rel=0.03)


def test_a_difference_of_nothing_can_never_be_shown():
    with pytest.raises(ValueError, match="ask for one above 0"):
        needed_cases(0, 0.1)


def test_what_so_many_cases_can_show():
    assert round(detectable_points(200, 0.1) or 0, 1) == 6.3
    assert round(detectable_points(200, 0.2) or 0, 1) == 8.9
    assert detectable_points(0, 0.2) is None
