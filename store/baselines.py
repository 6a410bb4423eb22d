"""The ledger of baselines: which version of which experiment later ones are measured against.

Set by hand, never by a good result.
"""

import sqlite3
import time

from handoff_console.store.errors import ExperimentUnknown
from handoff_console.store.experiments import ExperimentLine, experiment_line
from handoff_console.store.transactions import transaction


def set_baseline(db: sqlite3.Connection, experiment_id: str, label: str) -> ExperimentLine:
    """Make one version of an experiment what later ones are measured against.

    It holds for the flow and the data set of the experiment.

    Raises:
        ExperimentUnknown: There is no such experiment, or no such version in it.
        WriteFailed: The store did not take it.
    """
    line = experiment_line(db, experiment_id)
    if label not in line.labels:
        raise ExperimentUnknown(f"{experiment_id}: {label}", list(line.labels))
    with transaction(db):
        db.execute(
            "insert or replace into baselines values (?, ?, ?, ?, ?)",
            (line.flow, line.dataset.name, experiment_id, label, time.time_ns() // 1_000),
        )
    return line


def baseline_of(db: sqlite3.Connection, flow: str, dataset: str) -> tuple[str, str] | None:
    """Return the experiment and the version's label that were made the baseline; None for none."""
    row = db.execute(
        "select experiment_id, label from baselines where flow = ? and dataset = ?",
        (flow, dataset),
    ).fetchone()
    return None if row is None else (str(row[0]), str(row[1]))
