"""Handing to nobody, apart from accuracy: how often rightly, and what a threshold would change."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from handoff_console.store.analysis.comparison.cases import Expect
from handoff_console.store.analysis.comparison.judging import CaseTrials, is_right
from handoff_console.store.analysis.comparison.result import Abstention, ThresholdPoint
from handoff_console.store.analysis.comparison.trials import Decided
from handoff_console.store.analysis.proportions import proportion

MOST_POINTS = 60
"""Of a threshold curve."""


def abstention(cases: Sequence[CaseTrials]) -> Abstention:
    """Return how a side deals with requests that nobody is for.

    Cases to be answered without a handoff count for neither kind.
    """
    known = [case for case in cases if case.first and case.case.expect is not Expect.DIRECT]
    nobody = [case for case in known if case.case.expect is Expect.ABSTAIN]
    somebody = [case for case in known if case.case.expect is Expect.ROUTE]
    kept = [case for case in known if was_kept(case)]
    routed = [case for case in somebody if not was_kept(case)]
    return Abstention(
        recall=proportion(sum(map(was_kept, nobody)), len(nobody)),
        precision=proportion(sum(case.case.expect is Expect.ABSTAIN for case in kept), len(kept)),
        false_abstain=proportion(sum(map(was_kept, somebody)), len(somebody)),
        accuracy_when_routed=proportion(sum(bool(case.is_right) for case in routed), len(routed)),
        auroc=_auroc([_best(case) for case in somebody], [_best(case) for case in nobody]),
    )


def thresholds(cases: Sequence[CaseTrials]) -> tuple[ThresholdPoint, ...]:
    """Return what each threshold would do, from none upwards; nothing for routers without scores.

    Ties stay with nobody, as they do when it runs.
    """
    scored = [case for case in cases if case.first and case.case.expect is not Expect.DIRECT]
    if not any(case.first and case.first.scores for case in scored):
        return ()
    somebody, right, nobody = _Scores(), _Scores(), _Scores()
    for case in scored:
        score = _clear(case)
        if case.case.expect is Expect.ABSTAIN:
            nobody.take(score)
            continue
        somebody.take(score)
        if is_right(case.case, Decided.AGENTS, (_top(case),)):
            right.take(score)
    levels = sorted({round(score, 2) for score in (*somebody.passing, *nobody.passing)})
    step = max(1, -(-len(levels) // MOST_POINTS))
    for scores in (somebody, right, nobody):
        scores.passing.sort()
    return tuple(_at(level, somebody, right, nobody) for level in (0.0, *levels[::step]))


class _Scores:
    """The best scores of some cases; 0 is none."""

    def __init__(self) -> None:
        self.total = 0
        self.passing: list[float] = []

    def take(self, score: float) -> None:
        self.total += 1
        if score > 0:
            self.passing.append(score)

    def at_least(self, level: float) -> int:
        return len(self.passing) - bisect_left(self.passing, level)


def _at(level: float, somebody: _Scores, right: _Scores, nobody: _Scores) -> ThresholdPoint:
    routed = somebody.at_least(level)
    return ThresholdPoint(
        level,
        proportion(routed, somebody.total),
        proportion(right.at_least(level), routed),
        proportion(nobody.total - nobody.at_least(level), nobody.total),
    )


def was_kept(case: CaseTrials) -> bool:
    """Say whether a case was handed to nobody; one without a decision was not."""
    return case.first is not None and case.first.decided in (
        Decided.ABSTAIN,
        Decided.NONE,
        Decided.DIRECT,
    )


def _clear(case: CaseTrials) -> float:
    """Return the best score, 0 where two are equally good."""
    scores = case.first.scores if case.first else ()
    if len(scores) > 1 and scores[0].score == scores[1].score:
        return 0.0
    return scores[0].score if scores else 0.0


def _top(case: CaseTrials) -> str:
    return case.first.scores[0].agent if case.first and case.first.scores else ""


def _best(case: CaseTrials) -> float | None:
    scores = case.first.scores if case.first else ()
    return scores[0].score if scores else None


def _auroc(somebody: Sequence[float | None], nobody: Sequence[float | None]) -> float | None:
    """Return how often a request for somebody scores higher than one for nobody; ties are half."""
    high = [score for score in somebody if score is not None]
    low = sorted(score for score in nobody if score is not None)
    if not high or not low:
        return None
    below = sum(bisect_left(low, score) + bisect_right(low, score) for score in high)
    return below / (2 * len(high) * len(low))
