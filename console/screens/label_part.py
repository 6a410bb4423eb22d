"""A session's way into a data set: who should have got it, and where the case is kept."""

from contextlib import closing

import streamlit as st

from handoff_console.console import compare_state as where
from handoff_console.console import comparisons, queries, settings, traffic_queries
from handoff_console.console.commands.labelled_cases import labelled_case
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.queries import Record
from handoff_console.console.viewmodels.labelling import ITSELF, NOBODY
from handoff_console.console.viewmodels.routing_matrix import place_word
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.db import open_store
from handoff_console.store.labels import set_label

FOLD = "label_fold"


def label_part(record: Record) -> None:
    """Draw the way to add a session to a data set; nothing for one that is not over."""
    if not record.header.is_over:
        return
    with st.popover("Add to data set", key=FOLD, on_change="rerun", type="tertiary") as fold:
        if fold.open:
            _form(record)


def _form(record: Record) -> None:
    session_id = record.version.session_id
    request = traffic_queries.request_of(session_id)
    if request is None:
        said = "Only what was really asked becomes a case: this repeats another session."
        panel("label_none", [tag("p.quiet", said)])
        return
    graph = queries.agents(record.version, None)
    agents = [node.name for node in graph.nodes if not node.is_start]
    label = st.selectbox(
        "Who should have got this request?",
        [*agents, NOBODY, ITSELF],
        format_func=lambda name: "no handoff: the first agent" if name == ITSELF
        else place_word(name),
        index=None,
        placeholder="Choose",
        key="label_choice",
    )  # fmt: skip
    name = st.text_input("Data set", f"{request.flow}-cases", max_chars=40, key="label_set")
    who = st.text_input("You are", where.labeller(), max_chars=40, key="label_who")

    def add() -> None:
        if label is None:
            return
        try:
            added = comparisons.add_case(name.strip(), request.flow, labelled_case(request, label))
            with closing(open_store(settings.store_path())) as db:
                set_label(db, session_id, who.strip(), label)
        except HandoffConsoleError as error:
            where.tell(str(error), failed=True)
            return
        there = f"added to {name.strip()}" if added else f"in {name.strip()} already"
        where.tell(f"Labelled {place_word(label)}, and {there}.")

    missing = label is None or not who.strip()
    st.button("Add", type="primary", on_click=add, disabled=missing, key="label_add")
    told = where.told()
    if told:
        tone = "error" if told.failed else "ok"
        panel("label_said", [tag("div.verdict.text", told.text, outcome=tone, role="status")])
