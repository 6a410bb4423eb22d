"""The sessions of a store, failed first: which one to look at, and why."""

import streamlit as st

from handoff_console.console import queries, runs, settings, state, theme
from handoff_console.console.components.panel import button, panel, pressed, tag
from handoff_console.console.components.session_list import opened_session, session_list
from handoff_console.console.viewmodels.inbox import showing
from handoff_console.console.viewmodels.text import amount
from handoff_console.runtime.contract import WORST_FIRST
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.analysis.plain_text import one_line
from handoff_console.store.session_filter import SessionFilter

PAGE_ROWS = 50
EMPTY = "empty"


def run_sample() -> None:
    """Start the sample that shows what the console is for, and go to it."""
    if pressed(EMPTY) == "run":
        try:
            state.leave_for(runs.start_first())
        except HandoffConsoleError as error:
            state.say(str(error))


def show_empty() -> None:
    """Say what to do when there is no session yet."""
    command = f'handoff run {runs.FIRST_FLOW} --db "{settings.store_path()}"'
    nodes = [
        tag("p.big", "No session yet"),
        tag("p", "Sessions that run into this store appear here, the failed ones first."),
        tag("p", button("Run a sample", "run", title="Runs the support flow into this store")),
        tag("p.quiet", "Or from a terminal:"),
        tag("pre", f'{command} --message "{runs.first_message()}"'),
    ]
    if state.said():
        nodes.append(tag("div.verdict.text", state.said(), outcome="error"))
    panel(EMPTY, nodes, on_action=run_sample)


def filters(found: queries.Facets) -> SessionFilter:
    """Draw the filters; return what the reader wants to see."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input(
            "Search",
            placeholder="Search messages, answers, agents, notes",
            label_visibility="collapsed",
            type="search",
            live=True,
            key="search",
            bind="query-params",
            width=340,
            on_change=state.turn_page,
            args=(1,),
        )
        flow = choice("Flow", "flow", found.flows, "every flow")
        finding = choice("Finding", "finding", found.findings, "with or without findings")
    outcomes = st.pills(
        "Outcome",
        [outcome for outcome in WORST_FIRST if outcome in found.outcomes],
        selection_mode="multi",
        # The address carries this label: no counts in it, or a kept link would stop working.
        format_func=lambda word: f"{theme.look(word).glyph} {word}",
        key="outcome",
        label_visibility="collapsed",
        bind="query-params",
        on_change=state.turn_page,
        args=(1,),
    )
    return SessionFilter(
        outcomes=tuple(outcomes or ()), flow=flow, finding=finding, text=(text or "").strip()
    )


def choice(label: str, key: str, values: tuple[str, ...], everything: str) -> str | None:
    """Draw a filter by one value; None is no filter."""
    return st.selectbox(
        label,
        [None, *values],
        format_func=lambda value: everything if value is None else one_line(value, 60),
        key=key,
        label_visibility="collapsed",
        width=200,
        on_change=state.turn_page,
        args=(1,),
    )


def show_list(found: queries.Facets) -> None:
    """Draw a page of the list under its filters."""
    wanted = filters(found)
    filtered = wanted != SessionFilter()
    total = queries.count_sessions(wanted) if filtered else found.total
    pages = max(1, -(-total // PAGE_ROWS))
    page = min(state.page_of_list(), pages)
    first = (page - 1) * PAGE_ROWS
    rows = queries.sessions(wanted, PAGE_ROWS, first)
    said = showing(len(rows), first + 1, total, filtered)
    if rows:
        said += " Failed ones first, then the newest."
    if not filtered:
        counts = [(word, found.outcomes[word]) for word in WORST_FIRST if word in found.outcomes]
        said += f" {', '.join(f'{amount(n)} {word}' for word, n in counts)}."
    panel("showing", [tag("span.small.quiet.number", said)])
    if rows:
        session_list(
            rows,
            lambda row: state.link_to(row.session_id),
            lambda: state.leave_for(opened_session()),
        )
    if pages > 1:
        turned = st.pagination(pages, default=page, key=f"pages-{pages}-{page}")
        if turned != page:
            state.turn_page(turned)
            st.rerun()


chosen = state.leaving_for()
if chosen:
    st.switch_page("screens/session.py", query_params=state.address_of(chosen))
facets = queries.facets()
if facets.total:
    show_list(facets)
else:
    show_empty()
