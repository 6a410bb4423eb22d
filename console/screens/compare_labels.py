"""The labelling queue: who should have got a request, as people say it."""

import re
from collections.abc import Sequence
from itertools import count as count_from

import streamlit as st

from handoff_console.console import compare_queries, comparisons, traffic_queries
from handoff_console.console import compare_state as where
from handoff_console.console.commands.datasets import dataset_text
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.guesses import routable_agents
from handoff_console.console.commands.labelled_cases import labelled_cases, relabelled_cases
from handoff_console.console.components.compare_panel import compare_panel, figure_table
from handoff_console.console.components.labelling import given_labels, labelling_queue
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens import label_sources as sources
from handoff_console.console.screens.label_sources import Source
from handoff_console.console.viewmodels.labelling import (
    agreement_view,
    labelling_view,
    source_words,
)
from handoff_console.console.viewmodels.text import count, one_line
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.analysis.agreement import agreement
from handoff_console.store.analysis.comparison.cases import RouteCase

BY = "labeller"


def show_labelling() -> None:
    """Draw the queue of one labeller, how far two agree, and what is labelled to take away."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        source, flow_source, problem = _choose()
        name = st.text_input(
            "You are",
            where.labeller(),
            key=BY,
            max_chars=40,
            width=200,
            placeholder="your name",
        )
        where.label_as(name.strip())
    if problem:
        panel("label_problem", [tag("p.text", problem)])
        return
    who = name.strip()
    if not who:
        said = (
            "Say who you are: labels of different people are kept apart, and how far they agree is "
            "shown. Then one request after the other gets its agent by a key."
        )
        panel("who", [tag("p", said)])
        return
    _say_what_came_of_it()
    cases, by = sources.cases_of(source), sources.labels_by(source)
    view = labelling_view(
        cases,
        sources.decisions(source, flow_source),
        by.get(who, {}),
        agents=routable_agents(load_flow(flow_source).flow),
        labeller=who,
    )
    left, right = st.columns([13, 8], gap="large")
    with left:
        labelling_queue(
            view,
            scope=f"{source.key}/{who}",
            saved=by.get(who, {}),
            on_given=lambda: _keep(source, who),
        )
    with right:
        _disagreeing(view.disagreeing)
        _agreement(source, cases, who)
        _take_away(source, cases)


def _choose() -> tuple[Source, str, str]:
    """Draw what is labelled; return it, its flow, and what hinders."""
    known = sources.sources()
    asked = where.label_source()
    key = st.selectbox(
        "Requests",
        list(known),
        index=list(known).index(asked) if asked in known else 0,
        format_func=lambda it: source_words(known[it].kind, known[it].name),
        key=where.LABEL_OF,
        width=300,
    )
    where.label_these(key)
    source = known[key]
    try:
        flow_source = sources.flow_of(source)
        named = sources.data_set(source).flow if source.kind == "cases" else source.name
    except HandoffConsoleError as error:
        return source, "", str(error)
    if flow_source:
        return source, flow_source, ""
    if named:
        return source, "", (
            f"This data set is for the flow {one_line(named, 60)!r}, which this console was not "
            "started with; start it with `handoff open --flow FLOW`."
        )  # fmt: skip
    flow_source = st.selectbox(
        "Flow",
        compare_queries.routed_flows(),
        key=f"label_flow_{source.name}",
        width=200,
        format_func=compare_queries.flow_words,
    )
    return source, flow_source, ""


def _say_what_came_of_it() -> None:
    said = where.told()
    if said:
        tone, role = ("error", "alert") if said.failed else ("ok", "status")
        panel("label_said", [tag("div.verdict.text", said.text, outcome=tone, role=role)])


def _keep(source: Source, who: str) -> None:
    try:
        sources.keep(source, who, given_labels())
    except HandoffConsoleError as error:
        where.tell(f"Not every label was kept: {error}", failed=True)


def _disagreeing(cases: int) -> None:
    if cases:
        said = f"{count(cases, 'request')} that the two newest versions disagree about come first."
        panel("disagreeing", [tag("p.small.quiet", said)])


def _agreement(source: Source, cases: Sequence[RouteCase], who: str) -> None:
    by = {**sources.own_labels(source, cases), **sources.labels_by(source)}
    others = sorted((name for name in by if name != who), key=lambda it: it == sources.OWN_LABELS)
    if not others:
        said = "When a second person has labelled, how far you agree stands here."
        panel("agreement", [tag("h3", "Agreement"), tag("p.small.quiet", said)])
        return
    other = others[0]
    if len(others) > 1:
        other = st.selectbox("Agreement with", others, key="label_other", width=220)
    ids = {case.case_id for case in cases}
    mine, theirs = (
        {case: label for case, label in by.get(name, {}).items() if case in ids}
        for name in (who, other)
    )
    found = agreement_view(agreement((who, mine), (other, theirs)), cases)
    nodes = [tag("h3", "Agreement"), tag("p.text", found.sentence)]
    if found.disagreements:
        heads = (one_line(who, 30), one_line(other, 30), "request")
        rows = [(first, second, text) for text, first, second in found.disagreements]
        nodes.append(figure_table(heads, rows))
    compare_panel("agreement", nodes)


def _take_away(source: Source, cases: Sequence[RouteCase]) -> None:
    """Offer what people agree on as a data set; nothing before anybody has labelled."""
    if source.kind == "sessions":
        requests = traffic_queries.requests(source.name)
        labelled = labelled_cases(requests, traffic_queries.session_labels(None))
        flow = source.name
    else:
        said: dict[str, set[str]] = {}
        for given in sources.labels_by(source).values():
            for case_id, label in given.items():
                said.setdefault(case_id, set()).add(label)
        labelled = relabelled_cases(cases, said) if said else ()
        flow = sources.data_set(source).flow
    if not labelled:
        return
    note = "; those that people disagree about are left out."
    if source.kind == "cases":
        note = ", with the labels that people agree on" + note
    panel(
        "labelled_cases",
        [
            tag("h3", "As a data set"),
            tag("p.small.quiet", f"{count(len(labelled), 'labelled request')}{note}"),
        ],
    )
    text = dataset_text(labelled, flow=flow)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Keep it here, to compare on",
            on_click=lambda: _keep_data_set(source.name, text),
            key="keep_data_set",
        )
        st.download_button(
            "Download (JSON lines)",
            text,
            file_name=f"{source.name}-labelled.jsonl",
            mime="application/jsonl",
            on_click="ignore",
        )


def _keep_data_set(name: str, text: str) -> None:
    """Keep what is labelled as a data set under the next free name, for the form that compares."""
    kept = comparisons.data_sets()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-")[:24] or "requests"
    names = (f"{plain}-labelled{f'-{number}' if number > 1 else ''}" for number in count_from(1))
    free = next(it for it in names if it not in kept)
    try:
        comparisons.save_data_set(f"{free}.jsonl", text.encode())
    except HandoffConsoleError as error:
        where.tell(f"It was not kept: {error}", failed=True)
        return
    where.tell(f"Kept as data set {free}; choose it under Compare versions.")
