"""Who may hand off to whom: agents, their tools, the edges between them, and the limits."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel

from handoff_console.runtime.canonical import canonical, canonical_text
from handoff_console.runtime.contract import ContextPolicy, HandoffKind, Limits
from handoff_console.runtime.errors import FlowError, choices
from handoff_console.runtime.redaction import Redaction
from handoff_console.runtime.tool import Tool, tool_mistakes

TEXT = "Text"
"""The schema that takes plain text as the answer."""

MANY_TOOLS = 10
"""An agent with more tools is probably two agents. Source: S0, "Common mistakes to avoid"."""


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
    limits: Limits = field(default_factory=Limits)
    output_schema: str = ""
    """Calls only; defaults to the target's. A transfer answers in the shape its sender owed."""
    fields: tuple[str, ...] | None = None
    """The facts this target may see; None is all that are not sensitive."""
    context: ContextPolicy = ContextPolicy.PACKET
    """Transfers only; a call carries its request and nothing else."""

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

    @cached_property
    def tools_by_name(self) -> dict[str, Tool]:
        """Its own tools."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def edges_by_tool(self) -> dict[str, Edge]:
        """Its edges, by the special tool that asks for each."""
        return {edge.tool_name: edge for edge in self.edges}


@dataclass(frozen=True)
class Price:
    """What a model costs, in one currency for the whole flow."""

    input_per_million: float
    output_per_million: float


class Fixed(NamedTuple):
    """A part of a flow as it is recorded."""

    value: Any
    body: bytes
    """Canonical JSON, redacted."""
    size_bytes: int
    """Of the value, before redaction."""


@dataclass(frozen=True)
class Flow:
    """A set of agents that may hand off to each other, and the limits that hold for each request.

    Raises:
        FlowError: It contradicts itself; the text names the mistake.
    """

    name: str
    agents: Sequence[Agent]
    start: str = ""
    """Who gets the user's message; defaults to the first agent."""
    description: str = ""
    schemas: Mapping[str, type[BaseModel]] = field(default_factory=dict)
    """What workers may be asked to answer with, by name; `Text` is always there."""
    model: Any = None
    """The model of agents that name none."""
    limits: Limits = field(
        default_factory=lambda: Limits(max_steps=12, max_tokens=1_000_000, deadline_seconds=120)
    )
    """Of the root handoff; its deadline is the request's."""
    pool_tokens: int = 50_000
    """What all handoffs of a request share."""
    finish_floor_tokens: int = 1_000
    """Kept back from reservations, so that the root can answer."""
    depth: int = 1
    """How deep calls may nest: 1 lets the root call workers, who may not call anybody."""
    max_handoffs: int = 3
    """Transfers of one request."""
    max_edge_repeats: int = 0
    """How often the same transfer may be repeated within a turn."""
    max_workers: int = 10
    """Calls of one request."""
    max_workers_per_session: int = 50
    max_result_bytes: int = 16_000
    """A worker returns a short result, not a transcript."""
    max_cost: float | None = None
    """Of one request, in the currency of `prices`."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By model name; tokens of a model without a price cost nothing that is known."""
    redaction: Redaction = field(default_factory=Redaction)
    examples: Sequence[str] = ()
    """Messages to try it with."""
    prompt_version: str = ""

    def __post_init__(self) -> None:
        """Refuse a flow that contradicts itself."""
        if not self.start and self.agents:
            object.__setattr__(self, "start", self.agents[0].name)
        mistakes = list(_mistakes(self))
        if mistakes:
            raise FlowError(self.name, mistakes)

    @cached_property
    def agents_by_name(self) -> dict[str, Agent]:
        """Its agents."""
        return {agent.name: agent for agent in self.agents}

    def check(self) -> list[str]:
        """Return what is allowed but probably not meant, a sentence each."""
        warnings = []
        for agent in self.agents:
            if len(agent.tools) > MANY_TOOLS:
                warnings.append(
                    f"Agent {agent.name!r} has {len(agent.tools)} tools; with more than "
                    f"{MANY_TOOLS} it is probably two agents."
                )
            warnings += [
                f"The edge {agent.name!r} → {edge.target!r} has no description, so nothing says "
                "when to use it."
                for edge in agent.edges
                if not (edge.description or self.agents_by_name[edge.target].description)
            ]
        return warnings

    def edge_description(self, edge: Edge) -> str:
        """Return when to use an edge: its own words, or the target's."""
        return edge.description or self.agents_by_name[edge.target].description

    def schema_json(self, name: str) -> str:
        """Return a registered schema as one line of JSON."""
        make = self.schemas[name].model_json_schema
        return self.fixed(("schema", name), lambda: canonical_text(make())).value  # type: ignore[no-any-return]

    def fixed(self, key: Hashable, make: Callable[[], Any]) -> "Fixed":
        """Return something that is the same in every session of this flow, made once."""
        known = self._fixed.get(key)
        if known is None:
            value = make()
            body = canonical(self.redaction.clean(value))
            known = self._fixed[key] = Fixed(value, body, len(canonical(value)))
        return known

    @cached_property
    def _fixed(self) -> dict[Hashable, "Fixed"]:
        return {}

    @cached_property
    def snapshot(self) -> bytes:
        """The whole flow as canonical JSON, redacted: what every session that runs it records."""
        shown = self.redaction.clean(
            {
                "name": self.name,
                "start": self.start,
                "description": self.description,
                "agents": [_agent_snapshot(self, agent) for agent in self.agents],
                "schemas": {name: s.model_json_schema() for name, s in self.schemas.items()},
                "limits": self.limits.model_dump(),
                **{name: getattr(self, name) for name in _PLAIN},
                "prices": {name: vars(price) for name, price in self.prices.items()},
            }
        )
        return canonical(shown)

    def changed(self, **changes: Any) -> "Flow":
        """Return this flow with some fields replaced."""
        return replace(self, **changes)


_PLAIN = (
    "pool_tokens", "finish_floor_tokens", "depth", "max_handoffs", "max_edge_repeats",
    "max_workers", "max_workers_per_session", "max_result_bytes", "max_cost", "prompt_version",
)  # fmt: skip


def _agent_snapshot(flow: Flow, agent: Agent) -> dict[str, Any]:
    return {
        "name": agent.name,
        "prompt": agent.prompt,
        "description": agent.description,
        "examples": list(agent.examples),
        "threshold": agent.threshold,
        "output_schema": agent.output_schema,
        "may_write": agent.may_write,
        "tools": [tool.spec for tool in agent.tools],
        "edges": [
            {
                "target": edge.target,
                "via": edge.via.value,
                "description": flow.edge_description(edge),
                "allowed_tools": edge.allowed_tools,
                "limits": edge.limits.model_dump(),
                "output_schema": edge.output_schema,
                "payload": edge.payload.model_json_schema() if edge.payload else None,
                "fields": edge.fields,
                "context": edge.context.value,
            }
            for edge in agent.edges
        ],
    }


def _mistakes(flow: Flow) -> Iterable[str]:
    names = [agent.name for agent in flow.agents]
    if not names:
        yield "it has no agents; give it at least one."
        return
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two agents are called {name!r}; every agent needs a name of its own."
    if flow.start not in names:
        yield f"its start {flow.start!r} is no agent of it; there are: {choices(names)}."
    if flow.finish_floor_tokens >= flow.pool_tokens:
        yield (
            f"the finish floor of {flow.finish_floor_tokens} tokens leaves nothing of a pool of "
            f"{flow.pool_tokens}; make the pool larger."
        )
    for agent in flow.agents:
        yield from _agent_mistakes(flow, agent)


def _agent_mistakes(flow: Flow, agent: Agent) -> Iterable[str]:
    tool_names = [tool.name for tool in agent.tools] + [edge.tool_name for edge in agent.edges]
    for name in sorted({name for name in tool_names if tool_names.count(name) > 1}):
        yield f"agent {agent.name!r} has two tools called {name!r}; rename one."
    known = {TEXT, *flow.schemas}
    if agent.output_schema not in known:
        yield (
            f"agent {agent.name!r} answers with {agent.output_schema!r}, which is no registered "
            f"schema; there are: {choices(known)}."
        )
    for tool in agent.tools:
        yield from tool_mistakes(tool, agent.name, may_write=agent.may_write)
    for edge in agent.edges:
        yield from _edge_mistakes(flow, agent, edge, known)


def _edge_mistakes(flow: Flow, agent: Agent, edge: Edge, known: set[str]) -> Iterable[str]:
    target = next((other for other in flow.agents if other.name == edge.target), None)
    if target is None:
        names = [other.name for other in flow.agents]
        yield (
            f"agent {agent.name!r} hands off to {edge.target!r}, which is no agent of it; there "
            f"are: {choices(names)}."
        )
        return
    if target is agent:
        yield f"agent {agent.name!r} hands off to itself; remove that edge."
    owned = [tool.name for tool in target.tools]
    for name in edge.allowed_tools or ():
        if name not in owned:
            yield (
                f"the edge {agent.name!r} → {edge.target!r} allows the tool {name!r}, which "
                f"{edge.target!r} does not own; it owns: {choices(owned, 'none')}."
            )
    if edge.output_schema and edge.output_schema not in known:
        yield (
            f"the edge {agent.name!r} → {edge.target!r} asks for {edge.output_schema!r}, which is "
            f"no registered schema; there are: {choices(known)}."
        )
