"""Models that need no network: scripts, rules, and any function of yours."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handoff_console.runtime.contract import Message
from handoff_console.runtime.errors import ModelError
from handoff_console.runtime.models.base import ModelCall, ModelReply


class Scripted:
    """Says what a script says, by agent and step.

    A script is looked up by `agent@path`, then by agent; its n-th reply answers the n-th model call
    of a handoff. There is no queue that all share, so parallel workers cannot take each other's
    lines.

    Args:
        scripts: By agent or `agent@path`, the replies in order. A reply may be an exception, which
            is raised.
        repeat_last: Say the last line again when the script is over; otherwise that is an error.
    """

    offline, reads_prompt = True, False

    def __init__(
        self,
        scripts: Mapping[str, Sequence[ModelReply | Exception]],
        *,
        repeat_last: bool = False,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self._scripts = {key: tuple(replies) for key, replies in scripts.items()}
        self._repeat_last = repeat_last

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer with the line of this step."""
        agent = call.agent.name
        at = f"{agent}@{call.path}"
        script = self._scripts.get(f"{at}#{call.attempt}") or self._scripts.get(at)
        script = script or self._scripts.get(agent, ())
        if call.step > len(script) and not (script and self._repeat_last):
            raise ModelError(
                f"The script of {at!r} has {len(script)} replies; step {call.step} has none."
            )
        line = script[min(call.step, len(script)) - 1]
        return await _told(line, call)


class Rules:
    """A worker that is a small function of what it was asked: `(call) → reply`.

    It does not read its prompt, and says so. A function that returns None did not recognise the
    message; the worker then says that it does not know.
    """

    offline, reads_prompt = True, False

    def __init__(self, rule: Callable[[ModelCall], Any], *, name: str = "rules") -> None:
        self.name = name
        self._rule = rule

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer as the rule says."""
        found = self._rule(call)
        if inspect.isawaitable(found):
            found = await found
        if found is None:
            return ModelReply(text=no_rule(call.agent.name))
        return await _told(as_reply(found), call)


class CallableModel:
    """Any function or coroutine `(agent, messages) → reply`: a team's own agent behind our gate."""

    offline, reads_prompt = False, True

    def __init__(
        self,
        function: Callable[[str, list[Message]], Any],
        *,
        name: str = "",
        offline: bool = False,
    ) -> None:
        self.name = name or f"callable:{getattr(function, '__name__', type(function).__name__)}"
        self.offline = offline
        self._function = function

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer with what the function returns: a text, a dict, or a `ModelReply`."""
        found = self._function(call.agent.name, list(call.messages))
        if inspect.isawaitable(found):
            found = await found
        return as_reply(found)


def as_reply(value: Any) -> ModelReply:
    """Return a text, a dict of `ModelReply` fields, or a reply as a reply.

    Raises:
        ModelError: It is none of these.
    """
    if isinstance(value, ModelReply):
        return value
    if isinstance(value, str):
        return ModelReply(text=value)
    if isinstance(value, Mapping):
        try:
            return ModelReply(**value)
        except TypeError:
            pass
    raise ModelError(
        f"The model returned {type(value).__name__}; it has to return text, a ModelReply, or a "
        "dict of a ModelReply's fields."
    )


def no_rule(agent: str) -> str:
    """Return what a rule-based worker says when no rule of it matches."""
    return (
        f"I do not know how to help with that: {agent} follows rules here, and none of them "
        "matches this message."
    )


async def _told(line: ModelReply | Exception, call: ModelCall) -> ModelReply:
    if isinstance(line, Exception):
        raise line
    rest = line.latency_seconds
    if line.first_token_seconds is not None:
        await asyncio.sleep(line.first_token_seconds)
        call.first_token()
        rest -= line.first_token_seconds
    if rest > 0:
        await asyncio.sleep(rest)
    return line
