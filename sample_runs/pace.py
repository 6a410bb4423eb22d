"""How fast sample agents answer: at once, or at the pace of a language model.

They follow rules and need no time. Somebody who watches, and a recording, want to see the work: so
every answer and every tool has a length that it would take, and `paced` makes a flow that takes it.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from handoff_console.runtime import (
    Agent,
    Flow,
    Model,
    ModelCall,
    ModelError,
    ModelReply,
    Rules,
    Tool,
    Usage,
)
from handoff_console.runtime.canonical import canonical
from handoff_console.runtime.models import as_model, terms_of

BYTES_A_TOKEN = 4.3
"""Of English prose and JSON with a common tokeniser, about."""
SHORTEST_SECONDS, LONGEST_SECONDS = 0.4, 2.5
"""Of one answer; what takes longer says so."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Paced:
    """A model that takes its time, and counts the tokens that a language model would have used.

    Args:
        model: Who answers.
        speed: 1 takes as long as a language model would, 4 a quarter of it, 0 no time at all.
        longest_seconds: No answer takes longer, however much is read and written.
    """

    def __init__(
        self, model: Model, speed: float = 0.0, longest_seconds: float = LONGEST_SECONDS
    ) -> None:
        self.name, self.offline = model.name, model.offline
        self.reads_prompt = model.reads_prompt
        self.terms = terms_of(model)
        self.model = model
        self.longest_seconds = longest_seconds
        self._speed = speed

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer as the model does, no sooner."""
        try:
            reply = await self.model.reply(call)
        except ModelError:
            await _take(SHORTEST_SECONDS, self._speed)
            raise
        usage = reply.usage or _usage(call, reply)
        await _take(_seconds(usage, self.longest_seconds), self._speed)
        return replace(reply, usage=usage)


def by_rule(
    rule: Callable[[ModelCall], Any],
    *,
    name: str = "rules",
    longest_seconds: float = LONGEST_SECONDS,
) -> Paced:
    """Return a worker that follows a rule, `(call) → reply`; see `Rules`.

    Args:
        rule: What it does.
        name: The model that it stands in for, as prices name it.
        longest_seconds: See `Paced`.
    """
    return Paced(Rules(rule, name=name), longest_seconds=longest_seconds)


def lasting(seconds: float) -> Callable[[_Function], _Function]:
    """Say of a tool's function how long it takes; others take as long as their result is."""

    def mark(function: _Function) -> _Function:
        function.__dict__["lasting_seconds"] = seconds
        return function

    return mark


def paced(flow: Flow, speed: float) -> Flow:
    """Return the flow at another speed; what it says and does stays the same.

    Args:
        flow: Any flow that is not paced yet, of samples or not.
        speed: 1 takes as long as a language model would, 4 a quarter of it, 0 no time at all.
    """
    return flow.changed(agents=[_paced_agent(flow, agent, speed) for agent in flow.agents])


def _paced_agent(flow: Flow, agent: Agent, speed: float) -> Agent:
    model = as_model(agent.model or flow.model, flow.name, agent.name)
    longest = LONGEST_SECONDS
    if isinstance(model, Paced):
        longest, model = model.longest_seconds, model.model
    tools = [_paced_tool(tool, speed) for tool in agent.tools] if speed else agent.tools
    return replace(agent, model=Paced(model, speed, longest), tools=tools)


def _paced_tool(tool: Tool, speed: float) -> Tool:
    """Return the tool with the same signature and source, so that it stays the same version."""
    if not tool.inline or inspect.iscoroutinefunction(tool.function):
        return tool  # it has a length of its own

    @functools.wraps(tool.function)
    async def taking_time(**arguments: Any) -> Any:
        value = tool.function(**arguments)
        seconds = getattr(tool.function, "lasting_seconds", None)
        await _take(0.08 + len(canonical(value)) / 4_000 if seconds is None else seconds, speed)
        return value

    return replace(tool, function=taking_time)


async def _take(seconds: float, speed: float) -> None:
    if speed:
        await asyncio.sleep(seconds / speed)


def _usage(call: ModelCall, reply: ModelReply) -> Usage:
    read = len(canonical([call.messages, call.tools]))
    said = len(canonical([reply.text, reply.tool_calls]))
    return Usage(round(read / BYTES_A_TOKEN), round(said / BYTES_A_TOKEN))


def _seconds(usage: Usage, longest: float) -> float:
    seconds = 0.3 + usage.input_tokens / 4_000 + usage.output_tokens / 60
    return round(min(max(seconds, SHORTEST_SECONDS), longest), 3)
