"""Time: the real one, and a virtual one in which nobody waits.

The runtime takes its time from a `Clock`, so that recorded samples and tests are the same to the
microsecond each time they are made, and a deadline can be reached without waiting for it.
"""

import asyncio
import selectors
import time
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

_T = TypeVar("_T")


class Clock(Protocol):
    """Where the runtime reads the time."""

    def now(self) -> float:
        """Return the time of day in seconds since 1970 (UTC)."""
        ...

    def elapsed(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...


class SystemClock:
    """The machine's clock."""

    now = staticmethod(time.time)
    """Return the time of day in seconds since 1970 (UTC)."""
    elapsed = staticmethod(time.monotonic)
    """Return seconds of the monotonic clock."""


class VirtualClock:
    """The time of a `run_virtual` loop: it stands while code runs and leaps while all wait."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)) -> None:
        self._start = start.timestamp()

    def now(self) -> float:
        """Return `start` plus what has elapsed."""
        return self._start + self.elapsed()

    def elapsed(self) -> float:
        """Return the virtual seconds since the loop was made."""
        return asyncio.get_running_loop().time()


class _LeapingSelector(selectors.SelectSelector):
    """Instead of waiting for a timer, moves the loop's time to it."""

    def __init__(self) -> None:
        super().__init__()
        self.virtual_seconds = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:  # nothing but another thread or the outside can go on: wait for it
            return super().select(None)
        self.virtual_seconds += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leaping = _LeapingSelector()
        super().__init__(self._leaping)

    def time(self) -> float:
        return self._leaping.virtual_seconds


def run_virtual(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end in virtual time: timers fire in order, and nobody waits.

    Only for work that stays on the event loop: timers do not wait for threads. Plain tools of the
    runtime run on the loop here.
    """
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(coroutine)


def in_virtual_time() -> bool:
    """Say whether the running loop is one of `run_virtual`."""
    return isinstance(asyncio.get_running_loop(), _VirtualLoop)
