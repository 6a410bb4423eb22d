"""The trade-off of a threshold: give up more often, and be right more often when not."""

from collections.abc import Sequence
from typing import Any

from handoff_console.console.figures.axes import (
    A_COLOR,
    NEUTRAL_LINE,
    as_text,
    axis,
    b_color,
    layout,
    share_axis,
)
from handoff_console.console.viewmodels.compare_figures import ThresholdCurve

HEIGHT_PX = 240
_MEASURES = (
    ("coverage", "handed off", "dot"),
    ("accuracy", "right when handed off", "solid"),
    ("abstain_recall", "held back, of those nobody is for", "dash"),
)


def threshold_figure(
    curves: Sequence[ThresholdCurve], threshold: float | None, *, dark: bool
) -> dict[str, Any]:
    """Return the figure: three lines a version, told apart by their dashes.

    Args:
        curves: A and B, in this order.
        threshold: The one the reader chose, drawn as a line; None draws none.
        dark: For a dark page.
    """
    traces = []
    for curve, color in zip(curves, (A_COLOR, b_color(dark=dark)), strict=False):
        for field, words, dash in _MEASURES:
            values = [getattr(point, field).share for point in curve.points]
            if all(value is None for value in values):
                continue
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": as_text(f"{curve.name}: {words}"),
                    "x": [point.threshold for point in curve.points],
                    "y": values,
                    "line": {"shape": "hv", "width": 2, "dash": dash, "color": color},
                    "hovertemplate": "%{y:.0%} %{fullData.name}<extra></extra>",
                }
            )
    marks = [] if threshold is None else [_line_at(threshold)]
    shown = layout(
        HEIGHT_PX,
        dark=dark,
        xaxis=axis(dark=dark, title={"text": "threshold (score)"}, automargin=True),
        yaxis=share_axis(dark=dark, automargin=True),
        hovermode="x unified",
        shapes=marks,
        showlegend=True,
        legend={"orientation": "v", "x": 1.01, "y": 1, "font": {"size": 11}},
    )
    return {"data": traces, "layout": shown}


def _line_at(threshold: float) -> dict[str, Any]:
    return {
        "type": "line", "xref": "x", "yref": "paper", "x0": threshold, "x1": threshold,
        "y0": 0, "y1": 1, "line": {"width": 2, "dash": "dot", "color": NEUTRAL_LINE},
    }  # fmt: skip
