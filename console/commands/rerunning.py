"""Running one handoff of a recorded session again: verified, changed, or continued from.

A re-run is a session of its own in the same store; the original is only read. What it runs is the
flow that the user names, never one that the record names.
"""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from handoff_console.console.commands.as_then_notes import check_models_asked
from handoff_console.console.commands.left_out_values import keep_while_waiting
from handoff_console.console.commands.looking import SessionRecord
from handoff_console.console.commands.rerun_orders import Prepared, RerunOrder, prepare
from handoff_console.console.commands.rerun_records import labels_of, record_of
from handoff_console.console.commands.running import outcome_of
from handoff_console.console.commands.working import stoppable
from handoff_console.console.viewmodels.unanswered import KINDS, unanswered
from handoff_console.runtime import Origin, State
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.errors import ReplayDiverged
from handoff_console.runtime.events import ModelReplied
from handoff_console.runtime.options import new_session_id
from handoff_console.runtime.rerun import RerunResult, rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.lineage import attempts
from handoff_console.store.db import open_reader
from handoff_console.store.effects import StoreLedger
from handoff_console.store.writer import StoreSink, open_sink


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
    """By the clock of its record: recorded answers take as long as they took."""
    first_divergence: Mapping[str, str] | None
    is_waiting: bool = False
    unanswered_calls: int = 0
    """Of tools, which are not recorded and which the mode asks no tool for."""
    unanswered_acts: int = 0
    """Those among them that do more than read."""


@dataclass(frozen=True)
class Rerun:
    """A handoff that was run again, once or several times."""

    session_id: str
    """The original."""
    order: RerunOrder
    recorded_outcome: str
    """Of the recorded handoff, `waiting` where it had none yet; of the recorded session where all
    of it was continued."""
    runs: tuple[Ran, ...]
    flow_changes: Sequence[str] = ()
    """What differs from the flow that was recorded."""

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
        check_models_asked(ready, order.mode)
        if order.announce:
            order.announce(ready)
        runs: list[Ran] = []
        for number in range(order.times):
            if order.tell:
                order.tell(number, order.times)
            runs.append(_run(sink, ready, order))
        if order.tell:
            order.tell(order.times, order.times)
        before = _outcome_before(ready, order)  # reads what was said: as long as the store is open
    order = replace(order, edits=ready.edits)
    return Rerun(session_id, order, before, tuple(runs), ready.flow.changes)


def _outcome_before(ready: Prepared, order: RerunOrder) -> str:
    if order.mode is not Mode.CONTINUE:
        return ready.past.outcome
    recording = ready.past.recording
    outcome = Record(recording.events, recording.body, tasks=False).tree.outcome
    # Whether anything still runs, the record alone does not say.
    return (State.INCOMPLETE if outcome is State.RUNNING else outcome).value


def read_run(store_path: Path, done: Rerun, run: Ran) -> Ran:
    """Return a run as it stands by now, after somebody went on with it.

    Raises:
        StoreError: The store cannot be opened.
    """
    with closing(open_reader(store_path)) as db:
        original = record_of(db, done.session_id, done.order.alone)
        again = record_of(db, run.session_id)
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
        seconds=round(now.figures.seconds, 6),
        is_waiting=now.outcome == State.WAITING.value,
    )


def _run(sink: StoreSink, ready: Prepared, order: RerunOrder) -> Ran:
    session_id = new_session_id(SystemClock())
    graft = ready.graft.recording if ready.graft else None
    metadata = labels_of(order, graft)
    told = _Telling(sink, session_id, order)
    originals: dict[str, str] = {}
    try:
        again = rerun(
            ready.flow.flow,
            ready.past.recording,
            order.handoff_id,
            mode=order.mode,
            edits=ready.edits,
            graft=graft,
            sink=told,
            session_id=session_id,
            ledger=StoreLedger(sink.db, ready.flow.flow.redaction),
            origin=Origin(flow_source=ready.flow.source, metadata=metadata),
            originals=originals,
        )
        result = asyncio.run(stoppable(session_id, again))
    except ReplayDiverged:
        told.end()
        return _diverged(sink.db, session_id)
    told.end()
    keep_while_waiting(session_id, originals, waits=bool(result.session.waiting_for))
    ran = _ran(result, _recorded_seconds(sink.db, session_id))
    called = unanswered(reader.load_events(sink.db, session_id, kinds=KINDS))
    return replace(ran, unanswered_calls=called.calls, unanswered_acts=called.acts)


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


_ENDS = frozenset({"handoff_opened", "handoff_closed", "session_suspended"})


def _recorded_seconds(db: sqlite3.Connection, session_id: str) -> float:
    """Return how long a run took by the clock of its record, as every screen shows it."""
    ends = reader.load_events(db, session_id, kinds=_ENDS)
    return ends[-1].elapsed_seconds - ends[0].elapsed_seconds if ends else 0.0


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
        round(seconds, 6),
        came.first_divergence,
        bool(session.waiting_for),
    )


def _diverged(db: sqlite3.Connection, session_id: str) -> Ran:
    """Return the run of a verification that asked for something else than was recorded."""
    events = reader.load_events(db, session_id)
    parted = next((e.payload for e in events if e.kind == "replay_diverged"), None)
    shown = {name: getattr(parted, name) for name in ("place", "recorded", "asked")}
    replayed = sum(bool(getattr(e.payload, "replayed", False)) for e in events)
    took = round(_recorded_seconds(db, session_id), 6)
    return Ran(session_id, "diverged", "", "", False, 0, 0, replayed, 0, 0, took, shown)
