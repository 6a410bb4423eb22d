"""Why a tool that a model asks for does not run, said before anything of it is tried.

Source: S0 steps 3 and 5.
"""

from typing import NamedTuple

from handoff_console.runtime.contract import ToolCall
from handoff_console.runtime.errors import choices
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.tool import Tool


class Denial(NamedTuple):
    """Why a tool does not run."""

    rule: str
    reason: str


def denied(handoff: OpenHandoff, call: ToolCall, tool: Tool | None) -> Denial | None:
    """Return why a call is refused before its arguments are read; None where it is not.

    Args:
        handoff: Whose agent asks.
        call: As the model wrote it.
        tool: The agent's tool of that name; None where it has none.
    """
    allowed = handoff.request.allowed_tools
    if tool is not None and tool.name in allowed:
        if "malformed" not in call:
            return None
        return Denial("arguments", f"the arguments of {tool.name!r} are no JSON object.")
    may = f"it may call: {choices(allowed, 'none')}"
    who = handoff.agent.name
    if tool is None:
        return Denial("unknown", f"tool not allowed: {who!r} has no tool {call['name']!r}; {may}.")
    return Denial("not_allowed", f"tool not allowed: {who!r} asked for {tool.name!r}; {may}.")
