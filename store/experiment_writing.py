"""Writing an experiment down: what it is, before its trials run, and when all were tried."""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from handoff_console.runtime.canonical import canonical_text
from handoff_console.store.analysis.comparison.trials import Experiment, Version
from handoff_console.store.experiment_forms import (
    cases_text,
    dataset_digest,
    read_cases,
    version_text,
)
from handoff_console.store.transactions import transaction


class TrialRef(NamedTuple):
    """Which trial an experiment means at one place."""

    version: int
    """Its place among the versions, from 0."""
    place: int
    """Of its case, from 0."""
    number: int
    """1, 2 …"""
    trial_key: str
    reused: bool


def begin_experiment(
    db: sqlite3.Connection,
    experiment: Experiment,
    refs: Iterable[TrialRef],
) -> None:
    """Write down what an experiment is, before its trials run; `trials` of it are not read.

    Raises:
        WriteFailed: The store did not take it.
    """
    digest = dataset_digest(experiment.cases)
    now = _now_us()
    with transaction(db):
        db.execute(
            "insert or ignore into datasets values (?, ?, ?)",
            (digest, experiment.dataset.name, cases_text(experiment.cases)),
        )
        places = _places(db, digest, experiment)
        for version in experiment.versions:
            db.execute(
                "insert or ignore into prompt_versions values (?, ?, ?, ?)",
                (version.version_hash, version.routing_hash, version_text(version), now),
            )
        number = _insert_experiment(db, experiment, digest)
        db.executemany(
            "insert into experiment_trials values (?, ?, ?, ?, ?, ?)",
            ((number, *ref._replace(place=places[ref.place])) for ref in refs),
        )


def _insert_experiment(db: sqlite3.Connection, experiment: Experiment, digest: str) -> int | None:
    """Write an experiment's own row, and return its number."""
    row = db.execute(
        "insert into experiments (experiment_id, flow, flow_source, dataset, dataset_path,"
        " mode, trials_each, versions, settings, command, created_at_us) values"
        " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            experiment.experiment_id,
            experiment.flow,
            experiment.flow_source,
            digest,
            experiment.dataset.path,
            experiment.mode,
            experiment.trials_each,
            canonical_text([_version_fields(version) for version in experiment.versions]),
            canonical_text(experiment.settings),
            experiment.command,
            round(experiment.created_at * 1e6),
        ),
    )
    return row.lastrowid


def _places(db: sqlite3.Connection, digest: str, experiment: Experiment) -> list[int]:
    """Return where each case stands in the data set as it is kept: in the order it first had."""
    (content,) = db.execute("select content from datasets where digest = ?", (digest,)).fetchone()
    kept = {case.case_id: place for place, case in enumerate(read_cases(content))}
    return [kept[case.case_id] for case in experiment.cases]


class Unfinished(NamedTuple):
    """An experiment that was stopped."""

    experiment_id: str
    created_at: float
    """Seconds since 1970 (UTC)."""
    trial_keys: tuple[str, ...]
    """Of all its trials, sorted."""


def unfinished_like(db: sqlite3.Connection, experiment: Experiment) -> Iterator[Unfinished]:
    """Yield the experiments on the same cases and versions that were stopped, the newest first.

    Whether one means the same trials, its keys say: in mode `full` they depend on more of a flow
    than its versions say, and `--fresh` gives them names of their own.
    """
    rows = db.execute(
        "select experiment, experiment_id, created_at_us, versions from experiments"
        " where finished_at_us is null and flow = ? and dataset = ? and mode = ?"
        " and trials_each = ? order by experiment desc",
        (
            experiment.flow,
            dataset_digest(experiment.cases),
            experiment.mode,
            experiment.trials_each,
        ),
    )
    wanted = canonical_text([_version_fields(version) for version in experiment.versions])
    for number, experiment_id, created_us, versions in rows.fetchall():
        if versions == wanted:
            keys = db.execute(
                "select trial_key from experiment_trials where experiment = ? order by trial_key",
                (number,),
            )
            yield Unfinished(experiment_id, created_us / 1e6, tuple(key for (key,) in keys))


def finish_experiment(db: sqlite3.Connection, experiment_id: str) -> None:
    """Note that every trial of an experiment was tried.

    Raises:
        WriteFailed: The store did not take it.
    """
    with transaction(db):
        db.execute(
            "update experiments set finished_at_us = ? where experiment_id = ?",
            (_now_us(), experiment_id),
        )


def _version_fields(version: Version) -> dict[str, object]:
    names = ("label", "version_hash", "routing_hash", "model", "offline", "flow")
    return {name: getattr(version, name) for name in names}


def _now_us() -> int:
    return time.time_ns() // 1_000
