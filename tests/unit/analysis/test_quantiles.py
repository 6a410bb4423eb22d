"""The middle of a sample and its exact interval, held to scipy."""

import math
import random

import pytest
from scipy import stats

from handoff_console.store.analysis.quantiles import Median, median_of


@pytest.mark.parametrize("size", [6, 7, 20, 99, 240, 1_001, 5_500])
def test_the_interval_of_a_median_is_that_of_scipy(size):
    draw = random.Random(size)
    values = [draw.lognormvariate(6, 1) for _ in range(size)]

    found = median_of(values)

    oracle = stats.quantile_test(values, q=0, p=0.5).confidence_interval(confidence_level=0.95)
    assert (found.low, found.high) == (oracle.low, oracle.high)
    assert math.isclose(found.value, stats.scoreatpercentile(values, 50), rel_tol=1e-12)
    assert found.total == size


def test_of_a_few_values_the_interval_is_all_of_them():
    assert median_of([5.0, 1.0, 3.0]) == Median(3.0, 1.0, 5.0, 3)
    assert median_of([2.0]) == Median(2.0, 2.0, 2.0, 1)


def test_of_no_values_there_is_no_median():
    assert median_of([]) is None
