"""A tool: a function, what a model is told of it, and the check of its arguments."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from handoff_console.runtime.canonical import digest
from handoff_console.runtime.contract import Effect


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
    inline: bool = False
    """A plain function that returns at once may run without a thread (30 times cheaper); no
    deadline can leave it."""

    def __post_init__(self) -> None:
        """Fill in what was left out."""
        if not self.name:
            object.__setattr__(self, "name", self.function.__name__)
        if not self.description:
            first, *_ = (inspect.getdoc(self.function) or "").split("\n", maxsplit=1)
            object.__setattr__(self, "description", first)

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The function's parameters as a model that refuses unknown names."""
        fields: dict[str, Any] = {}
        for name, parameter in inspect.signature(self.function, eval_str=True).parameters.items():
            kind = Any if parameter.annotation is parameter.empty else parameter.annotation
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[name] = (kind, default)
        return create_model(
            f"{self.name} arguments", __config__=ConfigDict(extra="forbid"), **fields
        )

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the function takes them.

        Raises:
            ValueError: They do not fit; the text names each field and what is wrong with it.
        """
        try:
            parsed = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise ValueError(problems(error)) from error
        return {name: getattr(parsed, name) for name in type(parsed).model_fields}

    @cached_property
    def spec(self) -> dict[str, Any]:
        """What a model is told of the tool, and what tells one version of it from another."""
        try:
            source = inspect.getsource(self.function)
        except (OSError, TypeError):
            source = repr(self.function)
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.arguments.model_json_schema(),
            "effect": self.effect.value,
            "source": digest(source.encode(), b""),
        }


def problems(error: ValidationError) -> str:
    """Return what pydantic found wrong as one sentence that quotes no value."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    parts = [
        f"{'.'.join(map(str, item['loc'])) or 'value'}: {item['msg']}".replace("Value error, ", "")
        for item in found
    ]
    return "; ".join(parts)
