"""What the figures of routing share: ink, grid, and how two versions are told apart in them."""

from html import escape
from typing import Any

from handoff_console.console import theme

CLEAR = "rgba(0,0,0,0)"
NEUTRAL_LINE = theme.NEUTRAL
GRID = "rgba(136,146,160,.28)"
A_COLOR, B_COLOR = "#8892A0", theme.PRIMARY
A_SYMBOL, B_SYMBOL = "circle-open", "diamond"
"""Shape as well as colour: who sees no colours, or prints, reads the figure all the same."""


def ink(*, dark: bool) -> str:
    """Return the colour of letters."""
    return "#E6E8EB" if dark else "#31333F"


def b_color(*, dark: bool) -> str:
    """Return the colour of the candidate, readable on the page."""
    return theme.PRIMARY_ON_DARK if dark else B_COLOR


def as_text(name: str) -> str:
    """Return a name fit for Plotly, which reads a small HTML in every text."""
    return escape(name)


def axis(*, dark: bool, **more: Any) -> dict[str, Any]:
    """Return an axis that cannot be dragged."""
    plain = {"fixedrange": True, "gridcolor": GRID, "zeroline": False, "color": ink(dark=dark)}
    return {**plain, **more}


def share_axis(*, dark: bool, **more: Any) -> dict[str, Any]:
    """Return an axis of shares from 0 to 100 %."""
    shown = {"range": [-0.02, 1.02], "tickformat": ".0%", "nticks": 6}
    return axis(dark=dark, **{**shown, **more})


def layout(height_px: int, *, dark: bool, **more: Any) -> dict[str, Any]:
    """Return a layout on the page's own ground."""
    return {
        "height": height_px,
        "margin": {"l": 0, "r": 8, "t": 8, "b": 0},
        "dragmode": False,
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"color": ink(dark=dark), "size": 12},
        "showlegend": False,
        **more,
    }
