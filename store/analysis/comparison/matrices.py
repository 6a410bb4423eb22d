"""Where requests went: expected × first decision, and how well each agent is found."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from handoff_console.store.analysis.comparison.cases import Expect
from handoff_console.store.analysis.comparison.judging import CaseTrials
from handoff_console.store.analysis.comparison.result import AgentFigures, Matrix
from handoff_console.store.analysis.comparison.trials import Decided
from handoff_console.store.analysis.paired import holm, mcnemar, pairs_of
from handoff_console.store.analysis.proportions import Proportion, proportion

SEVERAL = "several"
"""The column of first decisions that name more than one agent."""
_STAYED = (Decided.DIRECT, Decided.ABSTAIN, Decided.NONE, Decided.VERBAL, Decided.INVALID)


def matrices(a: Sequence[CaseTrials], b: Sequence[CaseTrials]) -> tuple[Matrix, Matrix, Matrix]:
    """Return the matrices of both sides and B − A, with the same rows and columns.

    Each case counts once, by its first trial; rows and columns that nobody is in are left out,
    agents always stand.
    """
    counts_a, counts_b = _counts(a), _counts(b)
    rows = _ordered({row for row, _ in (*counts_a, *counts_b)}, a)
    columns = _ordered({column for _, column in (*counts_a, *counts_b)}, a)
    made = [
        tuple(tuple(counts[row, column] for column in columns) for row in rows)
        for counts in (counts_a, counts_b)
    ]
    difference = tuple(
        tuple(y - x for x, y in zip(left, right, strict=True))
        for left, right in zip(*made, strict=True)
    )
    return (
        Matrix(rows, columns, made[0]),
        Matrix(rows, columns, made[1]),
        Matrix(rows, columns, difference),
    )


def row_of(case: CaseTrials) -> str:
    """Return the row a case stands in: its label."""
    return case.case.label


def column_of(case: CaseTrials) -> str:
    """Return the column its first decision stands in; empty without a decision."""
    trial = case.first
    if trial is None or trial.decided is None:
        return ""
    if trial.decided is not Decided.AGENTS:
        return trial.decided.value
    return trial.agents[0] if len(trial.agents) == 1 else SEVERAL


def _counts(cases: Sequence[CaseTrials]) -> Counter[tuple[str, str]]:
    return Counter((row_of(case), column_of(case)) for case in cases if case.first)


def _ordered(names: set[str], cases: Sequence[CaseTrials]) -> tuple[str, ...]:
    """Return agents by name, then several of them, then what is no agent."""
    single = {name for case in cases for name in case.case.wanted}
    joined = {case.case.label for case in cases if len(case.case.wanted) > 1}
    last = [SEVERAL, *(decided.value for decided in _STAYED)]
    agents = sorted((names | single) - joined - set(last) if names - joined else single)
    return (*agents, *sorted(joined & names), *(name for name in last if name in names))


def agent_figures(a: Sequence[CaseTrials], b: Sequence[CaseTrials]) -> tuple[AgentFigures, ...]:
    """Return how well each agent is found on both sides, by name; p after Holm over all of them."""
    both = [(x, y) for x, y in zip(a, b, strict=True) if x.first and y.first]
    left, right = [x for x, _ in both], [y for _, y in both]
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for x, y in both:
        for name in dict.fromkeys(x.case.wanted):
            found[name].append((name in _asked(x), name in _asked(y)))
    precision_a, precision_b = _precisions(left), _precisions(right)
    names = sorted({*found, *precision_a, *precision_b})
    sides = [([x for x, _ in found[name]], [y for _, y in found[name]]) for name in names]
    values = [mcnemar(pairs_of(x, y)) for x, y in sides]
    return tuple(
        AgentFigures(
            name,
            proportion(sum(x), len(x)),
            proportion(sum(y), len(y)),
            precision_a.get(name, proportion(0, 0)),
            precision_b.get(name, proportion(0, 0)),
            p,
            adjusted,
        )
        for name, (x, y), p, adjusted in zip(names, sides, values, holm(values), strict=True)
    )


def _precisions(cases: Sequence[CaseTrials]) -> dict[str, Proportion]:
    """Return of those that each agent got, by name, the share that it should have got."""
    got: dict[str, list[bool]] = defaultdict(list)
    for case in cases:
        for name in dict.fromkeys(_asked(case)):
            got[name].append(case.case.expect is Expect.ROUTE and name in case.case.wanted)
    return {name: proportion(sum(right), len(right)) for name, right in got.items()}


def _asked(case: CaseTrials) -> tuple[str, ...]:
    trial = case.first
    return trial.agents if trial and trial.decided is Decided.AGENTS else ()
