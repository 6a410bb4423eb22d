"""How sure a difference is where no formula says so: by drawing from what was seen, seeded.

For latency and tokens, which are skewed, and for cases that are paraphrases of one another, which
count less than as many that have nothing in common.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 2_000
"""Of up to 2,000 values; of more, fewer, as their interval is narrow and each takes longer."""
FEWEST_RESAMPLES = 400
_MOST_NUMBERS = 4_000_000
"""That are drawn in all, and at a time: 32 MB."""


def median_interval(
    a: Sequence[float], b: Sequence[float], *, seed: int = 0, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval of B's median minus A's over the same cases; None of no cases.

    Args:
        a: One value a case.
        b: The same cases in the same order.
        seed: Equal seeds and values, equal interval.
        confidence: How often such an interval has the true difference, about.

    Raises:
        ValueError: They are not of the same length.
    """
    import numpy as np

    if len(a) != len(b):
        raise ValueError(f"{len(a)} values cannot be paired with {len(b)}; give one a case.")
    if not a:
        return None
    left, right = np.asarray(a, float), np.asarray(b, float)
    drawn = np.concatenate(
        [
            np.median(right[places], axis=1) - np.median(left[places], axis=1)
            for places in _places(len(a), seed)
        ]
    )
    return _percentiles(drawn, confidence)


def clustered_interval(
    differences: Sequence[float],
    groups: Sequence[Hashable],
    *,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[float, float] | None:
    """Return the interval of a mean difference, whole groups drawn at a time; None of no cases.

    Args:
        differences: B minus A, case by case.
        groups: Whose paraphrase each is, in the same order.
        seed: Equal seeds and values, equal interval.
        confidence: How often such an interval has the true difference, about.
    """
    import numpy as np

    sums: dict[Hashable, float] = defaultdict(float)
    sizes: dict[Hashable, int] = defaultdict(int)
    for difference, group in zip(differences, groups, strict=True):
        sums[group] += difference
        sizes[group] += 1
    if not sums:
        return None
    total, size = np.array(list(sums.values())), np.array(list(sizes.values()))
    drawn = np.concatenate(
        [
            total[places].sum(axis=1) / size[places].sum(axis=1)
            for places in _places(len(total), seed)
        ]
    )
    return _percentiles(drawn, confidence)


def _places(count: int, seed: int) -> "list[np.ndarray]":
    import numpy as np

    draw = np.random.default_rng(seed)
    resamples = max(FEWEST_RESAMPLES, min(RESAMPLES, _MOST_NUMBERS // count))
    rows = max(1, _MOST_NUMBERS // count)
    return [
        draw.integers(0, count, (min(rows, resamples - done), count))
        for done in range(0, resamples, rows)
    ]


def _percentiles(drawn: "np.ndarray", confidence: float) -> tuple[float, float]:
    import numpy as np

    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return float(low), float(high)
