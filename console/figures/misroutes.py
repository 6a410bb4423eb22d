"""The misroute matrix as a Plotly figure: green where it is right, red where it is wrong."""

from typing import Any

from handoff_console.console.figures.axes import CLEAR, GRID, as_text, axis, b_color, ink, layout
from handoff_console.console.viewmodels.routing_matrix import MatrixView, is_right, place_word

ROW_PX = 30
_GOOD = {False: "2,136,83", True: "65,241,155"}
_BAD = {False: "141,18,19", True: "255,101,84"}


def misroutes_figure(shown: MatrixView, *, dark: bool) -> dict[str, Any]:
    """Return the figure as the plain dict that Streamlit takes without validating it again.

    A cell is a heat map's cell under a marker without colour: Streamlit tells which marker was
    clicked, and nothing of a heat map. Its custom data are what was expected and what was decided.
    Without a case it is an empty frame.
    """
    columns, rows = list(shown.columns), list(shown.rows)
    width = len(columns)
    values = [_goodness(cell.share, right=cell.is_right) for cell in shown.cells]
    heat = {
        "type": "heatmap",
        "x": list(range(width)),
        "y": list(range(len(rows))),
        "z": [values[start : start + width] for start in range(0, len(values), width or 1)],
        "zmin": -1,
        "zmax": 1,
        "colorscale": _scale(dark=dark),
        "showscale": False,
        "hoverinfo": "skip",
        "xgap": 2,
        "ygap": 2,
    }
    marks = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [place % width for place in range(len(shown.cells))],
        "y": [place // width for place in range(len(shown.cells))],
        "text": [f"<b>{cell.text}</b>" if cell.is_right else cell.text for cell in shown.cells],
        "hovertext": [as_text(cell.title) for cell in shown.cells],
        "hoverinfo": "text",
        "customdata": [[cell.expected, cell.decided] for cell in shown.cells],
        "marker": {"symbol": "square", "size": ROW_PX - 4, "color": CLEAR},
        # The cell that was clicked gets a colour of its own; the others stay as readable as before.
        "selected": {"marker": {"opacity": 1}, "textfont": {"color": b_color(dark=dark)}},
        "unselected": {"marker": {"opacity": 1}, "textfont": {"color": ink(dark=dark)}},
    }
    return {"data": [heat, marks], "layout": _layout(shown, dark=dark)}


def _layout(shown: MatrixView, *, dark: bool) -> dict[str, Any]:
    def names(places: tuple[str, ...], **more: Any) -> dict[str, Any]:
        ticks = {
            "tickvals": list(range(len(places))),
            "ticktext": [as_text(place_word(place)) for place in places],
            "range": [-0.5, max(len(places), 1) - 0.5],
            "showgrid": False,
            "automargin": True,
        }
        return axis(dark=dark, **ticks, **more)

    below = names(shown.columns, side="top", tickangle=-35)
    beside = names(shown.rows)
    beside["range"] = beside["range"][::-1]
    frame = {
        "type": "rect", "xref": "x", "yref": "y", "line": {"width": 1, "color": GRID},
    }  # fmt: skip
    frames = [
        {**frame, "x0": column - 0.48, "x1": column + 0.48, "y0": row - 0.47, "y1": row + 0.47}
        for row, expected in enumerate(shown.rows)
        for column, decided in enumerate(shown.columns)
        if is_right(expected, decided)
    ]
    height = 110 + ROW_PX * max(len(shown.rows), 1)
    return layout(
        height,
        dark=dark,
        # Without a mode of dragging Plotly selects nothing on a click either; the axes are fixed.
        dragmode="pan",
        margin={"l": 0, "r": 48, "t": 8, "b": 0},
        xaxis=below,
        yaxis=beside,
        shapes=frames,
        clickmode="event+select",
        hovermode="closest",
    )


def _goodness(share: float, *, right: bool) -> float:
    """Return how good a cell is, −1 to 1; small shares are drawn so that they can be seen."""
    sign = 1 if (share >= 0) == right else -1
    return float(sign * abs(share) ** 0.6)


def _scale(*, dark: bool) -> list[list[Any]]:
    good, bad = _GOOD[dark], _BAD[dark]
    return [
        [0, f"rgba({bad},.75)"],
        [0.5, f"rgba({bad},0)"],
        [0.5, f"rgba({good},0)"],
        [1, f"rgba({good},.55)"],
    ]
