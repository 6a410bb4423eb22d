"""A line over the burn-down at the event the reader stands at."""

import streamlit as st

from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire

_mount = st.components.v2.component(
    "chart_cursor",
    html="""
    <div id="cursor" aria-hidden="true" style="color: var(--st-text-color)"></div>
    """,
    js=source("common.js", "chart_cursor.js"),
)


def chart_cursor(target: str, *, scope: str, nonce: int, seq: int | None, last: int) -> None:
    """Lay a cursor over the Plotly chart in the container with key `target`.

    The chart's x axis counts events. A click on the chart moves the reader there.

    Args:
        target: The container's key.
        scope: The session's id.
        nonce: Changes when the server moved the cursor.
        seq: The event the reader stands at; None draws no line.
        last: The session's last event.
    """
    _mount(
        key=f"cursor-{target}",
        data=wire({"target": target, "scope": scope, "nonce": nonce, "seq": seq, "last": last}),
        height="content",
    )
