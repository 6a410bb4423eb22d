"""A comparison as text: the sentence first, then the figures, then the cases that changed side."""

from collections.abc import Sequence

from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.commands.comparison_forms import CASES_SHOWN, changed, went_words
from handoff_console.console.viewmodels.compare_page import comparison_head, tile_view
from handoff_console.console.viewmodels.text import one_line
from handoff_console.store.analysis.comparison.result import CaseRow, Change, Comparison

_NAME_COLUMNS, _VALUE_COLUMNS = 34, 10
_LABEL_COLUMNS = 30
"""A longer name of a version is cut above its figures; the sentence has it whole."""
_ALWAYS = frozenset({"errors", "missing"})
"""Figures that are shown only where they are not 0."""


def write_comparisons(found: Sequence[Comparison], terminal: Terminal) -> None:
    """Write which of several versions is best, then every candidate beside the baseline."""
    best = found[0].best
    if best is not None:
        terminal.paragraph(one_line(best.sentence, 2_000), style="strong")
        terminal.paragraph(best.note, style="dim")
    for place, one in enumerate(found):
        if place or best is not None:
            terminal.line()
        _write(one, terminal)


def _write(found: Comparison, terminal: Terminal) -> None:
    head = comparison_head(found)
    verdict = head.verdict
    terminal.line(terminal.styled(f"{verdict.sign} {verdict.word}", verdict.tone))
    terminal.paragraph(one_line(verdict.sentence, 2_000), style="strong")
    for reason in verdict.reasons:
        if reason != verdict.sentence:
            terminal.paragraph(one_line(reason, 1_000), indent="  ")
    if head.banner:
        terminal.paragraph(head.banner, style="dim")
    for warning in head.warnings:
        terminal.paragraph(f"Note: {warning}", style="dim")
    terminal.line()
    _write_figures(found, terminal)
    for change, title in ((Change.REGRESSED, "Regressed"), (Change.IMPROVED, "Improved")):
        _write_cases(title, changed(found, change), terminal)


def _write_figures(found: Comparison, terminal: Terminal) -> None:
    names = [one_line(label, _LABEL_COLUMNS) for label in (found.a.label, found.b.label)]
    wide = [max(len(name) + 2, _VALUE_COLUMNS) for name in names]
    labels = [fitted(name, columns) for name, columns in zip(names, wide, strict=True)]
    terminal.line(" " * _NAME_COLUMNS, *labels, "difference")
    for tile in found.tiles:
        if tile.key in _ALWAYS and not tile.a and not tile.b:
            continue
        view = tile_view(tile, found.verdict)
        terminal.line(
            fitted(view.name, _NAME_COLUMNS - 1),
            " ",
            fitted(view.a, wide[0]),
            fitted(view.b, wide[1]),
            view.change or view.word,
        )


def _write_cases(title: str, rows: Sequence[CaseRow], terminal: Terminal) -> None:
    if not rows:
        return
    terminal.line()
    terminal.line(terminal.styled(f"{title}: {len(rows):,}", "strong"))
    for row in rows[:CASES_SHOWN]:
        mark = " (critical)" if row.case.critical else ""
        terminal.line(
            f"  {fitted(one_line(row.case.case_id, 40), 10)} ",
            one_line(row.case.text, max(terminal.columns - 13, 20)),
        )
        terminal.line(
            " " * 13,
            terminal.styled(
                one_line(f"expected {row.case.label}: {went_words(row)}{mark}", 200), "dim"
            ),
        )
    if len(rows) > CASES_SHOWN:
        terminal.line(f"  and {len(rows) - CASES_SHOWN:,} more")
