"""Options that give something named a value: `--limits max_steps=4`, and its like."""

import json
from collections.abc import Mapping, Sequence

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.viewmodels.text import one_line

_TOO_LARGE = 10**15
"""As for all numbers that are typed: arithmetic with larger ones is not exact, or fails."""


def named_values(words: Sequence[str], form: str) -> Mapping[str, str]:
    """Return what each `NAME=VALUE` says; the last one counts where a name is said twice.

    Args:
        words: As typed; none say nothing.
        form: The option as it is meant to be written.

    Raises:
        CommandError: One is not of this form.
    """
    pairs = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not mark or not name:
            raise CommandError(f"{word!r} is not understood; write {form}.")
        pairs[name] = value
    return pairs


def named_numbers(words: Sequence[str], form: str = "--limits NAME=NUMBER") -> dict[str, float]:
    """Return what each `NAME=NUMBER` of `--limits` says.

    Raises:
        CommandError: One is not of this form, says no number, or one of 10^15 or beyond.
    """
    numbers: dict[str, float] = {}
    for name, text in named_values(words, form).items():
        try:
            value = json.loads(text, parse_constant=_no_number)
        except ValueError:
            value = None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise CommandError(
                f"--limits {name}={one_line(text, 40)} is no number; write {name}=NUMBER."
            )
        if abs(value) >= _TOO_LARGE:
            raise CommandError(
                f"--limits {name}={one_line(text, 40)} is too large; write a number below "
                f"{_TOO_LARGE:,}."
            )
        numbers[name] = value
    return numbers


def _no_number(_: str) -> None:
    """Stand for the NaN and the infinities that Python reads in JSON."""
