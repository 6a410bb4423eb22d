"""Taking a comparison along: for a spreadsheet, a program, a reviewer; and labelling its cases."""

import json

import streamlit as st

from handoff_console.console import compare_state as where
from handoff_console.console.commands.comparison_forms import (
    comparison_form,
    comparison_markdown,
)
from handoff_console.console.screens.label_sources import Source, sources
from handoff_console.console.viewmodels.compare_export import cases_csv
from handoff_console.store.analysis.comparison.result import Comparison


def show(found: Comparison) -> None:
    """Draw the buttons; what they give is made when one is pressed."""
    name = f"{found.a.label}-{found.b.label}"
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Cases (CSV)",
            lambda: cases_csv(found, found.rows),
            file_name=f"{name}.csv",
            mime="text/csv",
            on_click="ignore",
            type="tertiary",
        )
        st.download_button(
            "All of it (JSON)",
            lambda: json.dumps(comparison_form([found]), ensure_ascii=False, indent=2) + "\n",
            file_name=f"{name}.json",
            mime="application/json",
            on_click="ignore",
            type="tertiary",
        )
        st.download_button(
            "For a pull request (Markdown)",
            lambda: comparison_markdown([found]),
            file_name=f"{name}.md",
            mime="text/markdown",
            on_click="ignore",
            type="tertiary",
        )
        source = Source("cases", found.experiment.dataset.name)
        if source.key in sources():
            st.button(
                "Label these cases",
                on_click=lambda: where.go_and_label(source.key),
                type="tertiary",
                key="label_these",
            )
