"""Comparing prompt versions: running what is not on record, and going on where it was stopped."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from handoff_console.console.commands.comparison_asked import Asked, flow_of
from handoff_console.console.commands.comparison_plans import planned
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.trial_running import RunProgress, Stop, Work, run_trials
from handoff_console.store.experiment_writing import begin_experiment, finish_experiment
from handoff_console.store.writer import open_sink


class Done(NamedTuple):
    """How a comparison ended, for now."""

    experiment_id: str
    progress: RunProgress
    stopped: Stop | None
    """Why trials are left; None when all were tried."""
    flow_source: str
    """Of the flow that was loaded for it, whatever an earlier part of it recorded."""


def run(
    store_path: Path,
    asked: Asked,
    *,
    tell: Callable[[RunProgress], None] = lambda _: None,
    begun: Callable[[str], None] = lambda _: None,
    stop: Stop | None = None,
) -> Done:
    """Run what is not on record, and return how far it came; a missing store is made.

    Args:
        store_path: Where trials and the experiment are kept.
        asked: What to compare.
        tell: Is told how far it is, after each trial.
        begun: Is told the experiment's id once it is in the store.
        stop: Somebody else may stop it with this.

    Raises:
        CommandError, InputRefused, FlowError: See `plan`; nothing was written.
        StoreError: The store cannot be opened or does not take the record.
    """
    stop = stop or Stop()
    dataset = read_dataset(asked.dataset)
    loaded = flow_of(asked, dataset)
    if not store_path.exists():  # what is wrong is said before a store is made
        planned(store_path, asked, dataset, loaded, None)
    with closing(open_sink(store_path, create=True)) as sink:
        made = planned(store_path, asked, dataset, loaded, sink.db)
        experiment = made.experiment
        if not made.goes_on:
            begin_experiment(sink.db, experiment, made.refs)
        begun(experiment.experiment_id)
        progress = RunProgress(
            total=len({ref.trial_key for ref in made.refs}),
            reused=len({ref.trial_key for ref in made.refs}) - made.calls,
        )
        work = Work(
            experiment=experiment,
            sides=made.sides,
            refs=made.refs,
            pending=made.pending,
            jobs=asked.jobs,
            max_tokens=asked.max_tokens,
        )
        asyncio.run(run_trials(sink, work, progress, tell, stop))
        if not stop.why:
            finish_experiment(sink.db, experiment.experiment_id)
    why = stop if stop.why else None
    return Done(experiment.experiment_id, progress, why, loaded.source)
