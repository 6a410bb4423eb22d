import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff_console.store.analysis.unpaired import Stratum, unpaired


@st.composite
def strata(draw, most: int = 400):
    total_a, total_b = draw(st.integers(1, most)), draw(st.integers(1, most))
    return Stratum(draw(st.integers(0, total_a)), total_a, draw(st.integers(0, total_b)), total_b)


@given(strata())
def test_one_kind_of_cases_is_the_interval_of_statsmodels(one):
    from statsmodels.stats.proportion import confint_proportions_2indep

    expected = confint_proportions_2indep(
        one.passed_b, one.total_b, one.passed_a, one.total_a, method="newcomb", compare="diff"
    )
    found = unpaired([one])

    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


@given(st.lists(strata(60), min_size=1, max_size=5))
def test_swapping_the_sides_turns_the_interval_round(many):
    found = unpaired(many)
    turned = unpaired(
        [Stratum(one.passed_b, one.total_b, one.passed_a, one.total_a) for one in many]
    )

    assert (turned.difference, turned.low, turned.high) == pytest.approx(
        (-found.difference, -found.high, -found.low), abs=1e-12
    )


def test_traffic_that_shifts_is_no_improvement():
    """Both kinds of cases do as well with A as with B; B only had more of the easy kind."""
    easy, hard = Stratum(90, 100, 270, 300), Stratum(100, 200, 50, 100)

    found = unpaired([easy, hard])

    assert found.difference == pytest.approx(0.0, abs=1e-12)
    assert found.low < 0 < found.high
    together = unpaired([Stratum(190, 300, 320, 400)])
    assert together.low > 0.09


def test_a_kind_that_only_one_side_had_says_nothing():
    found = unpaired([Stratum(5, 10, 6, 10), Stratum(0, 0, 40, 40)])

    assert (round(found.difference, 3), found.used_a, found.used_b) == (0.1, 10, 10)
    assert unpaired([Stratum(0, 0, 1, 1)]) is None
    assert unpaired([]) is None
