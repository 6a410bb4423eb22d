"""Numbers, times and recorded text, as they stand on a screen."""

import json
from typing import Any

from handoff_console.runtime.counting import count
from handoff_console.store.analysis.plain_text import as_name, block, one_line

__all__ = [
    "ago",
    "amount",
    "as_name",
    "block",
    "count",
    "money",
    "one_line",
    "pretty",
    "seconds",
    "signed",
]


def amount(number: int) -> str:
    """Return a whole number with its thousands apart."""
    return f"{number:,}"


def signed(number: int) -> str:
    """Return a change with its sign; nothing for no change."""
    if not number:
        return ""
    return f"+{number:,}" if number > 0 else f"−{-number:,}"


def money(cost: float, currency: str) -> str:
    """Return an amount of money as it was counted: `0.0123 USD`; its currency only where known."""
    shown = f"{cost:.4f}" if not 0 < cost < 0.0001 else "under 0.0001"
    return f"{shown} {currency}".rstrip()


def seconds(value: float) -> str:
    """Return a duration as people say it: `0 s`, `340 ms`, `14.2 s`, `3 min 5 s`, `2 h 10 min`."""
    if value <= 0:
        return "0 s"
    if value < 0.0995:
        return f"{value * 1_000:.1f} ms" if value < 0.00995 else f"{value * 1_000:.0f} ms"
    if value < 0.9995:
        return f"{value * 1_000:.0f} ms"
    if value < 99.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def ago(age_seconds: float) -> str:
    """Return how long ago something was, in its largest unit; the future is `now`."""
    for unit_seconds, unit in ((31_557_600, "y"), (86_400, "d"), (3_600, "h"), (60, "min")):
        if age_seconds >= unit_seconds:
            return f"{int(age_seconds // unit_seconds)} {unit} ago"
    return f"{int(age_seconds)} s ago" if age_seconds >= 1 else "now"


def pretty(value: Any, limit: int = 20_000) -> str:
    """Return a recorded JSON value as indented text, fit to be shown; a text stays a text."""
    if isinstance(value, str):
        return block(value, limit)
    return block(json.dumps(value, ensure_ascii=False, indent=2, default=str), limit)
