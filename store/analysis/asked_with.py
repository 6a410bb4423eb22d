"""What a handoff was asked for with, in the words of the one who asked.

The call in its reply, or what a tool came back with that asked for a transfer. A request that the
gate refused is kept nowhere else: it never became one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from handoff_console.runtime.contract import tool_value, transfer_of_result
from handoff_console.runtime.events import Event, HandoffRequested, ModelReplied, ToolReturned
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.nodes import HandoffNode


def sender_of(node: HandoffNode) -> str | None:
    """Return the handoff in which a handoff was asked for; None for the user's own request."""
    return node.continues or node.parent_id


def asked_with(
    asked: HandoffRequested, events: Iterable[Event], body: Body | None
) -> Mapping[str, Any] | None:
    """Return the call by which a handoff was asked for, as the reply or the tool's result has it.

    Args:
        asked: The request.
        events: Of the handoff in which it was asked for; its model's replies and what its tools
            returned are enough.
        body: Gives what was said.

    Returns:
        A mapping with `name` and `arguments` (or `malformed`, a text); None where the reply is gone
        or does not have the call.
    """
    found = None
    for event in events:
        match event.payload:
            case ModelReplied(step=asked.step) as replied:
                calls = read_fields(body, replied.reply).get("tool_calls")
                for call in calls if isinstance(calls, list) else ():
                    if isinstance(call, Mapping) and call.get("id") == asked.call_id:
                        found = call
            case ToolReturned(step=asked.step, call_id=asked.call_id, hands_over=True) as back:
                return _asked_by_tool(read_fields(body, back.result), back.call_id)
    return found


def _asked_by_tool(message: Mapping[str, Any], call_id: str) -> Mapping[str, Any] | None:
    """Return the transfer that a tool's result asks for, as a call."""
    content = message.get("content")
    result = tool_value({"role": "tool", "content": content}) if isinstance(content, str) else None
    return transfer_of_result(call_id, result) if isinstance(result, Mapping) else None
