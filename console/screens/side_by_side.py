"""Two attempts of a handoff, or two sessions, side by side: where they part, and in what."""

import streamlit as st

from handoff_console.console import family_queries, rerun_queries, state
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens import attempt_parts, search_parts, side_parts

attempt_parts.leave()
asked = rerun_queries.sides()
left, right = (family_queries.member_of(one.session) if one else None for one in asked)
if left is None or right is None:
    side_parts.chooser(left, right, asked)
    st.stop()

handoff = state.selected_handoff() or right.handoff_id or left.handoff_id
compared, attempts = side_parts.compared(left, right, handoff)
if state.said():
    panel("problem", [tag("div.verdict.text", state.said(), outcome="error")])
    state.say("")
side_parts.ways_back(compared, left, right, handoff)
side_parts.head(compared, attempts)
selected = right.version.session_id, compared.right.handoff_id or handoff
if attempts:
    attempt_parts.line(attempts, selected, with_repeats=True, to_compare=True)
search_parts.search(compared, handoff)
rows, pair = st.columns([9, 11], gap="medium")
with rows:
    side_parts.rows(compared)
with pair:
    side_parts.pair(compared)
if attempts:
    # How the repeats fared stands above already, beside the line of attempts.
    attempt_parts.strip(left.version.session_id, handoff, selected, with_repeats=False)
side_parts.from_a_shell(compared, left, right)
side_parts.follow((left, right))
