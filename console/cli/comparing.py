"""Two attempts side by side, and several of them together, as text."""

import sqlite3
from difflib import SequenceMatcher

from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.commands.rerun_records import record_of
from handoff_console.console.commands.rerunning import Rerun
from handoff_console.console.viewmodels.attempts import attempt_strip
from handoff_console.console.viewmodels.comparison import (
    ComparisonView,
    comparison_view,
    pairs_to_show,
)
from handoff_console.console.viewmodels.differences import DifferenceView, pair_view
from handoff_console.console.viewmodels.text import count, one_line
from handoff_console.store.analysis.diff import Comparison, compare
from handoff_console.store.analysis.lineage import attempts

PAIRS_SHOWN = 8
LINES_SHOWN = 6
"""Of each place at which two longer texts differ."""


def write_comparison(db: sqlite3.Connection, done: Rerun, terminal: Terminal) -> None:
    """Write where the first run parts from what it repeats, and how the handoffs differ."""
    left = record_of(db, done.session_id, done.order.alone)
    right = record_of(db, done.runs[0].session_id)
    found = compare(left, right)
    view = comparison_view(found, left, right, names=("recorded", "now"))
    write_differences(found, view, terminal)


def write_differences(found: Comparison, view: ComparisonView, terminal: Terminal) -> None:
    """Write where two runs part, what each took, and what differs in which handoff."""
    terminal.line()
    terminal.paragraph(view.sentence, style="strong")
    for line in view.figures:
        if line.change:
            terminal.line(
                f"  {fitted(line.name, 15)}", f"{line.left} → {line.right}  ({line.change})"
            )
    for sentence in view.payoffs:
        terminal.paragraph(sentence, indent="  ")
    changed = pairs_to_show(view.rows, only_changed=True)
    for row in changed[:PAIRS_SHOWN]:
        terminal.line()
        shown = pair_view(found.pairs[row.place])
        terminal.line(terminal.styled(shown.title, "strong"), f"  {row.change}")
        for heading, differences in shown.sections:
            for difference in differences:
                _write_difference(heading, difference, terminal)
    if len(changed) > PAIRS_SHOWN:
        terminal.line(f"and {count(len(changed) - PAIRS_SHOWN, 'more handoff')} that differ")
    terminal.line()


def write_repeats(db: sqlite3.Connection, done: Rerun, terminal: Terminal) -> None:
    """Write how often several runs came out how."""
    records = [record_of(db, run.session_id) for run in done.runs]
    original = record_of(db, done.session_id, done.order.alone)
    found = attempts(original, records, done.order.handoff_id)
    terminal.line()
    for group in attempt_strip(found).repeats:
        terminal.paragraph(group.sentence)
        terminal.line(
            "  ", ", ".join(f"{number} × {outcome}" for outcome, number in group.outcomes)
        )
        terminal.line("  ", " · ".join(filter(None, (group.tokens, group.duration, group.spent))))
    terminal.line()


def _write_difference(heading: str, difference: DifferenceView, terminal: Terminal) -> None:
    part = one_line(difference.name, 60)
    name = heading if part == heading else f"{heading} {part}".rstrip()
    if difference.is_short:
        left = one_line(difference.left, 200) if difference.left_is_there else ""
        right = one_line(difference.right, 200) if difference.right_is_there else ""
        terminal.paragraph(f"{name}: {left or 'nothing'} → {right or 'nothing'}", indent="  ")
        return
    terminal.line(f"  {name}:")
    before = difference.left.split("\n") if difference.left_is_there and difference.left else []
    after = difference.right.split("\n") if difference.right_is_there and difference.right else []
    for word, gone_from, gone_to, new_from, new_to in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if word != "equal":
            _write_lines("-", before[gone_from:gone_to], terminal)
            _write_lines("+", after[new_from:new_to], terminal)


def _write_lines(mark: str, lines: list[str], terminal: Terminal) -> None:
    for line in lines[:LINES_SHOWN]:
        terminal.line(f"    {mark} ", one_line(line, terminal.columns - 6))
    if len(lines) > LINES_SHOWN:
        terminal.line(f"    {mark} … {count(len(lines) - LINES_SHOWN, 'more line')}")
