"""Which models a session was run with, and which of them can be asked again.

A record has names: one that any program can make a model of again is asked again, with the settings
that were recorded; but no provider, with the key of whoever sits here, because a file from
elsewhere names one. What only its own program can make (a function, a script) stays the flow's own,
and whoever runs a handoff again is told before. Nobody is asked by finding out; and where neither
can be asked here, that matters only to those who would ask it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from handoff_console.runtime import Flow, events
from handoff_console.runtime.agents import Agent
from handoff_console.runtime.errors import FlowError, ModelError
from handoff_console.runtime.events import AgentActivated, Recording, SessionStarted
from handoff_console.runtime.models import (
    NAMED,
    PROVIDERS,
    SPLIT,
    WORDLLAMA,
    ModelCall,
    ModelReply,
    as_model,
    terms_of,
)

_OWN_SETTINGS = ("max_tries", "max_output_tokens", "backoff_seconds")
"""Of a live model's name, what is recorded nowhere: they are the runtime's, not the provider's."""
_WEIGHTS = re.compile(rf"(?<=^{WORDLLAMA})-\d+@[0-9a-f]+")
"""Which weights a model of word vectors had, behind its name: there is one of them here."""


_FROM_A_FILE = "the session came from a file, and no provider is asked because a file says so"


class CannotBeAsked:
    """Stands where a model cannot be made here: recorded answers need none.

    Args:
        name: As it was recorded.
        why: Why it cannot, in one sentence.
        offline: As recorded; so is the next.
        reads_prompt: Whether it read its prompt.
    """

    def __init__(self, name: str, why: str, *, offline: bool, reads_prompt: bool) -> None:
        self.name, self.why = name, why
        self.offline, self.reads_prompt = offline, reads_prompt

    async def reply(self, call: ModelCall, /) -> ModelReply:  # noqa: ARG002
        """Answer nothing.

        Raises:
            ModelError: Always.
        """
        raise ModelError(self.why)


class OtherModel(NamedTuple):
    """An agent whose model in the flow is not the one that was recorded."""

    agent: str
    recorded: str
    """The name of the model that was asked, with its settings."""
    own: str
    """The name of the flow's own; empty where it has none that can be asked."""
    is_asked: bool
    """Whether the recorded one is asked again; otherwise it is the flow's own."""
    problem: str = ""
    """Why it cannot be asked here, where its name says which it is."""


def with_recorded_models(
    flow: Flow, recording: Recording, handoff_id: str = ""
) -> tuple[Flow, Sequence[OtherModel]]:
    """Return the flow with the models that were asked, and what is other than the flow's own.

    Args:
        flow: The flow.
        recording: The session.
        handoff_id: Which of its handoffs is meant: the model at that place is its agent's.
    """
    names, settings = _names(recording, handoff_id), _settings(recording)
    agents, others = [], []
    for agent in flow.agents:
        found = _Found(flow, agent, names.get(agent.name, ""), is_foreign=recording.is_foreign)
        model, other = found.asked(settings.get(found.was))
        if model is None and found.why:
            if other and other.problem:
                found.why = f"agent {agent.name!r}: {other.problem}"
            model, other = _stand_in(found, recording), None
        agents.append(agent if model is None else replace(agent, model=model))
        others += [other] if other else []
    return flow.changed(agents=agents), others


def check_can_be_asked(flow: Flow, agents: Collection[str]) -> None:
    """Refuse to ask a model that cannot be made here.

    Args:
        flow: With the models that were recorded.
        agents: Those that may be asked.

    Raises:
        FlowError: One of them has such a model; the text says why.
    """
    whys = [
        agent.model.why
        for agent in flow.agents
        if agent.name in agents and isinstance(agent.model, CannotBeAsked)
    ]
    if whys:
        raise FlowError(flow.name, whys)


def activated_of(recording: Recording, handoff_id: str) -> AgentActivated | None:
    """Return who acted in a handoff, and on which model; None where nobody did."""
    for event in recording.events:
        if event.handoff_id == handoff_id and isinstance(event.payload, AgentActivated):
            return event.payload
    return None


def _names(recording: Recording, handoff_id: str) -> dict[str, str]:
    """Return the recorded model of each agent; at a place with one of its own, that one."""
    started = recording.events[0].payload if recording.events else None
    if not isinstance(started, SessionStarted):
        return {}
    names = dict(started.models)
    for place in (started.rerun_handoff, handoff_id):
        if acted := activated_of(recording, place):
            names[acted.agent] = acted.model
    return names


def _settings(recording: Recording) -> dict[str, Mapping[str, Any]]:
    """Return with which settings each model was asked; nothing of one that never was."""
    found: dict[str, Mapping[str, Any]] = {}
    for event in recording.events:
        called = event.payload
        if isinstance(called, events.ModelCalled) and called.model not in found:
            found[called.model] = recording.body(called.settings) if called.settings else {}
    return found


class _Found:
    """An agent's own model and its recorded one."""

    def __init__(self, flow: Flow, agent: Agent, was: str, *, is_foreign: bool) -> None:
        self.flow, self.agent, self.was = flow, agent, was
        self._is_foreign = is_foreign
        self.own: Any = agent.model or flow.model
        self.why = ""
        """Why its own cannot be asked here, in one sentence."""
        self._settings: Mapping[str, Any] | None = None
        try:
            model = as_model(self.own, flow.name, agent.name)
        except FlowError as error:
            self.own_name = self.own.partition("?")[0] if isinstance(self.own, str) else ""
            self.why = error.mistakes[0]
            if self.own is None and was:
                self.why = (
                    f"agent {agent.name!r} asked the model {was!r} when this was recorded, and the "
                    "flow has none for it; give it one there, or name it with --model."
                )
        else:
            self.own_name, self._settings = model.name, terms_of(model).settings

    def asked(self, settings: Mapping[str, Any] | None) -> tuple[Any, OtherModel | None]:
        """Return the recorded model where it is not the flow's own, and what is other about it.

        The model alone is None where it cannot be asked.

        Args:
            settings: It was asked with; None where it never was.
        """
        is_same = self.was in {"", self.own_name, self.own_name.partition(":")[2]}
        if is_same and not (isinstance(self.own, str) and self._are_other(settings)):
            return None, None
        name = self.agent.name
        own = self.own if isinstance(self.own, str) else self.own_name
        if not _says_which(self.was):
            return None, OtherModel(name, self.was, own, is_asked=False)
        spec = _spec(self.was, settings or {}, self.own if is_same else None)
        if self._is_foreign and self.was.partition(":")[0] in PROVIDERS:
            return None, OtherModel(name, spec, own, is_asked=False, problem=_FROM_A_FILE)
        try:
            model = as_model(_WEIGHTS.sub("", spec), self.flow.name, name)
        except FlowError as error:
            why = error.mistakes[0].removeprefix(f"agent {name!r}: ")
            return None, OtherModel(name, spec, own, is_asked=False, problem=why)
        if model.name != self.was:
            why = f"what is installed here is {model.name}"
            return None, OtherModel(name, spec, own, is_asked=False, problem=why)
        return model, OtherModel(name, spec, own, is_asked=True)

    def _are_other(self, settings: Mapping[str, Any] | None) -> bool:
        known = settings is not None and self._settings is not None
        return known and settings != self._settings


def _stand_in(found: _Found, recording: Recording) -> CannotBeAsked:
    started = recording.events[0].payload
    acted = (e.payload for e in recording.events if isinstance(e.payload, AgentActivated))
    read = [one.reads_prompt for one in acted if one.agent == found.agent.name]
    return CannotBeAsked(
        found.was or found.own_name or "none",
        found.why,
        offline=isinstance(started, SessionStarted) and started.offline,
        reads_prompt=all(read),
    )


def _says_which(name: str) -> bool:
    """Say whether a name alone says which model it is."""
    is_offline = _WEIGHTS.sub("", name).removesuffix(SPLIT) in (*NAMED, WORDLLAMA)
    return is_offline or name.partition(":")[0] in PROVIDERS


def _spec(name: str, settings: Mapping[str, Any], own: Any) -> str:
    """Return a model's name with the settings that it was asked with.

    Args:
        name: As it was recorded.
        settings: As they were recorded.
        own: The same model as the flow names it, if it does: what is recorded nowhere is its.
    """
    words = dict(parse_qsl(own.partition("?")[2])) if isinstance(own, str) else {}
    words = {key: value for key, value in words.items() if key in _OWN_SETTINGS}
    for key, value in settings.items():
        if (key, value) != ("stream", True):  # as it is anyway
            words[key] = str(value).lower() if isinstance(value, bool) else f"{value}"
    return f"{name}?{urlencode(words)}" if words else name
