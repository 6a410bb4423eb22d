"""Differences and chances as they are written, on the page and in the terminal alike."""

from handoff_console.store.analysis.comparison.result import Interval


def signed(points: float) -> str:
    """Return a number of points with its sign: `+10.4`, `−1.1`, `0.0`."""
    text = f"{abs(points):.1f}"
    if text == "0.0":
        return text
    return ("+" if points > 0 else "−") + text


USUAL_LEVEL = 0.05


def p_text(p: float | None) -> str:
    """Return p as it is read: `= 0.0003`, `< 0.0001`.

    Beside the level that is usual it has as many digits as it takes to see on which side it lies.
    """
    if p is None:
        return "not known"
    if p < 0.0001:
        return "< 0.0001"
    digits = 4 if p < 0.01 else 3 if p < 0.1 else 2
    while digits < 8 and p != USUAL_LEVEL and float(f"{p:.{digits}f}") == USUAL_LEVEL:
        digits += 1
    return f"= {p:.{digits}f}"


def close_call(difference: Interval | None, p: float | None, alpha: float) -> str:
    """Return why nothing is clear although the interval lies on one side of 0; else nothing."""
    if difference is None or p is None or p < alpha or difference.low <= 0 <= difference.high:
        return ""
    return (
        " A close call: the interval leaves 0 out, but the exact test is what decides, and its p "
        f"is not below {alpha:g}."
    )


def rough(cases: int) -> int:
    """Return a number of cases as rough as it is known."""
    step = 10 if cases < 1_000 else 100
    return -(-cases // step) * step


def percent(share: float) -> str:
    """Return a share as it is written: `76.7 %`."""
    return f"{100 * share:.1f} %"
