"""What a handoff was asked for with, in the words of the one who asked: the call in its reply.

A request that the gate refused is kept nowhere else: it never became one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from handoff_console.runtime.events import Event, HandoffRequested, ModelReplied
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.nodes import HandoffNode


def sender_of(node: HandoffNode) -> str | None:
    """Return the handoff in which a handoff was asked for; None for the user's own request."""
    return node.continues or node.parent_id


def asked_with(
    asked: HandoffRequested, events: Iterable[Event], body: Body | None
) -> Mapping[str, Any] | None:
    """Return the call of a model by which a handoff was asked for, as the reply has it.

    Args:
        asked: The request.
        events: Of the handoff in which it was asked for; its model's replies are enough.
        body: Gives what was said.

    Returns:
        A mapping with `name` and `arguments` (or `malformed`, a text); None where the reply is gone
        or does not have the call.
    """
    for event in events:
        if isinstance(event.payload, ModelReplied) and event.payload.step == asked.step:
            calls = read_fields(body, event.payload.reply).get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                if isinstance(call, Mapping) and call.get("id") == asked.call_id:
                    return call
    return None
