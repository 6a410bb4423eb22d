"""The sessions that threads of this process run now, so that a person can stop them.

Only what runs here can be stopped here; a session of another process is stopped there, with Ctrl-C.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")

_stops: dict[str, Callable[[], None]] = {}
_ended = threading.Condition()


@contextmanager
def at_work(session_id: str, stop: Callable[[], None]) -> Iterator[None]:
    """Note that a session is at work while the block lasts, and how it is stopped.

    Within another such block it is stopped in the inner way until that one ends.

    Args:
        session_id: The session.
        stop: Ends it as soon as it can; called from any thread, perhaps more than once.
    """
    with _ended:
        before = _stops.get(session_id)
        _stops[session_id] = stop
    try:
        yield
    finally:
        with _ended:
            if before is None:
                del _stops[session_id]
            else:
                _stops[session_id] = before
            _ended.notify_all()


async def stoppable(session_id: str, work: Awaitable[_T]) -> _T:
    """Do some work of a session, which `stop` cancels: what is open is then closed by the runtime.

    Raises:
        CancelledError: It was stopped; the record says so.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    cancel = task.cancel

    def stop_it() -> None:
        loop.call_soon_threadsafe(cancel)

    with at_work(session_id, stop_it):
        return await work


def is_at_work(session_id: str) -> bool:
    """Say whether a thread of this process runs a session now."""
    return session_id in _stops


def stop(session_id: str) -> bool:
    """Stop a session, and say whether it was at work here."""
    with _ended:
        ending = _stops.get(session_id)
    if ending is not None:
        ending()
    return ending is not None


def stop_all(timeout_seconds: float = 3.0) -> bool:
    """Stop whatever this process runs, and say whether all of it ended in time."""
    last_moment = time.monotonic() + timeout_seconds
    with _ended:
        for ending in list(_stops.values()):
            ending()
        return _ended.wait_for(lambda: not _stops, max(0.0, last_moment - time.monotonic()))
