"""Agents as dumbbells: one share under two versions, each with its interval."""

from collections.abc import Sequence
from typing import Any

from handoff_console.console.figures.axes import (
    A_COLOR,
    A_SYMBOL,
    B_SYMBOL,
    GRID,
    as_text,
    axis,
    b_color,
    layout,
    share_axis,
)
from handoff_console.console.viewmodels.compare_figures import AgentPair
from handoff_console.store.analysis.proportions import Proportion

ROW_PX = 34


def dumbbell_figure(
    pairs: Sequence[AgentPair], names: tuple[str, str], *, dark: bool
) -> dict[str, Any]:
    """Return the figure; an agent without a case under a version has no point there.

    Args:
        pairs: An agent a row, the first one on top.
        names: What A and B are called.
        dark: For a dark page.
    """
    rows = list(range(len(pairs)))
    seen = [(row, pair.a.share, pair.b.share) for row, pair in enumerate(pairs)]
    whole = [(row, a, b) for row, a, b in seen if a is not None and b is not None]
    bars = {
        "type": "scatter",
        "mode": "lines",
        "x": [value for _, a, b in whole for value in (a, b, None)],
        "y": [value for row, _, _ in whole for value in (row, row, None)],
        "line": {"width": 3, "color": GRID},
        "hoverinfo": "skip",
    }
    looks = (
        (names[0], A_COLOR, A_SYMBOL, -0.14, [pair.a for pair in pairs]),
        (names[1], b_color(dark=dark), B_SYMBOL, 0.14, [pair.b for pair in pairs]),
    )
    points = [
        _points(name, color, symbol, [row + shift for row in rows], shares, pairs)
        for name, color, symbol, shift, shares in looks
    ]
    labels = [f"{as_text(pair.agent)} {pair.mark}".rstrip() for pair in pairs]
    beside = axis(
        dark=dark,
        tickvals=rows,
        ticktext=labels,
        range=[max(len(rows), 1) - 0.5, -0.5],
        showgrid=False,
        automargin=True,
    )
    shown = layout(
        56 + ROW_PX * max(len(rows), 1),
        dark=dark,
        xaxis=share_axis(dark=dark, automargin=True),
        yaxis=beside,
        hovermode="closest",
    )
    return {"data": [bars, *points], "layout": shown}


def _points(
    name: str,
    color: str,
    symbol: str,
    rows: Sequence[float],
    shares: Sequence[Proportion],
    pairs: Sequence[AgentPair],
) -> dict[str, Any]:
    there = [
        (row, it, share, pair)
        for row, it, pair in zip(rows, shares, pairs, strict=True)
        if (share := it.share) is not None
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": as_text(name),
        "x": [share for _, _, share, _ in there],
        "y": [row for row, _, _, _ in there],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [it.high - share for _, it, share, _ in there],
            "arrayminus": [share - it.low for _, it, share, _ in there],
            "color": color,
            "thickness": 1.2,
            "width": 4,
        },
        "marker": {"symbol": symbol, "size": 9, "color": color, "line": {"width": 2}},
        "hovertext": [as_text(pair.title) for _, _, _, pair in there],
        "hoverinfo": "text",
    }
