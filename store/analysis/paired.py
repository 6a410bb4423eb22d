"""Two ways of doing the same cases: is one better, by how much, and how many cases would tell.

Plain arithmetic on exact integers; the tests hold it to scipy and statsmodels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, erfc, exp, gamma, lgamma, log, sqrt
from statistics import NormalDist

from handoff_console.store.analysis.proportions import proportion

POWER = 0.8
"""How sure a difference is to be found that is there, where a number of cases is named."""

_EFFECT = 2.8
"""z of 95 % confidence plus z of 80 % power."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Cases that two sides did, by which of them got it right."""

    both: int
    only_a: int
    """A right, B wrong: B has regressed."""
    only_b: int
    """A wrong, B right: B has improved."""
    neither: int

    @property
    def total(self) -> int:
        """All cases."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def difference(self) -> float:
        """B's share minus A's; 0 of no cases."""
        return (self.only_b - self.only_a) / self.total if self.total else 0.0

    @property
    def flips(self) -> float:
        """The share of cases that came out differently; 0 of no cases."""
        return (self.only_a + self.only_b) / self.total if self.total else 0.0


def pairs_of(a: Sequence[bool], b: Sequence[bool]) -> Pairs:
    """Count two sides' results, case by case.

    Raises:
        ValueError: They are not of the same length.
    """
    seen = list(zip(a, b, strict=True))
    return Pairs(
        both=sum(x and y for x, y in seen),
        only_a=sum(x and not y for x, y in seen),
        only_b=sum(y and not x for x, y in seen),
        neither=sum(not x and not y for x, y in seen),
    )


def mcnemar(pairs: Pairs) -> float:
    """Return the exact two-sided p of McNemar's test: 1 where nothing differs.

    Whether a coin that is fair would have split the differing cases so unevenly.
    """
    flips, fewer = pairs.only_a + pairs.only_b, min(pairs.only_a, pairs.only_b)
    if not flips or pairs.only_a == pairs.only_b:
        return 1.0
    tail = term = 1
    for k in range(1, fewer + 1):
        term = term * (flips - k + 1) // k
        tail += term
    return float(tail / (1 << (flips - 1)))


def paired_interval(pairs: Pairs, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of B's share minus A's, by Newcombe's method for paired shares.

    Of no cases it is from -1 to 1. Source: R. G. Newcombe, "Improved confidence intervals for the
    difference between binomial proportions based on paired data", Statistics in Medicine 17
    (1998), method 10.
    """
    n = pairs.total
    if not n:
        return -1.0, 1.0
    b = proportion(pairs.both + pairs.only_b, n, confidence=confidence)
    a = proportion(pairs.both + pairs.only_a, n, confidence=confidence)
    share_b, share_a = b.passed / n, a.passed / n
    phi = _correlation(pairs)

    def reach(one: float, other: float) -> float:
        return sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))

    below = reach(share_b - b.low, a.high - share_a)
    above = reach(b.high - share_b, share_a - a.low)
    return max(pairs.difference - below, -1.0), min(pairs.difference + above, 1.0)


def _correlation(pairs: Pairs) -> float:
    """Return phi with Newcombe's correction; 0 where a side is all right or all wrong."""
    e, f, g, h, n = pairs.both, pairs.only_b, pairs.only_a, pairs.neither, pairs.total
    margins = (e + f) * (g + h) * (e + g) * (f + h)
    if not margins:
        return 0.0
    cross = float(e * h - f * g)
    if cross > 0:
        cross = max(cross - n / 2, 0.0)
    return cross / sqrt(margins)


def holm(values: Sequence[float]) -> list[float]:
    """Return p values adjusted for being several, by Holm's method, in the order given."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(values[place] * (len(values) - rank), 1.0))
        adjusted[place] = highest
    return adjusted


def cochrans_q(sides: Sequence[Sequence[bool]]) -> tuple[float, float]:
    """Return Cochran's Q and its p: whether several sides are equally often right.

    Args:
        sides: For each side, the same cases in the same order.

    Raises:
        ValueError: They are fewer than two, or not of the same length.
    """
    if len(sides) < 2:
        raise ValueError(f"Cochran's Q compares two sides or more, not {len(sides)}.")
    cases = list(zip(*sides, strict=True))
    count = len(sides)
    by_case = [sum(case) for case in cases]
    spread = sum(right * (count - right) for right in by_case)
    if not spread:
        return 0.0, 1.0
    by_side = [sum(side) for side in sides]
    mean = sum(by_side) / count
    statistic = count * (count - 1) * sum((right - mean) ** 2 for right in by_side) / spread
    return statistic, chi_square_tail(statistic, count - 1)


def chi_square_tail(value: float, freedom: int) -> float:
    """Return the chance that a chi-square variable of so many degrees exceeds a value."""
    if value <= 0:
        return 1.0
    half = value / 2
    if freedom % 2:
        steps = (half ** (k + 0.5) / gamma(k + 1.5) for k in range((freedom - 1) // 2))
        return float(erfc(sqrt(half)) + exp(-half) * sum(steps))
    return float(exp(-half) * sum(half**k / gamma(k + 1) for k in range(freedom // 2)))


def detectable_points(cases: int, flips: float) -> float | None:
    """Return the smallest difference, in points, that so many cases are likely to show.

    Args:
        cases: How many there are; None is returned for none.
        flips: The share of cases that come out differently either way.
    """
    return 100 * _EFFECT * sqrt(flips / cases) if cases else None


@lru_cache(maxsize=512)
def needed_cases(points: float, flips: float, *, alpha: float = 0.05) -> int:
    """Return about how many cases show a true difference with a power of 80 %.

    By the exact test's own power as far as that is quickly added up; beyond, by the usual formula
    with its correction for exactness, which is then within 3 % of it.

    Args:
        points: The difference, in points, above 0.
        flips: The share of cases that come out differently either way; at least the difference.
        alpha: The level of the test.

    Raises:
        ValueError: The difference is not above 0.
    """
    if points <= 0:
        raise ValueError(f"A difference of {points} points needs no cases; ask for one above 0.")
    difference = points / 100
    flips = min(max(flips, difference), 1.0)
    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(POWER)
    rough = (z_alpha * sqrt(flips) + z_power * sqrt(max(flips - difference**2, 0.0))) ** 2
    rough /= difference**2
    if rough * flips > _MOST_FLIPS:
        return ceil(rough / 4 * (1 + sqrt(1 + 4 / (rough * difference))) ** 2)
    low, high = 1, ceil(rough)
    while _power(high, difference, flips, alpha) < POWER:
        low, high = high, high + high // 2 + 1
    while low + 1 < high:
        middle = (low + high) // 2
        if _power(middle, difference, flips, alpha) < POWER:
            low = middle
        else:
            high = middle
    return high


_MOST_FLIPS = 120
"""As many as chances are added up for one by one."""


def _power(cases: int, difference: float, flips: float, alpha: float) -> float:
    """Return the chance that the exact test finds a difference, over all numbers of flips."""
    up = (flips + difference) / (2 * flips)
    chances = _chances(cases, flips)
    return sum(
        chance * (_upto(count, up, critical) + _upto(count, 1 - up, critical))
        for count, chance in enumerate(chances)
        if chance > 1e-12 and (critical := _critical(count, alpha)) >= 0
    )


def _upto(count: int, share: float, most: int) -> float:
    return sum(_chances(count, share)[: most + 1])


@lru_cache(maxsize=2_048)
def _chances(count: int, share: float) -> list[float]:
    """Return the chance of 0, 1 … of so many, as far as it is worth adding up."""
    if share >= 1:
        return [0.0] * count + [1.0]
    odds, found = share / (1 - share), []
    middle = int(count * share)
    ways = lgamma(count + 1) - lgamma(middle + 1) - lgamma(count - middle + 1)
    most = exp(ways + middle * log(share) + (count - middle) * log(1 - share)) if share else 1.0
    below, chance = [], most
    for k in range(middle, 0, -1):
        chance *= k / (odds * (count - k + 1))
        below.append(chance)
    found, chance = [*reversed(below), most], most
    for k in range(middle + 1, count + 1):
        chance *= odds * (count - k + 1) / k
        found.append(chance)
        if chance < 1e-18:
            break
    return found


@lru_cache(maxsize=4_096)
def _critical(flips: int, alpha: float) -> int:
    """Return the most of the rarer kind at which the exact test still rejects; -1 for never."""
    if not flips:
        return -1
    critical, tail, term = -1, 0, 1
    for k in range(flips // 2 + 1):
        tail += term
        if tail / 2 ** (flips - 1) > alpha:
            break
        critical, term = k, term * (flips - k) // (k + 1)
    return critical
