"""Experiments over time: each version's labelled accuracy, with its interval."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from handoff_console.console import theme
from handoff_console.console.figures.axes import as_text, axis, layout, share_axis
from handoff_console.console.viewmodels.compare_figures import Trend, trend_title
from handoff_console.store.analysis.comparison.trials import Version

HEIGHT_PX = 240
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star")


def trend_figure(shown: Trend, compared: Collection[Version], *, dark: bool) -> dict[str, Any]:
    """Return the figure: a line for each text of a version; of none, an empty frame.

    Texts of one label have its colour and shape; the line of one that the label no longer stands
    for is dotted.
    """
    traces = []
    colors = theme.agent_colors(shown.versions, shown.versions)
    for line in shown.lines(compared):
        seen = [(it, share) for it in line.points if (share := it.accuracy.share) is not None]
        color = colors[line.label]
        symbol = _SYMBOLS[shown.versions.index(line.label) % len(_SYMBOLS)]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": as_text(line.name),
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
                "line": {
                    "width": 1.5,
                    "color": color,
                    "dash": "solid" if line.is_usual else "dot",
                },
                "marker": {
                    "symbol": symbol if line.is_usual else f"{symbol}-open",
                    "size": 9,
                    "color": color,
                },
                "hovertext": [as_text(trend_title(point, line.name)) for point, _ in seen],
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
