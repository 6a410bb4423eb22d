"""What a person types in the place of a recorded value: JSON, or a text as it stands."""

import json
from typing import Any

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.viewmodels.text import one_line


def json_value(text: str) -> Any:
    """Return what was typed as JSON; as the text itself where it is none."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def json_typed(text: str, what: str) -> Any:
    """Return what was typed as JSON, or as the text itself; what begins as JSON has to be some.

    An object whose last bracket is missing is a slip, and not the text that somebody meant.

    Args:
        text: As typed.
        what: What it is the value of, for whoever typed it: `--tool-result find_order`.

    Raises:
        CommandError: It begins as an object or a list, and is none.
    """
    value = json_value(text)
    if isinstance(value, str) and text.lstrip().startswith(("{", "[")):
        raise CommandError(
            f"{one_line(what, 80)} begins as JSON and is none: {one_line(text, 60)}; close it, or "
            'put a text in "quotation marks".'
        )
    return value


def value_like(before: Any, text: str) -> Any:
    """Return what was typed in the place of a value: where that is a text, `4812` is one too.

    In quotation marks it is a text in any case.
    """
    value = json_value(text)
    return text if isinstance(before, str) and not isinstance(value, str) else value


def typed_form(value: Any) -> str:
    """Return a recorded value as it stands in a field: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _no_number(word: str) -> Any:
    raise ValueError(word)  # Infinity and NaN are no JSON
