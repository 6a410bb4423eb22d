import asyncio
import itertools
from math import comb

import pytest

from handoff_console.runtime.ddmin import Trials, chance, likely_tries, most_tries, smallest


def found(parts: str, *causes: str) -> tuple[str, int]:
    """The smallest set that holds all of one of the causes, and how many sets were tried."""
    tried: list[str] = []

    async def does_it(some) -> bool:
        tried.append("".join(some))
        return any(set(cause) <= set(some) for cause in causes)

    kept = asyncio.run(smallest(parts, does_it))
    assert len(tried) == len(set(tried)), "a set was tried twice"
    return "".join(kept), len(tried)


@pytest.mark.parametrize("cause", "abcdefgh")
def test_a_single_cause_is_found_wherever_it_is(cause):
    kept, tries = found("abcdefgh", cause)

    assert kept == cause
    assert tries <= likely_tries(8) == 6


@pytest.mark.parametrize("cause", ["".join(pair) for pair in itertools.combinations("abcdefgh", 2)])
def test_two_causes_that_need_each_other_are_found_together(cause):
    kept, tries = found("abcdefgh", cause)

    assert kept == cause
    assert tries <= most_tries(8)


def test_of_several_ways_one_is_found_and_none_of_its_parts_can_be_left_out():
    kept, _ = found("abcdef", "ae", "bcd")

    assert kept in {"ae", "bcd"}


def test_all_of_them_may_be_needed():
    assert found("abcd", "abcd")[0] == "abcd"
    assert found("a", "a") == ("a", 0)


def test_the_estimate_is_an_upper_bound_for_every_cause_of_six():
    for size in range(1, 7):
        for cause in itertools.combinations("abcdef", size):
            _, tries = found("abcdef", "".join(cause))
            assert tries <= most_tries(6)
    assert (most_tries(1), likely_tries(1), likely_tries(0)) == (0, 0, 0)


@pytest.mark.parametrize(
    ("with_it", "without", "expected"),
    [
        ((3, 3), (0, 3), 1 / comb(6, 3)),
        ((5, 5), (0, 5), 1 / comb(10, 5)),
        ((1, 1), (0, 1), 1 / 2),
        ((2, 3), (2, 3), 0.8),  # 1 - C(4,1)*C(2,2)/C(6,3)
        # Fisher's lady: 4 of 4 right, and 3 of 4 right.
        ((4, 4), (0, 4), 1 / 70),
        ((3, 4), (1, 4), 17 / 70),
    ],
)
def test_chance_is_fishers(with_it, without, expected):
    assert chance(Trials(*with_it), Trials(*without)) == pytest.approx(expected, abs=1e-12)


def test_without_tries_anything_may_be_chance():
    assert chance(Trials(0, 0), Trials(0, 3)) == 1.0
    assert chance(Trials(3, 3), Trials(0, 0)) == 1.0
