"""What each version of an experiment came to, for figures over several experiments."""

from handoff_console.store.analysis.comparison.judging import accuracy, side
from handoff_console.store.analysis.comparison.result import TrendPoint
from handoff_console.store.analysis.comparison.trials import Experiment
from handoff_console.store.analysis.quantiles import median_of


def trend_points(experiment: Experiment) -> tuple[TrendPoint, ...]:
    """Return a point for each version, in their order; which baseline was set is not known here.

    Tokens are of the first trial of each case that has a decision, as in the figures of a
    comparison.
    """
    points = []
    for version in experiment.versions:
        cases = side(experiment, version.label)
        firsts = [case.first for case in cases if case.first]
        points.append(
            TrendPoint(
                experiment.experiment_id,
                experiment.created_at,
                version.label,
                version.version_hash,
                version.model,
                accuracy(cases),
                offline=version.offline,
                tokens=median_of([float(trial.tokens) for trial in firsts]),
                tokens_estimated=any(trial.tokens_estimated for trial in firsts),
            )
        )
    return tuple(points)
