"""Going on with a session from a screen: with which flow, and at which pace."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from handoff_console import sample_runs
from handoff_console.console.commands.background import start_resume
from handoff_console.console.commands.conversations import Listener
from handoff_console.console.commands.recorded_flows import flow_for, started_of
from handoff_console.console.commands.rerun_start import best_named
from handoff_console.console.commands.resuming import Resumption
from handoff_console.sample_runs.pace import paced
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of


def go_on(
    store_path: Path,
    session_id: str,
    said: Resumption | None = None,
    *,
    named_flows: tuple[str, ...] = (),
    speed: float = 1.0,
    open_seconds: float = 0.0,
) -> None:
    """Go on with a session in a thread, and return once it does.

    Args:
        store_path: The store.
        session_id: The full id.
        said: What a person says of it (values, decisions, what became of acts); None: nothing.
        named_flows: The user's own flows that may be loaded, as `path/to/file.py:name`.
        speed: How fast a sample's agents answer: 1 like a language model, 0 at once.
        open_seconds: How long it waits for more after each answer; 0 closes it at once.

    Raises:
        CannotGoOn, SessionHeld, FlowNotNamed, ReplayDiverged: It cannot; see `resume_session`.
        StoreError: The store cannot be opened or does not take the record.
    """
    flow = _resumption(store_path, session_id, named_flows, speed)
    more = Listener(session_id, open_seconds).converse if open_seconds else None
    start_resume(
        store_path,
        session_id,
        replace(said or Resumption(), named=flow.named, flow=flow.flow, more=more),
    )


def _resumption(
    store_path: Path, session_id: str, named_flows: tuple[str, ...], speed: float
) -> Resumption:
    with closing(open_reader(store_path)) as db:
        recording = recording_of(db, session_id)
        started = started_of(recording)
        named = best_named(started.flow_source, named_flows)
        if named or started.rerun_of or started.flow_source not in sample_runs.NAMES:
            return Resumption(named=named)
        return Resumption(flow=paced(flow_for(recording).flow, speed))
