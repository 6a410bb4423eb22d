"""Two ways of doing different cases: how far apart their shares are.

Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions",
Statistics in Medicine 17 (1998), method 10; stratified as by X. Yan and X. G. Su, "Stratified
Wilson and Newcombe confidence intervals for multiple binomial proportions" (2010), with the weights
of Mantel and Haenszel.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from handoff_console.store.analysis.proportions import wilson_bounds


@dataclass(frozen=True, slots=True)
class Stratum:
    """Cases of one kind that both sides had, each its own."""

    passed_a: int
    total_a: int
    passed_b: int
    total_b: int


@dataclass(frozen=True, slots=True)
class Unpaired:
    """B's share minus A's."""

    difference: float
    low: float
    high: float
    used_a: int
    """Cases of A that a case of the same kind stands beside; the others say nothing."""
    used_b: int


def unpaired(strata: Iterable[Stratum], *, confidence: float = 0.95) -> Unpaired | None:
    """Return the difference between two sides that had different cases of the same kinds.

    One stratum is Newcombe's interval for independent shares. Strata that only one side has are
    left out: what they differ by may be the cases.

    Args:
        strata: The kinds of cases, such as who was expected to get them.
        confidence: How often such an interval has the true difference.
    """
    shared = [one for one in strata if one.total_a and one.total_b]
    if not shared:
        return None
    weights = [s.total_a * s.total_b / (s.total_a + s.total_b) for s in shared]
    whole = sum(weights)
    share_a = sum(w * s.passed_a / s.total_a for w, s in zip(weights, shared, strict=True)) / whole
    share_b = sum(w * s.passed_b / s.total_b for w, s in zip(weights, shared, strict=True)) / whole
    scale_a = sum(w * w / s.total_a for w, s in zip(weights, shared, strict=True)) / whole**2
    scale_b = sum(w * w / s.total_b for w, s in zip(weights, shared, strict=True)) / whole**2
    low_a, high_a = wilson_bounds(share_a, 1 / scale_a, confidence=confidence)
    low_b, high_b = wilson_bounds(share_b, 1 / scale_b, confidence=confidence)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    below = z * sqrt(scale_b * low_b * (1 - low_b) + scale_a * high_a * (1 - high_a))
    above = z * sqrt(scale_b * high_b * (1 - high_b) + scale_a * low_a * (1 - low_a))
    difference = share_b - share_a
    return Unpaired(
        difference,
        max(difference - below, -1.0),
        min(difference + above, 1.0),
        sum(one.total_a for one in shared),
        sum(one.total_b for one in shared),
    )
