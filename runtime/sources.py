"""What tells one version of somebody's function from another: its text, and numbers it goes by."""

import inspect
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from dis import get_instructions
from types import CodeType
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_NUMBERS = (bool, int, float, Decimal)
"""No text: one may be a secret, and what becomes of this is no keyed digest."""


def source_of(function: Any) -> str:
    """Return the text of a function or class; of an object that can be called, its class's text.

    What has none here (it is of C, or was typed in) is told by how it shows itself, without the
    place in memory: that is another one in each process.
    """
    for one in (getattr(function, "func", function), type(function)):
        try:
            return inspect.getsource(one)
        except (OSError, TypeError):
            continue
    return _ADDRESS.sub("", repr(function))


def version_of(function: Callable[..., Any]) -> str:
    """Return what tells one version of a function from another, further than its text does.

    `at_most(500)` and `at_most(100)` have the same text: the numbers that it was made with, and
    the constants of its module that it reads, are told as well. What it calls is not.
    """
    numbers = sorted(_numbers(function))
    return "\n".join([source_of(function), *(f"{name} = {value!r}" for name, value in numbers)])


def _numbers(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the numbers that a function goes by, each with its name."""
    partial, function = function, inspect.unwrap(getattr(function, "func", function))
    given = _made_with(getattr(function, "__self__", None))
    if not hasattr(function, "__code__"):  # an object that can be called
        given |= _made_with(function)
        function = type(function).__call__
    if code := getattr(function, "__code__", None):
        defaults = function.__defaults__ or ()
        given |= dict(zip(code.co_varnames[: code.co_argcount][::-1], defaults[::-1], strict=False))
        given |= function.__kwdefaults__ or {}
        read = function.__globals__
        given |= {name: read[name] for name in code.co_names if name.isupper() and name in read}
        closed = zip(code.co_freevars, function.__closure__ or (), strict=True)
        given |= {name: cell.cell_contents for name, cell in closed if _is_set(cell)}
        for name in _counted(code):
            given.pop(name, None)
    given |= {str(at): value for at, value in enumerate(getattr(partial, "args", ()))}
    given |= getattr(partial, "keywords", {})
    yield from ((name, value) for name, value in given.items() if isinstance(value, _NUMBERS))


def _made_with(thing: Any) -> dict[str, Any]:
    """Return what an object keeps of what it was made with; what it counts is none of it."""
    try:
        wanted = inspect.signature(type(thing)).parameters
    except (TypeError, ValueError):
        return {}
    kept = getattr(thing, "__dict__", {})
    return {name: value for name, value in kept.items() if name.lstrip("_") in wanted}


def _counted(code: CodeType) -> Iterator[str]:
    """Yield the names outside of it that a function sets: they are others after every call."""
    for step in get_instructions(code):
        if step.opname in {"STORE_DEREF", "STORE_GLOBAL"}:
            yield step.argval


def _is_set(cell: Any) -> bool:
    """Say whether a closed-over name has a value by now."""
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
