"""The ledger of experiments, read: what was compared, and what each of its trials came to."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.trials import (
    DatasetRef,
    Experiment,
    Trial,
    Version,
)
from handoff_console.store.errors import ExperimentUnknown
from handoff_console.store.experiment_forms import (
    read_agents,
    read_cases,
    read_outcome,
    trial_of,
)


class ExperimentLine(NamedTuple):
    """One experiment, for a list."""

    experiment_id: str
    flow: str
    dataset: DatasetRef
    mode: str
    labels: tuple[str, ...]
    """Of its versions, the baseline first."""
    models: tuple[str, ...]
    """Who routed, in the order of the labels."""
    created_at: float
    """Seconds since 1970 (UTC)."""
    finished_at: float | None


class ExperimentProgress(NamedTuple):
    """How far an experiment has come: trials by what became of them."""

    total: int
    done: int
    """By it or before it."""
    reused: int
    """Of these, those that were run for an earlier experiment."""
    errors: int
    running: int
    """Started and not ended; of a process that is gone, lost."""
    tokens: int
    """Used by its own trials; one that two versions share counts once."""
    finished: bool

    @property
    def left(self) -> int:
        """Trials that have not been tried."""
        return self.total - self.done - self.errors


def experiments(
    db: sqlite3.Connection, *, flow: str = "", limit: int | None = None
) -> list[ExperimentLine]:
    """Return the experiments, the newest first; of one flow alone where one is named."""
    rows = db.execute(
        f"{_LINES} where :flow in ('', e.flow) order by e.experiment desc limit :limit",
        {"flow": flow, "limit": -1 if limit is None else limit},
    )
    return [_line(row) for row in rows]


def resolve_experiment(db: sqlite3.Connection, asked: str) -> str:
    """Return the full id of the one experiment whose id begins or ends with `asked`.

    An empty text means the newest.

    Raises:
        ExperimentUnknown: There is none, or several.
    """
    found = [
        str(row[0])
        for row in db.execute(
            "select experiment_id from experiments where substr(experiment_id, 1, length(:asked))"
            " = :asked or substr(experiment_id, -length(:asked)) = :asked"
            " order by experiment desc",
            {"asked": asked},
        )
    ]
    if asked in found or (found and (not asked or len(found) == 1)):
        return asked if asked in found else found[0]
    raise ExperimentUnknown(asked, found)


def experiment_line(db: sqlite3.Connection, experiment_id: str) -> ExperimentLine:
    """Return one experiment as it stands in a list.

    Raises:
        ExperimentUnknown: There is none of this id.
    """
    row = db.execute(f"{_LINES} where e.experiment_id = ?", (experiment_id,)).fetchone()
    if row is None:
        raise ExperimentUnknown(experiment_id, [])
    return _line(row)


def load_experiment(db: sqlite3.Connection, experiment_id: str) -> Experiment:
    """Return an experiment with all its trials; those that did not run are `missing`.

    Raises:
        ExperimentUnknown: There is none of this id.
    """
    row = db.execute(f"{_LINES} where e.experiment_id = ?", (experiment_id,)).fetchone()
    if row is None:
        raise ExperimentUnknown(experiment_id, [])
    line, number = _line(row), row[-1]
    source, each, versions, settings, command, content = db.execute(
        "select flow_source, trials_each, versions, settings, command, content"
        " from experiments e join datasets d on d.digest = e.dataset where experiment = ?",
        (number,),
    ).fetchone()
    cases = read_cases(content)
    loaded = tuple(_version(db, fields) for fields in json.loads(versions))
    return Experiment(
        experiment_id=experiment_id,
        flow=line.flow,
        flow_source=source,
        dataset=line.dataset,
        mode=line.mode,
        trials_each=each,
        versions=loaded,
        cases=cases,
        trials=_trials(db, number, loaded, cases),
        created_at=line.created_at,
        finished_at=line.finished_at,
        settings=json.loads(settings),
        command=command,
    )


def experiment_progress(db: sqlite3.Connection, experiment_id: str) -> ExperimentProgress:
    """Return how far an experiment has come; cheap enough to be asked twice a second.

    Raises:
        ExperimentUnknown: There is none of this id.
    """
    row = db.execute(
        """
        select count(*), coalesce(sum(t.state = 'done'), 0),
               coalesce(sum(t.state = 'done' and r.reused), 0),
               coalesce(sum(t.state = 'error'), 0), coalesce(sum(t.state = 'started'), 0),
               (select coalesce(sum(outcome ->> 'tokens'), 0) from trials where trial_key in (
                   select trial_key from experiment_trials own
                   where own.experiment = e.experiment and not own.reused)),
               e.finished_at_us is not null
        from experiments e left join experiment_trials r on r.experiment = e.experiment
        left join trials t on t.trial_key = r.trial_key
        where e.experiment_id = ? group by e.experiment
        """,
        (experiment_id,),
    ).fetchone()
    if row is None:
        raise ExperimentUnknown(experiment_id, [])
    total, done, reused, errors, running, tokens, finished = row
    return ExperimentProgress(total, done, reused, errors, running, tokens, bool(finished))


_LINES = """
    select e.experiment_id, e.flow, d.name, e.dataset, e.mode, e.versions, e.created_at_us,
           e.finished_at_us, e.dataset_path,
           length(d.content) - length(replace(d.content, char(10), '')) + 1, e.experiment
    from experiments e join datasets d on d.digest = e.dataset
"""


def last_trial_us(db: sqlite3.Connection) -> int:
    """Return when any trial ended last, in microseconds since 1970; 0 without any."""
    return int(db.execute("select coalesce(max(ended_at_us), 0) from trials").fetchone()[0])


def last_change_us(db: sqlite3.Connection, experiment_id: str) -> int:
    """Return when an experiment may have changed last, in microseconds since 1970.

    That is when it ended, or one of its trials did: a trial belongs to all experiments that need
    it, and one that failed may be run again by another.

    Raises:
        ExperimentUnknown: There is none of this id.
    """
    row = db.execute(
        "select experiment, coalesce(finished_at_us, 0) from experiments where experiment_id = ?",
        (experiment_id,),
    ).fetchone()
    if row is None:
        raise ExperimentUnknown(experiment_id, [])
    number, finished_us = int(row[0]), int(row[1])
    if last_trial_us(db) <= finished_us:  # looking up its own takes ten times as long
        return finished_us
    own = db.execute(
        "select coalesce(max(ended_at_us), 0) from trials where trial_key in ("
        "select trial_key from experiment_trials where experiment = ?)",
        (number,),
    ).fetchone()
    return max(finished_us, int(own[0]))


def _line(row: Sequence[object]) -> ExperimentLine:
    (experiment_id, flow, name, digest, mode, versions, created_us, finished_us, path, cases, _) = (
        row
    )
    fields = json.loads(str(versions))
    # Equal cases are kept once, under the name of the file that had them first.
    own_name = PurePath(str(path)).stem or str(name)
    return ExperimentLine(
        str(experiment_id),
        str(flow),
        DatasetRef(own_name, str(digest), int(str(cases)), str(path)),
        str(mode),
        tuple(version["label"] for version in fields),
        tuple(version["model"] for version in fields),
        int(str(created_us)) / 1e6,
        None if finished_us is None else int(str(finished_us)) / 1e6,
    )


def _version(db: sqlite3.Connection, fields: Mapping[str, object]) -> Version:
    (content,) = db.execute(
        "select content from prompt_versions where version_hash = ?", (fields["version_hash"],)
    ).fetchone()
    return Version(agents=read_agents(content), **fields)  # type: ignore[arg-type]


def _trials(
    db: sqlite3.Connection, number: int, versions: Sequence[Version], cases: Sequence[RouteCase]
) -> dict[str, tuple[Trial, ...]]:
    found: list[list[Trial]] = [[] for _ in versions]
    rows = db.execute(
        "select r.version, r.place, r.number, r.reused, t.state, t.outcome, t.ended_at_us"
        " from experiment_trials r left join trials t on t.trial_key = r.trial_key"
        " where r.experiment = ? order by r.version, r.place, r.number",
        (number,),
    )
    for version, place, count, reused, state, outcome, ended_us in rows:
        found[version].append(
            trial_of(
                cases[place],
                count,
                state or "",
                read_outcome(outcome),
                ran_at=(ended_us or 0) / 1e6,
                reused=bool(reused),
            )
        )
    return {version.label: tuple(trials) for version, trials in zip(versions, found, strict=True)}
