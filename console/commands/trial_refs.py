"""The trials that a comparison means: each is known by all that was read to run it."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from handoff_console.console.commands.routed import Side
from handoff_console.runtime.canonical import canonical, digest
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.trials import Experiment
from handoff_console.store.experiment_writing import TrialRef, Unfinished, unfinished_like
from handoff_console.store.reader import digest_key
from handoff_console.store.trials import KnownTrial


def trial_refs(
    experiment: Experiment, sides: Sequence[Side], key: bytes, salt: str
) -> Iterator[TrialRef]:
    """Yield every trial of an experiment, side by side, case by case.

    Args:
        experiment: What is compared.
        sides: What runs each of its versions.
        key: Of the store.
        salt: Not empty: their names are their own, so that nothing on record serves.
    """
    for number, one in enumerate(sides):
        reads = one.reads(experiment.mode)
        repeats = 1 if _is_deterministic(one, experiment.mode) else experiment.trials_each
        for place, case in enumerate(experiment.cases):
            for trial in range(1, repeats + 1):
                known = [dict(case.state)] if case.state else []
                content = canonical([case.text, reads, experiment.mode, trial, salt, *known])
                yield TrialRef(number, place, trial, digest(content, key), reused=False)


def is_done(ref: TrialRef, known: Mapping[str, KnownTrial]) -> bool:
    """Say whether a trial is on record; one that failed is not."""
    return ref.trial_key in known and known[ref.trial_key].state == "done"


def begun_before(
    db: sqlite3.Connection, made: Experiment, sides: Sequence[Side], refs: tuple[TrialRef, ...]
) -> tuple[Unfinished | None, tuple[TrialRef, ...]]:
    """Return the newest stopped experiment of the same trials, and its trials as it names them.

    One that was asked for fresh has names of its own, made with its id.
    """
    key = digest_key(db)
    for before in unfinished_like(db, made):
        for salt in ("", before.experiment_id):
            same = refs if not salt else tuple(trial_refs(made, sides, key, salt))
            if before.trial_keys == tuple(sorted(ref.trial_key for ref in same)):
                return before, same
    return None, refs


def changed_cases(
    cases: Sequence[RouteCase], refs: Sequence[TrialRef], known: Mapping[str, KnownTrial]
) -> tuple[RouteCase, ...]:
    """Return the cases that are not on record on every side."""
    new = {ref.place for ref in refs if not is_done(ref, known)}
    return tuple(case for place, case in enumerate(cases) if place in new)


def _is_deterministic(one: Side, mode: str) -> bool:
    """Say whether one trial tells as much as many: nothing but descriptions is scored."""
    return one.version.offline and mode == "route"
