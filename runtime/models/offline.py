"""Models that need no network: scripts, rules, and any function of yours."""

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from handoff_console.runtime.blame import defined_at, raised_at
from handoff_console.runtime.canonical import as_json, canonical_text
from handoff_console.runtime.clock import in_virtual_time
from handoff_console.runtime.contract import Message, ToolCall, Usage
from handoff_console.runtime.errors import (
    MISTAKES,
    FunctionFailed,
    HandoffConsoleError,
    ModelError,
    named,
)
from handoff_console.runtime.events import NO_RULE
from handoff_console.runtime.models.base import ModelCall, ModelReply
from handoff_console.runtime.tools import in_thread


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

    @property
    def rule(self) -> Callable[[ModelCall], Any]:
        """The function that it follows."""
        return self._rule

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer as the rule says."""
        try:
            found = self._rule(call)
            if inspect.isawaitable(found):
                found = await found
        except MISTAKES as error:
            raise _fault(self._rule, error) from error
        if found is None:
            return ModelReply(text=no_rule(call.agent.name), finish_reason=NO_RULE)
        return await _told(_own_reply(self._rule, found), call)


class CallableModel:
    """Any function or coroutine `(agent, messages) → reply`: a team's own agent behind our gate.

    A plain function runs in a thread of its own, so that a deadline can leave it; not so one that
    is `offline`, which returns at once.
    """

    reads_prompt = True

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
        self._at_once = offline or inspect.iscoroutinefunction(function)

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer with what the function returns: a text, a dict, or a `ModelReply`."""
        asked = call.agent.name, list(call.messages)
        try:
            if self._at_once or in_virtual_time():
                found = self._function(*asked)
            else:
                found = await in_thread(lambda: self._function(*asked), {}, self.name)
            if inspect.isawaitable(found):
                found = await found
        except MISTAKES as error:
            raise _fault(self._function, error) from error
        return _own_reply(self._function, found)


def _own_reply(function: Callable[..., Any], value: Any) -> ModelReply:
    """Return what a function of the user's own returned, as a reply."""
    try:
        return as_reply(value)
    except ModelError as error:
        text = str(error).replace("The model's", "its").replace("The model", "it")
        raise FunctionFailed(text, defined_at(function)) from error


def _fault(function: Callable[..., Any], error: BaseException) -> Exception:
    """Return the error to raise for one that a function raised: its own if it meant that."""
    if isinstance(error, HandoffConsoleError | TimeoutError | ConnectionError):
        return error
    return FunctionFailed(named(error), raised_at(function, error))


def as_reply(value: Any) -> ModelReply:
    """Return a text, a dict of `ModelReply` fields, or a reply as a reply that can be relied on.

    Usage may be a pair of numbers (in, out). Arguments may be the JSON that a model wrote; where
    that is no object the call is marked as malformed, and whoever checks it says so to the model.

    Raises:
        ModelError: It is none of these; the text says what is wrong with it.
    """
    if isinstance(value, str):
        return ModelReply(text=value)
    if not isinstance(value, ModelReply) and isinstance(value, Mapping):
        unknown = sorted(map(str, value.keys() - _REPLY_FIELDS))
        if unknown:
            raise ModelError(
                f"The model's reply has unknown fields: {', '.join(unknown)}; it may have: "
                f"{', '.join(sorted(_REPLY_FIELDS))}."
            )
        value = ModelReply(**value)
    if not isinstance(value, ModelReply):
        raise ModelError(
            f"The model returned {type(value).__name__}; it has to return text, a ModelReply, or a "
            "dict of a ModelReply's fields."
        )
    text, reason = _as_text(value.text, "text"), _as_text(value.finish_reason, "finish reason")
    given = value.tool_calls or ()
    if not isinstance(given, tuple | list):
        raise ModelError(f"The model's tool calls are a {type(given).__name__}; send a list.")
    calls = tuple(_as_call(call) for call in given)
    usage = _as_usage(value.usage)
    # Calls are not compared: their arguments may hold what cannot be.
    if not calls and (text, reason, usage) == (value.text, value.finish_reason, value.usage):
        return value
    return replace(value, text=text, finish_reason=reason, tool_calls=calls, usage=usage)


def _as_text(value: Any, what: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise ModelError(f"The model's {what} is a {type(value).__name__}; it has to be a text.")


_MOST_TOKENS = 2**53
"""More than any model has: no number that JSON and databases hold."""
_REPLY_FIELDS = frozenset(field.name for field in fields(ModelReply))


def _as_call(call: Any) -> ToolCall:
    is_call = isinstance(call, (dict, Mapping)) and isinstance(call.get("name"), str)
    if not is_call or not call["name"]:
        raise ModelError(
            "The model asked for a tool without a name; a call has a name and arguments."
        )
    identity = call.get("id")
    made: ToolCall = {
        "id": identity if isinstance(identity, str) else "",
        "name": call["name"],
        "arguments": {},
    }
    given = call.get("arguments")
    if isinstance(given, str):
        written, given = given, _json_object(given)
        if given is None:
            return {**made, "malformed": call.get("malformed") or written}
    if given is None or isinstance(given, dict):
        made["arguments"] = as_json(given or {})
        return {**made, "malformed": call["malformed"]} if "malformed" in call else made
    return {**made, "malformed": canonical_text(given)}


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _as_usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    numbers: Any = usage
    if isinstance(usage, Mapping):
        numbers = (usage.get("input_tokens"), usage.get("output_tokens"))
    if isinstance(numbers, tuple | list) and len(numbers) >= 2:
        taken, made = numbers[:2]
        if _is_count(taken) and _is_count(made):
            return usage if isinstance(usage, Usage) else Usage(taken, made)
    raise ModelError(
        "The model's usage is no pair of token counts; leave it out where it is not known."
    )


def _is_count(number: Any) -> bool:
    return type(number) is int and 0 <= number < _MOST_TOKENS


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
