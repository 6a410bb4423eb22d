"""What a command refuses; the text of each is one sentence for the user.

```
CommandError (HandoffConsoleError)
├── FlowNotFound      no flow of this name, no such file, or nothing in it that is a flow
├── FlowFileFailed    the user's file could not be imported
├── InputRefused      an input file cannot be read; `line` is where
├── BatchBusy         another process works on the same batch now
├── NothingToDecide   what a person says is about nothing that waits for it
├── ArgumentsRefused  changed arguments are none that the tool takes
├── MarksInRequest    a model would be asked with marks where values were left out of the record
├── NotListening      a session takes no message now
├── CannotGoOn        a session is closed, still waits, or belongs to somebody else
│   ├── ValuesLeftOut     what it was told is not all in its record
│   └── ActLeftOut        what somebody said yes to is not all in its record
└── FlowNotNamed      a record alone does not say which code to run
```
"""

from collections.abc import Sequence

from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.gaps import Gap


class CommandError(HandoffConsoleError):
    """A command cannot be carried out as it was asked for; nothing was written."""


class FlowNotFound(CommandError):
    """There is no flow of this name."""


class FlowFileFailed(CommandError):
    """A file that should hold a flow could not be imported."""


class InputRefused(CommandError):
    """A file that was named cannot be read; nothing was run, and nothing was written."""

    def __init__(self, source: str, line: int | None, problem: str) -> None:
        self.source, self.line, self.problem = source, line, problem
        where = source if line is None else f"{source}, line {line}"
        super().__init__(f"{where}: {problem}")


class BatchBusy(CommandError):
    """Another process works on the same batch."""


class NothingToDecide(CommandError):
    """What a person says is about nothing that waits for it."""


class ArgumentsRefused(CommandError):
    """Arguments that a person changed are none that the tool takes; nothing was decided."""


class MarksInRequest(CommandError):
    """A model would be asked with a mark where a value was left out of the record.

    Args:
        text: What is missing, and what to do.
        gaps: Those that a person can be asked for.
    """

    def __init__(self, text: str, gaps: Sequence[Gap] = ()) -> None:
        self.gaps = tuple(gaps)
        super().__init__(text)


class NotListening(CommandError):
    """A session takes no message now; nothing was said to it."""


class CannotGoOn(CommandError):
    """A session cannot be resumed as it stands; nothing was changed."""


class ValuesLeftOut(CannotGoOn):
    """What was said to a session is not all in its record; nothing was run."""

    def __init__(self, session_id: str, gaps: Sequence[Gap]) -> None:
        self.gaps = tuple(gaps)
        names = dict.fromkeys(gap.name for gap in gaps)
        missing = [
            f"{name} ({', '.join(map(_place, (gap for gap in gaps if gap.name == name)))})"
            for name in names
        ]
        super().__init__(
            f"Values were left out of the record of session {session_id!r}, and its agents would "
            f"read marks in their place: {'; '.join(missing)}. Say each with --value "
            f"{f'{gaps[0].name}=VALUE'!r}, or --leave-marks to go on with the marks."
        )


class ActLeftOut(CannotGoOn):
    """An act that has a yes holds a value that is not in the record; nothing was run."""

    def __init__(self, session_id: str, act: str, gaps: Sequence[Gap]) -> None:
        self.gaps = tuple(gaps)
        super().__init__(
            f"A value was left out of the record of {act} in session {session_id!r}, and nothing "
            "is done with a mark in its place; say it with --value "
            f"{f'{gaps[0].name}=VALUE'!r}."
        )


def _place(gap: Gap) -> str:
    return gap.place if gap.marks == 1 else f"{gap.marks} in {gap.place}"


class FlowNotNamed(CommandError):
    """The record names a file as its flow, and no code is run because a record says so."""
