"""What the figures of a comparison draw: agents side by side, thresholds, experiments over time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.shares import interval_words, percent
from handoff_console.console.viewmodels.text import amount, one_line
from handoff_console.store.analysis.comparison.result import (
    AgentFigures,
    Comparison,
    ThresholdPoint,
    TrendPoint,
)
from handoff_console.store.analysis.comparison.trials import Version
from handoff_console.store.analysis.proportions import Proportion, proportion
from handoff_console.store.analysis.quantiles import Median

Measure = Literal["recall", "precision"]
MEASURE_WORDS: dict[Measure, str] = {
    "recall": "of the requests that are its, those it got (recall)",
    "precision": "of the requests it got, those that are its (precision)",
}
SURE = 0.05
"""Under this p, after Holm, an agent's change is called real."""
FEWEST_CASES = 6
"""Under this many cases a median has no interval that holds 95 %."""


@dataclass(frozen=True, slots=True)
class AgentPair:
    """How often one agent was right under two versions."""

    agent: str
    a: Proportion
    b: Proportion
    mark: str
    """`▲`, `▼` or `=`: B is really better, worse, or cannot be told from A."""
    title: str


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """One version over all thresholds."""

    name: str
    points: tuple[ThresholdPoint, ...]
    """By threshold."""


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """What one version would do at the chosen threshold."""

    name: str
    handed_off: str
    right: str
    held_back: str


@dataclass(frozen=True, slots=True)
class TrendLine:
    """One text of a label over its experiments."""

    label: str
    name: str
    """The label, with which of its texts and which model it is where there are several."""
    is_usual: bool
    """It is the text that the label stands for: the one that is compared, or that ran last."""
    points: tuple[TrendPoint, ...]
    """The oldest first."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Versions over experiments, oldest first; only experiments that can be compared."""

    points: tuple[TrendPoint, ...]

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions, as they first appeared."""
        return tuple(dict.fromkeys(point.label for point in self.points))

    def lines(self, shown: Collection[Version]) -> tuple[TrendLine, ...]:
        """Return a line for each text of each label, and each of its models, as they first ran.

        Another text is another version, whatever its label: in one line the two would look like a
        version whose score has changed.

        Args:
            shown: The two versions that are compared.
        """
        names = _names(self.points, shown)
        by_told: dict[_Told, list[TrendPoint]] = {}
        for point in self.points:
            by_told.setdefault(_told(point), []).append(point)
        return tuple(
            TrendLine(told.label, names[told].whole, names[told].is_usual, tuple(points))
            for told, points in by_told.items()
        )


@dataclass(frozen=True, slots=True)
class CostPoint:
    """What a version costs a case, and how often it is right."""

    label: str
    name: str
    """The label, with which of its texts and which model it is where there are several."""
    accuracy: Proportion
    tokens: Median
    is_shown: bool
    """It is one of the two that are compared above."""
    right_words: str
    tokens_words: str


def cost_points(points: Sequence[TrendPoint], shown: Collection[Version]) -> tuple[CostPoint, ...]:
    """Return the versions by what they cost a case, the cheapest first; of equal text the newest.

    Args:
        points: Of all experiments, the oldest first.
        shown: The two versions that are compared.
    """
    compared = {_told(it) for it in shown}
    names = _names(points, shown)
    found = []
    for told, it in _newest(points).items():
        if it.tokens is None or it.accuracy.share is None:
            continue
        found.append(
            CostPoint(
                it.label,
                names[told].whole,
                it.accuracy,
                it.tokens,
                told in compared,
                _share_of(it.accuracy),
                _tokens_of(it),
            )
        )
    return tuple(sorted(found, key=lambda it: it.tokens.value))


def cost_words(points: Sequence[CostPoint]) -> str:
    """Return how the figure is read."""
    said = "Higher is right more often, further left is cheaper. Lines are 95 % intervals"
    if any(point.tokens.total < FEWEST_CASES for point in points):
        said += f"; those of tokens go from the least to the most under {FEWEST_CASES} cases"
    return f"{said}."


class _Told(NamedTuple):
    """What tells one version from another."""

    label: str
    version_hash: str
    model: str


def _told(of: TrendPoint | Version) -> _Told:
    return _Told(of.label, of.version_hash, of.model)


class _Name(NamedTuple):
    """What a version is called among several."""

    whole: str
    is_usual: bool


def _newest(points: Sequence[TrendPoint]) -> dict[_Told, TrendPoint]:
    """Return the newest point of each version, by when each ran last."""
    newest: dict[_Told, TrendPoint] = {}
    for it in points:
        newest.pop(_told(it), None)  # so that it takes its place anew
        newest[_told(it)] = it
    return newest


def _names(points: Sequence[TrendPoint], shown: Collection[Version]) -> dict[_Told, _Name]:
    """Return what each version is called, so that no two are called alike."""
    newest, compared = _newest(points), {_told(it) for it in shown}
    has_models = len({it.model for it in points}) > 1
    names = {}
    for told in newest:
        texts = [one for one in newest if (one.label, one.model) == (told.label, told.model)]
        which = _which_text(told, texts, compared)
        model = f", {one_line(told.model, 40)}" if has_models else ""
        names[told] = _Name(f"{one_line(told.label, 40)}{which}{model}", not which)
    return names


def _which_text(told: _Told, texts: Sequence[_Told], compared: Collection[_Told]) -> str:
    """Return which text of its label it is, where there are several: `, earlier text`.

    The one that is compared has the label for itself; where none is, the one that ran last.
    """
    meant = next((it for it in texts if it in compared), texts[-1])
    steps = texts.index(told) - texts.index(meant)
    if not steps:
        return ""
    way = "earlier" if steps < 0 else "later"
    return f", {way} text" if abs(steps) == 1 else f", {abs(steps)} texts {way}"


def agent_pairs(agents: Sequence[AgentFigures], measure: Measure) -> tuple[AgentPair, ...]:
    """Return each agent's share on both sides; none where no case names an agent."""
    return tuple(_pair(figures, measure) for figures in agents)


def threshold_curves(found: Comparison) -> tuple[ThresholdCurve, ...]:
    """Return the curves of A and B; none where the router does not score."""
    if not found.thresholds_a or not found.thresholds_b:
        return ()
    return (
        ThresholdCurve(found.a.label, found.thresholds_a),
        ThresholdCurve(found.b.label, found.thresholds_b),
    )


def threshold_lines(
    curves: Sequence[ThresholdCurve], threshold: float
) -> tuple[ThresholdLine, ...]:
    """Return what each version would do if an agent had to score at least `threshold`."""
    lines = []
    for curve in curves:
        # Between two points the router does what it does at the next higher one.
        above = [point for point in curve.points if point.threshold >= threshold]
        point = above[0] if above else _held_back_all(curve.points[-1], threshold)
        shares = (point.coverage, point.accuracy, point.abstain_recall)
        words = [_share_of(share) for share in shares]
        lines.append(ThresholdLine(one_line(curve.name, 60), *words))
    return tuple(lines)


def trend_title(point: TrendPoint, name: str) -> str:
    """Return what a tooltip says of a point: `v3, 2026-11-30 10:14:00 UTC: 76.7 % of 240 …`.

    Args:
        point: What it is about.
        name: What its version is called.
    """
    baseline = ", the baseline" if point.is_baseline else ""
    share = _share_of(point.accuracy)
    return f"{name}{baseline}, {moment(point.at)}: {share}; {one_line(point.model, 40)}"


def _held_back_all(last: ThresholdPoint, threshold: float) -> ThresholdPoint:
    """Return what a threshold does that no score reaches."""
    nobody = last.abstain_recall.total
    return ThresholdPoint(
        threshold,
        coverage=proportion(0, last.coverage.total),
        accuracy=proportion(0, 0),
        abstain_recall=proportion(nobody, nobody),
    )


def _pair(figures: AgentFigures, measure: Measure) -> AgentPair:
    a, b = (
        (figures.recall_a, figures.recall_b)
        if measure == "recall"
        else (figures.precision_a, figures.precision_b)
    )
    mark = "=" if measure == "recall" else ""  # of precision nothing is tested: other cases each
    if measure == "recall" and figures.p_adjusted < SURE and None not in (a.share, b.share):
        mark = "▲" if (b.share or 0) > (a.share or 0) else "▼"
    chance = f"; p = {figures.p_adjusted:.3f} after Holm" if measure == "recall" else ""
    title = f"{one_line(figures.agent, 40)}: {_share_of(a)} → {_share_of(b)}{chance}"
    return AgentPair(one_line(figures.agent, 28), a, b, mark, title)


def _tokens_of(point: TrendPoint) -> str:
    assert point.tokens is not None
    found = point.tokens
    middle, low, high = (amount(round(it)) for it in (found.value, found.low, found.high))
    between = "" if low == high else f" [{low} to {high}]"
    return f"{middle}{between}{', estimated' if point.tokens_estimated else ''}"


def _share_of(share: Proportion) -> str:
    if share.share is None:
        return "no case"
    return f"{percent(share.share)} of {share.total:,} {interval_words(share.low, share.high)}"
