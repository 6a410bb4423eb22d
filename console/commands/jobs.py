"""Work that a page started in a thread of the console, and how far it is.

What it records is in the store; what only the person who started it needs is here, for a while.
"""

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from handoff_console.console.commands.errors import CommandError

JOBS_KEPT = 200


class Stopped(Exception):
    """Somebody stopped the work; what was done until then stays."""


class Job:
    """Work that is under way, or over.

    Args:
        total: How many parts it has, at most.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        """Parts that are over."""
        self.runs: list[str] = []
        """Sessions that it recorded, in order."""
        self.result: Any = None
        """What it came to, where that is in no store; None until then."""
        self.command = ""
        """The command line that does the same; empty where nobody said it."""
        self.problem = ""
        """Why it ended early, in one sentence; empty when it did not."""
        self.is_over = False
        self.was_stopped = False
        self.stop_current: Callable[[str], object] = lambda _session_id: None
        """Stops the session that is at work now."""

    def tell(self, done: int, total: int) -> None:
        """Note how far it is.

        Raises:
            Stopped: Somebody wants it to end here.
        """
        self.done, self.total = done, total
        if self.was_stopped and done < total:
            raise Stopped

    def stop(self) -> None:
        """End it as soon as it can be ended."""
        self.was_stopped = True
        if self.runs:
            self.stop_current(self.runs[-1])


class Ends(Protocol):
    """Work that may be over."""

    is_over: bool


Work = TypeVar("Work", bound=Ends)


class Kept(Generic[Work]):
    """Work by its name, for every page and thread of the console.

    Args:
        most: Beyond so many the oldest that are over make room.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._work: dict[str, Work] = {}
        self._lock = Lock()

    def put(self, name: str, work: Work) -> None:
        """Keep some work under a name."""
        with self._lock:
            self._work[name] = work
            over = [key for key, one in self._work.items() if one.is_over]
            for old in over[: max(0, len(self._work) - self._most)]:
                del self._work[old]

    def find(self, name: str) -> Work | None:
        """Return some work; None where this process does not know it (any more)."""
        return self._work.get(name)


def begun_within(started: "Future[str]", wait_seconds: float) -> str:
    """Return the name that work in a thread gives itself once it has begun.

    Raises:
        CommandError: It has not said so in time, and goes on.
        BaseException: What hindered it from beginning.
    """
    try:
        return started.result(timeout=wait_seconds)
    except FutureTimeout:
        if started.done():  # its own failure was one of time
            raise
        raise CommandError(
            f"It has not begun within {wait_seconds:g} seconds. It goes on; look at the list of "
            "sessions, or of experiments, in a while."
        ) from None


_jobs: Kept[Job] = Kept(JOBS_KEPT)


def keep(name: str, job: Job) -> None:
    """Keep a job under a name; the oldest that are over make room."""
    _jobs.put(name, job)


def job_of(name: str) -> Job | None:
    """Return a job; None for one that this process does not know (any more)."""
    return _jobs.find(name)
