"""Text laid out on the page without markup: recorded text can do nothing but be read."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire

Node: TypeAlias = str | list[Any]
"""A text, or `[tag, attributes, *children]` as `tag` makes it."""

_mount = st.components.v2.component(
    "text_panel",
    html="""
    <div id="panel"></div>
    """,
    css=source("common.css", "panel.css"),
    js=source("common.js", "panel.js"),
)


def tag(name: str, *children: Node, **attributes: str) -> Node:
    """Return an element: `tag("span.quiet", "text", title="…")`, classes after dots.

    The page knows a fixed set of tags and attributes and takes any other tag for a `span`.
    `outcome="error"` gives the element that outcome's colour as `--c`.
    """
    kind, *classes = name.split(".")
    named = {key.replace("_", "-"): value for key, value in attributes.items()}
    if classes:
        named["class"] = " ".join(classes)
    return [kind, named, *children]


def status(outcome: str) -> Node:
    """Return an outcome as glyph, word and colour."""
    return ["status", {}, outcome]


def button(label: str, action: str, *, title: str = "", link: bool = False) -> Node:
    """Return a button; pressing it runs the panel's `on_action` with `action`."""
    return tag("button.link" if link else "button", label, data_action=action, title=title)


def panel(
    key: str,
    nodes: Sequence[Node],
    *,
    subject: str = "",
    height: str = "auto",
    on_action: Callable[[], None] | None = None,
) -> None:
    """Draw nodes.

    Args:
        key: Names the panel on its page.
        nodes: What to draw, in order.
        subject: What they are about; when it changes, the panel scrolls to its top.
        height: A CSS length; `auto` is as high as the content.
        on_action: Called when a button was pressed; `pressed(key)` says which.
    """
    _mount(
        key=key,
        data=wire(
            {
                "nodes": list(nodes),
                "subject": subject,
                "height": height,
                "palette": theme.palette(),
            }
        ),
        on_action_change=on_action or _nothing,
    )


def pressed(key: str) -> str | None:
    """Return the action of the button that was just pressed; only inside `on_action`."""
    action = (st.session_state.get(key) or {}).get("action")
    return action if isinstance(action, str) else None


def _nothing() -> None:
    """Streamlit wants a callback for every value a component may send."""
