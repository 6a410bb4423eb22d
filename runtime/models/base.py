"""What a model is to the runtime: it reads messages and answers with text or with tool calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.contract import (
    HandoffRequest,
    Message,
    Packet,
    ToolCall,
    Usage,
    unfenced,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.frozen import quickly_made

PROVIDERS = ("anthropic", "openai", "server")
"""What the name of a live model begins with, before the colon. `server` is any other server that
speaks chat completions."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One question to a model: what it may read, and beside it what an offline worker needs.

    A model that stands for a language model reads `messages`, `tools`, `max_output_tokens` alone.
    """

    flow: Flow
    agent: Agent
    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]]
    """Own tools, and handoffs as `transfer_to_…` and `delegate_to_…`."""
    request: HandoffRequest
    packet: Packet | None = None
    path: str = ""
    step: int = 1
    """Of this handoff, from 1."""
    attempt: int = 1
    max_output_tokens: int = 0
    first_token: Callable[[], None] = lambda: None
    """For streaming models: to be called once, when the answer begins to arrive."""

    @property
    def text(self) -> str:
        """What is asked: the user's words at the root and after a transfer, else the task."""
        if self.packet:
            return self.packet.goal
        asked = self.request.task
        if "/" not in self.path:  # the task is the user's message on one line
            said = (m["content"] for m in reversed(self.messages) if m["role"] == "user")
            return next((text for text in said if " ".join(text.split()) == asked), asked)
        return asked

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The values that came along."""
        return self.request.inputs

    @property
    def results(self) -> list["ToolResult"]:
        """What tools and workers returned in this handoff so far, oldest first."""
        return [
            ToolResult(message.get("name", ""), unfenced(message["content"]))
            for message in self.messages
            if message["role"] == "tool"
        ]

    def result_of(self, name: str) -> Any:
        """Return what a tool (or `delegate_to_…`) returned last, parsed; None when it has not."""
        for result in reversed(self.results):
            if result.name == name:
                return result.value
        return None


@dataclass(frozen=True)
class ToolResult:
    """One tool result as a worker reads it."""

    name: str
    content: str

    @property
    def value(self) -> Any:
        """The content parsed as JSON; the text itself where it is none."""
        import json

        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return self.content


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What a model answers: text, or tool calls, or both."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    """None: the model did not say, the runtime estimates and flags it."""
    finish_reason: str = ""
    first_token_seconds: float | None = None
    """Offline models only: when the answer is to begin; None says that it comes as a whole."""
    latency_seconds: float = 0.0
    """Offline models only: how long the answer is to take."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a model wants to be asked. One that has no `terms` is asked once for each step."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the model is asked with: temperature, seed and the like; nothing secret."""
    max_output_tokens: int | None = None
    """The most that one reply may have; None is all that the limits leave."""
    max_tries: int = 1
    """Requests for one step. All but the first follow a transient error, inside the deadline."""
    backoff_seconds: float = 0.5
    """Before the second try, twice as long before each further one; up to a quarter more, so that
    parallel workers do not come back at once. What the provider asks for counts instead."""

    @cached_property
    def recorded(self) -> dict[str, Any]:
        """What is recorded with each call: the settings, and of the rest what is not the default.

        Empty for a model that is asked as one without terms is.
        """
        own = {name: getattr(self, name) for name in _OWN_TERMS}
        other = {name: value for name, value in own.items() if value != getattr(_NO_TERMS, name)}
        return {**self.settings, **other}

    @classmethod
    def as_recorded(cls, settings: Mapping[str, Any]) -> "Terms":
        """Return the terms that a model was asked by, from what is recorded with a call."""
        own = {name: settings[name] for name in _OWN_TERMS if name in settings}
        others = {name: value for name, value in settings.items() if name not in own}
        return cls(settings=others, **own)


class Model(Protocol):
    """Anything that can answer. It may also have `terms: Terms`."""

    name: str
    """As recorded, and as prices name it."""
    offline: bool
    """It asks nobody outside this machine."""
    reads_prompt: bool
    """False: it follows rules, and an edited prompt changes nothing."""

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer one call.

        Raises:
            TransientModelError: It may work the next time.
            ModelError: It will not.
        """
        ...


def terms_of(model: Model) -> Terms:
    """Return how a model wants to be asked."""
    terms: Terms = getattr(model, "terms", _NO_TERMS)
    return terms


_OWN_TERMS = ("max_output_tokens", "max_tries", "backoff_seconds")
"""What the runtime follows itself; the model never sees it."""
_NO_TERMS = Terms()
