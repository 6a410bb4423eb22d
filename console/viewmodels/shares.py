"""Shares, differences and how sure they are, as they stand on a screen."""

from handoff_console.console.viewmodels.text import amount, seconds
from handoff_console.store.analysis.comparison.result import Interval
from handoff_console.store.analysis.proportions import Proportion


def percent(share: float | None) -> str:
    """Return a share of 1 as `76.7 %`, always with one decimal; a dash for none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def interval_words(low: float, high: float) -> str:
    """Return the interval of a share: `[71 to 82 %]`."""
    return f"[{100 * low:.0f} to {100 * high:.0f} %]"


def range_words(share: Proportion | None) -> str:
    """Return the interval of a share that was counted; nothing where none was."""
    return interval_words(share.low, share.high) if share and share.total else ""


def quantity(value: float | None, unit: str) -> str:
    """Return a figure with its unit; a dash for none.

    Args:
        value: As it was measured.
        unit: `share`, `tokens`, `seconds`, `handoffs` or `cases`.
    """
    if value is None:
        return "–"
    if unit == "share":
        return percent(value)
    if unit == "seconds":
        return seconds(value)
    if unit == "handoffs":
        return f"{value:.2f}"
    return amount(round(value))


def change_words(difference: Interval, unit: str) -> str:
    """Return a difference with its interval: `+10.4 points [+4.9, +15.9]`; nought is `±0`."""
    bound = signed_quantity if unit == "seconds" else signed_number
    low, high = (bound(value, unit) for value in (difference.low, difference.high))
    return f"{signed_quantity(difference.points, unit)} [{low}, {high}]"


def signed_quantity(value: float, unit: str) -> str:
    """Return a difference with its sign and unit; in points for shares."""
    if unit == "seconds":
        sign = "+" if value > 0 else "−" if value < 0 else "±"
        return f"{sign}{seconds(abs(value))}"
    words = {"share": " points", "tokens": " tokens", "cases": " cases"}.get(unit, "")
    return f"{signed_number(value, unit)}{words}"


def signed_number(value: float, unit: str) -> str:
    """Return a number with its sign, as exact as its unit is measured; nought is `±0`."""
    digits = {"share": 1, "handoffs": 2, "seconds": 2}.get(unit, 0)
    rounded = round(value, digits)
    if not rounded:
        return "±0"
    return f"{'+' if rounded > 0 else '−'}{abs(rounded):,.{digits}f}"
