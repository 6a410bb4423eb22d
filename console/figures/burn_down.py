"""The pool over a session's events as a Plotly figure: free, reserved, and spent by whom."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from handoff_console.console import theme
from handoff_console.console.viewmodels.burn_down import BurnDown, Mark

HEIGHT_PX = 176
_HATCH = "rgba(136,146,160,.75)"
_CLEAR = "rgba(0,0,0,0)"
_MARKS = {
    "reserve": ("reserve", "triangle-down", None),
    "refund": ("refund", "triangle-up", "ok"),
    "refused": ("refused: too few tokens", "x", "error"),
    "overdraft": ("overdraft", "diamond", "error"),
}


def burn_down_figure(
    shown: BurnDown, *, last_seq: int, colors: Mapping[str, str], dark: bool
) -> dict[str, Any]:
    """Return the figure as a plain dict.

    The x axis counts events, so that a step in the stepper is a step in the chart however fast the
    session ran. Without a point it is an empty frame.

    Args:
        shown: The pool, point by point.
        last_seq: The session's last event: the last state of the pool is drawn up to there.
        colors: Of the agents.
        dark: For a dark page.
    """
    if shown.points and shown.points[-1].seq < last_seq:
        shown = replace(shown, points=(*shown.points, replace(shown.points[-1], seq=last_seq)))
    seqs = [point.seq for point in shown.points]
    traces = [
        _band(
            seqs,
            [max(0, point.free) for point in shown.points],
            "free",
            fillcolor="rgba(136,146,160,.18)",
            line={"shape": "hv", "width": 2, "color": "#E6E8EB" if dark else "#20242B"},
        ),
        _band(
            seqs,
            [point.open for point in shown.points],
            "reserved",
            fillcolor=_CLEAR,
            fillpattern={
                "shape": "/",
                "fgcolor": _HATCH,
                "bgcolor": _CLEAR,
                "size": 6,
                "solidity": 0.25,
            },
        ),
        *_spent(seqs, shown, colors),
        *_marks(shown.marks, dark=dark),
    ]
    return {"data": traces, "layout": _layout(shown, last_seq, dark=dark)}


def _spent(
    seqs: Sequence[int], shown: BurnDown, colors: Mapping[str, str]
) -> Iterable[dict[str, Any]]:
    for place, agent in enumerate(shown.agents):
        spent = [point.spent_by[place] for point in shown.points]
        yield _band(seqs, spent, agent, fillcolor=colors.get(agent, theme.OTHER_COLOR))


def _band(x: Sequence[int], y: Sequence[int], name: str, **look: Any) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        # Plotly reads a small HTML in names; a recorded name is text.
        "name": escape(name),
        "stackgroup": "pool",
        "line": {"shape": "hv", "width": 0},
        "hovertemplate": "%{y:,} %{fullData.name}<extra></extra>",
        **look,
    }


def _marks(marks: Sequence[Mark], *, dark: bool) -> Iterable[dict[str, Any]]:
    edge = theme.DARK_BACKGROUND if dark else theme.LIGHT_BACKGROUND
    for kind, (name, symbol, outcome) in _MARKS.items():
        those = [mark for mark in marks if mark.kind == kind]
        if not those:
            continue
        color = theme.look(outcome).color(dark=dark) if outcome else theme.NEUTRAL
        yield {
            "type": "scatter",
            "mode": "markers",
            "x": [mark.seq for mark in those],
            "y": [max(0, mark.free) for mark in those],
            "name": name,
            "marker": {"symbol": symbol, "size": 8, "color": color}
            | {"line": {"width": 1, "color": edge}},
            "hovertext": [escape(mark.text) for mark in those],
            "hoverinfo": "text",
        }


def _layout(shown: BurnDown, last_seq: int, *, dark: bool) -> dict[str, Any]:
    ink = "#E6E8EB" if dark else "#31333F"
    grid = "rgba(136,146,160,.28)"
    axis = {"fixedrange": True, "gridcolor": grid, "zeroline": False, "color": ink}
    return {
        "height": HEIGHT_PX,
        "margin": {"l": 0, "r": 4, "t": 4, "b": 18},
        "hovermode": "x unified",
        "dragmode": False,
        "uirevision": "pool",
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"color": ink, "size": 11},
        "showlegend": False,
        "xaxis": {
            **axis,
            "range": [1, max(last_seq, 2)],
            **({"dtick": 1} if last_seq < 12 else {"nticks": 8}),
            "showgrid": False,
            "tickformat": ",d",
            "unifiedhovertitle": {"text": "event %{x:,d}"},
        },
        "yaxis": {
            **axis,
            "range": [0, max(shown.total_tokens, 1) * 1.03],
            "tickformat": "~s",
            "nticks": 5,
        },
    }
