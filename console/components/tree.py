"""The handoff tree as an outline that can be clicked, searched and walked with the keyboard."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire
from handoff_console.console.viewmodels.tree import TreeRow

KEY = "tree"
OPEN_LEVELS_WHEN_LARGE = 2
SMALL_TREE_ROWS = 60
"""Up to here everything is open; beyond, only the first levels and the path to the selection."""

_HTML = """
<div id="outline">
  <div class="head">
    <span>handoff <input id="search" type="search" placeholder="find agent, task, status"
      aria-label="Find in the tree" hidden></span>
    <span>status</span><span class="tokens">tokens</span><span>time</span>
  </div>
  <div id="scroll" role="tree" aria-label="Handoff tree" tabindex="0">
    <div id="space" role="none"><div id="rows" role="none"></div></div>
  </div>
  <div id="note" role="status"></div>
</div>
"""

_mount = st.components.v2.component(
    "handoff_tree",
    html=_HTML,
    css=source("common.css", "tree.css"),
    js=source("common.js", "tree.js"),
)


@dataclass(frozen=True, slots=True)
class Outline:
    """The rows of a tree as they go to the page: made once a session, sent at every run."""

    text: str
    """As JSON."""
    rows: int
    last_seq: int
    """The session's last event: who is not over by then stays what it is."""


def outline(rows: Sequence[TreeRow], last_seq: int) -> Outline:
    """Return rows (pre-order; there may be none) ready to be sent."""
    return Outline(json.dumps([_fields(row) for row in rows]), len(rows), last_seq)


def handoff_tree(
    shown: Outline,
    *,
    scope: str,
    revision: str,
    selected: str | None,
    seq: int | None,
    height: str,
    on_select: Callable[[], None],
) -> None:
    """Draw the outline; `on_select` runs when the reader chose a row (`selected_in_tree`).

    Args:
        shown: The handoffs.
        scope: The session's id: pieces of one page hear each other by it.
        revision: Changes when they do; otherwise the page keeps what it has drawn.
        selected: The handoff that is selected.
        seq: Show the tree as it was at this event; None shows how it ended.
        height: A CSS length.
        on_select: Called without arguments.
    """
    _mount(
        key=KEY,
        data=wire(
            {
                "scope": scope,
                "revision": revision,
                "selected": selected,
                "seq": seq,
                "last": shown.last_seq,
                "height": height,
                "palette": theme.palette(),
                "open_depth": 99 if shown.rows <= SMALL_TREE_ROWS else OPEN_LEVELS_WHEN_LARGE - 1,
            },
            rows=shown.text,
        ),
        on_selected_change=on_select,
    )


def selected_in_tree() -> str | None:
    """Return the handoff that the reader chose last; None before the first choice."""
    chosen = (st.session_state.get(KEY) or {}).get("selected")
    return chosen if isinstance(chosen, str) else None


def _fields(row: TreeRow) -> list[object]:
    return [
        row.handoff_id,
        row.depth,
        row.agent,
        row.task,
        row.outcome,
        row.tokens,
        round(row.start, 4),
        round(row.end, 4),
        row.asked_seq,
        row.opened_seq,
        row.closed_seq,
        row.waits,
        row.note,
        row.end_note,
        row.mark,
        row.charges,
        row.tooltip,
        row.end_tooltip,
    ]
