"""Going on with a session, or running a handoff again, in a thread of the console's process.

The thread has a connection of its own and ends with its work. Whoever watches reads the store.
"""

import asyncio
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from handoff_console.console.commands import working
from handoff_console.console.commands.bisecting import Bisection, find_cause, plan_bisection
from handoff_console.console.commands.jobs import Job, Stopped, begun_within, keep
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.resuming import Resumption, resume_session
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.analysis.plain_text import one_line

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

    Further runs of the same order follow it; `job_of` that id says how far they are. A run that is
    only checked is recorded when it is over.

    Raises:
        CommandError, RequestError: It cannot be run; see `prepare`. Nothing ran.
        StoreError: The store cannot be opened or does not take the record.
    """
    job = Job(order.times)
    job.stop_current = working.stop

    def work(begun: Callable[[str], None]) -> None:
        def one(run_id: str) -> None:
            job.runs.append(run_id)
            if len(job.runs) == 1:
                keep(run_id, job)
            begun(run_id)

        def tell(done: int, total: int) -> None:
            if order.tell:
                order.tell(done, total)
            job.tell(done, total)

        with _noted(job):
            rerun_handoff(store_path, session_id, replace(order, begun=one, tell=tell))

    return _started(f"rerun-{session_id}-{order.handoff_id}", work)


def start_bisection(store_path: Path, asked: Bisection) -> str:
    """Look for what flips an outcome in a thread, and return the name of the job (`job_of`).

    Its result is a `Cause`.

    Raises:
        CommandError, RequestError, FlowNotNamed: It cannot be tried; nothing ran.
        StoreError: The store cannot be opened.
    """
    ready = plan_bisection(store_path, asked)
    job, name = Job(ready.estimate.most_reruns), f"bisection-{uuid.uuid4().hex}"
    keep(name, job)

    def work(begun: Callable[[str], None]) -> None:
        begun(name)
        with _noted(job):
            job.result = find_cause(store_path, replace(asked, tell=job.tell))

    return _started(name, work)


@contextmanager
def _noted(job: Job) -> Iterator[None]:
    """Note in a job how it ends; what is wrong before it began is for whoever started it."""
    try:
        yield
    except (Stopped, asyncio.CancelledError):
        job.was_stopped = True
    except HandoffConsoleError as error:
        job.problem = str(error)
        if not job.runs and job.result is None and job.done == 0:
            raise
    except Exception as error:
        job.problem = f"It failed: {one_line(str(error) or type(error).__name__, 300)}"
        raise
    finally:
        job.is_over = True


def _started(name: str, work: Callable[[Callable[[str], None]], None]) -> str:
    """Do some work in a thread, and wait until it says that it has begun, or has ended."""
    started: Future[str] = Future()

    def begun(session_id: str) -> None:
        if not started.done():
            started.set_result(session_id)

    def run() -> None:
        try:
            work(begun)
        except asyncio.CancelledError:
            begun("")  # somebody stopped it, and the record says so
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)
        else:
            begun("")

    threading.Thread(target=run, name=name, daemon=True).start()
    return begun_within(started, START_SECONDS)
