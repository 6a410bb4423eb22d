"""Asking whoever sits at the terminal for values that a record leaves out."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from handoff_console.console.cli.asking import is_interactive, read_line
from handoff_console.console.cli.terminal import Terminal
from handoff_console.console.commands.errors import (
    ActLeftOut,
    MarksInRequest,
    ValuesLeftOut,
)
from handoff_console.console.commands.left_out_values import asked_for, said_values
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.errors import HandoffConsoleError, RequestError
from handoff_console.runtime.gaps import Gap
from handoff_console.runtime.redaction import has_mark

_T = TypeVar("_T")
Values = Mapping[str, Sequence[str]]


def with_values(attempt: Callable[[Values, bool], _T], values: Values, terminal: Terminal) -> _T:
    """Try something, and again with what whoever sits there says of what is missing.

    A value that is wrong is asked for again.

    Args:
        attempt: What is tried: with values, as `filled` takes them, and whether a person lets marks
            be read besides.
        values: That were given already.
        terminal: Where somebody may sit.

    Raises:
        ValuesLeftOut, ActLeftOut, MarksInRequest: Nobody was asked, or nothing was said.
        RequestError: A value is not what was left out, and nobody said another.
    """
    gaps: Sequence[Gap] = ()
    said, leaves = values, False
    while True:
        try:
            return attempt(said, leaves)
        except (ValuesLeftOut, ActLeftOut, MarksInRequest) as missing:
            gaps = gaps or missing.gaps
            if not (gaps and is_interactive(terminal)):
                raise
            problem: HandoffConsoleError = missing
            if isinstance(missing, ActLeftOut):
                terminal.note(str(missing))
        except RequestError as wrong:
            if not gaps:
                raise
            problem = wrong
            terminal.note(str(wrong))
        answers = ask_values(gaps, terminal)
        if answers is None:
            raise problem
        said, leaves = {**said, **answers}, has_mark(answers)


def ask_values(missing: Sequence[Gap], terminal: Terminal) -> dict[str, list[str]] | None:
    """Ask for values that were left out of a record, and return them as `filled` takes them.

    An empty line takes the first value of the same name once more, or leaves the mark. What is
    typed does not appear. The end of input, or Ctrl-C, says nothing: None.
    """
    asked = asked_for(missing)
    terminal.note("Values were left out of the record of this session; say them, to go on with")
    terminal.note("them. They do not appear as you type, and are not written down.")
    said: list[str] = []
    place = ""
    for one in asked:
        if one.gap.place != place:
            place = one.gap.place
            terminal.note("")
            terminal.note(f"{place}: {one_line(one.gap.excerpt, 160)}")
        which = f" ({one.number} of {one.gap.marks})" if one.gap.marks > 1 else ""
        empty = "leaves the mark" if one.is_first else "takes the first again"
        question = f"  {one_line(one.gap.name, 60)}{which}; an empty line {empty}: "
        line = read_line(question, terminal, is_secret=True)
        if line is None:
            return None
        said.append(line.rstrip("\r\n"))
    return said_values(asked, said)
