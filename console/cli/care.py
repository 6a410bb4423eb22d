"""`doctor` and `rebuild`: whether all is well, and making what is derived again."""

import time
from argparse import Namespace
from dataclasses import asdict

from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.progress import sessions_counted
from handoff_console.console.cli.terminal import Terminal, fitted, wrapped
from handoff_console.console.commands import doctor as checks
from handoff_console.console.commands import keeping
from handoff_console.console.commands.doctor import Check, Grade
from handoff_console.console.viewmodels.text import count, seconds

_LOOKS = {Grade.OK: "✓", Grade.WARN: "!", Grade.FAIL: "✕"}
_NAME_COLUMNS = 15


def doctor(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff doctor`; 1 when something fails."""
    found = []
    for check in checks.doctor(store_of(arguments)):
        found.append(check)
        if not arguments.json:
            _write(check, terminal)
            terminal.out.flush()
    if arguments.json:
        write_json([asdict(check) for check in found], terminal)
    else:
        _write_sum(found, terminal)
    return int(any(check.grade is Grade.FAIL for check in found))


def rebuild(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff rebuild`."""
    began = time.monotonic()
    with sessions_counted(terminal) as progress:
        done = keeping.rebuild(store_of(arguments), progress)
    took = seconds(time.monotonic() - began)
    terminal.line(
        f"Made the lines, findings and index of {count(done, 'session')} again in {took}."
    )
    return 0


def _write(check: Check, terminal: Terminal) -> None:
    mark = terminal.styled(_LOOKS[check.grade], check.grade.value)
    indent = " " * (_NAME_COLUMNS + 2)
    lines = wrapped(check.sentence, terminal.columns - len(indent))
    lines += wrapped(f"→ {check.remedy}", terminal.columns - len(indent)) if check.remedy else []
    terminal.line(mark, " ", fitted(check.name, _NAME_COLUMNS), lines[0])
    for line in lines[1:]:
        terminal.line(indent, line)


def _write_sum(found: list[Check], terminal: Terminal) -> None:
    failed = sum(check.grade is Grade.FAIL for check in found)
    warned = sum(check.grade is Grade.WARN for check in found)
    terminal.line()
    if failed:
        terminal.line(f"{count(failed, 'check')} of {len(found)} failed.")
    elif warned:
        terminal.line(f"All works; {count(warned, 'thing')} to know.")
    else:
        terminal.line("All is well.")
