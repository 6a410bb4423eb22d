"""Routing, for those who write the descriptions: what happened, and which version does better."""

import streamlit as st

from handoff_console.console import compare_state as where
from handoff_console.console.screens.broken_flows import show_broken_flows
from handoff_console.console.screens.compare_drafts import show_drafts
from handoff_console.console.screens.compare_happened import show_what_happened
from handoff_console.console.screens.compare_labels import show_labelling
from handoff_console.console.screens.compare_versions import show_comparison

_PAGES = {
    "happened": show_what_happened,
    "compare": show_comparison,
    "drafts": show_drafts,
    "labels": show_labelling,
}

leaving = where.leaving()
if leaving:
    st.switch_page(leaving.page, query_params=leaving.query)
show_broken_flows()
view = st.segmented_control(
    "Routing",
    where.VIEWS,
    default=where.selected_view(),
    format_func=lambda name: where.VIEW_WORDS[name],
    required=True,
    label_visibility="collapsed",
    key=where.VIEW,
)
where.select_view(view)
_PAGES[view]()
