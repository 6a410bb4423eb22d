"""Experiments over time: each version's labelled accuracy, with its interval."""

from datetime import UTC, datetime
from typing import Any

from handoff_console.console import theme
from handoff_console.console.figures.axes import as_text, axis, layout, share_axis
from handoff_console.console.viewmodels.compare_figures import Trend, trend_title

HEIGHT_PX = 240
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star")


def trend_figure(shown: Trend, *, dark: bool) -> dict[str, Any]:
    """Return the figure: a line a version over its experiments; of none, an empty frame."""
    traces = []
    colors = theme.agent_colors(shown.versions, shown.versions)
    for place, version in enumerate(shown.versions):
        points = shown.of(version)
        seen = [(point, share) for point in points if (share := point.accuracy.share) is not None]
        color = colors[version]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": as_text(version),
                "x": [datetime.fromtimestamp(point.at, UTC) for point, _ in seen],
                "y": [share for _, share in seen],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [point.accuracy.high - share for point, share in seen],
                    "arrayminus": [share - point.accuracy.low for point, share in seen],
                    "color": color,
                    "thickness": 1,
                    "width": 3,
                },
                "line": {"width": 1.5, "color": color},
                "marker": {
                    "symbol": _SYMBOLS[place % len(_SYMBOLS)],
                    "size": 9,
                    "color": color,
                },
                "hovertext": [as_text(trend_title(point)) for point, _ in seen],
                "hoverinfo": "text",
            }
        )
    below = axis(dark=dark, type="date", automargin=True, nticks=6)
    return {
        "data": traces,
        "layout": layout(
            HEIGHT_PX,
            dark=dark,
            xaxis=below,
            yaxis=share_axis(dark=dark, automargin=True),
            hovermode="closest",
            showlegend=True,
            legend={"orientation": "v", "x": 1.01, "y": 1, "font": {"size": 11}},
        ),
    }
