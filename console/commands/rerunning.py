"""Running one handoff of a recorded session again: verified, changed, or continued from.

A re-run is a session of its own in the same store; the original is only read. What it runs is the
flow that the user names, never one that the record names.
"""

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handoff_console.console.commands.errors import CannotGoOn
from handoff_console.console.commands.looking import SessionRecord
from handoff_console.console.commands.recorded_flows import flow_for, started_of
from handoff_console.console.commands.rerun_orders import (
    Prepared,
    RerunOrder,
    prepare,
    recorded_outcome,
)
from handoff_console.console.commands.running import outcome_of
from handoff_console.console.commands.waiting import REDACTED
from handoff_console.runtime import Origin, Recording, SessionResult, State
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import ReplayDiverged
from handoff_console.runtime.events import ModelReplied
from handoff_console.runtime.options import new_session_id
from handoff_console.runtime.rerun import RerunResult, rerun
from handoff_console.runtime.rerun_player import NOT_RECORDED, Mode
from handoff_console.store import reader
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.lineage import attempts
from handoff_console.store.db import open_reader
from handoff_console.store.effects import StoreLedger
from handoff_console.store.errors import SessionUnknown
from handoff_console.store.recordings import recording_of
from handoff_console.store.writer import StoreSink, open_sink

GRAFT = "graft"
"""The label under which a re-run records whose answers it took over."""


@dataclass(frozen=True)
class Ran:
    """One run."""

    session_id: str
    outcome: str
    reason: str
    """For `limit_reached`, which limit."""
    answer: str
    same_result: bool
    """Whether the result is the recorded one; where people are waited for, whether the same are."""
    live_model_calls: int
    live_tool_calls: int
    replayed_answers: int
    tokens_used: int
    saved_tokens: int
    seconds: float
    first_divergence: Mapping[str, str] | None
    is_waiting: bool = False
    unanswered_calls: int = 0
    """Of tools, which are not recorded and which the mode asks no tool for."""


@dataclass(frozen=True)
class Rerun:
    """A handoff that was run again, once or several times."""

    session_id: str
    """The original."""
    order: RerunOrder
    recorded_outcome: str
    """Of the recorded handoff; `waiting` where it had none yet."""
    runs: tuple[Ran, ...]

    @property
    def live_model_calls(self) -> int:
        """Models that were really asked, by all runs together."""
        return sum(run.live_model_calls for run in self.runs)

    @property
    def same_result(self) -> bool:
        """Whether every run came to the recorded result."""
        return all(run.same_result for run in self.runs)

    @property
    def first_divergence(self) -> Mapping[str, str] | None:
        """Where the first run that did so asked for something else than was recorded."""
        return next((run.first_divergence for run in self.runs if run.first_divergence), None)


def rerun_handoff(store_path: Path, asked: str, order: RerunOrder) -> Rerun:
    """Run a handoff of a recorded session again, as often as asked.

    Args:
        store_path: The store; the runs are recorded into it.
        asked: The session, or how its id begins or ends.
        order: What is to be run, and how.

    Raises:
        CommandError, RequestError: It cannot be run; see `prepare`. Nothing ran.
        StoreError: The store cannot be opened or does not take the record.
    """
    with closing(open_sink(store_path)) as sink:
        session_id = reader.resolve_session(sink.db, asked)
        ready = prepare(sink.db, session_id, order)
        if order.announce:
            order.announce(ready)
        runs: list[Ran] = []
        for number in range(order.times):
            if order.tell:
                order.tell(number, order.times)
            runs.append(_run(sink, ready, order))
        if order.tell:
            order.tell(order.times, order.times)
    order = replace(order, edits=ready.edits)
    return Rerun(session_id, order, recorded_outcome(ready), tuple(runs))


def read_run(store_path: Path, done: Rerun, run: Ran) -> Ran:
    """Return a run as it stands by now, after somebody went on with it.

    Raises:
        StoreError: The store cannot be opened.
    """
    with closing(open_reader(store_path)) as db:
        original, again = record_of(db, done.session_id, done.order), record_of(db, run.session_id)
        before, *_, now = attempts(original, [again], done.order.handoff_id)
        answer = SessionRecord(db, run.session_id).answer
    replies = [payload for _, payload in again.of(ModelReplied)]
    return replace(
        run,
        outcome=now.outcome,
        reason=now.limit,
        answer=answer,
        same_result=bool(now.result) and now.result == before.result,
        live_model_calls=sum(not reply.replayed for reply in replies),
        tokens_used=now.figures.tokens_used,
        is_waiting=now.outcome == State.WAITING.value,
    )


def record_of(db: sqlite3.Connection, session_id: str, order: RerunOrder | None = None) -> Record:
    """Return a session as the analysis takes it; of an original, what a re-run is compared with.

    Raises:
        SessionUnknown: There is no such session.
    """
    is_alone = order is not None and order.mode is not Mode.CONTINUE
    found = recording_of(db, session_id, order.handoff_id if order and is_alone else None)
    return Record(found.events, found.body)


def resume_rerun(
    db: sqlite3.Connection, so_far: Recording, named: str, edits: Edits | None, **options: Any
) -> SessionResult:
    """Go on with a re-run that waited for a person, or whose process is gone.

    Args:
        db: The store that holds it and what it repeats.
        so_far: The re-run.
        named: The flow, as for `flow_for`.
        edits: What was changed, from somebody who has it at hand; else as it was recorded.
        options: Fields of `RunOptions`.

    Raises:
        CannotGoOn: What it repeats is gone, or a value of its edits was left out of the record.
    """
    started = started_of(so_far)
    try:
        original = recording_of(db, started.rerun_of)
    except SessionUnknown as error:
        raise CannotGoOn(
            f"Session {so_far.session_id!r} repeats a part of {started.rerun_of!r}, which is gone "
            "from this store, so there is nothing to go on from."
        ) from error
    graft = started.metadata.get(GRAFT)
    flow = flow_for(original, named)
    return asyncio.run(
        rerun(
            flow.flow,
            original,
            started.rerun_handoff,
            mode=Mode(started.rerun_mode),
            edits=edits or _recorded_edits(so_far),
            graft=recording_of(db, graft) if graft else None,
            so_far=so_far,
            ledger=StoreLedger(db, flow.flow.redaction),
            origin=Origin(flow_source=flow.source, metadata=started.metadata),
            **options,
        )
    ).session


def _run(sink: StoreSink, ready: Prepared, order: RerunOrder) -> Ran:
    session_id = new_session_id(SystemClock())
    metadata = {GRAFT: ready.graft.session_id} if ready.graft else None
    began = time.monotonic()
    told = _Telling(sink, session_id, order)
    try:
        result = asyncio.run(
            rerun(
                ready.flow.flow,
                ready.recording,
                order.handoff_id,
                mode=order.mode,
                edits=ready.edits,
                graft=ready.graft,
                sink=told,
                session_id=session_id,
                ledger=StoreLedger(sink.db, ready.flow.flow.redaction),
                origin=Origin(flow_source=ready.flow.source, metadata=metadata),
            )
        )
    except ReplayDiverged:
        told.end()
        return _diverged(sink.db, session_id, time.monotonic() - began)
    told.end()
    ran = _ran(result, time.monotonic() - began)
    returned = reader.load_events(sink.db, session_id, kinds={"tool_returned"})
    unanswered = sum(getattr(e.payload, "error", "") == NOT_RECORDED for e in returned)
    return replace(ran, unanswered_calls=unanswered)


class _Telling:
    """The store's sink for one run; tells when the run is in the store.

    A verification waits for nothing and does nothing, so it is written once, at its end.
    """

    def __init__(self, sink: StoreSink, session_id: str, order: RerunOrder) -> None:
        self.digest_key = sink.digest_key
        self.append, self.keep = sink.append, sink.keep
        self._sink, self._session_id, self._begun = sink, session_id, order.begun
        self._is_held = order.mode is Mode.VERIFY

    def commit(self, *, synced: bool = False) -> None:
        if self._is_held:
            return
        self._sink.commit(synced=synced)
        if self._begun:
            self._begun(self._session_id)
            self._begun = None

    def end(self) -> None:
        """Write what is left."""
        self._is_held = False
        self.commit()


def _ran(came: RerunResult, seconds: float) -> Ran:
    session = came.session
    return Ran(
        session.session_id,
        outcome_of(session),
        session.reason,
        session.answer,
        came.same_result,
        came.live_model_calls,
        came.live_tool_calls,
        came.replayed_answers,
        session.tokens_used,
        came.saved_tokens,
        round(seconds, 3),
        came.first_divergence,
        bool(session.waiting_for),
    )


def _diverged(db: sqlite3.Connection, session_id: str, seconds: float) -> Ran:
    """Return the run of a verification that asked for something else than was recorded."""
    events = reader.load_events(db, session_id)
    parted = next((e.payload for e in events if e.kind == "replay_diverged"), None)
    shown = {name: getattr(parted, name) for name in ("place", "recorded", "asked")}
    replayed = sum(bool(getattr(e.payload, "replayed", False)) for e in events)
    return Ran(
        session_id, "diverged", "", "", False, 0, 0, replayed, 0, 0, round(seconds, 3), shown
    )


def _recorded_edits(so_far: Recording) -> Edits:
    started = started_of(so_far)
    fields = so_far.body(started.edits) if started.edits else {}
    if REDACTED in repr(fields):
        raise CannotGoOn(
            f"A value that re-run {so_far.session_id!r} was given was left out of the record; run "
            "the handoff again with it instead."
        )
    return Edits.recorded(fields, fields.get("model"))
