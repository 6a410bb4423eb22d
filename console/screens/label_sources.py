"""What can be labelled: the sessions of a flow, or the cases of a data set."""

from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal, NamedTuple

import streamlit as st

from handoff_console.console import compare_queries, comparisons, settings, traffic_queries
from handoff_console.console.commands.datasets import Dataset, find_dataset, read_dataset
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.guesses import offline_guess
from handoff_console.console.commands.prompt_folders import version_folders
from handoff_console.console.reading import reading
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.prompts import load_prompts
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.db import open_store
from handoff_console.store.labels import (
    case_labels,
    remove_case_label,
    remove_label,
    set_case_label,
    set_label,
)

VERSIONS_ASKED = 2
"""The newest versions of a flow: what they disagree about is asked first."""
OWN_LABELS = "the data set"
"""Whom the labels that a data set came with are compared as."""
By = Mapping[str, Mapping[str, str]]
"""What each labeller said: by labeller, then by case."""


class Source(NamedTuple):
    """Requests that can be labelled."""

    kind: Literal["sessions", "cases"]
    name: str
    """The flow's, or the data set's."""

    @property
    def key(self) -> str:
        """What stands in the address."""
        return f"{self.kind}:{self.name}"


def sources() -> dict[str, Source]:
    """Return what can be labelled, by key; what was compared last first, then sessions."""
    flows = [Source("sessions", name) for name in compare_queries.recorded_flows()]
    sets = [Source("cases", name) for name in comparisons.data_sets()]
    compared = next((line.dataset.name for line in compare_queries.experiments()), "")
    first = [it for it in sets if it.name == compared]
    return {it.key: it for it in (*first, *flows, *sets)}


def data_set(source: Source) -> Dataset:
    """Return a data set with all its cases, those without a label too.

    Raises:
        InputRefused: It cannot be read.
    """
    path = find_dataset(comparisons.data_sets()[source.name])
    return _data_set(str(path), path.stat().st_mtime_ns)


@st.cache_resource(show_spinner="Reading the data set", max_entries=4)
def _data_set(path: str, changed_ns: int) -> Dataset:  # noqa: ARG001 - a part of the key
    return read_dataset(path, labelled=False)


def flow_of(source: Source) -> str:
    """Return how the flow is loaded whose agents may be named; empty where that is not known.

    Raises:
        InputRefused: The data set cannot be read.
    """
    if source.kind == "sessions":
        return compare_queries.recorded_flows()[source.name]
    return compare_queries.flow_called(data_set(source).flow)


def cases_of(source: Source) -> tuple[RouteCase, ...]:
    """Return the requests as cases: of sessions the newest first, without a label.

    Raises:
        InputRefused: The data set cannot be read.
    """
    if source.kind == "cases":
        return data_set(source).cases
    requests = traffic_queries.requests(source.name)
    return tuple(RouteCase(it.session_id, it.text, source=it.session_id) for it in requests)


def labels_by(source: Source) -> By:
    """Return what each labeller has said."""
    if source.kind == "sessions":
        return traffic_queries.labels_by()
    by: dict[str, dict[str, str]] = {}
    with reading() as db:
        for said in case_labels(db, source.name):
            by.setdefault(said.labeller, {})[said.session_id] = said.label
    return by


def own_labels(source: Source, cases: Iterable[RouteCase]) -> By:
    """Return what a data set's own labels say, as one more labeller; nothing of sessions."""
    own = {case.case_id: case.label for case in cases if case.is_labelled}
    return {OWN_LABELS: own} if source.kind == "cases" and own else {}


def keep(source: Source, who: str, given: Iterable[tuple[str, str]]) -> None:
    """Keep what somebody said, by case; an empty label takes one back.

    Raises:
        HandoffConsoleError: Not every label could be kept.
    """
    kept = labels_by(source).get(who, {})
    with closing(open_store(settings.store_path())) as db:
        for case_id, label in given:
            if label and kept.get(case_id) != label:
                if source.kind == "cases":
                    set_case_label(db, source.name, case_id, who, label)
                else:
                    set_label(db, case_id, who, label)
            elif not label and case_id in kept:
                if source.kind == "cases":
                    remove_case_label(db, source.name, case_id, who)
                else:
                    remove_label(db, case_id, who)


def decisions(source: Source, flow_source: str) -> Mapping[str, Mapping[str, str]]:
    """Return where the newest versions would send each request, by their words alone."""
    folders = version_folders(load_flow(flow_source), settings.store_path())
    newest = list(folders.items())[-VERSIONS_ASKED:]
    files = tuple(
        (str(path), path.stat().st_mtime_ns)
        for _, folder in newest
        for path in sorted(folder.glob("*.md"))
    )
    texts = tuple((case.case_id, case.text) for case in cases_of(source))
    labels = tuple((label, str(folder)) for label, folder in newest)
    return _decisions(source, flow_source, labels, files, hash(texts), texts)


@st.cache_resource(show_spinner="Asking the two newest versions", max_entries=4)
def _decisions(
    source: Source,  # noqa: ARG001 - a part of the key
    flow_source: str,
    labels: tuple[tuple[str, str], ...],
    files: tuple[tuple[str, int], ...],  # noqa: ARG001 - a part of the key
    key: int,  # noqa: ARG001 - a part of the key
    _texts: tuple[tuple[str, str], ...],
) -> Mapping[str, Mapping[str, str]]:
    flow, guesses = load_flow(flow_source).flow, {}
    for label, folder in labels:
        with suppress(HandoffConsoleError):  # a version that is broken guesses nothing
            guesses[label] = offline_guess(load_prompts(Path(folder)).applied_to(flow))
    return {
        case_id: {label: guess(text) for label, guess in guesses.items()}
        for case_id, text in _texts
    }
