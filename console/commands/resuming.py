"""Going on with a session that waited for a person, or whose process is gone.

What was answered is not asked again, what was done is not done again. One process does it at a
time, and an act whose outcome nobody knows waits for the operator.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handoff_console.console.commands.approving import in_full
from handoff_console.console.commands.errors import CannotGoOn
from handoff_console.console.commands.flows import chosen_models
from handoff_console.console.commands.left_out_values import keep_while_waiting, made_whole
from handoff_console.console.commands.recorded_flows import (
    adapted,
    check_models,
    flow_for,
    started_of,
)
from handoff_console.console.commands.rerun_records import MARKS, resume_rerun
from handoff_console.console.commands.saying import take_over_said
from handoff_console.console.commands.settling import (
    Settled,
    begun_acts,
    check_settled,
    settle_in,
)
from handoff_console.console.commands.sink_of_more import SinkOfMore
from handoff_console.console.commands.waiting import Pending, pending_of
from handoff_console.console.commands.working import stoppable
from handoff_console.runtime import (
    Decision,
    Flow,
    Origin,
    Recording,
    Session,
    SessionResult,
    resume,
)
from handoff_console.runtime.contract import HUMAN
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import choices
from handoff_console.runtime.events import (
    HandoffOpened,
    InputRequested,
    ToolCalled,
)
from handoff_console.store import reader
from handoff_console.store.effects import EffectState, StoreLedger, effects_of
from handoff_console.store.errors import SessionHeld
from handoff_console.store.inbox import inbox_of, put_decision
from handoff_console.store.leases import leased
from handoff_console.store.liveness import process_of
from handoff_console.store.recordings import is_imported, recording_of
from handoff_console.store.writer import StoreSink, open_sink

Announce = Callable[[Sequence[str]], None]
"""Is told what differs from the flow that was recorded, before anything runs."""


@dataclass(frozen=True, kw_only=True)
class Resumption:
    """How a session is gone on with; by default as it was."""

    named: str = ""
    """The flow: `path/to/file.py:name`; empty where a sample ran."""
    flow: Flow | None = None
    """The flow itself, from somebody who has it at hand."""
    models: Sequence[str] = ()
    """`SPEC` or `AGENT=SPEC`, as `chosen_models` takes them."""
    take_over: bool = False
    """Also where a process of another machine may still run it."""
    leave_unknown: bool = False
    """Also where the outcome of an act is unknown; the agent is told so."""
    wait_for_answers: bool = False
    """A question of the last hop waits for the user from now on."""
    edits: Edits | None = None
    """Of a re-run: what was changed, from somebody who has it at hand."""
    announce: Announce | None = None
    """Is told what differs from the flow that was recorded."""
    begun: Callable[[], None] | None = None
    """Is told when something new is in the record."""
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was left out of the record, as `filled` takes it."""
    leave_marks: bool = False
    """What is missing of the record besides is read as marks."""
    decisions: Sequence[Decision] = ()
    """What is decided by whoever goes on; put down once all that it needs is there."""
    settled: Sequence[Settled] = ()
    """What became of acts whose outcome is unknown; put down then, too."""
    more: Callable[[Session, SessionResult], Awaitable[SessionResult]] | None = None
    """Says what else there is to say after the last recorded turn, as `resume` takes it; not asked
    of a re-run."""


def resume_session(store_path: Path, asked: str, how: Resumption | None = None) -> SessionResult:
    """Go on with a session, from its record and from what people said since.

    Args:
        store_path: The store.
        asked: The session, or how its id begins or ends.
        how: What is to be different.

    Raises:
        NothingToDecide: What is said of an act is about none, or contradicts what is known.
        CannotGoOn: It is closed, came from a file, still waits, or an act's outcome is unknown.
        ValuesLeftOut: Somebody would read a mark where a value was left out of the record.
        ActLeftOut: An act with a yes would be carried out with one.
        AlreadySaid: Somebody else decided before.
        RequestError: A value that is given is not what was left out.
        SessionHeld: Another process runs it, or goes on with it now.
        FlowNotNamed: It ran a file, and the file is not named.
        ReplayDiverged: The flow now asks for something else than was recorded; nothing was changed.
        StoreError: The store cannot be opened or does not take the record.
    """
    how = how or Resumption()
    with closing(open_sink(store_path)) as sink:
        db = sink.db
        session_id = reader.resolve_session(db, asked)
        with leased(db, session_id, take_over=how.take_over):
            check_settled(db, session_id, how.settled)
            _check_it_rests(db, session_id, take_over=how.take_over)
            _forget_what_never_began(db, session_id)
            found = pending_of(db, session_id)
            _check_it_can_go_on(found, db, how)
            originals: dict[str, str] = {}
            result = _resumed(sink, session_id, how, originals)
            keep_while_waiting(session_id, originals, waits=bool(result.waiting_for))
            take_over_said(db, session_id)
    return result


def _resumed(
    sink: StoreSink, session_id: str, how: Resumption, originals: dict[str, str]
) -> SessionResult:
    recording = recording_of(sink.db, session_id)
    said = inbox_of(sink.db, session_id)
    wait = how.wait_for_answers or _waits_for_answers(recording)
    told: dict[str, Any] = {
        "sink": SinkOfMore(sink, session_id, how.begun),
        "answers": said.answers_by_handoff,
        "wait_for_answers": wait,
        "originals": originals,
    }

    started = started_of(recording)

    def whole(flow: Flow, *repeated: Recording) -> list[Recording]:
        leave_marks = how.leave_marks or bool(started.rerun_of and MARKS in started.metadata)
        return made_whole(
            [recording, *repeated],
            how.values,
            flow.redaction,
            leave_marks=leave_marks,
            says_more=how.more is not None,
        )

    def decided(so_far: Recording) -> list[Decision]:
        begun = begun_acts(sink.db, session_id, how.settled)
        whole_yes = in_full(so_far, [*said.decisions, *how.decisions], begun)
        settle_in(sink.db, session_id, how.settled)
        for one in how.decisions:
            put_decision(sink.db, session_id, one)
        return whole_yes

    if started.rerun_of:
        return resume_rerun(sink.db, recording, whole, decided, how.named, how.edits, **told)
    if how.flow:
        recorded = adapted(how.flow, started.flow_source, recording)
    else:
        recorded = flow_for(recording, how.named)
    (so_far,) = whole(recorded.flow)
    chosen = chosen_models(recorded.flow, how.models)
    check_models(recorded, recording, chosen)
    if how.announce and recorded.changes:
        how.announce(recorded.changes)
    going_on = resume(
        recorded.flow,
        so_far,
        model=chosen.every_agent,
        models=chosen.by_agent,
        ledger=StoreLedger(sink.db, recorded.flow.redaction),
        origin=Origin(flow_source=recorded.source),
        more=how.more,
        decisions=decided(so_far),
        **told,
    )
    return asyncio.run(stoppable(session_id, going_on))


def _check_it_rests(db: sqlite3.Connection, session_id: str, *, take_over: bool) -> None:
    """Refuse a session that is over, or that somebody runs."""
    if is_imported(db, session_id):
        raise CannotGoOn(
            f"Session {session_id!r} came from a file and goes on nowhere; `handoff rerun "
            f"{session_id} HANDOFF` runs a handoff of it again."
        )
    last = reader.last_kind(db, session_id)
    if last == "session_closed":
        raise CannotGoOn(
            f"Session {session_id!r} is closed, so there is nothing to go on with; `handoff rerun "
            f"{session_id} HANDOFF` runs a handoff of it again."
        )
    process = process_of(db, session_id)
    if last == "session_suspended" or process is None or process.is_gone:
        return
    if process.is_of_this_machine or not take_over:
        host = "" if process.is_of_this_machine else process.host
        raise SessionHeld(session_id, process.pid, host)


def _forget_what_never_began(db: sqlite3.Connection, session_id: str) -> None:
    """Note as not happened what was about to be tried when the process ended.

    The record of an act is on the disk before the act: without it, nothing was tried.
    """
    called = {
        event.payload.idempotency_key
        for event in reader.load_events(db, session_id, kinds={"tool_called"})
        if isinstance(event.payload, ToolCalled)
    }
    for effect in effects_of(db, session_id):
        if effect.state is EffectState.BEGUN and effect.key not in called:
            db.execute(
                "update effects set state = ? where key = ?", (EffectState.FAILED, effect.key)
            )


def _check_it_can_go_on(found: Pending, db: sqlite3.Connection, how: Resumption) -> None:
    """Refuse where nothing would come of it before a person has said something."""
    session_id = found.session_id
    settled = {one.place for one in how.settled}
    unknown = [one for one in found.effects if one.place not in settled]
    if unknown and not how.leave_unknown:
        acts = choices([f"{one.place} ({one.tool})" for one in unknown])
        raise CannotGoOn(
            f"Session {session_id!r} began an act that may or may not have happened: {acts}. Find "
            "out and say --happened PLACE or --not-happened PLACE, or --leave-unknown to go on "
            "without knowing."
        )
    waits = found.approvals or found.questions
    is_answered = found.is_answered or how.decisions
    if waits and not is_answered and reader.last_kind(db, session_id) == "session_suspended":
        raise CannotGoOn(f"Session {session_id!r} still waits for a person: {_what_waits(found)}.")


def _what_waits(found: Pending) -> str:
    acts = [f"{one.tool} ({one.approval_id}) needs a yes" for one in found.approvals]
    asked = [f"{one.agent} ({one.handoff_id}) asks something" for one in found.questions]
    ways = ["`handoff approve`"] * bool(acts) + ["`handoff answer`"] * bool(asked)
    return f"{'; '.join(acts + asked)}. Use {' and '.join(ways)} first"


def _waits_for_answers(recording: Recording) -> bool:
    """Say whether a question of an agent waited for the user in this session before."""
    agents: dict[str | None, str] = {}
    asked: set[str] = set()
    for event in recording.events:
        if isinstance(event.payload, HandoffOpened):
            agents[event.handoff_id] = event.payload.target
        elif isinstance(event.payload, InputRequested) and event.handoff_id:
            asked.add(event.handoff_id)
    return any(agents.get(handoff_id) != HUMAN for handoff_id in asked)
