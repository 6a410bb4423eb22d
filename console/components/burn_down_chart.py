"""The burn-down on the page: the chart, who spent what, and that it adds up."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.panel import Node, panel, tag
from handoff_console.console.viewmodels.burn_down import BurnDown
from handoff_console.console.viewmodels.text import amount, count


def show_burn_down(shown: BurnDown, figure: Any, colors: Mapping[str, str], key: str) -> None:
    """Draw the burn-down.

    Args:
        shown: What the figure was made from.
        figure: As `burn_down_figure` made it, perhaps as a Plotly figure.
        colors: Of the agents, as in the figure.
        key: Of the chart's container, by which a cursor finds it.
    """
    with st.container(key=key):
        st.plotly_chart(
            figure, key=f"{key}_chart", config={"displayModeBar": False}, alt=shown.summary
        )
    panel(f"{key}_legend", [_legend(shown, colors), _check(shown)])


def _legend(shown: BurnDown, colors: Mapping[str, str]) -> Node:
    spent = shown.points[-1].spent_by if shown.points else ()
    bands = [
        tag(
            "span.key.number.text",
            tag("span.swatch", style_color=colors.get(name, theme.OTHER_COLOR)),
            f"{name} {amount(tokens)}",
        )
        for name, tokens in zip(shown.agents, spent, strict=False)
    ]
    kinds = {mark.kind for mark in shown.marks}
    marks = [
        tag("span.key", tag("span.glyph", sign, outcome=outcome), word)
        for kind, sign, word, outcome in (
            ("reserve", "▼", "reserve", "running"),
            ("refund", "▲", "refund", "ok"),
            ("refused", "✕", "refused: too few tokens", "error"),
            ("overdraft", "◆", "overdraft", "error"),
        )
        if kind in kinds
    ]
    return tag(
        "div.row.small.legend",
        tag("span.key", tag("span.swatch.free"), "free"),
        tag("span.key", tag("span.swatch.hatched"), "reserved"),
        tag("span.quiet", "spent by"),
        *bands,
        *marks,
    )


def _check(shown: BurnDown) -> Node:
    sign = "✓" if shown.adds_up else "✕"
    left_out = (
        f" {count(shown.left_out, 'entry is', 'entries are')} not drawn." if shown.left_out else ""
    )
    return tag(
        "div.small.number",
        tag("span.glyph", sign, outcome="ok" if shown.adds_up else "error"),
        tag("span.quiet", f" {shown.check}{left_out}"),
    )
