"""Run one handoff again: what is changed, how much is real, what it takes, and how far it is."""

import streamlit as st

from handoff_console.console import queries, rerun_queries, rerun_state, state, theme
from handoff_console.console.components.form_state import FormState
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens import attempt_parts, rerun_parts
from handoff_console.runtime.errors import HandoffConsoleError

asked, handoff = state.selected_session(), state.selected_handoff()
version = queries.version(asked) if asked else None
if version is None or handoff is None:
    gone = asked and version is None
    said = f"There is no session {asked!r} in this store." if gone else "No handoff is selected."
    panel("missing", [tag("p.big.text", said)])
    st.page_link("screens/sessions.py", label="Choose one from the list of sessions")
    st.stop()

st.page_link(
    "screens/session.py",
    label="← Back to the session",
    query_params={**state.address_of(version.session_id), "handoff": handoff},
)
run = rerun_state.started_run()
if run and rerun_parts.progress(version, handoff, run):
    st.stop()
try:
    source, named = rerun_queries.flow_of(version.session_id)
    start = rerun_queries.start(version, handoff, named)
except HandoffConsoleError as error:
    rerun_parts.refusal(version, handoff, error)
    st.stop()
form = FormState(start)
rerun_parts.subject(start)
attempt_parts.leave()
attempts = attempt_parts.attempts_of(version.session_id, handoff)
if len(attempts) > 1:
    attempt_parts.line(attempts, (version.session_id, handoff), with_repeats=True)
left, right = st.columns([11, 9], gap="large")
with left:
    problems = rerun_parts.fields(form)
    rerun_parts.keep_as_test(start)
with right, st.container(key=theme.STAYS):
    rerun_parts.plan(form, problems)
