"""Shares and differences as people read them."""

import pytest

from handoff_console.console.viewmodels.shares import (
    change_words,
    interval_words,
    percent,
    quantity,
    signed_quantity,
)
from handoff_console.store.analysis.comparison.result import Interval


@pytest.mark.parametrize(
    ("share", "said"), [(0.767, "76.7 %"), (1.0, "100.0 %"), (0.0, "0.0 %"), (None, "–")]
)
def test_a_share_is_said_in_percent(share, said):
    assert percent(share) == said


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.5, "share", "50.0 %"),
        (1234.4, "tokens", "1,234"),
        (1.308, "handoffs", "1.31"),
        (2.5, "seconds", "2.5 s"),
        (3, "cases", "3"),
        (None, "seconds", "–"),
    ],
)
def test_a_figure_has_its_unit(value, unit, said):
    assert quantity(value, unit) == said


def test_a_difference_has_its_sign_and_its_interval():
    assert change_words(Interval(10.4, 4.9, 15.9), "share") == "+10.4 points [+4.9, +15.9]"
    assert change_words(Interval(-1.1, -4.0, 1.8), "share") == "−1.1 points [−4.0, +1.8]"
    assert change_words(Interval(0.0027, -0.01, 0.2), "seconds") == "+2.7 ms [−10 ms, +200 ms]"


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.0, "share", "±0 points"),
        (-0.01, "share", "±0 points"),
        (-1200.0, "tokens", "−1,200 tokens"),
        (0.25, "seconds", "+250 ms"),
        (0.0, "seconds", "±0 s"),
    ],
)
def test_no_change_is_neither_more_nor_less(value, unit, said):
    assert signed_quantity(value, unit) == said


def test_an_interval_is_said_in_percent():
    assert interval_words(0.712, 0.8249) == "[71 to 82 %]"
