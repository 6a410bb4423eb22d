"""The list of sessions: one row each, one click to open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.source import source

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


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One row of the list, all of it text."""

    session_id: str
    link: str
    """Where a click in a new tab leads, relative to this page."""
    outcome: str
    verdict: str
    asked: str
    agent: str
    """At fault; a dash when nobody is."""
    depth: str
    tokens: str
    tokens_title: str
    age: str
    at: str
    """When it started, in full."""
    fault: bool


def session_list(rows: Sequence[ListedSession], on_open: Callable[[], None]) -> None:
    """Draw the rows; `on_open` runs when one was chosen (`opened_session`)."""
    _mount(
        key=KEY,
        data={"rows": [_fields(row) for row in rows], "palette": theme.palette()},
        on_opened_change=on_open,
    )


def opened_session() -> str | None:
    """Return the session that was just chosen; only inside `on_open`."""
    opened = (st.session_state.get(KEY) or {}).get("opened")
    return opened if isinstance(opened, str) else None


def _fields(row: ListedSession) -> dict[str, object]:
    return {
        "id": row.session_id,
        "link": row.link,
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
    }
