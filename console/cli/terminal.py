"""The terminal: how wide it is, whether it takes colour, and text that keeps its place in it."""

import os
import re
import select
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import TextIO

from handoff_console.store.analysis.plain_text import one_line

PLAIN_COLUMNS = 80
"""Of output that goes to no terminal, so that a file looks the same wherever it was made."""
WIDEST_COLUMNS = 120

TURN_SECONDS = 0.1
"""How long a person's line is waited for before Ctrl-C is looked for again."""

_STYLES: Mapping[str, str] = {
    "ok": "32",
    "not_found": "34",
    "needs_input": "33",
    "error": "31",
    "limit_reached": "35",
    "waiting": "33",
    "interrupted": "31",
    "refused": "31",
    "warning": "33",
    "info": "36",
    "fail": "31",
    "warn": "33",
    "strong": "1",
}
_DIM = "2"
_ESCAPE = re.compile("\x1b\\[[0-9;]*m")


class Terminal:
    """Where a command writes: results to `out`, everything about the work itself to `err`."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr

    @cached_property
    def columns(self) -> int:
        """How many columns results may take; at least 60."""
        if not self.out.isatty() and not os.environ.get("COLUMNS"):
            return PLAIN_COLUMNS
        return min(max(shutil.get_terminal_size((PLAIN_COLUMNS, 24)).columns, 60), WIDEST_COLUMNS)

    @cached_property
    def _colors(self) -> bool:
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return bool(os.environ.get("FORCE_COLOR")) or self.out.isatty()

    def ask(self, question: str, *, is_secret: bool = False) -> str:
        """Write a question and return the line that is typed; empty at the end of input.

        Args:
            question: What is asked.
            is_secret: The line does not appear as it is typed.

        Raises:
            KeyboardInterrupt: Ctrl-C, however soon it comes.
        """
        # Before the question: whoever types ahead is not to see it either.
        with _without_echo() if is_secret else nullcontext():
            self.err.write(question)
            self.err.flush()
            # A signal just before Python waits for a line would be seen only after the line.
            while not _is_typed():
                pass
            line = sys.stdin.readline()
        if is_secret:
            self.err.write("\n")
        return line

    def styled(self, text: str, style: str) -> str:
        """Return text in the look of an outcome, of `strong` or of `dim`; plain without colour."""
        if not self._colors or not text:
            return text
        return f"\x1b[{_STYLES.get(style, _DIM)}m{text}\x1b[0m"

    def line(self, *parts: str) -> None:
        """Write a line of the result."""
        self.out.write("".join(parts).rstrip() + "\n")

    def paragraph(self, text: str, *, indent: str = "", style: str = "") -> None:
        """Write text of any length, wrapped at the terminal's edge, its own line ends kept."""
        for own_line in text.split("\n"):
            for part in wrapped(own_line, self.columns - len(indent)) or [""]:
                self.line(indent, self.styled(part, style) if style else part)

    def note(self, text: str) -> None:
        """Write a sentence about the work itself to `err`."""
        self.err.write(f"{text}\n")
        self.err.flush()

    def failure(self, text: str) -> None:
        """Write the one sentence that says what went wrong."""
        self.note(f"handoff: {one_line(text, 4_000)}")


def width_of(text: str) -> int:
    """Return how many columns a text takes: East Asian wide signs two, combining ones none."""
    text = _ESCAPE.sub("", text)
    if text.isascii():
        return len(text)
    return sum(_columns(sign) for sign in text)


def fitted(text: str, columns: int, *, right: bool = False) -> str:
    """Return text that takes exactly so many columns: filled with spaces, or cut with an ellipsis.

    Text with colours in it is never cut: it has to fit.
    """
    room = columns - width_of(text)
    if room < 0:
        kept, left = [], columns - 1
        for sign in text:
            left -= _columns(sign)
            if left < 0:
                break
            kept.append(sign)
        text = "".join(kept) + "…"
        room = columns - width_of(text)
    return " " * room + text if right else text + " " * room


def wrapped(text: str, columns: int) -> list[str]:
    """Return one line of text as lines of at most so many characters."""
    return textwrap.wrap(text, max(columns, 20), break_on_hyphens=False)


def shown_names(names: Iterable[str], *, empty: str = "none") -> str:
    """Return recorded names as a list for one line."""
    return ", ".join(one_line(name, 60) for name in names) or empty


def _columns(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in {"Cf", "Me", "Mn"}:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in {"F", "W"} else 1


@contextmanager
def _without_echo() -> Iterator[None]:
    """Let what is typed not appear, where the terminal can do that."""
    try:
        import termios
    except ImportError:  # no such terminals on this system
        yield
        return
    try:
        before = termios.tcgetattr(sys.stdin)
    except (OSError, ValueError, termios.error):
        yield
        return
    silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _is_typed() -> bool:
    """Say whether a line is there, after a moment; also where nobody can tell before it is read."""
    try:
        return bool(select.select([sys.stdin], [], [], TURN_SECONDS)[0])
    except (OSError, ValueError):  # no file, or a system that selects sockets only
        return True
