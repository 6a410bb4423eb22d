"""The figures of both sides, the ones that matter first."""

from collections.abc import Callable, Sequence
from statistics import fmean, median

from handoff_console.store.analysis.comparison.abstaining import abstention, was_kept
from handoff_console.store.analysis.comparison.cases import Expect
from handoff_console.store.analysis.comparison.forks import fork_figures, stability
from handoff_console.store.analysis.comparison.judging import CaseTrials, accuracy
from handoff_console.store.analysis.comparison.pairing import Paired
from handoff_console.store.analysis.comparison.result import Interval, Tile
from handoff_console.store.analysis.comparison.trials import SessionFigures, Trial
from handoff_console.store.analysis.paired import paired_interval, pairs_of
from handoff_console.store.analysis.proportions import Proportion, proportion
from handoff_console.store.analysis.quantiles import quantile
from handoff_console.store.analysis.resampling import median_interval

Cases = Sequence[CaseTrials]


def tiles(
    paired: Paired, interval: Interval | None, *, mode: str, trials_each: int, seed: int = 0
) -> tuple[Tile, ...]:
    """Return every figure there is of both sides; what was not measured is left out.

    Args:
        paired: Both sides.
        interval: Of the difference in accuracy, where it was tested.
        mode: `route` or `full`: whole sessions have more to show.
        trials_each: How often each case was to be run.
        seed: Of the drawing behind intervals of medians.
    """
    sides = (paired.cases_a, paired.cases_b)
    found = [_shares("accuracy", "Right first time", sides, accuracy, interval)]
    if mode == "full":
        found += [_observed(sides)]
    found += _abstaining(sides)
    found += [_median("tokens", "Tokens a case", "tokens", sides, _tokens, seed)]
    found += [_completeness(sides)]
    if mode == "full":
        found += _of_sessions(sides, seed)
    found += [*_forks(sides), *_stable(paired, sides, trials_each), *_gaps(sides)]
    return tuple(tile for tile in found if tile is not None)


def _shares(
    key: str,
    name: str,
    sides: tuple[Cases, Cases],
    share: Callable[[Cases], Proportion],
    interval: Interval | None = None,
    *,
    higher_is_better: bool = True,
) -> Tile | None:
    a, b = share(sides[0]), share(sides[1])
    if not a.total and not b.total:
        return None
    cases = "1 case" if a.total == 1 else f"{a.total:,} cases"
    note = f"of {cases}" if a.total == b.total else f"of {a.total:,} and {b.total:,}"
    return Tile(key, name, a.share, b.share, "share", higher_is_better, interval, a, b, note)


def _abstaining(sides: tuple[Cases, Cases]) -> list[Tile | None]:
    found = {id(cases): abstention(cases) for cases in sides}
    return [
        _shares(
            "abstain_recall",
            "Held back what nobody is for",
            sides,
            lambda cases: found[id(cases)].recall,
            _kept_interval(sides, Expect.ABSTAIN),
        ),
        _shares(
            "false_abstain",
            "Held back what somebody is for",
            sides,
            lambda cases: found[id(cases)].false_abstain,
            _kept_interval(sides, Expect.ROUTE),
            higher_is_better=False,
        ),
    ]


def _kept_interval(sides: tuple[Cases, Cases], expect: Expect) -> Interval | None:
    both = [
        (was_kept(a), was_kept(b))
        for a, b in zip(*sides, strict=True)
        if a.case.expect is expect and a.first and b.first
    ]
    return _paired_difference(both)


def _paired_difference(both: Sequence[tuple[bool, bool]]) -> Interval | None:
    """Return B − A in points over cases that both sides have; None of no cases."""
    if not both:
        return None
    pairs = pairs_of([a for a, _ in both], [b for _, b in both])
    low, high = paired_interval(pairs)
    return Interval(100 * pairs.difference, 100 * low, 100 * high)


def _observed(sides: tuple[Cases, Cases]) -> Tile | None:
    """First-pass accuracy as sessions show it, without looking at labels."""

    def share(cases: Cases) -> Proportion:
        seen = [f.first_pass for f in _figures(cases) if f.first_pass is not None]
        return proportion(sum(seen), len(seen))

    both = [
        (a.first.figures.first_pass, b.first.figures.first_pass)
        for a, b in zip(*sides, strict=True)
        if a.first and b.first and a.first.figures and b.first.figures
    ]
    decided = [(bool(x), bool(y)) for x, y in both if x is not None and y is not None]
    return _shares("observed", "Never handed on", sides, share, _paired_difference(decided))


def _of_sessions(sides: tuple[Cases, Cases], seed: int) -> list[Tile | None]:
    def transition(trial: Trial) -> float | None:
        seconds = trial.figures.transition_seconds if trial.figures else ()
        return seconds[0] if seconds else None

    return [
        _mean("handoffs", "Handoffs a session", "handoffs", sides, lambda f: float(f.handoffs)),
        _shares("churn", "Handoffs put right later", sides, _churn, higher_is_better=False),
        _shares("asked_again", "Asked for what they knew", sides, _asked, higher_is_better=False),
        _mean(
            "misroute_tokens",
            "Tokens lost to detours",
            "tokens",
            sides,
            lambda f: float(f.misroute_tokens),
        ),
        _median(
            "transition_p50", "Until the next agent speaks", "seconds", sides, transition, seed
        ),
        _quantile_tile("transition_p95", "Slowest twentieth of that", sides, transition),
    ]


def _churn(cases: Cases) -> Proportion:
    figures = _figures(cases)
    return proportion(sum(f.corrective for f in figures), sum(f.handoffs for f in figures))


def _asked(cases: Cases) -> Proportion:
    figures = _figures(cases)
    return proportion(sum(f.asked_again for f in figures), sum(f.handoffs for f in figures))


def _completeness(sides: tuple[Cases, Cases]) -> Tile | None:
    """Values that went along, of those required: by the case where it says, else by the flow."""
    known = [
        [it.first.completeness for it in cases if it.first and it.first.completeness is not None]
        for cases in sides
    ]
    a, b = (fmean(values) if values else None for values in known)
    if a is None and b is None:
        return None
    counted = dict.fromkeys(len(values) for values in known)  # of A, then of B
    note = f"mean of {' and '.join(f'{count:,}' for count in counted)} cases"
    return Tile("completeness", "Values that went along", a, b, "share", True, note=note)


def _mean(
    key: str,
    name: str,
    unit: str,
    sides: tuple[Cases, Cases],
    value: Callable[[SessionFigures], float],
) -> Tile | None:
    known = [[value(figures) for figures in _figures(cases)] for cases in sides]
    a, b = (fmean(values) if values else None for values in known)
    return None if a is None and b is None else Tile(key, name, a, b, unit, False, note="mean")


def _median(
    key: str,
    name: str,
    unit: str,
    sides: tuple[Cases, Cases],
    value: Callable[[Trial], float | None],
    seed: int,
) -> Tile | None:
    pairs = [
        (x, y)
        for a, b in zip(*sides, strict=True)
        if a.first and b.first
        if (x := value(a.first)) is not None and (y := value(b.first)) is not None
    ]
    if not pairs:
        return None
    left, right = [x for x, _ in pairs], [y for _, y in pairs]
    mid_a, mid_b = median(left), median(right)
    low, high = (0.0, 0.0) if left == right else median_interval(left, right, seed=seed) or (0, 0)
    estimated = any(c.first.tokens_estimated for s in sides for c in s if c.first)
    note = "median, estimated" if unit == "tokens" and estimated else "median"
    return Tile(key, name, mid_a, mid_b, unit, False, Interval(mid_b - mid_a, low, high), note=note)


def _quantile_tile(
    key: str,
    name: str,
    sides: tuple[Cases, Cases],
    value: Callable[[Trial], float | None],
) -> Tile | None:
    found: list[float | None] = []
    for cases in sides:
        values = sorted(x for case in cases if case.first and (x := value(case.first)) is not None)
        found.append(quantile(values, 0.95) if values else None)
    if found == [None, None]:
        return None
    return Tile(key, name, found[0], found[1], "seconds", False, note="95th percentile")


def _forks(sides: tuple[Cases, Cases]) -> list[Tile]:
    a, b = (fork_figures(cases).coverage for cases in sides)
    if a is None and b is None:
        return []
    count = sum(bool(case.case.expected_all) for case in sides[0])
    note = f"of {count:,} messages with several requests"
    return [Tile("fork_coverage", "Several requests reached", a, b, "share", True, note=note)]


def _stable(paired: Paired, sides: tuple[Cases, Cases], trials_each: int) -> list[Tile]:
    if trials_each < 2 or (paired.a.offline and paired.b.offline):
        return []
    a, b = (stability(cases, trials_each, deterministic=False) for cases in sides)
    name = f"Right {trials_each} times out of {trials_each}"
    return [Tile("pass_k", name, a.pass_k, b.pass_k, "share", True)]


def _gaps(sides: tuple[Cases, Cases]) -> list[Tile]:
    errors = [float(sum(bool(case.failed) for case in cases)) for cases in sides]
    missing = [float(sum(bool(case.missing) for case in cases)) for cases in sides]
    return [
        Tile("errors", "Could not be asked", errors[0], errors[1], "cases", False),
        Tile("missing", "Did not run", missing[0], missing[1], "cases", False),
    ]


def _tokens(trial: Trial) -> float | None:
    return float(trial.tokens)


def _figures(cases: Cases) -> list[SessionFigures]:
    return [case.first.figures for case in cases if case.first and case.first.figures]
