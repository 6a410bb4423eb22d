"""Cost against accuracy: versions as points, each with both of its intervals."""

from collections.abc import Sequence
from typing import Any

from handoff_console.console import theme
from handoff_console.console.figures.axes import as_text, axis, layout, share_axis
from handoff_console.console.viewmodels.compare_figures import CostPoint

HEIGHT_PX = 260
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star")


def cost_figure(
    points: Sequence[CostPoint], versions: Sequence[str], *, dark: bool
) -> dict[str, Any]:
    """Return the figure: tokens a case across, accuracy up; of no points, an empty frame.

    Args:
        points: What is drawn.
        versions: All labels, in the order by which they have their colours and shapes: that of the
            figure over experiments.
        dark: For a dark page.
    """
    colors = theme.agent_colors(versions, versions)
    traces = []
    for point in points:
        color, share, tokens = colors[point.label], point.accuracy, point.tokens
        middle = share.share or 0.0
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": as_text(point.name),
                "x": [tokens.value],
                "y": [middle],
                "error_x": _reach(tokens.value, tokens.low, tokens.high, color),
                "error_y": _reach(middle, share.low, share.high, color),
                "marker": {
                    "symbol": _SYMBOLS[versions.index(point.label) % len(_SYMBOLS)],
                    "size": 12 if point.is_shown else 8,
                    "color": color,
                },
                "hovertext": [
                    as_text(f"{point.name}: {point.right_words} right; {point.tokens_words} tokens")
                ],
                "hoverinfo": "text",
            }
        )
    return {
        "data": traces,
        "layout": layout(
            HEIGHT_PX,
            dark=dark,
            xaxis=axis(
                dark=dark, title={"text": "tokens a case"}, automargin=True, nticks=6,
                rangemode="tozero", separatethousands=True, exponentformat="none",
            ),
            yaxis=share_axis(dark=dark, title={"text": "right first time"}, automargin=True),
            hovermode="closest",
            showlegend=True,
            legend={"orientation": "v", "x": 1.01, "y": 1, "font": {"size": 11}},
        ),
    }  # fmt: skip


def _reach(middle: float, low: float, high: float, color: str) -> dict[str, Any]:
    return {
        "type": "data", "symmetric": False, "array": [high - middle], "arrayminus": [middle - low],
        "color": color, "thickness": 1, "width": 4,
    }  # fmt: skip
