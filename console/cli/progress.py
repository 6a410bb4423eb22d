"""How far long work has come, on standard error; and Ctrl-C while it goes on."""

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.commands.batch import Control, Progress
from handoff_console.console.viewmodels.text import amount, count, one_line, seconds

REFRESH_SECONDS = 0.1
"""On a terminal, where a line is written over the one before."""
LINE_SECONDS = 5.0
"""Elsewhere: a line of its own each time."""
WINDOW_SECONDS = 5.0
"""What the rate is taken from."""


class TimedLine:
    """A line about long work, not too often: written over on a terminal, elsewhere one each time.

    Args:
        terminal: Where it is written: to standard error.
        at_once: On a terminal show it from the beginning; else short work says nothing.
    """

    def __init__(self, terminal: Terminal, *, at_once: bool = False) -> None:
        self._terminal = terminal
        self._is_live = terminal.err.isatty()
        self._pause_seconds = REFRESH_SECONDS if self._is_live else LINE_SECONDS
        waits = not (at_once and self._is_live)
        self._next_at = time.monotonic() + (self._pause_seconds if waits else 0.0)
        self._is_shown = False

    def show(self, text: Callable[[], str]) -> None:
        """Show what a function returns, when it is time to."""
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + self._pause_seconds
        if not self._is_live:
            self._terminal.note(text())
            return
        self._terminal.err.write("\r" + fitted(text(), self._terminal.columns - 1))
        self._terminal.err.flush()
        self._is_shown = True

    def clear(self) -> None:
        """Take the line away: what follows is the result."""
        if self._is_shown:
            self._terminal.err.write("\r" + " " * (self._terminal.columns - 1) + "\r")
            self._terminal.err.flush()


class ProgressLine:
    """Says done, total, rate and time left, not too often."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._line = TimedLine(terminal, at_once=True)
        self._seen: deque[tuple[float, int]] = deque()
        self._told_before = False

    def show(self, progress: Progress) -> None:
        """Show how far it has come, when it is time to."""
        if not self._told_before:
            self._told_before = True
            self._seen.append((time.monotonic(), progress.total - progress.left))
            self._tell_beginning(progress)
        self._line.show(lambda: self._text(progress, time.monotonic()))

    def clear(self) -> None:
        """Take the line away: what follows is the result."""
        self._line.clear()

    def _tell_beginning(self, progress: Progress) -> None:
        if progress.changed:
            self._terminal.note(
                f"{one_line(progress.input_name, 200)}: {progress.changed} since an earlier batch "
                "of it was left unfinished, so this is a new one."
            )
        elif 0 < progress.left_before < progress.total:
            before = progress.total - progress.left_before
            self._terminal.note(f"Going on after {amount(before)} of {amount(progress.total)}.")

    def _text(self, progress: Progress, now: float) -> str:
        dealt_with = progress.total - progress.left
        self._seen.append((now, dealt_with))
        while len(self._seen) > 2 and self._seen[0][0] < now - WINDOW_SECONDS:
            self._seen.popleft()
        (then, done_then), (_, done) = self._seen[0], self._seen[-1]
        text = f"{amount(done)} of {amount(progress.total)} ({done * 100 // progress.total} %)"
        if done == done_then:
            return text
        rate = (done - done_then) / (now - then)
        shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return f"{text} · {shown} a second · {seconds(round(progress.left / rate))} left"


@contextmanager
def interrupts_stop(control: Control, terminal: Terminal) -> Iterator[None]:
    """Let Ctrl-C stop a batch after its current session, and a second one at once."""

    def asked() -> str:
        again = control.asked_to_stop
        control.stop()
        return "" if again else "Stopping after the session that runs now; Ctrl-C again cancels it."

    with interrupts(asked, terminal):
        yield


@contextmanager
def interrupts(asked: Callable[[], str], terminal: Terminal) -> Iterator[None]:
    """Let a function deal with Ctrl-C, and say what it returns, on the main thread alone."""

    def came(_signal: int, _frame: FrameType | None) -> None:
        if said := asked():
            # Written past the buffers: the signal may have come in the middle of a write.
            threading.Thread(target=terminal.note, args=(f"\n{said}",)).start()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, came)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def sessions_counted(terminal: Terminal) -> Iterator[Callable[[int, int], None]]:
    """Give what tells how many sessions are done: not too often, and gone again at the end."""
    line = TimedLine(terminal)

    def tell(done: int, total: int) -> None:
        percent = done * 100 // max(total, 1)
        line.show(lambda: f"{amount(done)} of {count(total, 'session')} ({percent} %)")

    try:
        yield tell
    finally:
        line.clear()


def counted(terminal: Terminal, what: str) -> Callable[[int, int], None]:
    """Return what tells how many of how many are done, on a terminal; elsewhere nothing does."""
    is_live = terminal.err.isatty()

    def tell(done: int, total: int) -> None:
        if not is_live:
            return
        text = f"{what} {done + 1} of {total}" if done < total else ""
        terminal.err.write("\r" + fitted(text, terminal.columns - 1) + ("" if text else "\r"))
        terminal.err.flush()

    return tell
