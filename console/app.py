"""The console's front door: what is true of every page, and the way between them."""

import streamlit as st

st.set_page_config(page_title="Handoff console", page_icon="🔀", layout="wide")
st.navigation(
    [
        st.Page("screens/sessions.py", title="Sessions", default=True),
        st.Page("screens/session.py", title="Session", visibility="hidden"),
        st.Page("screens/live.py", title="Live"),
    ],
    position="top",
).run()
