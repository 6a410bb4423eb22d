"""Comparisons that another process runs, a terminal mostly: they appear without a reload."""

from collections.abc import Mapping, Sequence

import streamlit as st

from handoff_console.console import compare_queries
from handoff_console.console import compare_state as where
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.viewmodels.experiments import elsewhere_words, progress_view
from handoff_console.store.experiments import ExperimentLine

POLL_SECONDS = 3.0


def watch(known: Sequence[ExperimentLine], shown: str) -> None:
    """Look every few seconds for new comparisons, and how far the one in sight is.

    What the reader looks at is not exchanged under their eyes: a new one is offered. The first one
    of a store is shown at once, and what is in sight is drawn anew when it is finished.

    Args:
        known: The experiments as the page has them.
        shown: The one in sight; empty for none.
    """
    lines = {it.experiment_id: it for it in known}
    unfinished = shown in lines and lines[shown].finished_at is None
    st.fragment(_look, run_every=POLL_SECONDS)(lines, shown, _tried(shown) if unfinished else -1)


def _tried(experiment_id: str) -> int:
    now = compare_queries.progress(experiment_id)
    return now.done + now.errors


def _look(known: Mapping[str, ExperimentLine], shown: str, tried: int) -> None:
    found = {it.experiment_id: it for it in compare_queries.experiments()}
    if found and not known:
        st.rerun()
    if tried >= 0 and shown in found:
        if found[shown].finished_at is not None:
            st.rerun()
        now = compare_queries.progress(shown)
        if now.done + now.errors > tried:
            said = f"It is at work: {progress_view(now).sentence}"
            panel("elsewhere_progress", [tag("p.small.quiet.number", said)])
    new = [it for name, it in found.items() if name not in known]
    if new:
        newest = new[0]
        said = elsewhere_words(newest, compare_queries.progress(newest.experiment_id))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if st.button("Show it", key="show_new"):
                where.select_experiment(newest.experiment_id)
                st.rerun()
            panel("elsewhere_new", [tag("p.text", said)])
