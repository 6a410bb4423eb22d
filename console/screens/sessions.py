"""The sessions of a store, failed first: which one to look at, and why."""

import streamlit as st

from handoff_console.console import inbox_queries, settings, state, theme
from handoff_console.console.components.choice import choice
from handoff_console.console.components.panel import button, panel, pressed, tag
from handoff_console.console.components.session_list import (
    opened_session,
    session_list,
    unfolded_session,
)
from handoff_console.console.page_links import scripts_of
from handoff_console.console.viewmodels.inbox import showing, trials_left_out
from handoff_console.console.viewmodels.text import amount
from handoff_console.runtime.contract import WORST_FIRST, State
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.session_filter import SessionFilter

PAGE = ""
PAGE_ROWS = 50
FOLLOW_SECONDS = 2.0
EMPTY = "empty"


def run_sample() -> None:
    """Start the sample that shows what the console is for, and go to it."""
    if pressed(EMPTY) == "run":
        from handoff_console.console import runs

        try:
            state.leave_for(runs.start_first(), page=PAGE)
        except HandoffConsoleError as error:
            state.say(str(error))


def show_empty() -> None:
    """Say what to do when there is no session yet."""
    # All flows come with it: not for a list that is not empty.
    from handoff_console.console import runs

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


def filters(found: inbox_queries.Facets) -> SessionFilter:
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
            width=290,
            on_change=state.turn_page,
            args=(1,),
        )
        flow = one_value("Flow", "flow", found.flows, "every flow")
        finding = one_value("Finding", "finding", found.findings, "with or without findings")
        labels = {f"{key}: {value}": (key, value) for key, value in found.labels}
        label = one_value("Label", "label", tuple(labels), "every label") if labels else None
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
        outcomes=tuple(outcomes or ()),
        flow=flow,
        finding=finding,
        label=labels.get(label or ""),
        text=(text or "").strip(),
    )


def one_value(label: str, key: str, values: tuple[str, ...], everything: str) -> str | None:
    """Draw a filter by one value; None is no filter."""
    return choice(
        label,
        values,
        everything,
        key=key,
        width=180,
        label_visibility="collapsed",
        bind="query-params",
        on_change=state.turn_page,
        args=(1,),
    )


def show_list(found: inbox_queries.Facets) -> None:
    """Draw a page of the list under its filters."""
    wanted = filters(found)
    filtered = wanted != SessionFilter()
    total = inbox_queries.count_sessions(wanted) if filtered else found.total
    pages = max(1, -(-total // PAGE_ROWS))
    page = min(state.page_of_list(), pages)
    first = (page - 1) * PAGE_ROWS
    rows = inbox_queries.sessions(wanted, PAGE_ROWS, first, state.unfolded_session())
    shown = sum(not row.is_rerun for row in rows)
    said = showing(shown, first + 1, total, filtered)
    if rows:
        said += " Failed ones first, then the newest."
    if not filtered:
        counts = [(word, found.outcomes[word]) for word in WORST_FIRST if word in found.outcomes]
        said += f" {', '.join(f'{amount(n)} {word}' for word, n in counts)}."
        said += trials_left_out(found.trials)
    panel("showing", [tag("span.small.quiet.number", said)])
    if rows:
        session_list(
            rows,
            lambda row: state.link_to(row.session_id),
            lambda: state.leave_for(opened_session(), page=PAGE),
            lambda: state.unfold(unfolded_session()),
            scripts_of("/session"),
        )
        running = [row for row in rows if row.outcome == State.RUNNING and not row.is_rerun]
        follow(frozenset(row.session_id for row in running))
    if pages > 1:
        turned = st.pagination(pages, default=page, key=f"pages-{pages}-{page}")
        if turned != page:
            state.turn_page(turned)
            st.rerun()


def follow(running: frozenset[str]) -> None:
    """Draw the list again when a session that it shows as running has come to an end.

    Nothing else moves the rows under the reader's hand.
    """

    def look() -> None:
        if not running <= inbox_queries.running_ids():
            st.rerun()

    if running:
        st.fragment(look, run_every=FOLLOW_SECONDS)()


chosen = state.leaving_for(PAGE)
if chosen:
    st.switch_page("screens/session.py", query_params=state.address_of(*chosen))
facets = inbox_queries.facets()
if facets.total or facets.trials:
    show_list(facets)
else:
    show_empty()
