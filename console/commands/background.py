"""Going on with a session, or running a handoff again, in a thread of the console's process.

The thread has a connection of its own and ends with its work. Whoever watches reads the store.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.resuming import Resumption, resume_session

START_SECONDS = 30.0
"""How long the beginning of what was started is waited for."""


def start_resume(store_path: Path, session_id: str, how: Resumption | None = None) -> None:
    """Go on with a session in a thread, and return once it does.

    Raises:
        CannotGoOn, SessionHeld, FlowNotNamed, ReplayDiverged: It cannot; see `resume_session`.
        StoreError: The store cannot be opened or does not take the record.
    """

    def work(begun: Callable[[str], None]) -> None:
        told = replace(how or Resumption(), begun=lambda: begun(session_id))
        resume_session(store_path, session_id, told)

    _started(f"session-{session_id}", work)


def start_rerun(store_path: Path, session_id: str, order: RerunOrder) -> str:
    """Run a handoff again in a thread, and return the id of the first run once it is recorded.

    Further runs of the same order follow it; `order.tell` is told how far they are, in the thread.

    Raises:
        CommandError, RequestError: It cannot be run; see `prepare`. Nothing ran.
        StoreError: The store cannot be opened or does not take the record.
    """

    def work(begun: Callable[[str], None]) -> None:
        rerun_handoff(store_path, session_id, replace(order, begun=begun))

    return _started(f"rerun-{session_id}-{order.handoff_id}", work)


def _started(name: str, work: Callable[[Callable[[str], None]], None]) -> str:
    """Do some work in a thread, and wait until it says that it has begun, or has ended."""
    started: Future[str] = Future()

    def begun(session_id: str) -> None:
        if not started.done():
            started.set_result(session_id)

    def run() -> None:
        try:
            work(begun)
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)
        else:
            begun("")

    threading.Thread(target=run, name=name, daemon=True).start()
    return started.result(timeout=START_SECONDS)
