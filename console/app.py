"""The console's front door: what is true of every page, and the way between them."""

import streamlit as st

from handoff_console.console import memory, state, theme
from handoff_console.console.components.problem import show_problem
from handoff_console.runtime.errors import HandoffConsoleError

st.set_page_config(page_title="Handoff console", page_icon=theme.ICON, layout="wide")
st.html(theme.style_sheet(dark=state.is_dark()))
page = st.navigation(
    [
        st.Page("screens/sessions.py", title="Sessions", default=True),
        st.Page("screens/session.py", title="Session", visibility="hidden"),
        st.Page("screens/live.py", title="Live"),
    ],
    position="top",
)
try:
    page.run()
except HandoffConsoleError as error:
    show_problem(error)
memory.settle()
