"""An agent and the edges from it: what it may do, and whom it may hand off to."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from handoff_console.runtime.arguments import names_its_arguments
from handoff_console.runtime.blame import defined_at
from handoff_console.runtime.contract import (
    TEXT,
    ContextPolicy,
    HandoffKind,
    HandoffRequest,
    Limits,
)
from handoff_console.runtime.tool import Tool

Ingress = Callable[[HandoffRequest], str | None]


@names_its_arguments
@dataclass(frozen=True)
class Edge:
    """A permitted handoff. Make one with `Edge.call` or `Edge.transfer`."""

    target: str
    via: HandoffKind
    description: str = ""
    """When to use it; defaults to the target's own description."""
    payload: type[BaseModel] | None = None
    """The values that have to go along; None lets any through."""
    allowed_tools: tuple[str, ...] | None = None
    """The target's tools it may use on this edge; None is all of them."""
    limits: Limits | str = field(default_factory=Limits)
    """Of the handoff; or the name of one of the flow's `profiles`."""
    output_schema: str = ""
    """Calls only; defaults to the target's. A transfer answers in the shape its sender owed."""
    fields: tuple[str, ...] | None = None
    """The facts this target may see; None is all that are not sensitive."""
    context: ContextPolicy = ContextPolicy.PACKET
    """Transfers only; a call carries its request and nothing else."""
    return_to: str = ""
    """Transfers only: who takes the user's next turn; empty leaves it with the last one."""

    def __post_init__(self) -> None:
        """Take the policy and the kind by their words too: `"slice"`; and one name for several."""
        object.__setattr__(self, "context", ContextPolicy(self.context))
        object.__setattr__(self, "via", HandoffKind(self.via))
        for several in ("fields", "allowed_tools"):
            if isinstance(one := getattr(self, several), str):
                object.__setattr__(self, several, (one,))

    @classmethod
    def call(cls, target: str, description: str = "", **options: Any) -> "Edge":
        """Let an agent ask `target` and wait for its result."""
        return cls(target, HandoffKind.CALL, description, **options)

    @classmethod
    def transfer(cls, target: str, description: str = "", **options: Any) -> "Edge":
        """Let an agent pass control to `target` for good."""
        return cls(target, HandoffKind.TRANSFER, description, **options)

    @property
    def tool_name(self) -> str:
        """The special tool by which a model asks for it."""
        return f"{'delegate' if self.via is HandoffKind.CALL else 'transfer'}_to_{self.target}"


@names_its_arguments
@dataclass(frozen=True)
class Agent:
    """One agent: a short prompt, the tools it needs, and whom it may hand off to."""

    name: str
    prompt: str = ""
    """Its instructions; seen by this agent alone."""
    description: str = ""
    """What others read when they choose whom to hand off to."""
    tools: Sequence[Tool] = ()
    edges: Sequence[Edge] = ()
    model: Any = None
    """A model, a function, or a name such as `offline:bm25`; None takes the flow's."""
    output_schema: str = TEXT
    may_write: bool = False
    """Agents only read unless this says otherwise. Source: S0, step 5."""
    examples: Sequence[str] = ()
    """Requests that belong to this agent, for whoever routes."""
    threshold: float = 0.0
    """For models that score: under this, the agent does not hand off."""
    trust: int = 1
    """How much its words count. A less trusted agent gets in only past `ingress`."""
    ingress: Sequence[Ingress] = ()
    """Checks of every request on its way in, whoever sends it: what is wrong with it, or None."""

    @cached_property
    def tools_by_name(self) -> dict[str, Tool]:
        """Its own tools."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def edges_by_tool(self) -> dict[str, Edge]:
        """Its edges, by the special tool that asks for each."""
        return {edge.tool_name: edge for edge in self.edges}


def is_function(model: Any) -> bool:
    """Say whether what stands in a model's place is a function, or can be called like one."""
    return callable(model) and not hasattr(model, "reply") and not isinstance(model, type)


def arguments_of_model(function: Callable[..., Any]) -> int | None:
    """Return how many arguments a function in a model's place is given.

    One, `(call)`, or two, `(agent, messages)`; None where it takes neither.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some of C have none
        return 1
    needed = [one for one in signature.parameters.values() if one.default is one.empty]
    takes_any = bool(needed) and needed[0].kind is needed[0].VAR_POSITIONAL
    for count in (1, 2) if len(needed) <= 1 and not takes_any else (2, 1):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        return count
    return None


def mistake_of_function(function: Callable[..., Any], agent: str) -> str:
    """Return what to say of a function in a model's place that cannot be called."""
    name = getattr(function, "__name__", type(function).__name__)
    return (
        f"the model of {agent!r} is the function {name!r} ({defined_at(function)}), which cannot "
        "be called with one argument, `(call)`, nor with two, `(agent, messages)`; change what it "
        "takes."
    )
