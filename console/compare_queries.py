"""What the routing pages ask the store, each answer kept until what it is about changes.

Beside `queries`, and by the same rules: a connection for one question, keys instead of clearing.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from handoff_console import sample_runs
from handoff_console.console.commands.changed_versions import with_changes_marked
from handoff_console.console.commands.comparison_asked import Asked, files_read
from handoff_console.console.commands.comparison_plans import Plan
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.flows import LoadedFlow, load_flow
from handoff_console.console.commands.guesses import routable_agents
from handoff_console.console.commands.prompt_folders import version_folders
from handoff_console.console.comparisons import data_sets, planned
from handoff_console.console.memory import undisturbed
from handoff_console.console.reading import reading
from handoff_console.console.settings import named_flows, store_path
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store import baselines, routed_sessions
from handoff_console.store import experiments as ledger
from handoff_console.store.analysis.comparison.compare import comparison as compare
from handoff_console.store.analysis.comparison.result import Comparison, TrendPoint
from handoff_console.store.analysis.comparison.trend import trend_points
from handoff_console.store.analysis.comparison.trials import Experiment
from handoff_console.store.experiments import ExperimentLine, ExperimentProgress

TREND_EXPERIMENTS = 12
"""Earlier experiments that are read for the trend."""


class Stamp(NamedTuple):
    """An experiment as it stood at one moment: the key under which all about it is kept."""

    path: str
    experiment_id: str
    changed_us: int
    """When one of its trials ended last, or the experiment did."""


def experiments() -> tuple[ExperimentLine, ...]:
    """Return the experiments of the store, the newest first."""
    with reading() as db:
        return tuple(ledger.experiments(db))


def progress(experiment_id: str) -> ExperimentProgress:
    """Return how far an experiment has come."""
    with reading() as db:
        return ledger.experiment_progress(db, experiment_id)


def stamp(experiment_id: str) -> Stamp:
    """Return an experiment's key as it is now."""
    with reading() as db:
        return Stamp(str(store_path()), experiment_id, ledger.last_change_us(db, experiment_id))


@st.cache_resource(show_spinner="Reading the experiment", max_entries=6)
def experiment(asked: Stamp) -> Experiment:
    """Return an experiment with all its trials; nobody may change it."""
    with reading(asked.path) as db, undisturbed(keep=True):
        return ledger.load_experiment(db, asked.experiment_id)


@st.cache_resource(show_spinner="Comparing", max_entries=12)
def comparison(asked: Stamp, a: str, b: str) -> Comparison:
    """Return one version of an experiment beside another one."""
    with undisturbed(keep=True):
        return compare(experiment(asked), a, b)


def marked(found: Comparison) -> Comparison:
    """Return a comparison that says which of its labels point to another text by now.

    Only of flows that came with the console or were named when it was started.
    """
    loaded = flows().get(found.experiment.flow_source)
    return with_changes_marked(found, loaded, store_path()) if loaded else found


def trend(found: Comparison) -> tuple[TrendPoint, ...]:
    """Return the versions of all experiments on the same cases, flow and kind of router, by time.

    Only the last `TREND_EXPERIMENTS` are read. An offline score and a model's score never stand in
    one line.
    """
    same = found.experiment
    with reading() as db:
        baseline = baselines.baseline_of(db, same.flow, same.dataset.name)
    alike = [
        line
        for line in experiments()
        if (line.flow, line.dataset.digest, line.mode)
        == (same.flow, same.dataset.digest, same.mode)
    ]
    return tuple(
        replace(point, is_baseline=(point.experiment_id, point.label) == baseline)
        for line in reversed(alike[:TREND_EXPERIMENTS])
        for point in _points(stamp(line.experiment_id))
        if point.offline == found.a.offline
    )


@st.cache_resource(show_spinner="Reading earlier experiments", max_entries=64)
def _points(asked: Stamp) -> tuple[TrendPoint, ...]:
    return trend_points(experiment(asked))


def recorded_flows() -> Mapping[str, str]:
    """Return the flows whose requests can be labelled: name → how it is loaded.

    They have sessions here, hand off to somebody, and came with the console or were named when it
    was started: nothing is loaded because a store names it.
    """
    with reading() as db:
        recorded = routed_sessions.recorded_flows(db)
    found: dict[str, str] = {}
    for source, it in flows().items():
        if it.flow.name in recorded and routable_agents(it.flow):
            found.setdefault(it.flow.name, source)
    return found


def routed_flows() -> tuple[str, ...]:
    """Return the flows whose prompt versions can be edited and compared, as they are loaded.

    Those with versions stand first.
    """
    known = flows()
    with_versions = [name for name, it in known.items() if version_folders(it, store_path())]
    return tuple(dict.fromkeys((*with_versions, *known)))


def flow_words(source: str) -> str:
    """Return a flow as a choice says it: its name, and of one's own the file that it is in.

    Of two that would be written alike the whole path is given: a page learns what was chosen by how
    it is written.
    """
    known = flows()
    alike = [name for name in known if _named_briefly(name, known) == _named_briefly(source, known)]
    return source if len(alike) > 1 else _named_briefly(source, known)


def _named_briefly(source: str, known: Mapping[str, LoadedFlow]) -> str:
    loaded, reference = known.get(source), file_reference(source)
    if loaded is None or loaded.is_sample or reference is None:
        return one_line(source, 60)
    return f"{one_line(loaded.flow.name, 40)} ({one_line(reference.path.name, 30)})"


def flow_called(name: str) -> str:
    """Return how the flow is loaded that a data set names; empty where it is none of those here.

    A data set may give its own name or how it is loaded; nothing else is loaded for it.
    """
    known = flows()
    called = (source for source, it in known.items() if it.flow.name == name)
    return name if name in known else next(called, "")


def data_set_for(flow: str) -> str:
    """Return the name of a data set that a flow can be compared on; empty where there is none.

    One that names the flow counts for more than one that names none.

    Args:
        flow: How it is loaded.
    """
    named = {}
    for name, file in data_sets().items():
        with suppress(HandoffConsoleError):  # one that cannot be read is for nobody
            named[name] = read_dataset(file).flow
    own = (name for name, said in named.items() if said and flow_called(said) == flow)
    any_flow = (name for name, said in named.items() if not said)
    return next(own, "") or next(any_flow, "")


def flows() -> Mapping[str, LoadedFlow]:
    """Return the flows that may be loaded here, as they are named: the user's own, then samples.

    A file that can no longer be loaded is left out; `runs.broken_flows` says why.
    """
    found = {}
    for name in (*named_flows(), *sample_runs.NAMES):
        with suppress(HandoffConsoleError):
            found[name] = load_flow(name)
    return found


def plan(asked: Asked) -> Plan:
    """Return what a comparison takes; nothing is written and nobody is asked.

    Raises:
        HandoffConsoleError: It cannot be run; the text says why in one sentence.
    """
    with reading() as db:
        ran_at_us = ledger.last_trial_us(db)
    files = [path for path in files_read(store_path(), asked) if path.is_file()]
    read_at = tuple((str(path), path.stat().st_mtime_ns) for path in files)
    return _plan(str(store_path()), repr(asked), read_at, ran_at_us, asked)


@st.cache_resource(show_spinner="Looking up what is on record", max_entries=8)
def _plan(path: str, key: str, read_at: tuple[Any, ...], ran_at_us: int, _asked: Asked) -> Plan:  # noqa: ARG001 - the key
    return planned(_asked)
