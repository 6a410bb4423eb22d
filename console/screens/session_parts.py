"""The parts of a session's page; those that follow the reader draw themselves again, alone."""

import contextlib

import streamlit as st
from streamlit.errors import StreamlitAPIException

from handoff_console.console import queries, state
from handoff_console.console.components import handoff_card
from handoff_console.console.components.burn_down_chart import show_burn_down
from handoff_console.console.components.chart_cursor import chart_cursor
from handoff_console.console.components.graph_click import graph_click, picked_node
from handoff_console.console.components.session_header import picked_evidence, show_header
from handoff_console.console.components.stepper import event_stepper, stepped_to, wanted_seq
from handoff_console.console.components.tree import handoff_tree, selected_in_tree
from handoff_console.console.figures.agent_graph import ROOMY_AGENTS, agent_graph_dot
from handoff_console.console.queries import Record
from handoff_console.console.screens import rerun_entry
from handoff_console.console.screens.label_part import label_part
from handoff_console.console.screens.what_if_part import what_if_part
from handoff_console.console.viewmodels.text import one_line

OUTSIDE_PX = 425
"""What the page takes beside its header and its card, so that stepping needs no scrolling."""
TREE_OUTSIDE_PX = 515
CARD_TITLE_PX = 100
GRAPH_PX = 350
LINES = 8
VERDICT_CHARACTERS = 95
"""A longer one takes two lines in a small window."""
POOL = "pool"
"""The key of the burn-down's container."""
FOLLOW_SECONDS = 1.0


def header(record: Record) -> None:
    """Draw what was asked, how it ended and why; the evidence leads to its event."""

    def on_evidence() -> None:
        seq = picked_evidence()
        if seq:
            rows = queries.steps_around(record, seq).rows
            state.jump_to(seq, next((row.handoff_id for row in rows if row.seq == seq), None))

    show_header(record.header, on_evidence, answer=one_line(record.answer, 400))


def outline(record: Record) -> None:
    """Draw the tree, or the graph of agents, whichever the reader wants."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        view = st.segmented_control(
            "View",
            state.VIEWS,
            default=state.selected_view(),
            required=True,
            label_visibility="collapsed",
            key="view",
        )
        label_part(record)
    state.select_view(view)
    if view == "Agents":
        _agents(record)
    else:
        _tree(record)


def pool(record: Record) -> None:
    """Draw the burn-down, how it adds up, and what another pool would have done."""
    figure = queries.burn_down_of(record.version, dark=state.is_dark())
    show_burn_down(record.burn_down, figure, record.agent_colors, POOL)
    what_if_part(record)
    rerun_entry.way_to_compare(record)


def cursor(record: Record) -> None:
    """Lay the reader's place over the burn-down. Takes no room, and so stands last on the page."""
    chart_cursor(
        POOL,
        scope=record.version.session_id,
        nonce=state.cursor_nonce(),
        seq=_seq(record),
        last=record.version.seq,
    )


@st.fragment(key="details")
def details(record: Record) -> None:
    """Draw the card of the selected handoff as it was at the reader's event."""
    handoff, seq = _selected(record), _seq(record)
    card = queries.card(record.version, handoff, seq) if handoff else None
    height = _height(record, OUTSIDE_PX + CARD_TITLE_PX, 150)
    if card is None:
        node = record.judgement.tree.by_id.get(handoff or "")
        handoff_card.show_missing(handoff, seq, node.first_seq if node else None, height)
        return
    handoff_card.show_title(card, record.header.verdict)
    if taken_px := rerun_entry.attempts(record, card):
        height = _height(record, OUTSIDE_PX + CARD_TITLE_PX + taken_px, 150)
    with st.container(horizontal=True, vertical_alignment="center"):
        tab = st.segmented_control(
            "Card",
            state.TABS,
            default=state.selected_tab(),
            required=True,
            label_visibility="collapsed",
            key="tab",
        )
        rerun_entry.way_to_form(record, card)
    state.select_tab(tab)
    if tab == "Context":
        seen = queries.context(record.version, card.handoff_id, seq)
        handoff_card.show_context(card.handoff_id, seen, height, _on_call)
    else:
        handoff_card.show_part(card, tab, height)


@st.fragment(key="steps")
def steps(record: Record) -> None:
    """Draw the stepper with the events around the reader."""
    session_id, nonce, seq = record.version.session_id, state.cursor_nonce(), _seq(record)
    around = wanted_seq(session_id, nonce) or state.missing_seq(record.version.seq) or seq
    event_stepper(
        queries.steps_around(record, around),
        scope=session_id,
        nonce=nonce,
        seq=seq,
        handoff=_selected(record),
        lines=LINES,
        on_step=lambda: _on_step(session_id),
        on_window=lambda: _draw_again("steps"),
    )


def follow(record: Record) -> None:
    """Draw the page again when a session that goes on has gone on."""

    def look() -> None:
        if queries.version(record.version.session_id) != record.version:
            st.rerun()

    st.fragment(look, run_every=FOLLOW_SECONDS)()


def _tree(record: Record) -> None:
    def on_select() -> None:
        if _is_shown(record.version.session_id):
            state.select_handoff(selected_in_tree())
        _draw_again("details")

    handoff_tree(
        record.outline,
        scope=record.version.session_id,
        revision="/".join(map(str, record.version)),
        selected=_selected(record),
        seq=_seq(record),
        height=_height(record, TREE_OUTSIDE_PX, 190),
        on_select=on_select,
    )


def _agents(record: Record) -> None:
    graph = queries.agents(record.version, _seq(record))
    handoffs = {node.key: node.handoff_id for node in graph.nodes}
    picked = next((key for key, value in handoffs.items() if value == _selected(record)), None)
    dot = agent_graph_dot(graph, dark=state.is_dark(), selected=picked)

    def on_pick() -> None:
        handoff = handoffs.get(picked_node() or "")
        if handoff:
            state.jump_to(_seq(record), handoff)

    roomy = len(graph.nodes) <= ROOMY_AGENTS
    with st.container(key="agents", height="content" if roomy else GRAPH_PX, border=False):
        st.graphviz_chart(dot, alt=graph.summary)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Grey: allowed. Dashed: refused. Red: a loop. Double frame: starts.")
        st.download_button(
            "Download (DOT)",
            dot,
            file_name="agents.dot",
            mime="text/vnd.graphviz",
            on_click="ignore",
            type="tertiary",
        )
    graph_click("agents", on_pick)


def _on_step(session_id: str) -> None:
    stepped = stepped_to(session_id)
    if stepped and _is_shown(session_id):
        state.step_to(*stepped)
    _draw_again("details")


def _is_shown(session_id: str) -> bool:
    """Say whether the reader is still here: what a page says may come when they have left it."""
    return state.selected_session() == session_id


def _draw_again(part: str) -> None:
    """Draw this part alone; all of the page is drawn when it has no such part (yet)."""
    with contextlib.suppress(StreamlitAPIException):
        st.rerun([part])


def _on_call() -> None:
    seq = handoff_card.picked_seq()
    if seq:
        state.jump_to(seq, None)


def _selected(record: Record) -> str | None:
    return state.selected_handoff() or record.header.problem_handoff_id


def _seq(record: Record) -> int | None:
    return state.selected_seq(record.version.seq)


def _height(record: Record, outside_px: int, least_px: int) -> str:
    """Return how high a part may be: what the window has left under a header of so many lines."""
    header = record.header
    evidence = bool(header.chips or header.other_findings)
    wraps = len(header.verdict) > VERDICT_CHARACTERS
    lines = 2 + wraps + evidence + bool(header.advice) + bool(header.next_step)
    return f"clamp({least_px}px, calc(100vh - {outside_px + 20 * lines}px), 720px)"
