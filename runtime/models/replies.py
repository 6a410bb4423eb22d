"""Short ways to write what a scripted or rule-based worker answers."""

import json
from typing import Any

from handoff_console.runtime.contract import Status, ToolCall, Usage
from handoff_console.runtime.models.base import ModelReply
from handoff_console.runtime.tool import handoff_arguments


def say(text: str, **options: Any) -> ModelReply:
    """Answer in plain text. `options` are fields of `ModelReply`."""
    return _reply(options, text=text)


def answer(
    status: Status | str = Status.OK, notes: str = "", *, transient: bool = False, **data: Any
) -> ModelReply:
    """Answer with a typed result."""
    fields: dict[str, Any] = {"status": Status(status).value, "data": data, "notes": notes}
    if transient:
        fields["transient"] = True
    return say(json.dumps(fields, ensure_ascii=False))


def use(tool: str, **arguments: Any) -> ModelReply:
    """Ask for a tool."""
    return ModelReply(tool_calls=(_call(tool, arguments),))


def hand_over(
    target: str, reason: str, *, summary: str = "", task: str = "", **payload: Any
) -> ModelReply:
    """Ask to transfer control to another agent."""
    return ModelReply(tool_calls=(_handoff("transfer", target, reason, task, summary, payload),))


def delegate(target: str, task: str, *, reason: str = "", **inputs: Any) -> ModelReply:
    """Ask another agent to do one task and wait for its result."""
    return ModelReply(tool_calls=(_handoff("delegate", target, reason, task, "", inputs),))


def together(*replies: ModelReply, **options: Any) -> ModelReply:
    """Ask for several things in one reply, in this order."""
    calls = tuple(call for reply in replies for call in reply.tool_calls)
    said = " ".join(reply.text for reply in replies if reply.text)
    return _reply({"text": said, **options}, tool_calls=calls)


def timed(
    reply: ModelReply, seconds: float, *, tokens: tuple[int, int] | None = None
) -> ModelReply:
    """Return the reply as one that takes this long and, if given, uses these tokens (in, out)."""
    usage = Usage(*tokens) if tokens else reply.usage
    return ModelReply(
        text=reply.text,
        tool_calls=reply.tool_calls,
        usage=usage,
        finish_reason=reply.finish_reason,
        first_token_seconds=reply.first_token_seconds,
        latency_seconds=seconds,
    )


def _reply(options: dict[str, Any], **fields: Any) -> ModelReply:
    return ModelReply(**fields, **options)


def _call(name: str, arguments: dict[str, Any]) -> ToolCall:
    # The runtime gives every call its id, unique within the handoff.
    return {"id": "", "name": name, "arguments": arguments}


def _handoff(
    verb: str, target: str, reason: str, task: str, summary: str, values: dict[str, Any]
) -> ToolCall:
    return _call(f"{verb}_to_{target}", handoff_arguments(reason, task, summary, values))
