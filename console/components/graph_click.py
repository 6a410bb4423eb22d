"""Clicks on the nodes of a Graphviz chart, which has no selection of its own."""

from collections.abc import Callable

import streamlit as st

from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire

KEY = "graph_click"

_mount = st.components.v2.component(
    "graph_click",
    html="""
    <div id="listener" aria-hidden="true"></div>
    """,
    js=source("common.js", "graph_click.js"),
)


def graph_click(target: str, on_pick: Callable[[], None]) -> None:
    """Make the nodes of the Graphviz chart in the container with key `target` clickable.

    `on_pick` runs with the picked node's name in `picked_node`.
    """
    _mount(key=KEY, data=wire({"target": target}), on_picked_change=on_pick)


def picked_node() -> str | None:
    """Return the name of the node that was just clicked; only inside `on_pick`."""
    picked = (st.session_state.get(KEY) or {}).get("picked")
    return picked if isinstance(picked, str) else None
