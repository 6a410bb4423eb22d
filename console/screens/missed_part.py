"""The sessions behind a share that is low: each leads to what happened in it."""

from collections.abc import Mapping, Sequence

import streamlit as st

from handoff_console.console import compare_state as where
from handoff_console.console import traffic_queries
from handoff_console.console.components.compare_panel import compare_panel
from handoff_console.console.components.panel import Node, button, pressed, tag
from handoff_console.console.viewmodels.missed import (
    MissedSession,
    missed_sentence,
    missed_session,
    missed_sessions,
)
from handoff_console.console.viewmodels.text import count
from handoff_console.store.analysis.routing import Routing

MISSED = "missed_sessions"
MOST_ROWS = 25
_HEADS = ("what was asked", "first with", "and then", "flow")


def show(routings: Sequence[Routing], labels: Mapping[str, str]) -> None:
    """Draw the sessions that were not right first time, folded; nothing where all were.

    Args:
        routings: All that are looked at.
        labels: Session → who should have got it.
    """
    missed = missed_sessions(routings, labels)
    if not missed:
        return
    title = f"Not right first time: {count(len(missed), 'session')}"
    with st.expander(title, key="fold-missed", on_change="rerun") as fold:
        if fold.open:
            _draw(missed, labels)


def _draw(missed: Sequence[Routing], labels: Mapping[str, str]) -> None:
    shown = missed[:MOST_ROWS]
    asked = traffic_queries.previews([it.session_id for it in shown])
    rows = [
        _row(missed_session(it, asked.get(it.session_id, ""), labels.get(it.session_id, "")), it)
        for it in shown
    ]
    head = tag("tr", *(tag("th.text", name, scope="col") for name in _HEADS))
    nodes: list[Node] = [tag("table.figures", tag("thead", head), tag("tbody", *rows))]
    confused = missed_sentence(missed)
    if confused:
        nodes.insert(0, tag("p.text", confused))
    if len(missed) > MOST_ROWS:
        nodes.append(tag("p.small.quiet", f"The newest {MOST_ROWS} are shown."))
    compare_panel(MISSED, nodes, on_action=_leave)


def _row(line: MissedSession, routing: Routing) -> Node:
    return tag(
        "tr",
        tag("td.text", button(line.asked or line.session_id, line.session_id, link=True)),
        tag("td.text", line.first),
        tag("td.text", line.what),
        tag("td.quiet.text", routing.flow),
    )


def _leave() -> None:
    session_id = pressed(MISSED)
    if session_id:
        where.leave_for_session(session_id)
