"""The parts of the live page that show the session which was started, while it grows."""

from enum import StrEnum

import streamlit as st

from handoff_console.console import queries, runs, state
from handoff_console.console.components.burn_down_chart import show_burn_down
from handoff_console.console.components.panel import Node, panel, status, tag
from handoff_console.console.components.session_header import picked_evidence, show_header
from handoff_console.console.components.tree import handoff_tree, selected_in_tree
from handoff_console.console.figures.burn_down import burn_down_figure
from handoff_console.console.queries import Record, Version
from handoff_console.console.screens.asking_part import asking_part
from handoff_console.console.screens.resume_part import resume_part
from handoff_console.console.viewmodels.burn_down import burn_down
from handoff_console.console.viewmodels.talk import Turn, turns
from handoff_console.runtime.contract import State
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.analysis.nodes import HandoffNode

PAGE = "live"
TREE_HEIGHT = "clamp(190px, calc(100vh - 590px), 420px)"
POLL_SECONDS = 1.0
REST_SECONDS = 3.0
"""How often it is looked whether somebody else has gone on with a session that rests."""
EVENTS_SHOWN = 4


class Stage(StrEnum):
    """Where the followed session is, which decides what can be done with it."""

    WORKING = "working"
    LISTENING = "listening"
    """It has answered, and takes another message for a while."""
    WAITING = "waiting"
    """A person has to decide or to answer."""
    OVER = "over"


def stage_of(version: Version) -> Stage:
    """Return where a session is now."""
    header = queries.record(version).header
    if header.is_over:
        return Stage.OVER
    phase = runs.phase_of(version.session_id)
    if phase is runs.Phase.LISTENING:
        return Stage.LISTENING
    waits = header.outcome == State.WAITING and not runs.is_at_work(version.session_id)
    return Stage.WAITING if waits else Stage.WORKING


def controls(session_id: str, stage: Stage) -> None:
    """Draw the buttons that end a session, where this console can end it."""
    here = runs.is_at_work(session_id)
    if stage is Stage.WORKING and here:
        st.button(
            "■ Stop",
            key="stop",
            help="Closes what is open; what was done until then is recorded.",
            on_click=lambda: runs.stop(session_id),
        )
    elif stage is Stage.WORKING:
        st.caption("It runs in another process; Ctrl-C there stops it.")
    failed = runs.failure_of(session_id)
    if failed:
        panel("failed", [tag("div.verdict.text", failed, outcome="error", role="alert")])


def _more(session_id: str) -> None:
    """Draw the box for the user's next message, and the way to end the session."""

    def say() -> None:
        try:
            runs.say_more(session_id, state.typed_next_message())
            state.say("")
        except HandoffConsoleError as error:
            state.say(str(error))

    with st.container(horizontal=True, vertical_alignment="center"):
        st.chat_input(
            "Say more in this session; Enter sends it",
            key=state.NEXT_MESSAGE,
            max_chars=4_000,
            on_submit=say,
            width="stretch",
        )
        st.button(
            "End the session",
            key="end",
            help="Without another message it ends by itself after two minutes.",
            on_click=lambda: runs.stop(session_id),
        )


def prepare_chart() -> None:
    """Draw a chart that nobody sees: the first one takes seconds to load, which are over then."""
    figure = burn_down_figure(burn_down(()), last_seq=1, colors={}, dark=state.is_dark())
    st.html("<style>.st-key-unseen { height: 1px; overflow: hidden; opacity: 0; }</style>")
    with st.container(key="unseen"):
        st.plotly_chart(
            figure, key="unseen_chart", config={"displayModeBar": False}, alt="Nothing yet"
        )


def growing(session_id: str, drawn: Stage) -> None:
    """Draw the session as far as it is in the store; draw the whole page when its stage changes.

    Args:
        session_id: The session.
        drawn: The stage that the page around this was drawn for.
    """

    def draw() -> None:
        version = queries.version(session_id)
        if version is None:
            return
        if stage_of(version) is not drawn:
            st.rerun()
        _session(queries.record(version), drawn)

    pause = {Stage.WORKING: POLL_SECONDS, Stage.OVER: None}.get(drawn, REST_SECONDS)
    st.fragment(draw, run_every=pause)()


def _session(record: Record, stage: Stage) -> None:
    version = record.version

    def on_evidence() -> None:
        state.leave_for(version.session_id, picked_evidence(), page=PAGE)

    show_header(record.header, on_evidence)
    if stage is Stage.WAITING:
        asking_part(version.session_id, closes=False)
    elif record.header.outcome == State.INTERRUPTED:
        resume_part(record)
    _talk(record)
    if stage is Stage.LISTENING:
        _more(version.session_id)
    handoff_tree(
        record.outline,
        scope=version.session_id,
        revision="/".join(map(str, version)),
        selected=selected_in_tree(),
        seq=None,
        height=TREE_HEIGHT,
        on_select=lambda: None,
    )
    if stage is Stage.WORKING:
        _steps(record)
    figure = queries.burn_down_of(version, dark=state.is_dark())
    show_burn_down(record.burn_down, figure, record.agent_colors, "live_pool")


def _turns(record: Record) -> tuple[Turn, ...]:
    def told(node: HandoffNode) -> str:
        card = queries.card(record.version, node.handoff_id, None) if node.closed_seq else None
        return card.result.answer or card.result.notes if card else ""

    return turns(record.judgement.tree, told)


def _talk(record: Record) -> None:
    """Draw what the user said and was told; one short turn stands in the header already."""
    said = _turns(record)
    nodes = [node for turn in said for node in _turn(turn, alone=len(said) == 1)]
    if nodes:
        panel("answer", nodes, subject=str(len(said)), height="auto")


def _turn(turn: Turn, *, alone: bool) -> list[Node]:
    asked = [] if alone else [tag("p.text.lines.quiet", turn.said)]
    if not turn.answer:
        return list(asked)
    head = tag("div.row.small", status(turn.outcome), tag("span.quiet.text", turn.agent))
    return [*asked, tag("div.message", head, tag("p.text.lines", turn.answer))]


def _steps(record: Record) -> None:
    rows = queries.steps_around(record, None).rows[-EVENTS_SHOWN:]
    lines = [
        tag(
            "tr",
            tag("td.quiet.number", row.elapsed),
            tag("td.text", row.kind),
            tag("td.text.quiet", row.agent),
            tag("td.text", row.what),
        )
        for row in rows
    ]
    panel("now", [tag("h3", "Now"), tag("table", tag("tbody", *lines))])
