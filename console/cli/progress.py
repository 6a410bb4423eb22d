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
from handoff_console.console.viewmodels.text import amount, one_line, seconds

REFRESH_SECONDS = 0.1
"""On a terminal, where a line is written over the one before."""
LINE_SECONDS = 5.0
"""Elsewhere: a line of its own each time."""
WINDOW_SECONDS = 5.0
"""What the rate is taken from."""


class ProgressLine:
    """Says done, total, rate and time left, not too often."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._is_live = terminal.err.isatty()
        self._next_at = 0.0
        self._seen: deque[tuple[float, int]] = deque()
        self._told_before = False

    def show(self, progress: Progress) -> None:
        """Show how far it has come, when it is time to."""
        if not self._told_before:
            self._told_before = True
            self._tell_beginning(progress)
        now = time.monotonic()
        if now < self._next_at:
            return
        first_time = self._next_at == 0.0
        self._next_at = now + (REFRESH_SECONDS if self._is_live else LINE_SECONDS)
        text = self._text(progress, now)
        if self._is_live:
            self._terminal.err.write("\r" + fitted(text, self._terminal.columns - 1))
            self._terminal.err.flush()
        elif not first_time:
            self._terminal.note(text)

    def clear(self) -> None:
        """Take the line away: what follows is the result."""
        if self._is_live and self._next_at:
            self._terminal.err.write("\r" + " " * (self._terminal.columns - 1) + "\r")
            self._terminal.err.flush()

    def _tell_beginning(self, progress: Progress) -> None:
        if progress.changed:
            self._terminal.note(
                f"{one_line(progress.input_name, 200)}: {progress.changed} since an earlier batch "
                "of it was left unfinished, so this is a new one."
            )
        elif progress.done_before and progress.left:
            self._terminal.note(
                f"Going on after {amount(progress.done_before)} of {amount(progress.total)}."
            )

    def _text(self, progress: Progress, now: float) -> str:
        self._seen.append((now, progress.done))
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

    def asked(_signal: int, _frame: FrameType | None) -> None:
        again = control.asked_to_stop
        control.stop()
        if not again:
            # Written past the buffers: the signal may have come in the middle of a write.
            threading.Thread(
                target=terminal.note,
                args=("\nStopping after the session that runs now; Ctrl-C again cancels it.",),
            ).start()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
