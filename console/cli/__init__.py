"""The command line: `handoff VERB …`.

Results go to standard output, everything about the work itself to standard error. Exit status: 0
done, 1 the answer is no, 2 wrong usage or unreadable input, 130 interrupted.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TextIO

from handoff_console.console.cli.exit_status import DONE, INTERRUPTED, WRONG
from handoff_console.console.cli.parser import WrongUsage, arguments_of, overview, version

DEBUG_VARIABLE = "HANDOFF_DEBUG"
"""Set to 1, a mistake of the program itself shows its traceback."""


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command line and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        _take_any_character(stream)
    try:
        return _carry_out(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read along has enough: that is no failure, and nothing more can be told.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _carry_out(words: list[str]) -> int:
    try:
        arguments = arguments_of(words)
    except WrongUsage as error:
        sys.stderr.write(f"{error}\n")
        return WRONG
    except SystemExit:  # the help of one verb is printed
        return DONE
    arguments.words = words
    if arguments.version:
        sys.stdout.write(f"{version()}\n")
        return DONE
    if arguments.help or not arguments.verb:
        sys.stdout.write(f"{overview()}\n")
        return DONE if arguments.help else WRONG
    return _run(arguments)


def _run(arguments: Any) -> int:
    from handoff_console.console.cli.terminal import Terminal

    terminal = Terminal()
    try:
        status = _function(arguments.run)(arguments, terminal)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except Exception as error:
        sentence = (
            _refusal(error)
            or _missing_library(error)
            or _of_a_damaged_store(error, arguments)
            or _of_the_system(error)
        )
        if not sentence and os.environ.get(DEBUG_VARIABLE):
            raise
        terminal.failure(sentence or _own_mistake(error))
        return WRONG
    return status


def _refusal(error: Exception) -> str:
    """Return what this program refuses, in its own words; empty when the error is another one."""
    # By name: to import the class would fail where the error is that it cannot be imported.
    names = {cls.__name__ for cls in type(error).__mro__}
    return str(error) if "HandoffConsoleError" in names else ""


def _function(name: str) -> Callable[[Any, Any], int]:
    module, _, function = name.partition(":")
    found: Callable[[Any, Any], int] = getattr(import_module(f"{__name__}.{module}"), function)
    return found


def _missing_library(error: Exception) -> str:
    """Return what to install; empty when the error is another one."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    name = (error.name or "").partition(".")[0]
    if not name or name == __name__.partition(".")[0]:
        return ""
    extra = {"mcp": "mcp", "pydantic_ai": "live", "wordllama": "embed"}.get(name, "")
    if extra:
        what = f"'handoff-console[{extra}]'"
        return f"This command needs {name!r}, which is not installed; run `pip install {what}`."
    return (
        f"This command needs {name!r}, which is not installed; run `pip install handoff-console` "
        "without --no-deps."
    )


def _of_a_damaged_store(error: Exception, arguments: Any) -> str:
    """Return that the store is damaged; empty when the error is another one."""
    if "sqlite3" not in sys.modules:  # then none was read
        return ""
    from handoff_console.console.cli.places import store_of
    from handoff_console.store.damage import damage

    found = damage(error, store_of(arguments))
    return str(found) if found else ""


def _of_the_system(error: Exception) -> str:
    """Return what the system refused: a full disk, a file that cannot be read; or nothing."""
    if not isinstance(error, OSError) or not error.strerror:
        return ""
    what = f"{error.filename}: " if error.filename else ""
    return f"{what}{error.strerror}; make that possible, or name another file."


def _own_mistake(error: Exception) -> str:
    """Keep the traceback in a file, and return the sentence that names it."""
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace")
    with tempfile.NamedTemporaryFile(prefix="handoff-", suffix=".txt", delete=False) as file:
        file.write(text)
    return (
        f"this is a mistake of the program itself ({type(error).__name__}: {error}); the details "
        f"are in {file.name}; please report them, or see them with {DEBUG_VARIABLE}=1."
    )


def _take_any_character(stream: TextIO) -> None:
    """Let signs that the terminal's encoding lacks become `?` instead of an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
