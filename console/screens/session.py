"""One session: what happened, whose doing it was, what it cost, step by step."""

import streamlit as st

from handoff_console.console import queries, state
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens import session_parts

asked = state.selected_session()
version = queries.version(asked) if asked else None
if version is None:
    said = f"There is no session {asked!r} in this store." if asked else "No session is selected."
    panel("missing", [tag("p.big.text", said)])
    st.page_link("screens/sessions.py", label="Choose one from the list of sessions")
    st.stop()

record = queries.record(version)
session_parts.header(record)
left, right = st.columns([11, 9], gap="medium")
with left:
    session_parts.outline(record)
    session_parts.pool(record)
with right:
    session_parts.details(record)
    session_parts.steps(record)
session_parts.cursor(record)
if not record.header.is_over:
    session_parts.follow(record)
