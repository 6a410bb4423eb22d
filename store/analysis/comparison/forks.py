"""Messages that ask for several things, and how repeatable decisions are."""

from collections.abc import Sequence
from math import comb

from handoff_console.store.analysis.comparison.judging import CaseTrials
from handoff_console.store.analysis.comparison.result import ForkFigures, Stability
from handoff_console.store.analysis.comparison.trials import Decided
from handoff_console.store.analysis.proportions import proportion


def fork_figures(cases: Sequence[CaseTrials]) -> ForkFigures:
    """Return how many of the wanted agents were reached where a message needs several.

    Over-forking is of all cases that want somebody: it costs tokens in single ones just as well.
    """
    decided = [case for case in cases if case.first]
    several = [case for case in decided if case.case.expected_all]
    wanting = [case for case in decided if case.case.wanted]
    shares = [len(_asked(case) & set(case.case.wanted)) / len(case.case.wanted) for case in several]
    return ForkFigures(
        coverage=sum(shares) / len(shares) if shares else None,
        exact=proportion(
            sum(_asked(case) == set(case.case.wanted) for case in several), len(several)
        ),
        over_forked=proportion(sum(_asks_too_many(case) for case in wanting), len(wanting)),
    )


def stability(cases: Sequence[CaseTrials], trials_each: int, *, deterministic: bool) -> Stability:
    """Return how often all of several trials of a case are right, and how often they disagree.

    Args:
        cases: One side.
        trials_each: How many trials were asked for.
        deterministic: By its nature one trial says what any number would.
    """
    repeated = [case for case in cases if case.trials]
    runs = min((len(case.trials) for case in repeated), default=0)
    pass_1 = _pass_k(repeated, 1) if repeated else None
    return Stability(
        trials=1 if deterministic else max(runs, min(trials_each, 1)),
        pass_1=pass_1,
        pass_k=pass_1 if deterministic or runs < 2 else _pass_k(repeated, runs),
        flaky=proportion(sum(case.is_flaky for case in repeated), len(repeated)),
        deterministic=deterministic,
    )


def _pass_k(cases: Sequence[CaseTrials], k: int) -> float:
    """Return the mean chance that k trials drawn from those of a case are all right."""
    shares = []
    for case in cases:
        right = sum(bool(trial.right) for trial in case.trials)
        shares.append(comb(right, k) / comb(len(case.trials), k))
    return sum(shares) / len(shares)


def _asked(case: CaseTrials) -> set[str]:
    trial = case.first
    return set(trial.agents) if trial and trial.decided is Decided.AGENTS else set()


def _asks_too_many(case: CaseTrials) -> bool:
    asked, wanted = _asked(case), set(case.case.wanted)
    most = len(wanted) if case.case.expected_all else 1
    return len(asked) > most
