"""The console's front door: what is true of every page, and the way between them."""

import streamlit as st

from handoff_console.console import memory, state, theme, warming
from handoff_console.console.components.problem import show_problem
from handoff_console.console.settings import store_path
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.damage import damage_told

st.set_page_config(page_title="Handoff console", page_icon=theme.ICON, layout="wide")
st.html(theme.style_sheet(dark=state.is_dark()))
page = st.navigation(
    [
        st.Page("screens/sessions.py", title="Sessions", default=True),
        st.Page("screens/session.py", title="Session", visibility="hidden"),
        st.Page("screens/rerun.py", title="Run again", visibility="hidden"),
        st.Page("screens/side_by_side.py", title="Side by side", visibility="hidden"),
        st.Page("screens/live.py", title="Live"),
        st.Page("screens/compare.py", title="Routing", url_path="routing"),
        st.Page("screens/flows.py", title="Flows"),
    ],
    position="top",
)
state.come_to(page.url_path)
if page.url_path:  # the list of sessions has no chart
    warming.prepare_charts()
try:
    with damage_told(store_path()):
        page.run()
except HandoffConsoleError as error:
    show_problem(error)
memory.settle()
warming.page_is_drawn()
