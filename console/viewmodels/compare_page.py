"""The top of a comparison: what was compared, the verdict in words, and the figures beside it."""

from collections.abc import Mapping
from dataclasses import dataclass

from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.shares import (
    change_words,
    quantity,
    range_words,
    signed_quantity,
)
from handoff_console.console.viewmodels.text import amount, count, one_line
from handoff_console.store.analysis.comparison.compare import OFFLINE_BANNER
from handoff_console.store.analysis.comparison.result import (
    Comparison,
    Direction,
    Outcome,
    Tile,
    Verdict,
)

FIRST_TILES = 3
OFFLINE_HEADING = "How separable are your descriptions"
MODEL_HEADING = "Which version routes better"


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The verdict as it stands on the page."""

    word: str
    """`Better`, `No difference`, `Cannot tell`, `Worse` …"""
    sign: str
    tone: str
    """The outcome whose colour it has."""
    sentence: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TileView:
    """One figure of both sides."""

    key: str
    name: str
    a: str
    b: str
    a_range: str
    """`[71 to 82 %]`; nothing where no interval can be given."""
    b_range: str
    change: str
    """`+10.4 points [+4.9, +15.9]`."""
    sign: str
    """`▲`, `▼`, `=` or `?`."""
    word: str
    """`better`, `worse`, `no difference`, `cannot tell`; nothing where it is not measured."""
    tone: str
    note: str


@dataclass(frozen=True, slots=True)
class ComparisonHead:
    """All that stands above the cases."""

    heading: str
    banner: str
    """That the score is no model's; nothing where it is one."""
    a: str
    b: str
    facts: tuple[str, ...]
    """Data set, model, mode, trials, when."""
    warnings: tuple[str, ...]
    best: str
    """Which of three or more versions is best; nothing of two."""
    best_note: str
    verdict: VerdictView
    first: tuple[TileView, ...]
    """The figures that matter first."""
    others: tuple[TileView, ...]


def comparison_head(found: Comparison) -> ComparisonHead:
    """Return the top of the page of a comparison."""
    tiles = [tile_view(tile, found.verdict) for tile in found.tiles]
    offline = found.a.offline or found.b.offline
    return ComparisonHead(
        heading=OFFLINE_HEADING if offline else MODEL_HEADING,
        banner=OFFLINE_BANNER if offline else "",
        a=one_line(found.a.label, 60),
        b=one_line(found.b.label, 60),
        facts=_facts(found),
        warnings=tuple(one_line(it, 400) for it in found.warnings if it != OFFLINE_BANNER),
        best=one_line(found.best.sentence, 2_000) if found.best else "",
        best_note=found.best.note if found.best else "",
        verdict=verdict_view(found.verdict),
        first=tuple(tiles[:FIRST_TILES]),
        others=tuple(tiles[FIRST_TILES:]),
    )


def verdict_view(verdict: Verdict) -> VerdictView:
    """Return the verdict with its word and sign: a tie that passes reads unlike a winner."""
    word, sign, tone = _VERDICTS.get((verdict.outcome, verdict.direction)) or _OUTCOMES.get(
        verdict.outcome, _OUTCOMES[Outcome.INCONCLUSIVE]
    )
    return VerdictView(word, sign, tone, verdict.sentence, verdict.reasons)


_OUTCOMES: Mapping[Outcome, tuple[str, str, str]] = {
    Outcome.PASS: ("No worse", "=", "running"),
    Outcome.INCONCLUSIVE: ("Cannot tell", "?", "needs_input"),
    Outcome.FAIL: ("Does not pass", "✕", "error"),
    Outcome.INCOMPLETE: ("Not complete", "◌", "needs_input"),
    Outcome.NO_TEST: ("Cannot be compared", "–", "needs_input"),
}
_VERDICTS: Mapping[tuple[Outcome, Direction], tuple[str, str, str]] = {
    (Outcome.PASS, Direction.BETTER): ("Better", "▲", "ok"),
    (Outcome.PASS, Direction.NO_DIFFERENCE): ("No difference", "=", "running"),
    (Outcome.PASS, Direction.WORSE): ("Slightly worse, within the margin", "▼", "needs_input"),
    (Outcome.INCONCLUSIVE, Direction.NO_DIFFERENCE): ("No difference seen", "=", "needs_input"),
    (Outcome.INCONCLUSIVE, Direction.BETTER): ("Better, but not surely safe", "▲", "needs_input"),
    (Outcome.FAIL, Direction.WORSE): ("Worse", "▼", "error"),
}


def tile_view(tile: Tile, verdict: Verdict | None = None) -> TileView:
    """Return a figure of both sides in words.

    Args:
        tile: The figure.
        verdict: What the test says of the accuracy, whose figure must not say anything else.
    """
    sign, word, tone = _judged(tile)
    if verdict is not None and tile.key == "accuracy":
        sign, word, tone = _DIRECTIONS[verdict.direction]
    return TileView(
        key=tile.key,
        name=tile.name,
        a=quantity(tile.a, tile.unit),
        b=quantity(tile.b, tile.unit),
        a_range=range_words(tile.a_range),
        b_range=range_words(tile.b_range),
        change=_change(tile),
        sign=sign,
        word=word,
        tone=tone,
        note=_note(tile),
    )


_DIRECTIONS: Mapping[Direction, tuple[str, str, str]] = {
    Direction.BETTER: ("▲", "better", "ok"),
    Direction.WORSE: ("▼", "worse", "error"),
    Direction.NO_DIFFERENCE: ("=", "no difference", "running"),
    Direction.UNCLEAR: ("?", "cannot tell", "running"),
}


def _note(tile: Tile) -> str:
    note = one_line(tile.note, 160)
    a, b = tile.a_range, tile.b_range
    if tile.difference is not None and a and b and a.total != b.total:
        return f"{note}; the difference is of those that both have"
    return note


def _judged(tile: Tile) -> tuple[str, str, str]:
    if tile.a is None or tile.b is None:
        return "", "not measured", "running"
    if tile.a == tile.b and (tile.difference is None or not tile.difference.points):
        return "=", "no difference", "running"
    better = (tile.b > tile.a) == tile.higher_is_better
    if tile.difference is None:
        # Without an interval nobody knows whether it is more than chance.
        return "", "higher" if tile.b > tile.a else "lower", "running"
    if tile.difference.low <= 0 <= tile.difference.high:
        return "?", "cannot tell", "running"
    return ("▲", "better", "ok") if better else ("▼", "worse", "error")


def _change(tile: Tile) -> str:
    if tile.a is None or tile.b is None:
        return ""
    if tile.difference is not None:
        return change_words(tile.difference, tile.unit)
    scale = 100 if tile.unit == "share" else 1
    return signed_quantity(scale * (tile.b - tile.a), tile.unit)


def _facts(found: Comparison) -> tuple[str, ...]:
    experiment = found.experiment
    dataset = experiment.dataset
    models = dict.fromkeys((found.a.model, found.b.model))
    mode = {"route": "first decision only", "full": "whole sessions"}.get(
        experiment.mode, experiment.mode
    )
    trials = experiment.trials_each
    return (
        f"{one_line(dataset.name, 60)} · {count(dataset.cases, 'case')} · {dataset.digest[:8]}",
        f"flow {one_line(experiment.flow, 40)}",
        f"model {' and '.join(one_line(model, 60) for model in models)}",
        mode,
        *([f"{amount(trials)} trials a case"] if trials > 1 else []),
        moment(experiment.created_at),
    )
