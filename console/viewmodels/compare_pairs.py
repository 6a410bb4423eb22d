"""Figures of a comparison, one of A beside one of B: abstention, forks, stability."""

from collections.abc import Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.shares import percent, range_words
from handoff_console.console.viewmodels.text import amount, one_line
from handoff_console.store.analysis.comparison.result import Comparison
from handoff_console.store.analysis.proportions import Proportion


@dataclass(frozen=True, slots=True)
class PairLine:
    """One figure of both sides, as a row of a small table."""

    name: str
    a: str
    b: str
    meaning: str


def abstention_lines(found: Comparison) -> tuple[PairLine, ...]:
    """Return how both sides deal with requests that nobody is for; apart from accuracy."""
    a, b = found.abstention_a, found.abstention_b
    return (
        _shares("Held back what nobody is for", a.recall, b.recall, "recall of abstaining"),
        _shares("Was right to hold back", a.precision, b.precision, "precision of abstaining"),
        _shares(
            "Held back what somebody is for", a.false_abstain, b.false_abstain, "lower is better"
        ),
        _shares(
            "Right when it handed off",
            a.accuracy_when_routed,
            b.accuracy_when_routed,
            "accuracy of what was routed",
        ),
        PairLine(
            "The score tells the two apart",
            _plain(a.auroc),
            _plain(b.auroc),
            "area under the curve: 1 always, 0.5 by chance",
        ),
    )


def fork_lines(found: Comparison) -> tuple[PairLine, ...]:
    """Return how both sides deal with messages that ask for several things."""
    a, b = found.forks_a, found.forks_b
    return (
        PairLine(
            "Wanted agents that were reached",
            percent(a.coverage),
            percent(b.coverage),
            "mean over the messages that ask for several things",
        ),
        _shares("Reached exactly the wanted ones", a.exact, b.exact, "no more and no fewer"),
        _shares(
            "Asked somebody nobody wanted",
            a.over_forked,
            b.over_forked,
            "of all cases; lower is better",
        ),
    )


def stability_lines(found: Comparison) -> tuple[PairLine, ...]:
    """Return how repeatable both sides are."""
    a, b = found.stability_a, found.stability_b
    trials = max(a.trials, b.trials)
    lines = [PairLine("Right in one run", percent(a.pass_1), percent(b.pass_1), "pass^1")]
    if trials > 1:
        lines.append(
            PairLine(
                f"Right {amount(trials)} times in a row",
                percent(a.pass_k),
                percent(b.pass_k),
                f"pass^{trials}",
            )
        )
        lines.append(_shares("Changes its mind", a.flaky, b.flaky, "cases whose trials disagree"))
    return tuple(lines)


def stability_note(found: Comparison) -> str:
    """Return what has to be known about repeated trials; nothing where nothing has."""
    same = [
        one_line(version.label, 40)
        for version, it in ((found.a, found.stability_a), (found.b, found.stability_b))
        if it.deterministic
    ]
    if same:
        verb = "answers" if len(same) == 1 else "answer"
        return f"{' and '.join(same)} always {verb} the same: one trial stands for all."
    if max(found.stability_a.trials, found.stability_b.trials) <= 1:
        return "Each case ran once: run several trials to see whether answers change."
    return ""


def _shares(name: str, a: Proportion, b: Proportion, meaning: str) -> PairLine:
    return PairLine(name, _share(a), _share(b), meaning)


def _share(share: Proportion) -> str:
    if not share.total:
        return "–"
    return f"{percent(share.share)} of {amount(share.total)} {range_words(share)}"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def worth_saying(lines: Sequence[PairLine]) -> bool:
    """Say whether any of the figures was measured."""
    return any(value != "–" for line in lines for value in (line.a, line.b))
