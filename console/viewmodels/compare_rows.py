"""The table of cases: which rows a filter leaves, and what each of them says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.routing_matrix import (
    OUTSIDE_MEANINGS,
    place_word,
    row_of,
)
from handoff_console.console.viewmodels.shares import percent
from handoff_console.console.viewmodels.text import amount, count, one_line
from handoff_console.store.analysis.comparison.matrices import SEVERAL
from handoff_console.store.analysis.comparison.result import CaseRow, Change, Comparison
from handoff_console.store.analysis.comparison.trials import Trial, TrialStatus

REGRESSED = Change.REGRESSED.value
ALL = "all"
CHIPS: Mapping[str, str] = {
    REGRESSED: "▼ Regressed",
    Change.IMPROVED.value: "▲ Improved",
    Change.BOTH_WRONG.value: "✕ Both wrong",
    "other target": "↔ Different target",
    "flaky": "≈ Flaky",
    "critical": "! Critical",
    Change.MISSING.value: "○ Missing",
    ALL: "All",
}
"""The filters, as `Comparison.counts` names them, in words; their order is that of the page."""

_LOOKS: Mapping[Change, tuple[str, str]] = {
    Change.REGRESSED: ("▼", "error"),
    Change.IMPROVED: ("▲", "ok"),
    Change.BOTH_RIGHT: ("=", "running"),
    Change.BOTH_WRONG: ("✕", "needs_input"),
    Change.MISSING: ("○", "running"),
}
"""Change → sign, and the outcome whose colour it has."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which cases the reader wants to see."""

    chip: str = REGRESSED
    text: str = ""
    """All of its words have to occur in the case's text, tags, label or decisions."""
    expected: str = ""
    """With `decided`: a cell of a matrix. Empty is no filter; so is the next."""
    decided: str = ""
    side: str = ""
    """`a` or `b`: whose decision; empty for either, where the two differ."""


@dataclass(frozen=True, slots=True)
class Went:
    """Where one version sent a case."""

    name: str
    """An agent, or what happened instead: `nobody`."""
    sign: str
    """`✓`, `✕`, or `○` where there is no decision."""
    tone: str
    """The outcome whose colour it has."""
    title: str
    """Scores, for a tooltip."""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case under both versions."""

    case_id: str
    sign: str
    change: str
    """The word that goes with the sign."""
    tone: str
    input: str
    input_full: str
    """For a tooltip."""
    note: str
    """Tags, and whether it is critical; often nothing."""
    expected: str
    a: Went
    b: Went


def matching(found: Comparison, wanted: Wanted) -> list[CaseRow]:
    """Return the rows that a reader wants, critical ones first, else in the data set's order."""
    words = wanted.text.lower().split()
    rows = [
        row
        for row in found.rows
        if _has_chip(row, wanted.chip)
        and _is_in_cell(row, wanted)
        and (not words or _has_words(row, words))
    ]
    return sorted(rows, key=lambda row: not row.case.critical)


def case_lines(rows: Sequence[CaseRow]) -> tuple[CaseLine, ...]:
    """Return rows as the table shows them."""
    return tuple(_line(row) for row in rows)


def chip_word(chip: str, counts: Mapping[str, int]) -> str:
    """Return a filter with how many cases it leaves."""
    return f"{CHIPS[chip]} {amount(counts.get(chip, 0))}"


def shown_chips(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the filters worth offering: those that leave something, and the first and last."""
    return tuple(chip for chip in CHIPS if counts.get(chip) or chip in {REGRESSED, ALL})


def showing_cases(shown: int, first: int, total: int, wanted: Wanted) -> str:
    """Return which part of the cases is in sight; where there is none, that this is good or bad.

    Args:
        shown: Rows in sight.
        first: The number of the first of them, from 1.
        total: Rows that match.
        wanted: The filter.
    """
    narrowed = wanted.text or wanted.expected or wanted.decided
    if not total:
        if wanted.chip == REGRESSED and not narrowed:
            return "No case regressed: whatever A had right, B has right too."
        return "No case matches."
    of = "matching case" if narrowed or wanted.chip != ALL else "case"
    if shown == total:
        return f"Showing {count(total, of)}."
    return f"Showing {amount(first)} to {amount(first + shown - 1)} of {count(total, of)}."


def cell_words(wanted: Wanted, names: tuple[str, str]) -> str:
    """Return a filter by a cell in words: `should go to billing, v3 sent it to orders`."""
    if not (wanted.expected or wanted.decided):
        return ""
    who = {"a": names[0], "b": names[1]}.get(wanted.side, "one of them")
    return (
        f"should go to {place_word(wanted.expected)}, {one_line(who, 40)} sent it to "
        f"{place_word(wanted.decided)}"
    )


def went(trial: Trial | None, right: float | None, trials: int = 1) -> Went:
    """Return where a version sent a case, and whether that was right.

    Args:
        trial: The first of its trials; None where there is none.
        right: The share of its trials that were right; None without a decision.
        trials: How many there were.
    """
    if trial is None or trial.status is not TrialStatus.DONE:
        problem = one_line(trial.problem, 200) if trial else ""
        word = "failed" if trial and trial.status is TrialStatus.ERROR else "no decision"
        return Went(word, "○", "running", problem or OUTSIDE_MEANINGS["?"])
    sign, tone = {1.0: ("✓", "ok"), 0.0: ("✕", "error"), None: ("–", "running")}.get(
        right, ("≈", "needs_input")
    )
    title = [OUTSIDE_MEANINGS.get(trial.decision, "")]
    if right not in {0.0, 1.0, None} and trials > 1:
        title.append(f"Right in {percent(right)} of {amount(trials)} trials.")
    title += [f"{one_line(it.agent, 40)} {it.score:.2f}" for it in trial.scores]
    return Went(place_word(trial.decision), sign, tone, " · ".join(filter(None, title)))


def change_look(change: Change) -> tuple[str, str]:
    """Return the sign of a change, and the outcome whose colour it has."""
    return _LOOKS[change]


def _line(row: CaseRow) -> CaseLine:
    sign, tone = _LOOKS[row.change]
    case = row.case
    notes = ["! critical"] if case.critical else []
    notes += ["≈ flaky"] if row.flaky else []
    notes += [one_line(tag, 24) for tag in case.tags[:4]]
    return CaseLine(
        case_id=case.case_id,
        sign=sign,
        change=row.change.value,
        tone=tone,
        input=one_line(case.text, 200),
        input_full=one_line(case.text, 1_000),
        note=" · ".join(notes),
        expected=place_word(case.label),
        a=went(row.a, row.a_right),
        b=went(row.b, row.b_right),
    )


def _has_chip(row: CaseRow, chip: str) -> bool:
    if chip == ALL:
        return True
    if chip == "other target":
        return row.other_target
    if chip == "flaky":
        return row.flaky
    if chip == "critical":
        return row.case.critical
    return row.change.value == chip


def _is_in_cell(row: CaseRow, wanted: Wanted) -> bool:
    if not (wanted.expected or wanted.decided):
        return True
    if wanted.expected and wanted.expected not in {row.case.label, row_of(row.case.label)}:
        return False
    a, b = (_decision(trial) for trial in (row.a, row.b))
    if wanted.side:
        return wanted.decided == (a if wanted.side == "a" else b)
    return a != b and wanted.decided in {a, b}


def _decision(trial: Trial | None) -> str:
    """Return the column of the matrix that a decision stands in."""
    if trial is None or trial.decided is None:
        return "?"
    return SEVERAL if len(trial.agents) > 1 else trial.decision


def _has_words(row: CaseRow, words: Sequence[str]) -> bool:
    case = row.case
    decisions = (trial.decision for trial in (row.a, row.b) if trial)
    whole = " ".join((case.text, case.case_id, case.label, *case.tags, *decisions)).lower()
    return all(word in whole for word in words)
