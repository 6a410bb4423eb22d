"""Descriptions edited in the page, and saved as a new prompt version."""

from collections.abc import Mapping

import streamlit as st

from handoff_console.console import compare_queries, settings
from handoff_console.console import compare_state as where
from handoff_console.console.commands.drafts import (
    AgentWords,
    drafted,
    next_label,
    save_version,
    words_of,
)
from handoff_console.console.commands.flows import LoadedFlow, load_flow
from handoff_console.console.commands.prompt_folders import own_folder, version_folders
from handoff_console.console.commands.routed import OWN_PROMPTS
from handoff_console.console.components.compare_case import change_nodes
from handoff_console.console.components.compare_panel import compare_panel
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens.label_sources import sources
from handoff_console.console.viewmodels.drafts import DraftView, as_typed, draft_view, from_typed
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime import Flow
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.prompts import AgentPrompt, PromptVersion, load_prompts

OWN = "the flow's own prompts"
BOXES = (
    ("description", "Description: when should a request be handed to this agent?", 112),
    ("examples", "Examples of such requests, one a line", 180),
    ("instructions", "Instructions: what it is told to do once it has the request", 160),
)
LABEL = "draft_label"


def show_drafts() -> None:
    """Draw what a version says of one agent, editable, beside all that the draft changes."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        flow_name = st.selectbox(
            "Flow",
            compare_queries.routed_flows(),
            format_func=compare_queries.flow_words,
            key=where.DRAFT_FLOW,
            width=220,
        )
        loaded = load_flow(flow_name)
        folders = version_folders(loaded, settings.store_path())
        base_label = st.selectbox(
            "Begin with", [*reversed(list(folders)), OWN], key=_base_key(flow_name), width=220
        )
        try:
            base = load_prompts(folders[base_label]) if base_label in folders else None
            flow = base.applied_to(loaded.flow) if base else loaded.flow
        except HandoffConsoleError as error:
            panel("draft_broken", [tag("div.verdict.text", str(error), outcome="error")])
            return
        agent = st.selectbox(
            "Agent",
            [*(it.name for it in flow.agents if it.name != flow.start), flow.start],
            format_func=lambda name: one_line(name, 60),
            key=f"draft-agent-{flow_name}",
            width=220,
        )
    draft = where.draft(flow_name, base_label)
    before = words_of(flow)
    left, right = st.columns([11, 9], gap="medium")
    with left:
        _boxes(agent, draft.get(agent, before[agent]), draft, f"{flow_name}-{base_label}")
    view = draft_view(before, draft, base_label)
    with right:
        nodes = [node for change in view.changes for node in change_nodes(change)]
        compare_panel("draft_changes", [tag("p.text", view.sentence), *nodes])
        _save(loaded, flow, base, draft, view)


def _base_key(flow_name: str) -> str:
    return f"base-{flow_name}"


def _boxes(agent: str, words: AgentWords, draft: dict[str, AgentWords], scope: str) -> None:
    for field, label, height in BOXES:
        key = f"draft-{scope}-{agent}-{field}"

        def changed(field: str = field, key: str = key) -> None:
            old = draft.get(agent, words)
            draft[agent] = from_typed(old, field, st.session_state[key])

        st.text_area(
            label,
            as_typed(words, field),
            height=height,
            key=key,
            max_chars=20_000,
            on_change=changed,
        )


def _save(
    loaded: LoadedFlow,
    flow: Flow,
    base: PromptVersion | None,
    draft: dict[str, AgentWords],
    view: DraftView,
) -> None:
    folders = version_folders(loaded, settings.store_path())
    # A field of its own for each version: a browser keeps what stands in one that it has drawn.
    field = f"{LABEL}-{loaded.source}-{len(folders)}"

    def save() -> None:
        label = str(st.session_state.get(field) or "").strip()
        try:
            _save_as(label, loaded, drafted(base, flow, draft), base)
        except HandoffConsoleError as error:
            where.tell(str(error), failed=True)
            return
        draft.clear()

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Save as a new version",
            next_label(list(folders)),
            key=field,
            max_chars=40,
            width=160,
            on_change="ignore",
        )
        st.button(
            "Save version", type="primary", on_click=save, disabled=view.is_empty, key="save_draft"
        )
    _say(loaded)


def _save_as(
    label: str, loaded: LoadedFlow, agents: Mapping[str, AgentPrompt], base: PromptVersion | None
) -> None:
    """Save a version, and make it what is gone on from and what is compared next."""
    folder = own_folder(loaded, settings.store_path())
    save_version(folder, label, agents, taken=version_folders(loaded, settings.store_path()))
    # What was saved is what the boxes show, so it is what is gone on from.
    st.session_state[_base_key(loaded.source)] = label
    before = base.label if base else OWN_PROMPTS
    where.prepare_start(loaded.source, before, label, compare_queries.data_set_for(loaded.source))
    where.tell(f"Saved as {label}, in {folder / label}.")


def _say(loaded: LoadedFlow) -> None:
    said = where.told()
    if said is None:
        return
    compare_panel(
        "draft_said",
        [tag("div.verdict.text", said.text, outcome="error" if said.failed else "ok")],
    )
    if not said.failed:
        _lead_on(loaded)


def _lead_on(loaded: LoadedFlow) -> None:
    if compare_queries.data_set_for(loaded.source):
        st.button("Compare it", on_click=lambda: where.go_to("compare"), key="compare_it")
        return
    name, source = one_line(loaded.flow.name, 60), f"sessions:{loaded.flow.name}"
    can_label = source in sources()
    ways = "Label its recorded sessions, or bring" if can_label else "Bring"
    said = (
        f"To compare it takes requests of which it is known who should get them, and no data set "
        f"here is for {name}. {ways} a file with requests under Compare versions."
    )
    compare_panel("no_data_set", [tag("p.text", said)])
    if can_label:
        st.button(
            "Label its sessions", on_click=lambda: where.go_and_label(source), key="label_its"
        )
