"""What a model reads and says, as it is sent and recorded."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

TRANSFER_TO = "transfer_to"
"""How the name of the special tool of a transfer begins, and who takes over in a tool's result."""


class Usage(NamedTuple):
    """The tokens one model call took."""

    input_tokens: int
    output_tokens: int
    measured: bool = True
    """False: the model did not say, and this is an estimate."""

    @property
    def tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens


class ToolCall(TypedDict):
    """A tool or a handoff that a model asks for, as it stands in a message."""

    id: str
    name: str
    arguments: dict[str, Any]
    malformed: NotRequired[str]
    """The arguments as they came, where they were no JSON object; `arguments` is then empty."""


class Message(TypedDict):
    """One message of a context, in the form that is sent to a model and recorded."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[list[ToolCall]]
    """Only from the assistant."""
    tool_call_id: NotRequired[str]
    """Only of role `tool`: the call it answers."""
    name: NotRequired[str]
    """Only of role `tool`: the tool that answers."""


def transfer_of_result(call_id: str, result: Mapping[str, Any]) -> ToolCall:
    """Return the call that asks for the transfer which stands in a tool's result like this."""
    arguments = dict(result)
    name = f"{TRANSFER_TO}_{arguments.pop(TRANSFER_TO, '')}"
    return {"id": call_id, "name": name, "arguments": arguments}


def holds_messages(value: Any) -> bool:
    """Say whether a JSON value holds a conversation, at any depth.

    A conversation is a list in which an item has a role and content.
    """
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        # By their own type: an abstract one costs 0.1 ms the first time it is asked.
        if not isinstance(item, dict | list | tuple) or id(item) in seen:
            continue
        seen.add(id(item))
        inside = item.values() if isinstance(item, dict) else item
        if inside is item and any(_is_message(part) for part in inside):
            return True
        waiting += inside
    return False


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and "content" in value
