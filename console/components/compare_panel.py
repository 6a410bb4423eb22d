"""A panel with the looks that comparisons need besides: tiles, scores, texts with what changed."""

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.panel import Node, tag
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire
from handoff_console.store.analysis.text_diff import Segment, Side

_mount = st.components.v2.component(
    "compare_panel",
    html="""
    <div id="panel"></div>
    """,
    css=source("common.css", "panel.css", "compare.css"),
    js=source("common.js", "panel.js"),
)


def compare_panel(
    key: str,
    nodes: Sequence[Node],
    *,
    subject: str = "",
    height: str = "auto",
    on_action: Callable[[], None] | None = None,
) -> None:
    """Draw nodes as `panel` does; `pressed(key)` says which button was pressed."""
    given = {"nodes": list(nodes), "subject": subject, "height": height}
    _mount(
        key=key,
        data=wire({**given, "palette": theme.palette()}),
        on_action_change=on_action or _nothing,
    )


def changed_text(segments: Iterable[Segment]) -> Node:
    """Return a text with what was removed struck out and what was added underlined."""
    looks = {Side.LEFT: ("span.removed", "error"), Side.RIGHT: ("span.added", "ok")}
    parts: list[Node] = []
    for segment in segments:
        if segment.side is Side.BOTH:
            parts.append(segment.text)
        else:
            name, outcome = looks[segment.side]
            word = "removed" if segment.side is Side.LEFT else "added"
            parts.append(tag(name, segment.text, outcome=outcome, title=word))
    return tag("div.diff.text", *parts)


def figure_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Node:
    """Return a small table; the last column says what a row means."""
    head = tag("tr", *(tag("th.text", name, scope="col") for name in names))
    lines = [
        tag(
            "tr",
            *(
                tag("td.quiet" if place == len(names) - 1 else "td", value)
                for place, value in enumerate(row)
            ),
        )
        for row in rows
    ]
    return tag("table.figures", tag("thead", head), tag("tbody", *lines))


def _nothing() -> None:
    """Streamlit wants a callback for every value a component may send."""
