"""`budget`: what another pool or other limits would have done to a session; nothing runs."""

from argparse import Namespace
from collections.abc import Sequence

from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.named_values import named_numbers
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.cli.tree_text import outcome_text
from handoff_console.console.commands.budgeting import (
    LIMITS,
    Budgeted,
    budget_form,
    budget_with,
)
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.viewmodels.text import amount, one_line
from handoff_console.console.viewmodels.what_if import FateLine
from handoff_console.store.analysis.what_if import Change

_FORM = "--limits NAME=NUMBER, or --limits AGENT.NAME=NUMBER"
_MOST_LINES = 100


def budget(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff budget`."""
    everyone, limits = _limits(arguments.limits)
    change = Change(
        pool_tokens=arguments.pool,
        max_handoffs=arguments.max_handoffs,
        max_workers=arguments.max_workers,
        max_edge_repeats=arguments.max_edge_repeats,
        depth=arguments.depth,
        limits=limits,
        everyone=everyone,
    )
    budgeted = budget_with(store_of(arguments), arguments.session, change)
    if arguments.json:
        write_json(budget_form(budgeted), terminal)
    else:
        _write(budgeted, arguments, terminal)
        if change == Change():
            terminal.note("Say what is to be otherwise: --pool TOKENS, or --limits NAME=NUMBER.")
    return 0


def _limits(words: Sequence[str]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the limits that are said for everyone, and those that are said for an agent."""
    everyone: dict[str, float] = {}
    agents: dict[str, dict[str, float]] = {}
    for place, number in named_numbers(words, _FORM).items():
        agent, _, name = place.rpartition(".")
        if name not in LIMITS:
            raise CommandError(
                f"--limits {place} names no limit; there are: {', '.join(LIMITS)}. Write {_FORM}."
            )
        if number <= 0 or (name != "deadline_seconds" and number != int(number)):
            wanted = "a number" if name == "deadline_seconds" else "a whole number"
            raise CommandError(f"--limits {place} has to be {wanted} above 0.")
        (agents.setdefault(agent, {}) if agent else everyone)[name] = number
    return everyone, agents


def _write(budgeted: Budgeted, arguments: Namespace, terminal: Terminal) -> None:
    view = budgeted.view
    terminal.paragraph(view.sentence, style="strong")
    terminal.line(view.spent)
    if view.lines:
        terminal.line()
    for line in view.lines[:_MOST_LINES]:
        _write_line(line, terminal)
    if len(view.lines) > _MOST_LINES:
        terminal.line(f"and {amount(len(view.lines) - _MOST_LINES)} more; --json has them all")
    if view.unknown:
        terminal.line()
        terminal.line("What the record cannot say")
    for sentence in view.unknown:
        terminal.paragraph(sentence, indent="  ")
    terminal.line()
    for tokens, words in (*view.marks, (budgeted.pool_tokens, "as recorded")):
        terminal.line(f"pool  {amount(tokens):>12}  {words}")
    command = next_command(arguments, "open", "--session", budgeted.session_id)
    terminal.line(terminal.styled(command, "dim"))


def _write_line(line: FateLine, terminal: Terminal) -> None:
    agent = fitted(one_line(f"{line.handoff_id} {line.agent}", 60), 20)
    recorded = outcome_text(line.recorded, "", terminal, columns=18)
    fate = terminal.styled(fitted(line.fate, 12), "error" if line.takes_away else "ok")
    terminal.line(agent, " ", recorded, fate)
    terminal.paragraph(line.why, indent="  ")
