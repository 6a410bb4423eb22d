"""`diff`: two attempts of a handoff, or two sessions, side by side."""

from argparse import Namespace
from contextlib import closing

from handoff_console.console.cli.comparing import write_differences
from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.terminal import Terminal
from handoff_console.console.cli.tree_text import outcome_text
from handoff_console.console.commands.attempt_names import attempt_named
from handoff_console.console.commands.side_by_side import side_by_side, sides_form
from handoff_console.console.viewmodels.comparison import RunView
from handoff_console.console.viewmodels.text import one_line
from handoff_console.store.db import open_reader


def diff(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff diff`."""
    with closing(open_reader(store_of(arguments))) as db:
        both = side_by_side(
            db, attempt_named(db, arguments.left), attempt_named(db, arguments.right)
        )
        if arguments.json:
            write_json(sides_form(both), terminal)
            return 0
        view = both.view
        for side in (view.left, view.right):
            _write_side(side, terminal)
        terminal.paragraph(f"{view.scope} · {view.counts}", style="dim")
        write_differences(both.found, view, terminal)
    return 0


def _write_side(side: RunView, terminal: Terminal) -> None:
    outcome = outcome_text(side.outcome, side.limit, terminal, columns=25)
    terminal.line(outcome, f"{side.name} · {side.how}")
    for edit in side.edits:
        terminal.line("    ", one_line(edit, terminal.columns - 4))
    if side.unanswered:
        terminal.paragraph(side.unanswered, indent="    ")
