import random

import pytest

from handoff_console.store.analysis.resampling import (
    RESAMPLES,
    clustered_interval,
    median_interval,
)


def test_the_interval_of_a_median_difference_is_that_of_scipy():
    import numpy as np
    from scipy.stats import bootstrap

    draw = random.Random(3)
    a = [draw.lognormvariate(0, 1) for _ in range(80)]
    b = [value * draw.uniform(0.7, 1.2) for value in a]

    oracle = bootstrap(
        (np.array(a), np.array(b)),
        lambda x, y, axis=-1: np.median(y, axis=axis) - np.median(x, axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(11),
    ).confidence_interval

    assert median_interval(a, b, seed=11) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_equal_seeds_give_equal_intervals():
    a, b = [1.0, 2.0, 3.0, 9.0], [1.5, 2.5, 2.0, 8.0]

    assert median_interval(a, b, seed=4) == median_interval(a, b, seed=4)


def test_few_cases():
    assert median_interval([], []) is None
    assert median_interval([1.0], [3.0]) == (2.0, 2.0)
    with pytest.raises(ValueError, match="2 values cannot be paired with 1"):
        median_interval([1.0, 2.0], [1.0])


def test_paraphrases_count_less_than_as_many_cases_of_their_own():
    differences = [1.0] * 10 + [0.0] * 10 + [-1.0] * 5 + [0.0] * 25
    alone = clustered_interval(differences, list(range(50)))
    grouped = clustered_interval(differences, [place // 5 for place in range(50)])

    assert grouped[1] - grouped[0] > 1.5 * (alone[1] - alone[0])
    assert clustered_interval([], []) is None
