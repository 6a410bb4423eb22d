"""The list of sessions: one row each, one click to open."""

from collections.abc import Callable, Sequence

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire
from handoff_console.console.viewmodels.inbox import InboxRow

KEY = "session_list"

_HTML = """
<div id="list">
  <table aria-label="Sessions">
    <thead><tr>
      <th class="outcome" scope="col">outcome</th>
      <th scope="col">what happened · what was asked</th>
      <th class="agent" scope="col">agent at fault</th>
      <th class="depth number" scope="col">depth · hops</th>
      <th class="tokens number" scope="col">tokens of pool</th>
      <th class="age number" scope="col">started</th>
    </tr></thead>
    <tbody></tbody>
  </table>
</div>
"""

_mount = st.components.v2.component(
    "session_list",
    html=_HTML,
    css=source("common.css", "session_list.css"),
    js=source("common.js", "session_list.js"),
)


def session_list(
    rows: Sequence[InboxRow],
    link: Callable[[InboxRow], str],
    on_open: Callable[[], None],
    on_unfold: Callable[[], None],
    next_scripts: Sequence[str] = (),
) -> None:
    """Draw the rows; `on_open` runs when one was chosen (`opened_session`).

    Args:
        rows: In the order to show them.
        link: Gives where a click leads that opens a new tab, relative to this page.
        on_open: Called without arguments.
        on_unfold: Called when the re-runs of a row are to be shown or hidden (`unfolded_session`).
        next_scripts: What the page that a row opens will ask for; loaded when the list is drawn.
    """
    _mount(
        key=KEY,
        data=wire(
            {
                "rows": [_fields(row, link(row)) for row in rows],
                "palette": theme.palette(),
                "next": list(next_scripts),
            }
        ),
        on_opened_change=on_open,
        on_unfolded_change=on_unfold,
    )


def opened_session() -> str | None:
    """Return the session that was just chosen; only inside `on_open`."""
    opened = (st.session_state.get(KEY) or {}).get("opened")
    return opened if isinstance(opened, str) else None


def unfolded_session() -> str | None:
    """Return the session whose re-runs were just asked for; only inside `on_unfold`."""
    unfolded = (st.session_state.get(KEY) or {}).get("unfolded")
    return unfolded if isinstance(unfolded, str) else None


def _fields(row: InboxRow, link: str) -> dict[str, object]:
    return {
        "id": row.session_id,
        "link": link,
        "outcome": row.outcome,
        "verdict": row.verdict,
        "asked": row.asked,
        "agent": row.agent,
        "depth": row.depth,
        "tokens": row.tokens,
        "tokens_title": row.tokens_title,
        "age": row.age,
        "at": row.at,
        "fault": row.fault,
        "reruns": row.reruns,
        "unfolded": row.is_unfolded,
        "is_rerun": row.is_rerun,
    }
