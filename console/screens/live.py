"""Live: start a sample, or say something to it, and watch its tree and its pool grow."""

import streamlit as st

from handoff_console.console import queries, runs, state
from handoff_console.console.components.burn_down_chart import show_burn_down
from handoff_console.console.components.panel import button, panel, pressed, tag
from handoff_console.console.components.session_header import show_header
from handoff_console.console.components.tree import handoff_tree, selected_in_tree
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.errors import HandoffConsoleError

POLL_SECONDS = 1.0
TREE_HEIGHT = "clamp(160px, calc(100vh - 500px), 560px)"
EXAMPLES = "examples"
EXAMPLES_SHOWN = 6

samples = runs.samples()


def start(message: str) -> None:
    """Start a session with a message, and follow it."""
    if not message.strip():
        state.say("Say something first, or choose an example.")
        return
    try:
        state.follow_run(runs.start(state.chosen_flow(), message.strip(), state.chosen_pace()))
        state.say("")
    except HandoffConsoleError as error:
        state.say(str(error))


def start_example() -> None:
    """Start with the example whose button was pressed."""
    place = pressed(EXAMPLES) or ""
    messages = samples[state.chosen_flow()].messages
    if place.isdigit() and int(place) < len(messages):
        start(messages[int(place)])


def form() -> None:
    """Draw what can be started."""
    flow = st.selectbox(
        "Flow", list(samples), format_func=lambda name: samples[name].title, key=state.FLOW
    )
    sample = samples[flow]
    examples = [
        tag("p", button(f"▶ {one_line(message, 70)}", str(place), title=message))
        for place, message in enumerate(sample.messages[:EXAMPLES_SHOWN])
    ]
    about = tag("p.quiet.text", sample.description)
    panel(EXAMPLES, [about, tag("h3", "Start one of these"), *examples], on_action=start_example)
    st.text_area(
        "Or say something else", key=state.MESSAGE, height=90, max_chars=4_000, on_change="ignore"
    )
    st.segmented_control(
        "Pace",
        list(runs.PACES),
        default=runs.DEFAULT_PACE,
        required=True,
        key=state.PACE,
        on_change="ignore",
    )
    st.button("Start", type="primary", on_click=lambda: start(state.typed_message()))
    if state.said():
        panel("problem", [tag("div.verdict.text", state.said(), outcome="error")])


def follow() -> None:
    """Draw the session that was started, as far as it is in the store."""
    session_id = state.followed_run()
    version = queries.version(session_id) if session_id else None
    if version is None:
        panel("nothing", [tag("p.quiet", "Nothing runs yet. Start a session on the left.")])
        return
    record = queries.record(version)
    show_header(record.header, lambda: None)
    handoff_tree(
        record.outline,
        scope=version.session_id,
        revision="/".join(map(str, version)),
        selected=selected_in_tree(),
        seq=None,
        height=TREE_HEIGHT,
        on_select=lambda: None,
    )
    figure = queries.burn_down_of(version, dark=state.is_dark())
    show_burn_down(record.burn_down, figure, record.agent_colors, "live_pool")
    told = queries.answer(version)
    if told:
        panel("answer", [tag("h3", "Answer"), tag("p.text.lines", told)])
    st.page_link(
        "screens/session.py",
        label="→ Open this session: each handoff's card and context, step by step",
        query_params=state.address_of(version.session_id),
    )
    if record.header.is_over and state.is_polling():
        state.poll(False)
        st.rerun()


left, right = st.columns([6, 14], gap="large")
with left:
    form()
goes_on = queries.is_running(state.followed_run())
state.poll(goes_on)
with right:
    st.fragment(follow, run_every=POLL_SECONDS if goes_on else None)()
