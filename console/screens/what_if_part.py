"""The what-if panel under the burn-down: closed until somebody wants to know."""

import streamlit as st

from handoff_console.console import shell_lines, state, what_if_queries
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.components.what_if import Sliders, picked_fate, show_what_if
from handoff_console.console.queries import Record
from handoff_console.console.viewmodels.what_if import what_if_view
from handoff_console.store.analysis.what_if import what_if

TITLE = "What if the pool or a limit had been another?"


@st.fragment(key="what_if_part")
def what_if_part(record: Record) -> None:
    """Draw the panel; what it says is worked out only while it is open."""
    box = st.expander(TITLE, key="what_if_open", on_change="rerun")
    if not box.open:
        return
    picked: list[bool] = []

    def on_pick() -> None:
        found = picked_fate()
        if found:
            state.jump_to(*found)
            picked.append(True)
            st.rerun()

    with box:
        played, choices = what_if_queries.what_if_ground(record.version)
        if choices is None:
            panel("what_if", [tag("p.quiet", "This session has no request yet.")])
            return
        panel(
            "what_if_says",
            [
                tag(
                    "p.small.quiet",
                    "Worked out from the recorded ledger alone: no model is asked, nothing runs.",
                )
            ],
        )
        sliders = Sliders(record.version.session_id, choices)
        pool_tokens = sliders.pool()
        answer = st.container()  # beside the slider that is moved most
        change = sliders.change(pool_tokens)
        with answer:
            show_what_if(what_if_view(what_if(played, change)), on_pick)
        st.caption("The same from a shell")
        command = shell_lines.budget_line(record.version.session_id, change)
        st.code(command, language="bash", wrap_lines=True)
