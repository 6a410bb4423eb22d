"""A comparison as JSON, as Markdown for a pull request, and as JUnit for a build server.

All of them say what the verdict says, in the same words as the page.
"""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from handoff_console.console.viewmodels.compare_page import tile_view, verdict_view
from handoff_console.console.viewmodels.text import one_line
from handoff_console.store.analysis.comparison.result import (
    Best,
    CaseRow,
    Change,
    Comparison,
    Interval,
    Outcome,
)
from handoff_console.store.analysis.comparison.trials import Trial
from handoff_console.store.analysis.comparison.verdict import worst
from handoff_console.store.analysis.comparison.wording import percent

CASES_SHOWN = 20
"""Of cases that changed side, in a text for people."""

EXIT_STATUS = {
    Outcome.PASS: 0,
    Outcome.INCONCLUSIVE: 0,
    Outcome.NO_TEST: 0,
    Outcome.FAIL: 1,
    Outcome.INCOMPLETE: 5,
}
"""What the shell is told; `--strict` makes 3 of what is not sure, and 4 is for what was stopped."""
STRICT_STATUS, STOPPED_STATUS = 3, 4


def exit_status(found: Sequence[Comparison], *, strict: bool, stopped: bool = False) -> int:
    """Return the exit status of a comparison: the worst of its candidates."""
    outcome = worst([one.verdict.outcome for one in found])
    if stopped and outcome is not Outcome.FAIL:
        return STOPPED_STATUS
    if strict and outcome in (Outcome.INCONCLUSIVE, Outcome.NO_TEST):
        return STRICT_STATUS
    return EXIT_STATUS[outcome]


def comparison_form(found: Sequence[Comparison]) -> dict[str, Any]:
    """Return a comparison as JSON: the verdict of the only candidate, or the worst of several."""
    first = min(found, key=lambda one: _rank(one.verdict.outcome))
    experiment = first.experiment
    return {
        "experiment_id": experiment.experiment_id,
        "flow": experiment.flow,
        "dataset": {
            "name": experiment.dataset.name,
            "digest": experiment.dataset.digest,
            "cases": experiment.dataset.cases,
        },
        "mode": experiment.mode,
        "trials": experiment.trials_each,
        "baseline": first.a.label,
        "best": _best_form(first.best),
        **_candidate_form(first),
        "candidates": [_candidate_form(one) for one in found],
    }


def _best_form(best: Best | None) -> dict[str, Any] | None:
    if best is None:
        return None
    return {"version": best.label or None, "level": list(best.level), "sentence": best.sentence}


def _rank(outcome: Outcome) -> int:
    order = (Outcome.FAIL, Outcome.INCOMPLETE, Outcome.NO_TEST, Outcome.INCONCLUSIVE)
    return order.index(outcome) if outcome in order else len(order)


def _candidate_form(found: Comparison) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "candidate": found.b.label,
        "model": found.b.model,
        "is_model_score": not (found.a.offline or found.b.offline),
        "verdict": verdict.outcome.value,
        "direction": verdict.direction.value,
        "sentence": verdict.sentence,
        "reasons": list(verdict.reasons),
        "difference_points": _points(verdict.difference),
        "interval_points": _bounds(verdict.difference),
        "p": verdict.p,
        "p_adjusted": verdict.p_adjusted,
        "paired_cases": verdict.paired,
        "improved": verdict.improved,
        "regressed": verdict.regressed,
        "critical_regressed": verdict.critical_regressed,
        "needed_cases": verdict.needed_cases,
        "warnings": list(found.warnings),
        "figures": {
            tile.key: {
                "a": tile.a,
                "b": tile.b,
                "unit": tile.unit,
                "difference": _points(tile.difference),
                "interval": _bounds(tile.difference),
            }
            for tile in found.tiles
        },
        "regressed_cases": [_case_form(row) for row in changed(found, Change.REGRESSED)],
        "improved_cases": [_case_form(row) for row in changed(found, Change.IMPROVED)],
    }


def _points(interval: Interval | None) -> float | None:
    return None if interval is None else round(interval.points, 6)


def _bounds(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [round(interval.low, 6), round(interval.high, 6)]


def _case_form(row: CaseRow) -> dict[str, Any]:
    return {
        "id": row.case.case_id,
        "input": row.case.text,
        "expected": row.case.label,
        "a": row.a.decision if row.a else None,
        "b": row.b.decision if row.b else None,
        "critical": row.case.critical,
    }


def changed(found: Comparison, change: Change) -> list[CaseRow]:
    """Return the cases that changed so, critical ones first."""
    rows = [row for row in found.rows if row.change is change]
    return sorted(rows, key=lambda row: not row.case.critical)


def went_words(row: CaseRow) -> str:
    """Return where a case went on both sides: `billing → orders`.

    Where its trials disagree that is the first one's way, which need not be why it changed side.
    """
    before, after = (trial.decision if trial else "?" for trial in (row.a, row.b))
    shares = [share for share in (row.a_right, row.b_right) if share is not None]
    if not row.flaky or len(shares) < 2:
        return f"{before} → {after}"
    was, now = (percent(share) for share in shares)
    return f"{before} → {after} at first, right in {was} → {now} of its trials"


def comparison_markdown(found: Sequence[Comparison]) -> str:
    """Return a comparison for a pull request."""
    best = found[0].best if found else None
    parts = [_cell(best.sentence, 2_000), _cell(best.note), ""] if best else []
    for one in found:
        parts += [*_markdown_of(one), ""]
    return "\n".join(parts).rstrip() + "\n"


def _markdown_of(found: Comparison) -> list[str]:
    view = verdict_view(found.verdict)
    experiment = found.experiment
    lines = [
        f"### {_cell(found.b.label)} beside {_cell(found.a.label)}: {view.sign} {view.word}",
        "",
        _cell(view.sentence, 2_000),
        *(f"- {_cell(reason, 2_000)}" for reason in view.reasons),
        "",
        f"| | {_cell(found.a.label)} | {_cell(found.b.label)} | difference |",
        "|---|---|---|---|",
    ]
    for tile in (tile_view(tile, found.verdict) for tile in found.tiles):
        change = " ".join(filter(None, (tile.sign, tile.change or tile.word)))
        lines.append(f"| {tile.name} | {tile.a} | {tile.b} | {change} |")
    lines += _markdown_cases(found, Change.REGRESSED, "Regressed")
    lines += _markdown_cases(found, Change.IMPROVED, "Improved")
    lines += ["", *(f"> {_cell(warning)}" for warning in found.warnings)]
    lines.append(
        f"\n{_cell(experiment.dataset.name)} ({experiment.dataset.digest[:8]}), model "
        f"{_cell(found.b.model)}, mode {experiment.mode}, experiment {experiment.experiment_id}"
    )
    return lines


def _markdown_cases(found: Comparison, change: Change, title: str) -> list[str]:
    rows = changed(found, change)
    if not rows:
        return []
    lines = [
        "",
        f"<details><summary>{title}: {len(rows):,}</summary>",
        "",
        f"| case | message | expected | {_cell(found.a.label)} | {_cell(found.b.label)} |",
        "|---|---|---|---|---|",
    ]
    for row in rows[:CASES_SHOWN]:
        mark = " (critical)" if row.case.critical else ""
        said = (_went(row.a, row.a_right, row), _went(row.b, row.b_right, row))
        cells = [row.case.case_id + mark, one_line(row.case.text, 120), row.case.label, *said]
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    if len(rows) > CASES_SHOWN:
        lines.append(f"\nand {len(rows) - CASES_SHOWN:,} more")
    return [*lines, "", "</details>"]


def _went(trial: Trial | None, right: float | None, row: CaseRow) -> str:
    said = trial.decision if trial else "?"
    if not row.flaky or right is None:
        return said
    return f"{said} at first, right in {percent(right)} of its trials"


def _cell(text: str, most: int = 400) -> str:
    """Return recorded text as it cannot leave its cell, become a tag or a link, or call anybody."""
    plain = one_line(text, most)
    for sign in "\\`*_[]|<>":
        plain = plain.replace(sign, f"\\{sign}")
    # A code host links addresses and notifies people without any sign of Markdown.
    for link, shown in (("://", r"\://"), ("www.", r"www\."), ("@", "@\N{WORD JOINER}")):
        plain = plain.replace(link, shown)
    return plain


def comparison_junit(found: Sequence[Comparison]) -> str:
    """Return a comparison as JUnit: a suite a candidate, its gate first, then every case.

    A case that regressed fails; one without a decision is skipped; what was wrong before as well
    fails nothing.
    """
    root = ElementTree.Element("testsuites", name="handoff compare")
    for one in found:
        suite = ElementTree.SubElement(
            root, "testsuite", name=_xml(f"{one.b.label} vs {one.a.label}")
        )
        gate = ElementTree.SubElement(suite, "testcase", classname="verdict", name="verdict")
        failures = skipped = 0
        if one.verdict.outcome in (Outcome.FAIL, Outcome.INCOMPLETE):
            failures += 1
            text = " ".join((one.verdict.sentence, *one.verdict.reasons))
            ElementTree.SubElement(gate, "failure", message=_xml(text))
        for row in one.rows:
            case = ElementTree.SubElement(
                suite, "testcase", classname=_xml(row.case.label), name=_xml(row.case.case_id)
            )
            if row.change is Change.REGRESSED:
                failures += 1
                went = row.b.decision if row.b else "?"
                message = f"expected {row.case.label}, went to {went}: {row.case.text}"
                ElementTree.SubElement(case, "failure", message=_xml(message))
            elif row.change is Change.MISSING:
                skipped += 1
                ElementTree.SubElement(case, "skipped")
        suite.set("tests", str(len(one.rows) + 1))
        suite.set("failures", str(failures))
        suite.set("skipped", str(skipped))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Return text without the signs that XML has no form for."""
    return "".join(sign for sign in one_line(text, 1_000) if sign >= " ")
