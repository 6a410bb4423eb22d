"""Running one session into a store: here and now, or in the background of the console."""

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

from handoff_console.console.commands.flows import Models, load_flow
from handoff_console.runtime import (
    Event,
    Flow,
    HandoffRequest,
    Origin,
    SessionResult,
    State,
    run,
)
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.options import new_session_id
from handoff_console.store.effects import StoreLedger
from handoff_console.store.writer import StoreSink, open_sink

START_SECONDS = 30.0
"""How long `start_run` waits for a session's first events to be in the store."""


def run_once(
    store_path: Path,
    flow: Flow,
    message: str | HandoffRequest,
    *,
    source: str = "",
    models: Models = Models(),  # noqa: B008 - it cannot be changed
    metadata: Mapping[str, str] | None = None,
    wait_for_answers: bool = False,
) -> SessionResult:
    """Run one session to its end, or to where it needs a person, and record it.

    A missing store is made.

    When it is interrupted, the session is recorded as cancelled and KeyboardInterrupt passes on.

    Args:
        store_path: Where to record it.
        flow: The flow, with all options applied.
        message: What the user says, or a typed request.
        source: How the flow was named.
        models: Models that were named instead of the flow's own.
        metadata: What the caller knows about the request.
        wait_for_answers: A question of the last hop waits for the user; otherwise it is the result.

    Raises:
        StoreError: The store cannot be opened or does not take the record.
    """
    with closing(open_sink(store_path, create=True)) as sink:
        return asyncio.run(
            run(
                flow,
                message,
                sink=sink,
                model=models.every_agent,
                models=models.by_agent,
                ledger=StoreLedger(sink.db, flow.redaction),
                wait_for_answers=wait_for_answers,
                origin=Origin(flow_source=source, metadata=metadata),
            )
        )


def outcome_of(result: SessionResult) -> str:
    """Return how a session came out, as the list says it: `waiting` when it needs a person."""
    return (State.WAITING if result.waiting_for else result.status).value


def start_run(store_path: Path, flow_name: str, message: str, *, speed: float = 1.0) -> str:
    """Start a session in a thread of this process, and return its id once it is in the store.

    The thread has a connection of its own and ends with the session; should the process end first,
    the session is `interrupted`.

    Args:
        store_path: Where to record it; the store has to exist.
        flow_name: A sample, or `path/to/file.py:name`.
        message: What the user says.
        speed: How fast a sample's agents answer: 1 like a language model, 0 at once. Flows of the
            user's own take what they take.

    Raises:
        FlowNotFound: There is no flow of this name.
        FlowError: The flow cannot run.
        StoreError: The store cannot be opened or does not take the record.
    """
    loaded = load_flow(flow_name)
    flow = loaded.flow
    if loaded.is_sample:
        from handoff_console.sample_runs.pace import paced

        flow = paced(flow, speed)
    session_id = new_session_id(SystemClock())
    started: Future[str] = Future()
    origin = Origin(flow_source=loaded.source)

    def work() -> None:
        try:
            with closing(open_sink(store_path)) as sink:
                told = _TellsWhenRecorded(sink, started, session_id)
                asyncio.run(
                    run(
                        flow,
                        message,
                        sink=told,
                        session_id=session_id,
                        ledger=StoreLedger(sink.db, flow.redaction),
                        origin=origin,
                    )
                )
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    threading.Thread(target=work, name=f"session-{session_id}", daemon=True).start()
    return started.result(timeout=START_SECONDS)


class _TellsWhenRecorded:
    """A sink that tells a waiting thread when the first events of a session are in the store."""

    def __init__(self, sink: StoreSink, started: "Future[str]", session_id: str) -> None:
        self.digest_key = sink.digest_key
        self._sink, self._started, self._session_id = sink, started, session_id

    def append(self, event: Event, /) -> None:
        self._sink.append(event)

    def keep(self, digest: str, body: bytes, session_id: str, /) -> None:
        self._sink.keep(digest, body, session_id)

    def commit(self, *, synced: bool = False) -> None:
        self._sink.commit(synced=synced)
        if not self._started.done():
            self._started.set_result(self._session_id)
