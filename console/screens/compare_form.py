"""The form that starts a comparison: what on which cases, who routes, and what it takes."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from handoff_console.console import compare_queries, comparisons, settings
from handoff_console.console import compare_state as where
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.prompt_folders import version_folders
from handoff_console.console.commands.routed import OWN_PROMPTS
from handoff_console.console.comparisons import Asked
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.viewmodels.experiments import plan_words
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.errors import HandoffConsoleError

MODELS = ("offline:bm25", "own")
MODES = {"route": "first decision only", "full": "whole sessions"}
MODEL_WORDS = {"offline:bm25": "offline:bm25 (no key, no cost)", "own": "the flow's own models"}


def show(start: Callable[[Asked], None]) -> None:
    """Draw the form.

    Args:
        start: Starts what was asked for.
    """
    sets = comparisons.data_sets()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox(
            "Requests (data set)", list(sets), key=where.START_DATASET, width=240,
            format_func=lambda it: one_line(it, 50),
        )  # fmt: skip
        named, problem = _flow_named_by(sets[name])
        flow = _flow(named)
        labels = [*version_folders(load_flow(flow), settings.store_path()), OWN_PROMPTS]
        sides = _sides(labels, flow)
    if labels == [OWN_PROMPTS]:
        _say_how_to_make_one(flow)
    else:
        if problem:
            panel("start_flow_said", [tag("p.small.text", problem)])
        _plan_and_start(_settings(Asked(sides, sets[name], flow)), start)
    _bring()


def _flow(named: str) -> str:
    """Return which flow is compared: the one that the data set names, or the reader's choice."""
    return compare_queries.flow_called(named) or st.selectbox(
        "Flow",
        compare_queries.routed_flows(),
        key=where.START_FLOW,
        width=220,
        format_func=compare_queries.flow_words,
    )


def _settings(asked: Asked) -> Asked:
    """Draw who routes, how, how often and how much it may take; return what is asked for then."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        model = st.selectbox(
            "Who routes",
            MODELS,
            format_func=lambda it: MODEL_WORDS.get(it, it),
            accept_new_options=True,
            key="start_model",
            width=280,
            help="Or type the name of a model: openai:MODEL, anthropic:MODEL …",
        )
        mode = st.segmented_control(
            "What is run", list(MODES), default="route", format_func=MODES.__getitem__,
            required=True, key="start_mode",
        )  # fmt: skip
        trials = st.number_input("Trials a case", 1, 20, 1, key="start_trials", width=120)
        cap = st.number_input(
            "At most, tokens", 0, None, 0, step=10_000, key="start_cap", width=160,
            help="0 is no limit. It stops before it would use more, and can be gone on with.",
        )  # fmt: skip
    return replace(
        asked, model=model or MODELS[0], mode=mode, trials=int(trials),
        max_tokens=int(cap) or None,
    )  # fmt: skip


def _say_how_to_make_one(flow: str) -> None:
    said = (
        f"{compare_queries.flow_words(flow)} has no prompt version yet, so there is nothing to "
        "compare its own prompts with. To make one, change a description and save it."
    )
    panel("no_versions", [tag("p.text", said)])
    st.button("Edit its descriptions", on_click=lambda: where.go_and_edit(flow), key="make_version")


def _flow_named_by(data_set: str) -> tuple[str, str]:
    """Return the flow that a data set names, and what the reader has to know about it."""
    try:
        named = read_dataset(data_set).flow
    except HandoffConsoleError as error:
        return "", str(error)
    if not named or compare_queries.flow_called(named):
        return named, ""
    return "", (
        f"This data set is for the flow {one_line(named, 60)!r}, which this console was not "
        "started with: choose one, or start it with `handoff open --flow FLOW`."
    )


def _sides(labels: Sequence[str], flow: str) -> tuple[str, ...]:
    prepared = where.prepared()
    a, b = (prepared.a, prepared.b) if prepared and prepared.flow == flow else ("", "")
    numbered = [label for label in labels if label != OWN_PROMPTS]
    a = a if a in labels else (numbered[-2] if len(numbered) > 1 else labels[0])
    key = f"{flow}-{a}-{b}-{len(labels)}"
    baseline = st.selectbox(
        "A, the baseline", labels, index=labels.index(a), key=f"start_a-{key}", width=160
    )
    rest = [label for label in labels if label != baseline]
    first = [b] if b in rest else [it for it in numbered if it in rest][-1:]
    candidates = st.multiselect(
        "B, to compare with it", rest, default=first, key=f"start_b-{key}-{baseline}", width=260
    )
    return (baseline, *candidates)


def _plan_and_start(asked: Asked, start: Callable[[Asked], None]) -> None:
    if len(asked.sides) < 2:
        panel("plan", [tag("p.quiet", "Choose at least one version to compare with A.")])
        return
    try:
        said, possible = plan_words(compare_queries.plan(asked)), True
    except HandoffConsoleError as error:
        said, possible = str(error), False
    nodes = [tag("p.text", said)] if possible else [tag("div.verdict.text", said, outcome="error")]
    panel("plan", nodes)
    st.button(
        "Compare", type="primary", on_click=lambda: start(asked), disabled=not possible,
        key="compare_now",
    )  # fmt: skip


def _bring() -> None:
    with st.popover("Bring your own requests"):
        panel(
            "bring_how",
            [
                tag(
                    "p.small",
                    "A CSV file with the columns input and expected (the agent that should get "
                    "it; several right ones joined by |), or JSON lines with the same names. "
                    "Expect abstain where nobody is for it.",
                )
            ],
        )
        file = st.file_uploader("File", type=["csv", "jsonl"], key="bring_file")

        def keep() -> None:
            brought = st.session_state.get("bring_file")
            if brought is None:
                return
            try:
                name = comparisons.save_data_set(brought.name, brought.getvalue())
            except HandoffConsoleError as error:
                where.tell(str(error), failed=True)
                return
            where.tell(f"Data set {name} is kept; choose it under Requests.")

        st.button("Keep it", on_click=keep, disabled=file is None, key="bring_keep")
