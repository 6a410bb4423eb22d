"""What an operator changes before a handoff is run again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.contract import TEXT, HandoffRequest, Limits, Packet
from handoff_console.runtime.errors import RequestError, choices
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.tool import problems


@dataclass(frozen=True, kw_only=True)
class Edits:
    """Changes to one handoff; what is None or empty stays as it was recorded."""

    task: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Values to set, by key."""
    without_inputs: tuple[str, ...] = ()
    """Keys to leave out."""
    goal: str | None = None
    """Of the packet; so are the next two."""
    summary: str | None = None
    claimed: Mapping[str, Any] = field(default_factory=dict)
    """What the sender says and nothing confirms, by key."""
    allowed_tools: tuple[str, ...] | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    """`max_steps`, `max_tokens`, `deadline_seconds`."""
    output_schema: str | None = None
    prompt: str | None = None
    """Other instructions for this agent, at this place only."""
    model: Any = None
    """Another model, at this place only."""
    tool_results: Mapping[str, Any] = field(default_factory=dict)
    """Pretend that a tool returned this: by tool name, or by `step.call` for one call."""

    armed: tuple[str, ...] = ()
    """Tools whose effects are to happen again, each after a fresh approval."""
    denied: tuple[str, ...] = ()
    """Pretend that a person said no to these tools, whatever was decided."""

    def described(self) -> dict[str, Any]:
        """Return what is changed, as JSON; empty when nothing is."""
        fields = self._said()
        if self.model is not None:
            fields["model"] = getattr(self.model, "name", str(self.model))
        return fields

    def _said(self) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if value not in (None, {}, ())}
        if self.allowed_tools is not None:  # no tool at all is a change
            fields["allowed_tools"] = self.allowed_tools
        return fields

    @classmethod
    def recorded(cls, fields: Mapping[str, Any], model: Any = None) -> "Edits":
        """Return the changes that a re-run recorded.

        Args:
            fields: What `described` returned.
            model: What stands for the model that they name.
        """
        changes = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in fields.items()
        }
        return cls(**{**changes, "model": model})

    def over(self, others: "Edits") -> "Edits":
        """Return other changes with these made after them: where both say something, these count.

        Args:
            others: The changes that are made first.
        """
        both = self._said()
        for name in ("claimed", "limits", "tool_results"):
            both[name] = {**getattr(others, name), **getattr(self, name)}
        kept = {key: v for key, v in others.inputs.items() if key not in self.without_inputs}
        left_out = [key for key in others.without_inputs if key not in self.inputs]
        both["inputs"] = {**kept, **self.inputs}
        both["without_inputs"] = tuple(dict.fromkeys((*left_out, *self.without_inputs)))
        return replace(others, **both)

    @property
    def changes_request(self) -> bool:
        """Whether the receiver is told something else."""
        asked = (self.task, self.allowed_tools, self.output_schema)
        return any(value is not None for value in asked) or bool(
            self.inputs or self.without_inputs or self.limits
        )

    @property
    def changes_packet(self) -> bool:
        """Whether something is changed that only a packet has."""
        return self.goal is not None or self.summary is not None or bool(self.claimed)

    def packet(self, recorded: Packet) -> Packet:
        """Return the packet with the changes; an input that it says is changed there as well."""
        claims, facts = (
            {key: value for key, value in said.items() if key not in self.without_inputs}
            for said in (recorded.claimed, recorded.facts)
        )
        for key, value in self.inputs.items():
            (claims if key in claims and key not in facts else facts)[key] = value
        return self.packet_alone(replace(recorded, facts=facts, claimed=claims))

    def packet_anew(self, packet: Packet, recorded: Packet) -> Packet:
        """Return a packet made of the edited request, as `packet` changes the recorded one.

        What somebody sets is told as what it was, and as a fact where it is new; to the gate it is
        a claim, since nothing confirms it.
        """
        said = {**packet.facts, **packet.claimed}
        claims = [key for key in packet.claimed if not self._is_fact(key, recorded)]
        claims += [key for key in packet.facts if self._is_claim(key, recorded)]
        facts = [key for key in said if key not in claims]
        return self.packet_alone(
            replace(
                packet,
                facts={key: said[key] for key in _ordered(facts, recorded.facts)},
                claimed={key: said[key] for key in _ordered(claims, recorded.claimed)},
            )
        )

    def _is_claim(self, key: str, recorded: Packet) -> bool:
        return key in self.inputs and key in recorded.claimed and key not in recorded.facts

    def _is_fact(self, key: str, recorded: Packet) -> bool:
        return key in self.inputs and not self._is_claim(key, recorded)

    def packet_alone(self, packet: Packet) -> Packet:
        """Return a packet, whose facts are those of the edited inputs, with the other changes."""
        if not self.changes_packet:
            return packet
        return replace(
            packet,
            goal=packet.goal if self.goal is None else self.goal,
            summary=packet.summary if self.summary is None else self.summary,
            facts={key: v for key, v in packet.facts.items() if key not in self.claimed},
            claimed={**packet.claimed, **self.claimed},
        )

    def request(self, recorded: HandoffRequest) -> HandoffRequest:
        """Return the request with the changes.

        Raises:
            RequestError: It would not be a request; the text names the field.
        """
        inputs = {key: v for key, v in recorded.inputs.items() if key not in self.without_inputs}
        fields = {
            "task": self.task if self.task is not None else recorded.task,
            "inputs": {**inputs, **self.inputs},
            "allowed_tools": (
                recorded.allowed_tools if self.allowed_tools is None else self.allowed_tools
            ),
            "limits": {**recorded.limits.model_dump(), **self.limits},
            "output_schema": self.output_schema or recorded.output_schema,
        }
        try:
            return HandoffRequest.model_validate(fields)
        except ValidationError as error:
            raise RequestError(f"The edited request is not valid: {problems(error)}.") from error

    def agent(self, agent: Agent) -> Agent:
        """Return the agent with the changes."""
        return agent if self.prompt is None else replace(agent, prompt=self.prompt)

    def check(
        self, flow: Flow, agent: Agent, recorded: HandoffRequest, packet: Packet | None = None
    ) -> HandoffRequest:
        """Return the edited request, checked against the flow before anything runs.

        Raises:
            RequestError: It allows a tool the agent does not own, names an unknown schema or limit,
                changes the result of a tool the agent does not have, or a packet that is not there.
        """
        if self.changes_packet and packet is None:
            raise RequestError(
                "No packet came along with this handoff, so neither its goal, nor its summary, nor "
                "what it claims can be changed; change the task or the inputs."
            )
        for name in self.limits:
            if name not in Limits.model_fields:
                raise RequestError(
                    f"There is no limit {name!r}; there are: {choices(Limits.model_fields)}."
                )
        request, owned = self.request(recorded), agent.tools_by_name
        if self.allowed_tools is None:  # what the flow has no more is none that it may call
            still = tuple(name for name in recorded.allowed_tools if name in owned)
            request = request.model_copy(update={"allowed_tools": still})
        places = [name for name in self.tool_results if not _is_place(name)]
        for name in (*request.allowed_tools, *places, *self.armed, *self.denied):
            if name not in owned:
                raise RequestError(
                    f"Agent {agent.name!r} has no tool {name!r}; it has: {choices(owned, 'none')}."
                )
        known = {TEXT, *flow.schemas}
        if request.output_schema not in known:
            if self.output_schema is None:
                raise RequestError(
                    f"The schema {request.output_schema!r}, which it had to answer with, is gone "
                    f"from the flow; say another one (--output-schema): {choices(known)}."
                )
            raise RequestError(
                f"There is no schema {request.output_schema!r}; there are: {choices(known)}."
            )
        return request


def _ordered(keys: Sequence[str], before: Iterable[str]) -> list[str]:
    """Return the keys in the order that they had before, and then those that are new."""
    known = [key for key in before if key in keys]
    return [*known, *(key for key in keys if key not in known)]


def _is_place(name: str) -> bool:
    step, _, call = name.partition(".")
    return step.isdigit() and call.isdigit()
