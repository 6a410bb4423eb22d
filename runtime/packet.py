"""What goes along with a handoff, and what its receiver gets to read.

A call carries the request alone. A transfer carries the packet: who hands over to whom, the goal, a
summary and facts, never the sender's messages. Source: S0 step 1, S3 example 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from handoff_console.runtime.canonical import canonical, canonical_text
from handoff_console.runtime.contract import HandoffRequest, Message
from handoff_console.runtime.flow import TEXT, Agent, Edge, Flow
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.redaction import Redaction

ANSWER_RULES = (
    "Answer with one JSON object: "
    '{"status": "ok" | "not_found" | "needs_input" | "error", "data": …, "notes": "…"}.'
)


@dataclass(frozen=True)
class Packet:
    """The context that goes along with a transfer."""

    from_agent: str
    to_agent: str
    goal: str
    """What the user asked for, in the user's words."""
    summary: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    summary_by: str = "runtime"
    """Who wrote the summary: `model` or `runtime`."""

    def lines(self) -> list[str]:
        """Return its form in a prompt, four lines."""
        facts = ", ".join(f"{key}={_shown(value)}" for key, value in self.facts.items())
        return [
            f"Handoff from {self.from_agent} to {self.to_agent}",
            f"Goal: {self.goal}",
            f"Summary: {self.summary}",
            f"Facts: {facts}",
        ]

    def body(self) -> dict[str, Any]:
        """Return it as JSON, as it is recorded."""
        return {**vars(self), "facts": dict(self.facts)}


def build_packet(
    messages: Sequence[Message],
    from_agent: str,
    to_agent: str,
    *,
    said: Sequence[str] | None = None,
    summary: str = "",
    facts: Mapping[str, Any] | None = None,
    redaction: Redaction,
    fields: Sequence[str] | None = None,
) -> tuple[Packet, tuple[str, ...]]:
    """Build the packet of a transfer; also return the names of facts that may not go along.

    Args:
        messages: What the sender has read and said; counted, and searched for the user's words.
        from_agent: The sender.
        to_agent: The receiver.
        said: What the user said, where it is not the messages of role `user`: a receiver's first
            one is the packet itself, which must not end up in the next packet.
        summary: Written by the sending model; the runtime writes a plain one when it is empty.
        facts: Values that have to survive the handoff.
        redaction: Facts it calls sensitive stay behind.
        fields: Need to know: only these facts go along; None is all.
    """
    if said is None:
        said = [message["content"] for message in messages if message["role"] == "user"]
    written = summary or (
        f"{len(messages)} messages so far; last user message: {said[-1] if said else '(none)'}"
    )
    kept, withheld = redaction.without_sensitive(facts or {})
    if fields is not None:
        withheld = tuple(sorted({*withheld, *(kept.keys() - set(fields))}))
        kept = {key: value for key, value in kept.items() if key in fields}
    packet = Packet(
        from_agent,
        to_agent,
        goal=said[0] if said else "(none)",
        summary=written,
        facts=kept,
        summary_by="model" if summary else "runtime",
    )
    return packet, withheld


def system_message(agent: Agent) -> Message:
    """Return an agent's own instructions, the only ones it ever reads."""
    return {"role": "system", "content": agent.prompt}


def request_message(flow: Flow, request: HandoffRequest, packet: Packet | None = None) -> Message:
    """Return the request as its receiver reads it: goal, scope, form of the answer, budget.

    Source: S0 step 1, S4 on what a subagent has to be told.
    """
    limits = request.limits
    lines = packet.lines() if packet else []
    lines.append(f"Task: {request.task}")
    if request.inputs:
        lines.append(f"Inputs: {canonical_text(request.inputs)}")
    lines.append(f"Tools you may call: {', '.join(request.allowed_tools) or 'none'}")
    lines.append(f"Answer with: {request.output_schema}")
    if request.output_schema != TEXT:
        lines.append(f"{ANSWER_RULES} Schema of data: {flow.schema_json(request.output_schema)}")
    lines.append(
        f"Limits: {limits.max_steps} steps, {limits.max_tokens} tokens, "
        f"{limits.deadline_seconds:g} seconds"
    )
    return {"role": "user", "content": "\n".join(lines)}


def tool_message(call_id: str, name: str, content: Any) -> Message:
    """Return what a tool call comes back with, as data: text as it is, all else as JSON."""
    text = content if isinstance(content, str) else canonical_text(content)
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}


def offered_tools(flow: Flow, agent: Agent, allowed: Sequence[str]) -> list[dict[str, Any]]:
    """Return what an agent is offered: the tools allowed this time, and its edges as tools."""
    own = [tool.spec for tool in agent.tools if tool.name in allowed]
    return own + [edge_spec(flow, edge) for edge in agent.edges]


def edge_spec(flow: Flow, edge: Edge) -> dict[str, Any]:
    """Return an edge as the special tool by which a model asks for it."""
    target = flow.agents_by_name[edge.target]
    values = edge.payload.model_json_schema() if edge.payload else {"type": "object"}
    return {
        "name": edge.tool_name,
        "description": flow.edge_description(edge),
        "handoff": {"target": edge.target, "via": edge.via.value},
        "examples": list(target.examples),
        "parameters": {
            "type": "object",
            "properties": {
                "reason": {"type": "string"},
                "task": {"type": "string"},
                "payload": values,
                "summary": {"type": "string"},
            },
            "required": ["reason"],
        },
    }


class KeptMessage(NamedTuple):
    """A message, and the body it was kept as."""

    message: Message
    digest: str
    size_bytes: int


def kept_message(recorder: Recorder, message: Message) -> KeptMessage:
    """Keep a message as a body."""
    kept = recorder.keep(message)
    return KeptMessage(message, kept.digest, kept.size_bytes)


class Context:
    """The messages of one handoff, growing, and their chain in the record.

    A step's context is recorded as the one before and what was added, so that a session's size
    grows with what was said and not with its square.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.messages: list[Message] = []
        self.node = ""
        """The digest of the chain so far."""
        self.size_bytes = 0

    def add(self, *messages: Message) -> None:
        """Keep messages and append them."""
        self.append(*(kept_message(self._recorder, message) for message in messages))

    def append(self, *kept: KeptMessage) -> None:
        """Append messages that are kept already."""
        self.messages += (item.message for item in kept)
        self.size_bytes += sum(item.size_bytes for item in kept)
        node = {"messages": [item.digest for item in kept], "previous": self.node or None}
        self.node = self._recorder.keep_clean(canonical(node))


def unanswered(messages: Sequence[Message]) -> list[str]:
    """Return what is wrong with a context that is about to be sent; nothing when it is sound.

    Every tool call has exactly one result, right after the message that asks for it, and every
    result has its call. Providers refuse anything else, and a model misreads it.
    """
    wrong: list[str] = []
    waiting: list[str] = []
    for number, message in enumerate(messages, 1):
        if message["role"] == "tool":
            call_id = message.get("tool_call_id", "")
            if call_id in waiting:
                waiting.remove(call_id)
            else:
                wrong.append(f"message {number} answers {call_id!r}, which nobody asked for")
            continue
        wrong += [f"call {call_id!r} has no result before message {number}" for call_id in waiting]
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if len(set(waiting)) != len(waiting):
            wrong.append(f"message {number} has two calls with one id")
    wrong += [f"call {call_id!r} has no result" for call_id in waiting]
    return wrong


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical_text(value)
