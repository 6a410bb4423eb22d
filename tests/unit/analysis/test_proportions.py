import pytest

from handoff_console.store.analysis.proportions import proportion


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_the_published_one(passed, total, low, high):
    found = proportion(passed, total)

    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_the_interval_solves_its_own_equation():
    """Wilson's bounds are the shares from which the one seen lies z standard errors away."""
    z = 1.959963984540054
    for total in (1, 2, 10, 137):
        for passed in range(total + 1):
            found = proportion(passed, total)
            for bound in {found.low, found.high} - {0.0, 1.0}:
                error = (bound * (1 - bound) / total) ** 0.5
                assert abs(abs(passed / total - bound) - z * error) < 1e-12


def test_all_of_a_few_is_not_all():
    found = proportion(10, 10)

    assert (found.share, round(found.low, 4), found.high) == (1.0, 0.7225, 1.0)


def test_of_none_nothing_is_known():
    found = proportion(0, 0)

    assert (found.share, found.low, found.high) == (None, 0.0, 1.0)


def test_more_confidence_takes_a_wider_interval():
    wide, narrow = proportion(8, 10, confidence=0.99), proportion(8, 10, confidence=0.8)

    assert wide.low < narrow.low < 0.8 < narrow.high < wide.high


@pytest.mark.parametrize(
    ("passed", "total", "confidence"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)]
)
def test_what_is_no_share_is_refused(passed, total, confidence):
    with pytest.raises(ValueError, match="is no share; counts go from 0 to the total"):
        proportion(passed, total, confidence=confidence)
