"""What a comparison takes, before anything is spent: sides, cases, trials, and which are on record.

A trial is known by all that was read to run it, so only what changed runs again, and several
experiments share their trials.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.commands.case_choice import chosen_cases
from handoff_console.console.commands.comparison_asked import Asked, flow_of
from handoff_console.console.commands.datasets import Dataset, read_dataset
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flows import LoadedFlow
from handoff_console.console.commands.routed import Side, side
from handoff_console.console.commands.trial_refs import (
    begun_before,
    changed_cases,
    is_done,
    trial_refs,
)
from handoff_console.console.commands.trial_running import worst_case_tokens
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.options import new_session_id
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.pairing import why_no_test
from handoff_console.store.analysis.comparison.trials import DatasetRef, Experiment
from handoff_console.store.baselines import baseline_of
from handoff_console.store.db import open_reader
from handoff_console.store.experiment_forms import dataset_digest
from handoff_console.store.experiment_writing import TrialRef
from handoff_console.store.reader import digest_key
from handoff_console.store.trials import KnownTrial, known_trials


class SidePlan(NamedTuple):
    """What one side takes."""

    label: str
    calls: int
    """Trials to be run."""
    reused: int
    """Trials on record."""
    reserved_tokens: int
    """The most that they may use."""


@dataclass(frozen=True)
class Plan:
    """What a comparison takes, before anything is spent."""

    experiment: Experiment
    sides: tuple[Side, ...]
    refs: tuple[TrialRef, ...]
    known: Mapping[str, KnownTrial]
    by_side: tuple[SidePlan, ...]
    goes_on: bool = False
    """An earlier run of the same was stopped; this one goes on with it."""

    @property
    def calls(self) -> int:
        """Trials to be run; one that two sides share runs once."""
        return len(self.pending)

    @property
    def pending(self) -> list[str]:
        """The keys of the trials to be run, each once, in order."""
        return list(
            dict.fromkeys(ref.trial_key for ref in self.refs if not is_done(ref, self.known))
        )

    @property
    def reserved_tokens(self) -> int:
        """The most that the trials to be run may use."""
        return sum(one.reserved_tokens for one in self.by_side)


def plan(store_path: Path, asked: Asked) -> Plan:
    """Say what a comparison takes; nothing is written and nobody is asked.

    Raises:
        CommandError: Something of it does not exist, or nothing is left to compare.
        InputRefused: The data set cannot be read.
        FlowError: A version does not fit the flow, or there is no such model.
        OpenError: There is a store and it cannot be opened.
    """
    dataset = read_dataset(asked.dataset)
    loaded = flow_of(asked, dataset)
    if not store_path.exists():
        return planned(store_path, asked, dataset, loaded, None)
    with closing(open_reader(store_path)) as db:
        return planned(store_path, asked, dataset, loaded, db)


def planned(
    store_path: Path,
    asked: Asked,
    dataset: Dataset,
    loaded: LoadedFlow,
    db: sqlite3.Connection | None,
) -> Plan:
    """Return the plan, by what a store has on record; None where there is no store."""
    words = _words(asked, dataset, loaded, db)
    sides = tuple(
        side(loaded, word, asked.model, store_path, asked.prompts_folder) for word in words
    )
    _refuse_mixed_routers(sides)
    _refuse_unknown_agents(dataset.cases, sides)
    key = digest_key(db) if db is not None else b""
    cases = chosen_cases(dataset.cases, asked.tags, asked.only, db, loaded.flow.name, dataset.name)
    made = _experiment(asked, dataset, loaded, sides, cases)
    salt = made.experiment_id if asked.fresh else ""
    refs = tuple(trial_refs(made, sides, key, salt))
    known = known_trials(db, [ref.trial_key for ref in refs]) if db is not None else {}
    if asked.only == "changed":
        cases = changed_cases(cases, refs, known)
        made = _experiment(asked, dataset, loaded, sides, cases)
        refs = tuple(trial_refs(made, sides, key, salt))
    before = None
    if db is not None and not asked.fresh:
        before, refs = begun_before(db, made, sides, refs)
        if before is not None:
            made = replace(made, experiment_id=before.experiment_id, created_at=before.created_at)
            known = known_trials(db, [ref.trial_key for ref in refs])
    refs = tuple(ref._replace(reused=is_done(ref, known)) for ref in refs)
    by_side = tuple(_side_plans(sides, made, refs, known))
    return Plan(made, sides, refs, known, by_side, goes_on=before is not None)


def _words(
    asked: Asked, dataset: Dataset, loaded: LoadedFlow, db: sqlite3.Connection | None
) -> tuple[str, ...]:
    words = asked.sides
    if len(words) == 1:
        baseline = baseline_of(db, loaded.flow.name, dataset.name) if db is not None else None
        if baseline is None:
            raise CommandError(
                f"{words[0]!r} alone is compared with the baseline, and none is set for flow "
                f"{loaded.flow.name!r} and data set {dataset.name!r}; name two versions, or set "
                "one with `handoff baseline set`."
            )
        words = (baseline[1], *words)
    twice = [word for word, count in Counter(words).items() if count > 1]
    if twice:
        raise CommandError(f"{twice[0]!r} is named twice; name versions that differ.")
    return words


def _refuse_mixed_routers(sides: Sequence[Side]) -> None:
    for one in sides[1:]:
        if one.version.offline != sides[0].version.offline:
            raise CommandError(why_no_test(sides[0].version, one.version))


def _refuse_unknown_agents(cases: Iterable[RouteCase], sides: Sequence[Side]) -> None:
    known = {agent.name for one in sides for agent in one.flow.agents}
    unknown = {name: case for case in cases for name in case.wanted if name not in known}
    if unknown:
        name, case = next(iter(unknown.items()))
        raise CommandError(
            f"Case {case.case_id!r} expects {name!r}, which is no agent of flow "
            f"{sides[0].flow.name!r}; `handoff dataset check` lists all such cases."
        )


def _experiment(
    asked: Asked,
    dataset: Dataset,
    loaded: LoadedFlow,
    sides: Sequence[Side],
    cases: tuple[RouteCase, ...],
) -> Experiment:
    if not cases:
        raise CommandError(
            f"No case of {dataset.name!r} is left to compare; take --tags or --only away."
        )
    return Experiment(
        experiment_id=new_session_id(SystemClock()),
        flow=loaded.flow.name,
        flow_source=loaded.source,
        dataset=DatasetRef(dataset.name, dataset_digest(cases), len(cases), dataset.path),
        mode=asked.mode,
        trials_each=asked.trials,
        versions=tuple(one.version for one in sides),
        cases=cases,
        trials={},
        created_at=time.time(),
        settings=_settings(asked),
        command=asked.command,
    )


def _settings(asked: Asked) -> dict[str, Any]:
    return {
        "seed": asked.seed,
        "model": asked.model,
        "tags": list(asked.tags),
        "only": asked.only,
        "max_tokens": asked.max_tokens,
        **vars(asked.gate),
    }


def _side_plans(
    sides: Sequence[Side],
    experiment: Experiment,
    refs: Sequence[TrialRef],
    known: Mapping[str, KnownTrial],
) -> Iterable[SidePlan]:
    seen: set[str] = set()
    for number, one in enumerate(sides):
        own = [ref for ref in refs if ref.version == number]
        new = []
        for ref in own:
            if not is_done(ref, known) and ref.trial_key not in seen:
                new.append(ref)
                seen.add(ref.trial_key)
        reserved = sum(
            worst_case_tokens(one, experiment.cases[ref.place], experiment.mode) for ref in new
        )
        yield SidePlan(one.version.label, len(new), len(own) - len(new), reserved)
