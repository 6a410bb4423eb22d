"""One session: what happened, whose doing it was, what it cost, step by step."""

import streamlit as st

from handoff_console.console import queries, state
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens import rerun_entry, session_parts
from handoff_console.console.screens.asking_part import asking_part
from handoff_console.console.screens.resume_part import resume_part
from handoff_console.runtime.contract import State

asked = state.selected_session()
version = queries.version(asked) if asked else None
if version is None:
    said = f"There is no session {asked!r} in this store." if asked else "No session is selected."
    panel("missing", [tag("p.big.text", said)])
    st.page_link("screens/sessions.py", label="Choose one from the list of sessions")
    st.stop()

record = queries.record(version)
rerun_entry.banner(record)
session_parts.header(record)
if record.header.outcome == State.WAITING:
    asking_part(version.session_id)
elif record.header.outcome == State.INTERRUPTED:
    resume_part(record)
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
