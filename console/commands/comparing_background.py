"""A comparison in a thread of the console's process: closing the page stops nothing."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from handoff_console.console.commands.comparing_versions import run
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.jobs import Kept, begun_within
from handoff_console.console.commands.trial_running import Stop
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.analysis.plain_text import one_line

START_SECONDS = 60.0
"""How long the beginning is waited for: a data set is read and every case is looked up."""
KEPT = 50


@dataclass
class Running:
    """A comparison that was started here."""

    stop: Stop = field(default_factory=Stop)
    is_over: bool = False
    problem: str = ""
    """Why it ended early, in one sentence; empty when it did not."""


_running: Kept[Running] = Kept(KEPT)


def start_comparison(store_path: Path, asked: Asked) -> str:
    """Start a comparison in a thread, and return the experiment's id once it is in the store.

    How far it is stands in the store, for whoever looks.

    Raises:
        CommandError, InputRefused, FlowError: It cannot be run; nothing was written.
        StoreError: The store cannot be opened or does not take the record.
    """
    started: Future[str] = Future()
    job = Running()

    def begun(experiment_id: str) -> None:
        _running.put(experiment_id, job)
        started.set_result(experiment_id)

    def work() -> None:
        try:
            run(store_path, asked, begun=begun, stop=job.stop)
        except HandoffConsoleError as error:
            job.problem = str(error)
            if not started.done():
                started.set_exception(error)
        except BaseException as error:
            job.problem = f"It broke off ({type(error).__name__}: {one_line(str(error), 300)})."
            if not started.done():
                started.set_exception(error)
            raise
        finally:
            job.is_over = True

    threading.Thread(target=work, name="comparison", daemon=True).start()
    return begun_within(started, START_SECONDS)


def comparison_job(experiment_id: str) -> Running | None:
    """Return a comparison that was started here; None for one that this process does not know."""
    return _running.find(experiment_id)
