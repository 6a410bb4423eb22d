"""Where in the user's own files something was written, or went wrong."""

import inspect
from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Any

_INSTALLED = frozenset({"site-packages", "dist-packages"})


def defined_at(function: Callable[..., Any]) -> str:
    """Return where a function stands, as `desk.py, line 8`; its name where that cannot be told."""
    code = _code(function)
    if code is None:
        return str(getattr(function, "__name__", type(function).__name__))
    return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"


def raised_at(function: Callable[..., Any], error: BaseException) -> str:
    """Return the last line of the function's file, or of one beside it, that an error came through.

    As `desk.py, line 10`, or where the function stands when the error came from nowhere near.
    """
    code = _code(function)
    if code is None:
        return defined_at(function)
    folder, found = Path(code.co_filename).parent, ""
    for frame, line in walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(folder):
            below = path.relative_to(folder)
            if not _INSTALLED.intersection(below.parts):
                found = f"{below.as_posix()}, line {line}"
    return found or defined_at(function)


def _code(function: Callable[..., Any]) -> CodeType | None:
    function = inspect.unwrap(getattr(function, "func", function))  # of a partial
    if not hasattr(function, "__code__"):
        function = type(function).__call__
    code: CodeType | None = getattr(function, "__code__", None)
    return code
