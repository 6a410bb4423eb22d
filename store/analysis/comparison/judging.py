"""Whether a decision is what a case expects; and cases on both sides, one verdict a case."""

from collections.abc import Sequence
from dataclasses import dataclass

from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.analysis.comparison.trials import (
    Decided,
    Experiment,
    Trial,
    TrialStatus,
)
from handoff_console.store.analysis.proportions import Proportion, proportion


def is_right(case: RouteCase, decided: Decided, agents: Sequence[str]) -> bool:
    """Say whether a first decision is what the case expects.

    Of several agents that are all needed, exactly these; of several that will do, one of them.
    Who asked for somebody else besides is wrong: somebody worked in vain.
    """
    if case.expect is Expect.DIRECT:
        return decided is Decided.DIRECT
    if case.expect is Expect.ABSTAIN:
        return decided is Decided.ABSTAIN
    if decided is not Decided.AGENTS:
        return False
    if case.expected_all:
        return set(agents) == set(case.expected_all)
    return len(agents) == 1 and agents[0] in case.expected


def stayed(case: RouteCase, *, knows: bool, announced: bool) -> Decided:
    """Return what a first reply without a handoff is.

    Args:
        case: What was expected.
        knows: The agent answered; False: it said that it does not know whom to ask.
        announced: It said in words that it hands over.
    """
    if announced:
        return Decided.VERBAL
    if case.expect is Expect.DIRECT:
        return Decided.DIRECT
    if case.expect is Expect.ABSTAIN or not knows:
        return Decided.ABSTAIN
    return Decided.NONE


@dataclass(frozen=True)
class CaseTrials:
    """All trials of one case on one side."""

    case: RouteCase
    trials: tuple[Trial, ...]
    """Those with a decision."""
    failed: int
    """Those without, because the model could not be asked."""
    missing: int
    problems: tuple[str, ...] = ()
    """Why the model could not be asked, of each that failed."""

    @property
    def right_share(self) -> float | None:
        """Share of its trials that were right; None without a decision."""
        if len(self.trials) == 1:
            return float(bool(self.trials[0].right))
        decided = [trial.right for trial in self.trials]
        return sum(map(bool, decided)) / len(decided) if decided else None

    @property
    def is_right(self) -> bool | None:
        """Whether more than half of its trials were right: the case is the unit, not the trial."""
        share = self.right_share
        return None if share is None else share > 0.5

    @property
    def first(self) -> Trial | None:
        """Its first trial with a decision."""
        return self.trials[0] if self.trials else None

    @property
    def is_flaky(self) -> bool:
        """Its trials disagree."""
        if len(self.trials) < 2:
            return False
        return len({(trial.decided, trial.agents) for trial in self.trials}) > 1


def side(experiment: Experiment, label: str) -> tuple[CaseTrials, ...]:
    """Return every case of an experiment with its trials of one version, in order."""
    by_case: dict[str, list[Trial]] = {case.case_id: [] for case in experiment.cases}
    for trial in experiment.trials.get(label, ()):
        by_case.setdefault(trial.case_id, []).append(trial)
    return tuple(_case_trials(case, by_case[case.case_id]) for case in experiment.cases)


def _case_trials(case: RouteCase, trials: Sequence[Trial]) -> CaseTrials:
    done = tuple(trial for trial in trials if trial.status is TrialStatus.DONE)
    if trials and len(done) == len(trials):
        return CaseTrials(case, done, 0, 0)
    problems = tuple(trial.problem for trial in trials if trial.status is TrialStatus.ERROR)
    missing = len(trials) - len(done) - len(problems) or int(not trials)
    return CaseTrials(case, done, len(problems), missing, problems)


def accuracy(cases: Sequence[CaseTrials]) -> Proportion:
    """Return the share of cases that were right, of those with a decision."""
    decided = [case.is_right for case in cases if case.is_right is not None]
    return proportion(sum(decided), len(decided))
