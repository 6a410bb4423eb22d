"""Live: start a flow, watch its tree and its pool grow, say more, decide what it asks, stop it."""

import streamlit as st

from handoff_console.console import queries, runs, state
from handoff_console.console.components.panel import button, panel, pressed, tag
from handoff_console.console.screens import live_parts
from handoff_console.console.screens.broken_flows import show_broken_flows
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.sample_runs import GROUPS

EXAMPLES = "examples"
EXAMPLES_SHOWN = 6

WHAT_COMES = (
    "Start a session: its handoffs grow here as a tree while they happen, with the pool of tokens "
    "that they share. Where it needs a yes or an answer, it asks you here."
)

startable = runs.startable()
groups = {name: group for group, names in GROUPS.items() for name in names}


def start(message: str) -> None:
    """Start a session with a message, and follow it; the one before ends if it only listens."""
    before = state.followed_run()
    if before and runs.phase_of(before) is runs.Phase.LISTENING:
        runs.stop(before)
    state.choose_flow(state.chosen_flow())
    try:
        state.follow_run(runs.start(state.chosen_flow(), message.strip(), state.chosen_pace()))
        state.say("")
    except HandoffConsoleError as error:
        state.say(str(error))


def start_example() -> None:
    """Start with the example whose button was pressed."""
    place = pressed(EXAMPLES) or ""
    messages = startable[state.chosen_flow()].messages
    if place.isdigit() and int(place) < len(messages):
        start(messages[int(place)])


def form() -> None:
    """Draw what can be started."""
    linked = state.linked_flow()
    if linked in startable:
        state.prefer_flow(linked)
    show_broken_flows()
    if linked and linked not in startable and linked not in runs.named_flows():
        panel("unknown_flow", [tag("div.verdict.text", runs.why_not(linked), outcome="error")])
    flow = st.selectbox(
        "Flow",
        list(startable),
        format_func=lambda name: startable[name].title,
        key=state.FLOW,
        on_change=lambda: state.choose_flow(state.chosen_flow()),
        help="Type to search. The Flows page says what each is made of.",
    )
    chosen = startable[flow]
    about = chosen.description.replace("`", "") or "A flow of your own."
    panel("about", [tag("p.quiet.text", about)])
    st.page_link(
        "screens/flows.py",
        label="→ What it is made of",
        query_params=state.address_of_flow(flow),
    )
    examples = [
        tag("p", button(f"▶ {one_line(message, 70)}", str(place), title=message))
        for place, message in enumerate(chosen.messages[:EXAMPLES_SHOWN])
    ]
    if examples:
        panel(EXAMPLES, [tag("h3", "Start one of these"), *examples], on_action=start_example)
    st.chat_input(
        "Your message; Enter sends it",
        key=state.MESSAGE,
        max_chars=4_000,
        on_submit=lambda: start(state.typed_message()),
    )
    if flow in groups:
        st.segmented_control(
            "Pace",
            list(runs.PACES),
            default=runs.DEFAULT_PACE,
            required=True,
            key=state.PACE,
            on_change="ignore",
        )
    if state.said():
        panel("problem", [tag("div.verdict.text", state.said(), outcome="error", role="alert")])


def followed() -> None:
    """Draw the session that was started, and what can be done with it."""
    session_id = state.followed_run()
    version = queries.version(session_id) if session_id else None
    if version is None:
        said = f"There is no session {session_id!r} in this store." if session_id else ""
        panel(
            "nothing", [tag("p.big", "Nothing runs yet"), tag("p.quiet.text", said or WHAT_COMES)]
        )
        live_parts.prepare_chart()
        return
    stage = live_parts.stage_of(version)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right"):
        live_parts.controls(version.session_id, stage)
        st.page_link(
            "screens/session.py",
            label="→ Open this session: each handoff's card and context, step by step",
            query_params=state.address_of(version.session_id),
        )
    live_parts.growing(version.session_id, stage)


left_for = state.leaving_for(live_parts.PAGE)
if left_for:
    st.switch_page("screens/session.py", query_params=state.address_of(*left_for))
left, right = st.columns([6, 14], gap="large")
with left:
    form()
with right:
    followed()
