"""The one function that says which side is better, and whether the gate lets it through.

The page, the terminal, the pull request and the exit status all read what it returns.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from handoff_console.runtime.counting import count
from handoff_console.store.analysis.comparison.gate import Gate
from handoff_console.store.analysis.comparison.judging import accuracy
from handoff_console.store.analysis.comparison.pairing import (
    Paired,
    difference_interval,
    p_of,
    why_no_test,
)
from handoff_console.store.analysis.comparison.result import (
    Direction,
    Interval,
    Outcome,
    Verdict,
)
from handoff_console.store.analysis.comparison.sentence import sentence
from handoff_console.store.analysis.comparison.wording import percent
from handoff_console.store.analysis.paired import Pairs, needed_cases
from handoff_console.store.analysis.plain_text import one_line

FEWEST_FLIPS = 0.05
"""A share of flips that is assumed at least, where a number of cases is named."""
WHY_LENGTH = 300
"""Of what a provider says about why a model could not be asked."""


def verdict(
    paired: Paired, gate: Gate, *, p_adjusted: float | None = None, seed: int = 0
) -> Verdict:
    """Say which side is better and what the gate makes of it.

    Args:
        paired: Both sides.
        gate: What B has to hold.
        p_adjusted: p after Holm, where there are several candidates.
        seed: Of the drawing that is needed where cases are paraphrases of one another.
    """
    pairs, p = paired.pairs, p_of(paired)
    critical = sum(
        a.case.critical and bool(a.is_right) and not b.is_right for a, b in paired.decided
    )
    if p is None:
        why = why_no_test(paired.a, paired.b) or "No case has a decision on both sides."
        return _untested(paired, gate, why)
    shown_p = p if p_adjusted is None else p_adjusted
    interval = difference_interval(paired, seed)
    direction = _direction(pairs, shown_p, gate.alpha)
    outcome, reasons = _judged(paired, gate, interval, shown_p, critical)
    needed = needed_cases(max(gate.max_drop_points, 1.0), max(pairs.flips, FEWEST_FLIPS))
    found = Verdict(
        outcome=outcome,
        direction=direction,
        sentence="",
        reasons=tuple(reasons),
        difference=interval,
        p=p,
        p_adjusted=shown_p,
        paired=pairs.total,
        improved=pairs.only_b,
        regressed=pairs.only_a,
        critical_regressed=critical,
        needed_cases=needed,
    )
    return replace(found, sentence=sentence(found, paired, gate))


def _direction(pairs: Pairs, p: float, alpha: float) -> Direction:
    if not pairs.only_a and not pairs.only_b:
        return Direction.NO_DIFFERENCE
    if p >= alpha:
        return Direction.UNCLEAR
    return Direction.BETTER if pairs.only_b > pairs.only_a else Direction.WORSE


def _judged(
    paired: Paired, gate: Gate, interval: Interval, p: float, critical: int
) -> tuple[Outcome, list[str]]:
    drop = gate.max_drop_points
    failures = _failures(paired, gate, interval, p, critical)
    if failures:
        return Outcome.FAIL, failures
    if paired.undecided > gate.max_errors:
        return Outcome.INCOMPLETE, [_incomplete(paired, gate)]
    if interval.low >= -drop:
        if interval.points < 0 and p < gate.alpha:
            return Outcome.PASS, [f"It is worse, but by less than the {drop:g} points allowed."]
        return Outcome.PASS, []
    return Outcome.INCONCLUSIVE, [
        f"A drop of {drop:g} points cannot be ruled out: it may be {-interval.low:.1f}."
    ]


def _failures(paired: Paired, gate: Gate, interval: Interval, p: float, critical: int) -> list[str]:
    drop, found = gate.max_drop_points, []
    if interval.high < -drop:
        found.append(f"The drop is more than the {drop:g} points allowed, for sure.")
    elif interval.points < 0 and p < gate.alpha and interval.low < -drop:
        found.append(f"It is worse, and by more than {drop:g} points for all we know.")
    if gate.no_critical_regressions and critical:
        cases = "1 critical case has" if critical == 1 else f"{critical:,} critical cases have"
        found.append(f"{cases} regressed.")
    share = accuracy(paired.cases_b).share
    if gate.min_accuracy is not None and share is not None and share < gate.min_accuracy:
        found.append(
            f"{paired.b.label} gets {percent(share)} right; {percent(gate.min_accuracy)} are "
            "asked for."
        )
    return found


def _untested(paired: Paired, gate: Gate, why: str) -> Verdict:
    outcome, reasons = Outcome.NO_TEST, [why]
    if not paired.decided and paired.undecided > gate.max_errors:
        outcome, reasons = Outcome.INCOMPLETE, [why, _incomplete(paired, gate)]
    return Verdict(
        outcome=outcome,
        direction=Direction.UNCLEAR,
        sentence=why,
        reasons=tuple(reasons),
        difference=None,
        p=None,
        p_adjusted=None,
        paired=len(paired.decided),
        improved=0,
        regressed=0,
        critical_regressed=0,
        needed_cases=None,
    )


def _incomplete(paired: Paired, gate: Gate) -> str:
    problems = Counter(
        problem for case in (*paired.cases_a, *paired.cases_b) for problem in case.problems
    )
    failed = problems.total()
    asked = f" ({failed:,} because the model could not be asked)" if failed else ""
    said = (
        f"{undecided_words(paired)}{asked}; at most {gate.max_errors:,} may. What is missing never "
        "passes."
    )
    if not failed:
        return said
    ((why, times),) = problems.most_common(1)
    how_often = "" if times == failed else f" in {times:,} of them"
    return f"{said} Why it could not be asked{how_often}: {one_line(why, WHY_LENGTH)}"


def undecided_words(paired: Paired) -> str:
    """Return how many cases have no decision, as the beginning of a sentence."""
    of_all = f"of {count(len(paired.cases_a), 'case')}"
    have = count(paired.undecided, f"{of_all} has", f"{of_all} have")
    return f"{have} no decision on a side"


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return what several candidates come to together: the one that asks for most attention."""
    order = [
        Outcome.FAIL,
        Outcome.INCOMPLETE,
        Outcome.NO_TEST,
        Outcome.INCONCLUSIVE,
        Outcome.PASS,
    ]
    return min(outcomes, key=order.index, default=Outcome.INCOMPLETE)
