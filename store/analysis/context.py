"""What an agent saw: the exact messages of each model call, and what a packet kept or dropped.

Source: S2, strategies A and B; S3, the context packet.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from handoff_console.runtime.events import (
    Event,
    HandoffOpened,
    HandoffRequested,
    ModelCalled,
    ModelReplied,
    context_chain,
)
from handoff_console.store.analysis.bodies import Body, read_fields


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """One message of a context, as it was sent."""

    digest: str
    role: str
    """Empty when the body is gone."""
    content: str
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_call_id: str = ""
    name: str = ""
    is_new: bool = False
    """It was not there at the handoff's previous model call."""
    is_gone: bool = False
    """The record names it, but its body was deleted or not exported."""


@dataclass(frozen=True, slots=True)
class SeenContext:
    """What a model read at one call, and what it said."""

    seq: int
    handoff_id: str
    step: int
    model: str
    messages: tuple[SeenMessage, ...]
    is_whole: bool
    """False: the chain breaks off, and what was read before its break is not known."""
    reply: SeenMessage | None
    """None while the model has not answered, or when it failed."""
    error: str
    input_tokens: int
    output_tokens: int
    is_repair: bool


class Fate(StrEnum):
    """What became of a fact on its way from one packet to the next."""

    KEPT = "kept"
    CHANGED = "changed"
    DROPPED = "dropped"
    WITHHELD = "withheld"
    """Left behind because it is sensitive or not this receiver's business."""
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class FactChange:
    """One fact, before and after a transfer."""

    name: str
    fate: Fate
    before: Any
    """None when the sender did not have it in its own packet."""
    after: Any
    """None when it did not go along."""
    is_claimed: bool = False
    """Only the sender says so; nothing that the host knows confirms it."""


@dataclass(frozen=True, slots=True)
class PacketChange:
    """A transfer's packet beside what its sender was given."""

    packet: Mapping[str, Any]
    """As it was sent; empty when its body is gone."""
    facts: tuple[FactChange, ...]
    """By name."""


def model_calls(
    events: Iterable[Event], handoff_id: str, *, until_seq: int | None = None
) -> tuple[Event, ...]:
    """Return the model calls of a handoff, by seq; none when it made none up to `until_seq`."""
    return tuple(
        event
        for event in events
        if event.handoff_id == handoff_id
        and isinstance(event.payload, ModelCalled)
        and (until_seq is None or event.seq <= until_seq)
    )


def contexts(
    events: Sequence[Event], handoff_id: str, body: Body, *, until_seq: int | None = None
) -> tuple[SeenContext, ...]:
    """Return what a handoff's agent read at each of its model calls, and what it answered.

    Args:
        events: The session's events, or only this handoff's, by `seq`.
        handoff_id: The handoff to look into; an unknown one read nothing.
        body: Gives messages and chains; what is gone is marked, never guessed.
        until_seq: Leave out what came after this event.
    """
    if until_seq is not None:
        events = [event for event in events if event.seq <= until_seq]
    calls = model_calls(events, handoff_id)
    return tuple(context_of(events, call, body) for call in calls)


def context_of(events: Iterable[Event], call: Event, body: Body) -> SeenContext:
    """Return what was read at one model call, and what came back of it among `events`.

    Args:
        events: The session's events, or only this handoff's, by `seq`.
        call: One of `model_calls`.
        body: Gives messages and chains.

    Raises:
        TypeError: `call` is no model call.
    """
    called = call.payload
    if not isinstance(called, ModelCalled):
        raise TypeError(f"Event {call.seq} is a {call.kind}; take one of model_calls.")
    read_before, replied = 0, None
    for event in events:
        if event.handoff_id != call.handoff_id:
            continue
        if event.seq < call.seq and isinstance(event.payload, ModelCalled):
            read_before = event.payload.messages
        elif event.seq > call.seq and isinstance(event.payload, ModelReplied):
            replied = event.payload
            break
    digests, is_whole = context_chain(called.context, body)
    first_new = len(digests) - (called.messages - read_before)
    return SeenContext(
        seq=call.seq,
        handoff_id=call.handoff_id or "",
        step=called.step,
        model=called.model,
        messages=tuple(
            message(name, body, is_new=place >= first_new) for place, name in enumerate(digests)
        ),
        is_whole=is_whole,
        reply=message(replied.reply, body) if replied and replied.reply else None,
        error=replied.error if replied else "",
        input_tokens=replied.input_tokens if replied else 0,
        output_tokens=replied.output_tokens if replied else 0,
        is_repair=called.repair,
    )


def message(digest: str, body: Body, *, is_new: bool = False) -> SeenMessage:
    """Return a message by its digest; one that is gone is marked as such."""
    fields = read_fields(body, digest)
    if not fields:
        return SeenMessage(digest, "", "", is_new=is_new, is_gone=True)
    calls = fields.get("tool_calls")
    return SeenMessage(
        digest,
        role=_text(fields.get("role")),
        content=_text(fields.get("content")),
        tool_calls=tuple(c for c in calls if isinstance(c, Mapping)) if calls else (),
        tool_call_id=_text(fields.get("tool_call_id")),
        name=_text(fields.get("name")),
        is_new=is_new,
    )


def packet_change(events: Iterable[Event], handoff_id: str, body: Body) -> PacketChange | None:
    """Return a transfer's packet and what became of the facts its sender had been given.

    None when the handoff did not open or carried no packet. A sender that came by no packet of its
    own (the root, or one that was called) was given its request's inputs.
    """
    opened: dict[str | None, HandoffOpened] = {}
    asked: dict[str | None, HandoffRequested] = {}
    for event in events:
        if isinstance(event.payload, HandoffOpened):
            opened[event.handoff_id] = event.payload
        elif isinstance(event.payload, HandoffRequested):
            asked[event.handoff_id] = event.payload
    here = opened.get(handoff_id)
    if here is None or here.packet is None:
        return None
    packet = read_fields(body, here.packet)
    before = _given(opened.get(here.continues), asked.get(here.continues), body)
    after = _facts(packet)
    claimed = _mapping(packet.get("claimed")).keys() - _mapping(packet.get("facts")).keys()
    return PacketChange(
        packet,
        tuple(
            _change(name, before, after, here.withheld, is_claimed=name in claimed)
            for name in sorted({*before, *after, *here.withheld})
        ),
    )


def _given(
    opened: HandoffOpened | None, asked: HandoffRequested | None, body: Body
) -> Mapping[str, Any]:
    if opened is not None and opened.packet is not None:
        return _facts(read_fields(body, opened.packet))
    return _mapping(read_fields(body, asked.request).get("inputs")) if asked else {}


def _facts(packet: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_mapping(packet.get("claimed")), **_mapping(packet.get("facts"))}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _change(
    name: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    withheld: tuple[str, ...],
    *,
    is_claimed: bool,
) -> FactChange:
    if name in withheld and name not in after:
        fate = Fate.WITHHELD
    elif name not in after:
        fate = Fate.DROPPED
    elif name not in before:
        fate = Fate.ADDED
    else:
        fate = Fate.KEPT if before[name] == after[name] else Fate.CHANGED
    return FactChange(name, fate, before.get(name), after.get(name), is_claimed)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
