"""The value that so much of a sample lies under."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Median:
    """The middle of a sample, and where the true one lies."""

    value: float
    low: float
    high: float
    total: int
    """Values in the sample."""


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value that a share of a sorted sample lies under, drawn between neighbours.

    Raises:
        ValueError: The sample is empty.
    """
    if not ordered:
        raise ValueError(
            "Of an empty sample there is no quantile; ask only where there are values."
        )
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median_of(values: Sequence[float], *, confidence: float = 0.95) -> Median | None:
    """Return a sample's median with its exact interval, from one of its values to another.

    Half of all values lie under the true median, so how many of the sample do is what a fair coin
    decides. Of fewer than six values no such interval holds 95 %: it goes from the least to the
    most then. None of no values.
    """
    if not values:
        return None
    ordered, n = sorted(values), len(values)
    allowed, tail, term = (1 - confidence) / 2, 0, 1
    for k in count():
        tail += term
        if tail / (1 << n) > allowed:
            break
        term = term * (n - k) // (k + 1)
    first = max(k - 1, 0)
    return Median(quantile(ordered, 0.5), ordered[first], ordered[n - 1 - first], n)
