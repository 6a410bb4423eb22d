"""One handoff while it is open, and how it can end."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.canonical import canonical, canonical_text
from handoff_console.runtime.context import Context, KeptMessage
from handoff_console.runtime.contract import (
    ContextPolicy,
    EndedBy,
    HandoffKind,
    HandoffRequest,
    HandoffResult,
    Limits,
    Message,
    Packet,
    Status,
    ToolCall,
)
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.models import Model, ModelReply
from handoff_console.runtime.recorder import Scope


@dataclass(slots=True, kw_only=True)
class OpenHandoff:
    """A handoff that passed the gate, with what the runtime counts of it."""

    id: str
    """Within the session."""
    scope: Scope
    source: str
    agent: Agent
    model: Model
    via: HandoffKind
    request: HandoffRequest
    limits: Limits
    """In force: the request's, within what its caller has left."""
    context: Context
    inputs_hash: str
    request_digest: str = ""
    bound_at: float
    """When whoever waits for the chain stops waiting, in the clock's seconds."""
    depth: int = 0
    depth_left: int = 0
    hop: int = 0
    ancestors: tuple[str, ...] = ()
    """Agents whose calls are waiting for this one, outermost first."""
    packet: Packet | None = None
    policy: ContextPolicy = ContextPolicy.PACKET
    passed_on: Sequence[Message] = ()
    """What it reads after its instructions; set by the edge's context policy."""
    return_to: str = ""
    """Who takes the user's next turn, should this hop answer."""
    confirmed: Mapping[str, Any] = field(default_factory=dict)
    """Of its inputs, those that something confirms: session state once it opens."""
    withheld: tuple[str, ...] = ()
    fork_id: str | None = None
    continues: str | None = None
    follows: str | None = None
    grant_tokens: int | None = None
    tools_digest: str = ""
    tools: list[dict[str, Any]] = field(default_factory=list)
    tools_bytes: int = 0
    max_result_bytes: int = 16_000
    """The size cap of its result, of what it gathered as well."""
    opened_at: float = 0.0
    deadline_at: float = 0.0
    steps: int = 0
    tokens: int = 0
    measured: bool = True
    cost: float | None = 0.0
    rejected_outputs: int = 0
    told_to_stop: bool = False
    refused: frozenset[str] = frozenset()
    """Requests that did not pass the gate, as canonical JSON."""
    step_played: bool = False
    """The answer of this step came from a recording."""
    last_reply: KeptMessage | None = None
    """What its agent said last, before a person answers."""
    gathered: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    """What tools and workers returned, by step and call: the partial data when it is stopped."""
    asked_by_tools: dict[tuple[int, int], ToolCall] = field(default_factory=dict)
    """Transfers that tools of this step ask for, by step and call."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a handoff ended: with a result, or by a transfer that was accepted."""

    ended_by: EndedBy
    result: HandoffResult | None = None
    reason: str = ""
    """For `limit_reached`, which limit."""
    transfers: Sequence[OpenHandoff] = ()
    """Who takes over; several at once are a fork."""
    fork_id: str | None = None
    quarantined: str | None = None


def answered(result: HandoffResult, reason: str = "") -> End:
    """End with the worker's own result; a recorded one may name the limit that it had hit."""
    return End(ended_by=EndedBy.ANSWERED, result=result, reason=reason)


def stopped(handoff: OpenHandoff, reason: str, notes: str) -> End:
    """End by a limit, with whatever was gathered. Source: S0, step 3."""
    gathered, room = [], handoff.max_result_bytes
    for place in sorted(handoff.gathered):
        size = len(canonical(handoff.gathered[place]))
        if size <= room:
            gathered.append(handoff.gathered[place])
            room -= size
    data: dict[str, Any] = {"gathered": gathered}
    if left_out := len(handoff.gathered) - len(gathered):
        data["left_out"] = left_out
    result = HandoffResult(
        status=Status.LIMIT_REACHED,
        data=data,
        notes=notes,
        steps_used=handoff.steps,
    )
    return End(ended_by=EndedBy.STOPPED, result=result, reason=reason)


def failed(
    handoff: OpenHandoff, notes: str, *, transient: bool = False, quarantined: str | None = None
) -> End:
    """End with an error that the runtime made."""
    result = HandoffResult(
        status=Status.ERROR, notes=notes, steps_used=handoff.steps, transient=transient
    )
    return End(ended_by=EndedBy.FAILED, result=result, quarantined=quarantined)


def message_of(handoff: OpenHandoff, reply: ModelReply) -> Message:
    """Return what a model said as a message; every call in it has an id of its own."""
    message: Message = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        ids = [call["id"] for call in reply.tool_calls]
        keep = all(ids) and len(set(ids)) == len(ids) and not _are_taken(handoff, ids)
        message["tool_calls"] = [
            {
                **call,
                "id": call["id"] if keep else f"{handoff.id}.{handoff.steps}.{index}",
                # As they are recorded: a session that is resumed reads them in the same order.
                "arguments": _as_recorded(call["arguments"]),
            }
            for index, call in enumerate(reply.tool_calls)
        ]
    return message


def _as_recorded(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as they come back from the record: their keys in order, at every depth."""
    if type(arguments) is dict and all(
        type(key) is str and type(value) in _AS_THEY_ARE for key, value in arguments.items()
    ):
        return {key: arguments[key] for key in sorted(arguments)}
    recorded: dict[str, Any] = json.loads(canonical_text(arguments))
    return recorded


_AS_THEY_ARE = (str, bool, NoneType)


def _are_taken(handoff: OpenHandoff, ids: Collection[str]) -> bool:
    # A model that counts its calls anew in each step would make two calls one.
    said = (message.get("tool_calls", ()) for message in handoff.context.messages)
    return any(call["id"] in ids for calls in said for call in calls)
