"""How sure a share is that was seen in a few tries. Plain arithmetic, no library."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many, and what the true share may be."""

    passed: int
    total: int
    low: float
    """The true share is at least this, with the confidence asked for; 0 when nothing was tried."""
    high: float
    """And at most this; 1 when nothing was tried."""

    @property
    def share(self) -> float | None:
        """The share that was seen; None when nothing was tried."""
        return self.passed / self.total if self.total else None


def proportion(passed: int, total: int, *, confidence: float = 0.95) -> Proportion:
    """Return a share with its interval by Wilson's score, without continuity correction.

    Unlike the textbook's interval it stays between 0 and 1, and 10 of 10 does not claim to be sure.

    Args:
        passed: How many did.
        total: How many were tried; of none, nothing is known.
        confidence: How often such an interval has the true share, between 0 and 1.

    Raises:
        ValueError: More passed than were tried, a count is negative, or the confidence is no share.
    """
    if not 0 <= passed <= total or not 0 < confidence < 1:
        raise ValueError(
            f"{passed} of {total} at a confidence of {confidence} is no share; counts go from 0 to "
            "the total, and the confidence lies between 0 and 1."
        )
    if not total:
        return Proportion(0, 0, 0.0, 1.0)
    low, high = wilson_bounds(passed / total, total, confidence=confidence)
    return Proportion(
        passed, total, low=low if passed else 0.0, high=high if passed < total else 1.0
    )


def wilson_bounds(share: float, weight: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share that so many tries, or a sum of weights, stand behind."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = z * z / weight
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / weight + spread / (4 * weight)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)
