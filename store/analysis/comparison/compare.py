"""An experiment in, what it says about each candidate beside the baseline out."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Literal

from handoff_console.runtime.counting import count
from handoff_console.store.analysis.comparison.abstaining import abstention, thresholds
from handoff_console.store.analysis.comparison.changes import description_changes
from handoff_console.store.analysis.comparison.forks import fork_figures, stability
from handoff_console.store.analysis.comparison.gate import Gate
from handoff_console.store.analysis.comparison.judging import CaseTrials, side
from handoff_console.store.analysis.comparison.matrices import agent_figures, matrices
from handoff_console.store.analysis.comparison.pairing import Paired, p_of
from handoff_console.store.analysis.comparison.ranking import best_of
from handoff_console.store.analysis.comparison.result import (
    Best,
    CaseRow,
    Change,
    Comparison,
    Verdict,
)
from handoff_console.store.analysis.comparison.tiles import tiles
from handoff_console.store.analysis.comparison.trials import Experiment, Version
from handoff_console.store.analysis.comparison.verdict import undecided_words, verdict
from handoff_console.store.analysis.paired import holm

OFFLINE_BANNER = (
    "Not a language model: this measures how well the descriptions tell the agents apart. A "
    "language model will score differently."
)


def comparisons(experiment: Experiment, gate: Gate = Gate()) -> tuple[Comparison, ...]:  # noqa: B008
    """Return every candidate beside the baseline, which is the first version.

    With several candidates their p values are adjusted by Holm's method.
    """
    baseline, *candidates = experiment.versions
    cases = side(experiment, baseline.label)
    found = [_paired(experiment, baseline.label, one.label, cases) for one in candidates]
    adjusted, best = _adjusted(found), best_of(experiment, gate.alpha)
    return tuple(
        _comparison(experiment, one, gate, p, best) for one, p in zip(found, adjusted, strict=True)
    )


def comparison(experiment: Experiment, a: str, b: str, gate: Gate | None = None) -> Comparison:
    """Return one version of an experiment beside another one, by their labels.

    Beside the baseline a candidate's p is that of `comparisons`, adjusted for there being several.

    Args:
        experiment: All that was run.
        a: The label that is compared with.
        b: The label that is compared.
        gate: What B has to hold; None is what the experiment was started with.

    Raises:
        KeyError: The experiment has no version of this label.
    """
    gate = gate or gate_of(experiment)
    paired, best = _paired(experiment, a, b), best_of(experiment, gate.alpha)
    baseline, *candidates = experiment.versions
    if a != baseline.label:
        return _comparison(experiment, paired, gate, p_of(paired), best)
    others = [
        paired if version.label == b else _paired(experiment, a, version.label, paired.cases_a)
        for version in candidates
    ]
    adjusted = dict(zip((one.b.label for one in others), _adjusted(others), strict=True))
    return _comparison(experiment, paired, gate, adjusted.get(b), best)


def _paired(
    experiment: Experiment, a: str, b: str, cases_a: tuple[CaseTrials, ...] | None = None
) -> Paired:
    """Return two versions over the cases, by their labels; those of A may be known already.

    Raises:
        KeyError: The experiment has no version of this label.
    """
    by_label = {version.label: version for version in experiment.versions}
    return Paired(by_label[a], by_label[b], cases_a or side(experiment, a), side(experiment, b))


def gate_of(experiment: Experiment) -> Gate:
    """Return the gate that an experiment was started with; the usual one where it does not say."""
    known = {field.name for field in fields(Gate)}
    settings = {name: value for name, value in experiment.settings.items() if name in known}
    return Gate(**settings)  # type: ignore[arg-type]


def _adjusted(found: Sequence[Paired]) -> list[float | None]:
    """Return the p of each candidate, adjusted by Holm's method; None where it is not tested."""
    raw = [p_of(one) for one in found]
    adjusted = iter(holm([p for p in raw if p is not None]))
    return [None if p is None else next(adjusted) for p in raw]


def _comparison(
    experiment: Experiment,
    paired: Paired,
    gate: Gate,
    p_adjusted: float | None,
    best: Best | None,
) -> Comparison:
    a, b = paired.cases_a, paired.cases_b
    seed = _seed(experiment)
    found = verdict(paired, gate, p_adjusted=p_adjusted, seed=seed)
    rows = tuple(_row(x, y) for x, y in zip(a, b, strict=True))
    matrix_a, matrix_b, difference = matrices(a, b)
    each = experiment.trials_each
    return Comparison(
        experiment=experiment,
        a=paired.a,
        b=paired.b,
        verdict=found,
        warnings=_warnings(experiment, paired, found),
        tiles=tiles(paired, found.difference, mode=experiment.mode, trials_each=each, seed=seed),
        rows=rows,
        counts=_counts(rows),
        matrix_a=matrix_a,
        matrix_b=matrix_b,
        matrix_difference=difference,
        agents=agent_figures(a, b),
        abstention_a=abstention(a),
        abstention_b=abstention(b),
        thresholds_a=thresholds(a),
        thresholds_b=thresholds(b),
        forks_a=fork_figures(a),
        forks_b=fork_figures(b),
        stability_a=stability(a, each, deterministic=paired.a.offline),
        stability_b=stability(b, each, deterministic=paired.b.offline),
        changes=description_changes(paired.a, paired.b),
        best=best,
    )


def _seed(experiment: Experiment) -> int:
    seed = experiment.settings.get("seed", 0)
    return seed if isinstance(seed, int) else 0


def _row(a: CaseTrials, b: CaseTrials) -> CaseRow:
    first_a, first_b = a.first, b.first
    return CaseRow(
        case=a.case,
        change=_change(a, b),
        a=first_a,
        b=first_b,
        a_right=a.right_share,
        b_right=b.right_share,
        flaky=a.is_flaky or b.is_flaky,
        other_target=bool(first_a and first_b and first_a.decision != first_b.decision),
    )


def _change(a: CaseTrials, b: CaseTrials) -> Change:
    match a.is_right, b.is_right:
        case (None, _) | (_, None):
            return Change.MISSING
        case (True, True):
            return Change.BOTH_RIGHT
        case (True, _):
            return Change.REGRESSED
        case (_, True):
            return Change.IMPROVED
        case _:
            return Change.BOTH_WRONG


def _counts(rows: Sequence[CaseRow]) -> Mapping[str, int]:
    by_change = Counter(row.change for row in rows)
    return {
        "all": len(rows),
        **{change.value: by_change[change] for change in Change},
        "other target": sum(row.other_target for row in rows),
        "flaky": sum(row.flaky for row in rows),
        "critical": sum(row.case.critical for row in rows),
    }


_BY_OUTCOME = ("failed", "regressed")
"""Choices of cases that decide the figures in advance."""


def _warnings(experiment: Experiment, paired: Paired, found: Verdict) -> tuple[str, ...]:
    warnings = [OFFLINE_BANNER] if paired.a.offline or paired.b.offline else []
    if experiment.finished_at is None:
        warnings.append("This experiment is not finished; what stands here is of what has run.")
    only = experiment.settings.get("only")
    if only in _BY_OUTCOME:
        warnings.append(
            f"Only cases that {only} the last time were run. They were chosen by how they came "
            "out, so neither the shares nor p say anything about all cases."
        )
    if paired.undecided:
        counts = "counts" if paired.undecided == 1 else "count"
        warnings.append(f"{undecided_words(paired)} and {counts} for nobody.")
    if found.p is not None and any(a.case.group for a in paired.cases_a):
        warnings.append(
            "Some cases are paraphrases of one another: the interval draws them together, and p "
            "takes them for cases of their own, so it is too small."
        )
    if experiment.trials_each > 1 and paired.a.offline and paired.b.offline:
        warnings.append("An offline router decides alike every time, so each case ran once.")
    warnings += _leaks(experiment, (paired.a, paired.b))
    return tuple(warnings)


LabelNow = Literal["changed", "gone", "broken"]
_LABEL_WORDS: dict[LabelNow, str] = {
    "changed": "has been changed since",
    "gone": "is not among the versions of its flow now",
    "broken": "cannot be loaded now",
}


def changed_warning(version: Version, now: LabelNow) -> str:
    """Return the sentence that warns of a label which points to another text by now, or to none.

    Args:
        version: What ran.
        now: What its label is by now; `broken` is there, and cannot be read or does not fit.
    """
    return f"{version.label} {_LABEL_WORDS[now]}; what stands here is of the text that ran."


def _leaks(experiment: Experiment, versions: Sequence[Version]) -> list[str]:
    """Cases that a version has word for word in what it says: it knows the answer."""
    by_count: dict[int, list[str]] = {}
    for version in versions:
        leaked = leaked_cases(version, [case.text for case in experiment.cases])
        by_count.setdefault(len(leaked), []).append(version.label)
    return [
        f"{leak_words(leaked, len(experiment.cases), labels)}."
        for leaked, labels in by_count.items()
        if leaked
    ]


def leak_words(leaked: int, cases: int, names: Sequence[str]) -> str:
    """Return how many cases stand in versions, as the beginning of a sentence.

    Args:
        leaked: How many do, at least one.
        cases: Of how many.
        names: The versions: each has that many.
    """
    of_all = f"of {count(cases, 'case')}"
    stand = count(leaked, f"{of_all} stands", f"{of_all} stand")
    answers = "its answer" if leaked == 1 else "their answers"
    each, know = ("", "knows") if len(names) == 1 else (" each", "know")
    where = f"{' and '.join(names)}{each}"
    return f"{stand} word for word in {where}, which therefore {know} {answers}"


def leaked_cases(version: Version, texts: Sequence[str]) -> list[str]:
    """Return the texts of at least three words that a version has word for word, in order."""
    said = [
        f" {_plain(part)} "
        for agent in version.agents.values()
        for part in (agent.description, agent.instructions, *agent.examples)
        if part
    ]
    whole = "\n".join(said)
    return [text for text in texts if len(text.split()) >= 3 and f" {_plain(text)} " in whole]


def _plain(text: str) -> str:
    return _NO_WORDS.sub(" ", text.lower()).strip()


_NO_WORDS = re.compile(r"[\W_]+")
