"""What the agent of a handoff saw: prompt, tools, packet, and the messages of a model call."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.console.viewmodels.text import (
    amount,
    as_name,
    block,
    count,
    one_line,
    pretty,
)
from handoff_console.runtime.events import AgentActivated, Event, ModelCalled
from handoff_console.store.analysis.bodies import Body, read
from handoff_console.store.analysis.context import (
    PacketChange,
    SeenMessage,
    context_of,
    model_calls,
    packet_change,
)

MESSAGES_SHOWN = 60
"""The first and the last of a longer context; a note says how many lie between."""
MESSAGE_CHARACTERS = 6_000
GONE = "The words are not in this record any more."


@dataclass(frozen=True, slots=True)
class CallLine:
    """One model call of the handoff, to choose from."""

    seq: int
    label: str
    """`step 2 · 5 messages`."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message, exactly as it was sent."""

    who: str
    """`system`, `user`, `assistant`, `tool list_invoices`."""
    text: str
    calls: tuple[str, ...]
    """The tools and handoffs it asks for, a line each."""
    is_new: bool
    is_gone: bool


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact of a packet, and what became of it."""

    name: str
    fate: str
    """`kept`, `changed`, `dropped`, `withheld` or `added`."""
    before: str
    after: str
    is_claimed: bool
    """Only the sender says so; nothing confirms it."""


@dataclass(frozen=True, slots=True)
class PacketView:
    """What went along with a transfer."""

    goal: str
    summary: str
    facts: tuple[FactLine, ...]


@dataclass(frozen=True, slots=True)
class ContextView:
    """What the agent saw at one model call."""

    calls: tuple[CallLine, ...]
    """All of the handoff's, by seq; none before its first."""
    seq: int | None
    """Of the one that is shown."""
    sentence: str
    """`5 messages, 2 of them new since step 1`; or why there is nothing."""
    messages: tuple[MessageView, ...]
    left_out: int
    """Messages in the middle that are not shown."""
    reply: MessageView | None
    error: str
    prompt: str
    prompt_version: str
    reads_prompt: bool
    """False: this worker follows rules and does not read its prompt."""
    tools: tuple[str, ...]
    """What it was offered, a line each."""
    packet: PacketView | None


def context_view(
    events: Sequence[Event],
    handoff_id: str,
    body: Body,
    *,
    seq: int | None = None,
) -> ContextView:
    """Return what a handoff's agent saw at its last model call up to an event.

    Args:
        events: The session's events by `seq`; those of this handoff and of the one it continues
            are enough.
        handoff_id: The handoff; an unknown one saw nothing.
        body: Gives what was said.
        seq: The event the reader stands at; None is the end.
    """
    until = [event for event in events if seq is None or event.seq <= seq]
    calls = model_calls(until, handoff_id)
    activated = _activated(until, handoff_id)
    seen = context_of(until, calls[-1], body) if calls else None
    shown, left_out = _middle_left_out(seen.messages if seen else ())
    return ContextView(
        calls=tuple(_call_line(call) for call in calls),
        seq=seen.seq if seen else None,
        sentence=_sentence(seen.messages, seen.step, seen.is_whole) if seen else _NOTHING,
        messages=tuple(_message(message) for message in shown),
        left_out=left_out,
        reply=_message(seen.reply) if seen and seen.reply else None,
        error=one_line(seen.error, 400) if seen else "",
        prompt=_prompt(activated, body),
        prompt_version=one_line(activated.prompt_version, 40) if activated else "",
        reads_prompt=activated.reads_prompt if activated else True,
        tools=_tools(activated, body),
        packet=_packet(packet_change(until, handoff_id, body)),
    )


_NOTHING = "No model was asked yet."


def _sentence(messages: Sequence[SeenMessage], step: int, is_whole: bool) -> str:
    new = sum(message.is_new for message in messages)
    said = f"Step {step} read {count(len(messages), 'message')}"
    if 0 < new < len(messages):
        said += f", {amount(new)} of them new since its last call"
    gone = sum(message.is_gone for message in messages)
    if gone:
        said += f"; the words of {amount(gone)} are not in this record any more"
    if not is_whole:
        said += "; what came before these is not known"
    return f"{said}."


def _middle_left_out(messages: Sequence[SeenMessage]) -> tuple[Sequence[SeenMessage], int]:
    if len(messages) <= MESSAGES_SHOWN:
        return messages, 0
    half = MESSAGES_SHOWN // 2
    return (*messages[:half], *messages[-half:]), len(messages) - 2 * half


def _message(message: SeenMessage) -> MessageView:
    who = one_line(message.role, 20) or "unknown"
    if message.name:
        who = f"{who} {as_name(message.name)}"
    return MessageView(
        who=who,
        text=GONE if message.is_gone else block(message.content, MESSAGE_CHARACTERS),
        calls=tuple(_tool_call(call) for call in message.tool_calls),
        is_new=message.is_new,
        is_gone=message.is_gone,
    )


def _tool_call(call: Mapping[str, Any]) -> str:
    arguments = call.get("malformed") or call.get("arguments") or {}
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{as_name(str(call.get('name', '')))} {one_line(arguments, 600)}"


def _call_line(event: Event) -> CallLine:
    called = event.payload
    if not isinstance(called, ModelCalled):
        return CallLine(event.seq, "")
    repair = " · repair" if called.repair else ""
    return CallLine(event.seq, f"step {called.step} · {count(called.messages, 'message')}{repair}")


def _activated(events: Iterable[Event], handoff_id: str) -> AgentActivated | None:
    own = (e.payload for e in events if e.handoff_id == handoff_id)
    return next((payload for payload in own if isinstance(payload, AgentActivated)), None)


def _prompt(activated: AgentActivated | None, body: Body) -> str:
    if activated is None:
        return ""
    prompt = read(body, activated.prompt)
    return block(prompt, MESSAGE_CHARACTERS) if isinstance(prompt, str) else GONE


def _tools(activated: AgentActivated | None, body: Body) -> tuple[str, ...]:
    offered = read(body, activated.tools) if activated else None
    if not isinstance(offered, list):
        return ()
    lines = []
    for tool in offered:
        if isinstance(tool, Mapping):
            says = one_line(str(tool.get("description", "")), 160)
            lines.append(f"{as_name(str(tool.get('name', '')))}{f': {says}' if says else ''}")
    return tuple(lines)


def _packet(change: PacketChange | None) -> PacketView | None:
    if change is None:
        return None
    facts = tuple(
        FactLine(
            name=one_line(fact.name, 60),
            fate=fact.fate.value,
            before=_shown(fact.before),
            after=_shown(fact.after),
            is_claimed=fact.is_claimed,
        )
        for fact in change.facts
    )
    goal, summary = (str(change.packet.get(name, "")) for name in ("goal", "summary"))
    return PacketView(block(goal, 2_000), block(summary, 2_000), facts)


def _shown(value: Any) -> str:
    return "" if value is None else one_line(pretty(value, 400), 200)
