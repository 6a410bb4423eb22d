"""What a session waits for: an act that needs a yes, a question, an act that nobody knows about."""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handoff_console.console.commands.left_out_values import known_body
from handoff_console.runtime import Decision
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    HandoffOpened,
    InputGiven,
    InputRequested,
    SessionStarted,
    ToolCalled,
    ToolReturned,
)
from handoff_console.runtime.redaction import redacted_names
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.effects import EffectState, effects_of
from handoff_console.store.inbox import inbox_of
from handoff_console.store.liveness import alive_process
from handoff_console.store.recordings import is_imported


@dataclass(frozen=True, kw_only=True)
class PendingApproval:
    """An act that waits for a yes."""

    approval_id: str
    handoff_id: str
    agent: str
    path: str
    tool: str
    effect: Effect
    arguments: Mapping[str, Any]
    """Exactly what the tool will get."""
    recorded: Mapping[str, Any]
    """The same as the record has it: with marks where values were left out."""
    shown: str
    """The digest of all of this: what a yes is bound to."""
    asked_at: float
    """Seconds since 1970 (UTC)."""
    expires_at: float
    """Seconds since 1970 (UTC); no answer until then is a no."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema of the tool's arguments, as recorded; empty where it is not known."""
    said: Decision | None = None
    """What somebody decided, not taken over yet."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Arguments that hold a value which was left out of the record."""
        return tuple(redacted_names(self.arguments))

    @property
    def is_expired(self) -> bool:
        """Whether it is too late for a yes."""
        return time.time() > self.expires_at


@dataclass(frozen=True, kw_only=True)
class PendingQuestion:
    """A question that waits for an answer."""

    subject: str
    """The handoff that asks, and which of its questions it is: `h3#1`."""
    agent: str
    path: str
    text: str
    said: str | None = None
    """What somebody answered, not taken over yet."""

    @property
    def handoff_id(self) -> str:
        """The handoff that asks."""
        return self.subject.partition("#")[0]


@dataclass(frozen=True, kw_only=True)
class UnknownEffect:
    """An act that was begun, and nobody knows whether it happened."""

    place: str
    """Handoff, step and call: `h2.1.0`."""
    key: str
    agent: str
    tool: str
    arguments: Mapping[str, Any]
    begun_at: float
    """Seconds since 1970 (UTC)."""


@dataclass(frozen=True)
class Pending:
    """Everything that a session waits for; all empty when it waits for nobody."""

    session_id: str
    approvals: Sequence[PendingApproval] = ()
    questions: Sequence[PendingQuestion] = ()
    effects: Sequence[UnknownEffect] = ()

    @property
    def is_answered(self) -> bool:
        """Whether something was said, or came too late, so that it can go on."""
        return any(one.said or one.is_expired for one in self.approvals) or any(
            one.said is not None for one in self.questions
        )


def pending(store_path: Path, asked: str) -> Pending:
    """Return what a session waits for.

    Raises:
        StoreError: The store cannot be opened.
        SessionUnknown, SessionAmbiguous: There is no such session, or there are several.
    """
    with closing(open_reader(store_path)) as db:
        return pending_of(db, reader.resolve_session(db, asked))


def pending_of(db: sqlite3.Connection, session_id: str) -> Pending:
    """Return what a session waits for, from an open store; nothing where it goes on nowhere.

    Raises:
        SessionUnknown: There is no such session.
    """
    if reader.last_kind(db, session_id) == "session_closed" or is_imported(db, session_id):
        return Pending(session_id)  # it goes on nowhere
    events = reader.load_events(db, session_id, kinds=_KINDS)
    agents = {
        e.handoff_id: e.payload.target for e in events if isinstance(e.payload, HandoffOpened)
    }
    said = inbox_of(db, session_id)
    return Pending(
        session_id,
        tuple(_approvals(db, events, agents, {one.approval_id: one for one in said.decisions})),
        tuple(_questions(events, agents, said.answers)),
        tuple(_effects(db, events, agents, session_id)),
    )


_KINDS = {
    "session_started",
    "handoff_opened",
    "approval_requested",
    "approval_decided",
    "input_requested",
    "input_given",
    "tool_called",
    "tool_returned",
}
"""What of a session is read to see what it waits for."""


def _approvals(
    db: sqlite3.Connection,
    events: Sequence[Event],
    agents: Mapping[str | None, str],
    said: Mapping[str, Decision],
) -> Iterator[PendingApproval]:
    decided = {e.payload.approval_id for e in events if isinstance(e.payload, ApprovalDecided)}
    schemas: dict[tuple[str, str], Mapping[str, Any]] | None = None
    for event in events:
        payload = event.payload
        if not isinstance(payload, ApprovalRequested) or payload.approval_id in decided:
            continue
        schemas = _schemas(db, events) if schemas is None else schemas
        parameters = schemas.get((agents.get(event.handoff_id, ""), payload.tool), {})
        recorded = reader.body(db, payload.shown)
        # Whoever ran the session here is shown what it will really do.
        shown = known_body(event.session_id, payload.shown) or recorded
        yield PendingApproval(
            approval_id=payload.approval_id,
            handoff_id=event.handoff_id or "",
            agent=agents.get(event.handoff_id, ""),
            path=event.path or "",
            tool=payload.tool,
            effect=payload.effect,
            arguments=_in_order(shown["arguments"], parameters),
            recorded=_in_order(recorded["arguments"], parameters),
            shown=payload.shown,
            asked_at=event.at,
            parameters=parameters,
            expires_at=event.at + payload.expires_seconds,
            said=said.get(payload.approval_id),
        )


def _in_order(arguments: dict[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as the tool names them, those that it needs first; they are kept by name."""
    needed = required if isinstance(required := parameters.get("required"), list) else []
    return {name: arguments[name] for name in (*needed, *arguments) if name in arguments}


def _schemas(
    db: sqlite3.Connection, events: Sequence[Event]
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return what the tools take, by agent and tool, from the flow as it was recorded."""
    flows = (e.payload.flow_digest for e in events if isinstance(e.payload, SessionStarted))
    text = reader.body_text(db, next(flows, ""))
    flow = json.loads(text) if text else {}
    return {
        (agent["name"], tool["name"]): tool.get("parameters", {})
        for agent in flow.get("agents", ())
        for tool in agent.get("tools", ())
    }


def _questions(
    events: Sequence[Event], agents: Mapping[str | None, str], said: Mapping[str, str]
) -> Iterator[PendingQuestion]:
    for subject, (event, is_given) in asked_questions(events).items():
        if is_given:
            continue
        assert isinstance(event.payload, InputRequested)
        yield PendingQuestion(
            subject=subject,
            agent=agents.get(event.handoff_id, ""),
            path=event.path or "",
            text=event.payload.question,
            said=said.get(subject),
        )


def asked_questions(events: Sequence[Event]) -> dict[str, tuple[Event, bool]]:
    """Return all questions to people by subject, each with whether it was answered."""
    asked: dict[str, tuple[Event, bool]] = {}
    counts: dict[str, int] = {}
    for event in events:
        handoff = event.handoff_id or ""
        if isinstance(event.payload, InputRequested) and handoff:
            counts[handoff] = counts.get(handoff, 0) + 1
            asked[f"{handoff}#{counts[handoff]}"] = (event, False)
        elif isinstance(event.payload, InputGiven) and handoff in counts:
            subject = f"{handoff}#{counts[handoff]}"
            asked[subject] = (asked[subject][0], True)
    return asked


def _effects(
    db: sqlite3.Connection,
    events: Sequence[Event],
    agents: Mapping[str | None, str],
    session_id: str,
) -> Iterator[UnknownEffect]:
    if alive_process(db, session_id) is not None:
        return  # what was begun goes on
    begun = {one.key: one for one in effects_of(db, session_id) if one.state is EffectState.BEGUN}
    for event, payload in _without_result(events):
        if payload.idempotency_key not in begun:
            continue
        yield UnknownEffect(
            place=_place(event, payload),
            key=payload.idempotency_key or "",
            agent=agents.get(event.handoff_id, ""),
            tool=payload.tool,
            arguments=reader.body(db, payload.arguments),
            begun_at=begun[payload.idempotency_key or ""].begun_at,
        )


def settled_effects(db: sqlite3.Connection, session_id: str) -> Mapping[str, str]:
    """Return the acts of which somebody said what became of them, as long as that is all: by place.

    Each has its key in the ledger. What the session went on with is in its record, and not here.
    """
    ended = {one.key for one in effects_of(db, session_id) if one.state is not EffectState.BEGUN}
    events = reader.load_events(db, session_id, kinds={"tool_called", "tool_returned"})
    return {
        _place(event, payload): payload.idempotency_key or ""
        for event, payload in _without_result(events)
        if payload.idempotency_key in ended
    }


def _without_result(events: Sequence[Event]) -> Iterator[tuple[Event, ToolCalled]]:
    """Yield the calls of tools of which the record does not say what came of them."""
    returned = {
        _place(e, e.payload)
        for e in events
        if isinstance(e.payload, ToolReturned) and not e.payload.outcome_unknown
    }
    for event in events:
        payload = event.payload
        if isinstance(payload, ToolCalled) and _place(event, payload) not in returned:
            yield event, payload


def _place(event: Event, payload: ToolCalled | ToolReturned) -> str:
    return f"{event.handoff_id}.{payload.step}.{payload.index}"
