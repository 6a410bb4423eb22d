"""Which models a session was run with, and which of them can be asked again.

A record has names: one that any program can make a model of again is asked again, with the settings
that were recorded; but no provider, with the key of whoever sits here, because a file from
elsewhere names one. What only its own program can make (a function, a script) stays the flow's own,
and whoever runs a handoff again is told before. Nobody is asked by finding out; and where neither
can be asked here, that matters only to those who would ask it.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from handoff_console.console.commands.recorded_settings import AskedWith
from handoff_console.runtime import Flow
from handoff_console.runtime.agents import Agent
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.errors import FlowError, ModelError
from handoff_console.runtime.events import AgentActivated, Recording, SessionStarted
from handoff_console.runtime.models import (
    NAMED,
    PROVIDERS,
    SPLIT,
    WORDLLAMA,
    ModelCall,
    ModelReply,
    Terms,
    as_model,
    terms_of,
)
from handoff_console.runtime.models.provider.specs import read_spec, spec_text

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
    terms: Sequence[str] = ()
    """Of a model of the same name, what it is asked with otherwise, a part each."""


def with_recorded_models(
    flow: Flow, recording: Recording, handoff_id: str = ""
) -> tuple[Flow, Sequence[OtherModel]]:
    """Return the flow with the models that were asked, and what is other than the flow's own.

    Args:
        flow: The flow.
        recording: The session.
        handoff_id: Which of its handoffs is meant: the model at that place is its agent's.
    """
    names, asked_with = _names(recording, handoff_id), AskedWith(recording, handoff_id)
    agents, others = [], []
    for agent in flow.agents:
        found = _Found(flow, agent, names.get(agent.name, ""), is_foreign=recording.is_foreign)
        model, other = found.asked(asked_with)
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


class _Found:
    """An agent's own model and its recorded one."""

    def __init__(self, flow: Flow, agent: Agent, was: str, *, is_foreign: bool) -> None:
        self.flow, self.agent, self.was = flow, agent, was
        self._is_foreign = is_foreign
        self.own: Any = agent.model or flow.model
        self.why = ""
        """Why its own cannot be asked here, in one sentence."""
        self._terms: Terms | None = None
        try:
            model = as_model(self.own, flow.name, agent.name)
        except FlowError as error:
            self.own_name = self.own.partition("?")[0] if isinstance(self.own, str) else ""
            self._terms = _terms_named(self.own)
            self.why = error.mistakes[0]
            if self.own is None and was:
                self.why = (
                    f"agent {agent.name!r} asked the model {was!r} when this was recorded, and the "
                    "flow has none for it; give it one there, or name it with --model."
                )
        else:
            self.own_name, self._terms = model.name, terms_of(model)

    def asked(self, asked_with: AskedWith) -> tuple[Any, OtherModel | None]:
        """Return the recorded model where it is not the flow's own, and what is other about it.

        The model alone is None where it cannot be asked.

        Args:
            asked_with: What models were asked with.
        """
        name, settings = self.agent.name, asked_with.settings(self.agent.name, self.was)
        is_same = self.was in {"", self.own_name, self.own_name.partition(":")[2]}
        then = self._terms_then(settings, is_same=is_same, is_told=asked_with.is_told)
        own = self.own if isinstance(self.own, str) else self.own_name
        if is_same:
            other = self._other_terms(then) if settings is not None else []
            if not other:
                return None, None
            if not isinstance(self.own, str):
                return None, OtherModel(name, self.was, own, is_asked=False, terms=other)
        if not _says_which(self.was):
            return None, OtherModel(name, self.was, own, is_asked=False)
        is_live = self.was.partition(":")[0] in PROVIDERS
        spec = spec_text(self.was, then) if is_live else self.was
        model, why = self._made(spec, is_live=is_live)
        return model, OtherModel(name, spec, own, is_asked=model is not None, problem=why)

    def _made(self, spec: str, *, is_live: bool) -> tuple[Any, str]:
        """Return the model of a name, or why there is none."""
        if self._is_foreign and is_live:
            return None, _FROM_A_FILE
        try:
            model = as_model(_WEIGHTS.sub("", spec), self.flow.name, self.agent.name)
        except FlowError as error:
            return None, error.mistakes[0].removeprefix(f"agent {self.agent.name!r}: ")
        if model.name != self.was:
            return None, f"what is installed here is {model.name}"
        return model, ""

    def _terms_then(
        self, settings: Mapping[str, Any] | None, *, is_same: bool, is_told: bool
    ) -> Terms:
        """Return how the recorded model was asked; what is not told of it is as it is now."""
        now = self._terms if is_same and self._terms else _as_named(self.was)
        if settings is None:
            return now
        then = Terms.as_recorded(settings)
        return then if is_told else replace(now, settings=then.settings)

    def _other_terms(self, then: Terms) -> list[str]:
        """Return what the flow's own is asked with otherwise than it was, a part each."""
        now = self._terms.recorded if self._terms else then.recorded
        # As it would be recorded: a tuple is a list there, and a secret is a mark.
        now = json.loads(canonical_text(self.flow.redaction.clean(now)))
        was, none = then.recorded, Terms()
        return [
            f"{key} {_word(now, key, none)} instead of {_word(was, key, none)}"
            for key in sorted(now.keys() | was.keys())
            if now.get(key) != was.get(key)
        ]


def _word(settings: Mapping[str, Any], key: str, none: Terms) -> str:
    return str(settings.get(key, getattr(none, key, "not set")))


def _terms_named(own: Any) -> Terms | None:
    """Return how a live model is asked that cannot be asked here; None where it is none."""
    try:
        return read_spec(own).terms if isinstance(own, str) else None
    except ModelError:
        return None


def _as_named(name: str) -> Terms:
    """Return how a model is asked of which nothing but its name is known."""
    return _terms_named(name) or Terms()


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
