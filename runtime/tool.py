"""A tool: a function, what a model is told of it, and the check of its arguments."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from handoff_console.runtime.arguments import names_its_arguments
from handoff_console.runtime.canonical import as_json, digest
from handoff_console.runtime.contract import TRANSFER_TO, Effect
from handoff_console.runtime.errors import MISTAKES, named
from handoff_console.runtime.sources import source_of

_Schema = TypeVar("_Schema", bound=BaseModel)


@names_its_arguments
@dataclass(frozen=True)
class Tool:
    """Something an agent can do, as a function whose annotated parameters are its arguments."""

    function: Callable[..., Any]
    """Plain or `async`. A plain one runs in a thread of its own: a deadline can leave it."""
    name: str = ""
    """Defaults to the function's name."""
    description: str = ""
    """Defaults to the first line of the function's docstring."""
    effect: Effect = Effect.READ
    remembers: tuple[str, ...] = ()
    """Top-level keys of its result that become session state: what no later agent can change."""
    approval: bool | None = None
    """Whether a person has to say yes each time; by default for `external` effects, and for all
    effects of an untrusted tool."""
    approval_seconds: float = 86_400.0
    """No answer for so long is a no."""
    inline: bool = False
    """A plain function that returns at once may run without a thread (30 times cheaper); no
    deadline can leave it."""
    untrusted: bool = False
    """Its results come from a program of somebody else, such as an MCP server."""

    def __post_init__(self) -> None:
        """Fill in what was left out; take the effect by its word, and one name for several."""
        object.__setattr__(self, "effect", Effect(self.effect))
        one: object = self.remembers
        if isinstance(one, str):
            object.__setattr__(self, "remembers", (one,))
        if not self.name:
            name = getattr(self.function, "__name__", type(self.function).__name__)
            object.__setattr__(self, "name", name)
        if not self.description:
            first, *_ = (inspect.getdoc(self.function) or "").split("\n", maxsplit=1)
            object.__setattr__(self, "description", first)

    @property
    def needs_approval(self) -> bool:
        """Whether it runs only after an explicit yes. Source: S3, best practices."""
        if self.approval is not None:
            return self.approval
        return self.effect is Effect.EXTERNAL or (self.untrusted and self.effect is Effect.WRITE)

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The function's parameters as a model that refuses unknown names."""
        fields: dict[str, Any] = {}
        for number, (name, parameter) in enumerate(self._parameters.items()):
            kind = Any if parameter.annotation is parameter.empty else parameter.annotation
            default = ... if parameter.default is parameter.empty else parameter.default
            # By alias: a parameter may be called `schema`, `copy` or `_x`, a model's field may not.
            fields[f"parameter_{number}"] = (kind, Field(default, alias=name, title=_titled(name)))
        return create_model(
            f"{self.name} arguments", __config__=ConfigDict(extra="forbid"), **fields
        )

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the function takes them.

        Raises:
            ValueError: They do not fit; the text names each field and what is wrong with it.
        """
        parsed = fitted(self.arguments, arguments)
        return {
            name: getattr(parsed, f"parameter_{number}")
            for number, name in enumerate(self._parameters)
        }

    @cached_property
    def mistake(self) -> str:
        """Why no model can be told how to call it; empty when all is well."""
        try:
            for name, parameter in self._parameters.items():
                if parameter.kind not in _BY_NAME:
                    return f"its parameter {name!r} cannot be given by name"
            self.arguments.model_json_schema()
        except PydanticUserError as error:
            return f"a parameter has no form in JSON: {str(error).partition(chr(10))[0]}"
        except (NameError, TypeError, ValueError) as error:
            return f"its parameters cannot be read: {error}"
        return ""

    @property
    def untyped(self) -> tuple[str, ...]:
        """Parameters without an annotation, which take whatever a model sends."""
        parameters = self._parameters.items()
        return tuple(name for name, one in parameters if one.annotation is one.empty)

    @cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function, eval_str=True).parameters

    @cached_property
    def spec(self) -> dict[str, Any]:
        """What a model is told of the tool, and what tells one version of it from another."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.arguments.model_json_schema(),
            "effect": self.effect.value,
            "approval": self.needs_approval,
            "source": digest(source_of(self.function).encode(), b""),
            **({"untrusted": True} if self.untrusted else {}),
        }

    @property
    def recorded(self) -> dict[str, Any]:
        """How it is recorded with its flow: with what no model is told, where that is not usual."""
        lasts = self.approval_seconds != Tool.approval_seconds
        return {
            **self.spec,
            **({"remembers": list(self.remembers)} if self.remembers else {}),
            **({"approval_seconds": self.approval_seconds} if lasts else {}),
        }


class Transfer(Exception):
    """What a tool returns, or raises, to pass control on in its agent's name.

    It is judged as if the agent had asked for it, once all tools of the same reply are done: its
    agent needs an `Edge.transfer` to the target. A refusal is what the model reads as the tool's
    result. Source: S2, "Implementing a Handoff Mechanism in Python".

    Args:
        target: The agent that takes over.
        reason: Why.
        summary: What it should know, in words.
        task: What it is to do; by default what the user asked.
        payload: The values that go along.
    """

    def __init__(
        self, target: str, reason: str, *, summary: str = "", task: str = "", **payload: Any
    ) -> None:
        super().__init__(f"transfer to {target}: {reason}")
        self.target = target
        self.arguments = handoff_arguments(reason, task, summary, payload)


def handoff_arguments(
    reason: str, task: str, summary: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the special tool of a handoff is called with; what is empty is left out."""
    said = {"reason": reason or task, "task": task, "summary": summary, "payload": dict(values)}
    return {name: value for name, value in said.items() if value or name == "reason"}


def transfer_as_result(transfer: Transfer) -> dict[str, Any]:
    """Return how a transfer that a tool asks for stands in the record, as the tool's result.

    `transfer_of_result` reads it back.
    """
    return {TRANSFER_TO: transfer.target, **transfer.arguments}


HANDOFF_PREFIXES = (f"{TRANSFER_TO}_", "delegate_to_")
"""How the special tools that ask for a handoff begin."""


def tool_mistakes(tool: Tool, agent: str, *, may_write: bool) -> Iterator[str]:
    """Yield why an agent cannot have a tool, a sentence each."""
    if tool.mistake:
        yield (
            f"agent {agent!r} cannot be offered its tool {tool.name!r}: {tool.mistake}; give it "
            "named parameters of types that JSON has."
        )
    if tool.name.startswith(HANDOFF_PREFIXES):
        yield (
            f"agent {agent!r} has a tool {tool.name!r}, but names that begin like this ask for "
            "handoffs; rename it."
        )
    if tool.effect is not Effect.READ and not may_write:
        yield (
            f"agent {agent!r} only reads, but its tool {tool.name!r} has effect "
            f"{tool.effect.value!r}; say `may_write=True`, or move the tool elsewhere."
        )
    if tool.untrusted and tool.remembers:
        yield (
            f"agent {agent!r} would remember what its untrusted tool {tool.name!r} says for all "
            "later agents; leave `remembers` out."
        )


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _titled(name: str) -> str:
    return name.replace("_", " ").strip().title()


def fitted(schema: type[_Schema], value: Any) -> _Schema:
    """Return a value in the shape of a schema, whatever the schema's own checks raise.

    Raises:
        ValueError: It does not fit; the text says where and why.
    """
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        raise ValueError(problems(error)) from error
    except MISTAKES as error:
        raise ValueError(f"a check of it failed: {named(error)}") from error


def fitted_json(schema: type[BaseModel], value: Any) -> dict[str, Any]:
    """Return what `fitted` returns, as JSON.

    Raises:
        ValueError: It does not fit, or has no form in JSON.
    """
    fits = fitted(schema, value)
    try:
        dumped: dict[str, Any] = as_json(fits.model_dump(mode="json"))
    except MISTAKES as error:
        raise ValueError(f"it has no form in JSON: {named(error)}") from error
    return dumped


def problems(error: ValidationError) -> str:
    """Return what pydantic found wrong as one sentence that quotes no value."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    parts = [
        f"{'.'.join(map(str, item['loc'])) or 'value'}: {item['msg']}".replace("Value error, ", "")
        for item in found
    ]
    return "; ".join(parts)
