"""What an operator changes before a handoff is run again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from handoff_console.runtime.agents import TEXT, Agent
from handoff_console.runtime.contract import HandoffRequest, Limits
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

    def described(self) -> dict[str, Any]:
        """Return what is changed, as JSON; empty when nothing is."""
        fields = {name: value for name, value in vars(self).items() if value not in (None, {}, ())}
        if self.model is not None:
            fields["model"] = getattr(self.model, "name", str(self.model))
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

    @property
    def changes_request(self) -> bool:
        """Whether the receiver is told something else."""
        asked = (self.task, self.allowed_tools, self.output_schema)
        return any(value is not None for value in asked) or bool(
            self.inputs or self.without_inputs or self.limits
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

    def check(self, flow: Flow, agent: Agent, recorded: HandoffRequest) -> HandoffRequest:
        """Return the edited request, checked against the flow before anything runs.

        Raises:
            RequestError: It allows a tool the agent does not own, names an unknown schema or limit,
                or changes the result of a tool the agent does not have.
        """
        for name in self.limits:
            if name not in Limits.model_fields:
                raise RequestError(
                    f"There is no limit {name!r}; there are: {choices(Limits.model_fields)}."
                )
        request = self.request(recorded)
        owned = agent.tools_by_name
        places = [name for name in self.tool_results if not _is_place(name)]
        for name in (*request.allowed_tools, *places, *self.armed):
            if name not in owned:
                raise RequestError(
                    f"Agent {agent.name!r} has no tool {name!r}; it has: {choices(owned, 'none')}."
                )
        known = {TEXT, *flow.schemas}
        if request.output_schema not in known:
            raise RequestError(
                f"There is no schema {request.output_schema!r}; there are: {choices(known)}."
            )
        return request


def _is_place(name: str) -> bool:
    step, _, call = name.partition(".")
    return step.isdigit() and call.isdigit()
