"""Running one session into a store, here and now."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from handoff_console.console.commands.flows import Models
from handoff_console.console.commands.left_out_values import keep_while_waiting
from handoff_console.runtime import (
    Flow,
    HandoffRequest,
    Origin,
    SessionResult,
    State,
    run,
)
from handoff_console.store.effects import StoreLedger
from handoff_console.store.writer import open_sink


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
    originals: dict[str, str] = {}
    with closing(open_sink(store_path, create=True)) as sink:
        result = asyncio.run(
            run(
                flow,
                message,
                sink=sink,
                model=models.every_agent,
                models=models.by_agent,
                ledger=StoreLedger(sink.db, flow.redaction),
                wait_for_answers=wait_for_answers,
                origin=Origin(flow_source=source, metadata=metadata),
                originals=originals,
            )
        )
    keep_while_waiting(result.session_id, originals, waits=bool(result.waiting_for))
    return result


def outcome_of(result: SessionResult) -> str:
    """Return how a session came out, as the list says it: `waiting` when it needs a person."""
    return (State.WAITING if result.waiting_for else result.status).value
