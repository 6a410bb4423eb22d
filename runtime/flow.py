"""Who may hand off to whom: agents, their tools, the edges between them, and the limits."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.arguments import names_its_arguments
from handoff_console.runtime.canonical import canonical, canonical_text, digest, json_schema
from handoff_console.runtime.checks import mistakes, number_mistakes, schema_mistakes, strangers
from handoff_console.runtime.contract import HUMAN, Limits
from handoff_console.runtime.counting import count
from handoff_console.runtime.errors import FlowError, choices
from handoff_console.runtime.lint import Oddity, oddities
from handoff_console.runtime.recorded_rules import check_rules, redaction_rules
from handoff_console.runtime.redaction import Redaction

_T = TypeVar("_T")

PERSON = Agent(HUMAN, description="A person.")


@dataclass(frozen=True)
class Price:
    """What a model costs, in one currency for the whole flow."""

    input_per_million: float
    output_per_million: float


class Fixed:
    """A part of a flow as it is recorded, the same in every session."""

    __slots__ = ("_digests", "body", "size_bytes", "value")

    def __init__(self, value: Any, redaction: Redaction) -> None:
        self.value = value
        self.body = canonical(redaction.clean(value))
        """Canonical JSON, redacted."""
        self.size_bytes = len(canonical(value))
        """Of the value, before redaction."""
        self._digests: dict[bytes, str] = {}

    def digest(self, key: bytes) -> str:
        """Return the digest of its body under a store's key, made once."""
        known = self._digests.get(key)
        if known is None:
            known = self._digests[key] = digest(self.body, key)
        return known


@names_its_arguments
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
    currency: str = ""
    """Of `prices`: three letters, such as `USD`."""
    redaction: Redaction = field(default_factory=Redaction)
    aggregator: str = ""
    """Who merges the answers when one message was handed to several agents; the runtime joins them
    in order where there is none."""
    profiles: Mapping[str, Limits] = field(default_factory=dict)
    """Limits by name, for edges."""
    alert_tokens: int | None = None
    """A warning is recorded when a request has spent this much."""
    examples: Sequence[str] = ()
    """Messages to try it with."""
    prompt_version: str = ""

    def __post_init__(self) -> None:
        """Refuse a flow that contradicts itself."""
        if strange := list(strangers(self.agents)):
            raise FlowError(self.name, strange)
        if not self.start and self.agents:
            object.__setattr__(self, "start", self.agents[0].name)
        found = list(mistakes(self.agents, self.start, self.schemas, self.profiles))
        found += self._contradictions()
        if found:
            raise FlowError(self.name, found)

    @cached_property
    def agents_by_name(self) -> dict[str, Agent]:
        """Its agents."""
        return {agent.name: agent for agent in self.agents}

    def agent(self, name: str) -> Agent:
        """Return an agent, or the person that every flow may turn to."""
        return PERSON if name == HUMAN else self.agents_by_name[name]

    def limits_of(self, edge: Edge) -> Limits:
        """Return an edge's limits, its profile looked up."""
        return self.profiles[edge.limits] if isinstance(edge.limits, str) else edge.limits

    def _contradictions(self) -> list[str]:
        found = [*number_mistakes(self), *self._strangers()]
        for name, schema in self.schemas.items():
            found += schema_mistakes(schema, f"its schema {name!r}")
        agents = self.agents_by_name
        if self.aggregator and self.aggregator not in agents:
            wanted = f"its aggregator {self.aggregator!r}"
            found.append(f"{wanted} is no agent of it; there are: {choices(agents)}.")
        if not found and self.finish_floor_tokens >= self.pool_tokens:
            floor = f"the finish floor of {count(self.finish_floor_tokens, 'token')}"
            pool = f"a pool of {self.pool_tokens:,}"
            found.append(f"{floor} leaves nothing of {pool}; make the pool larger.")
        return found

    def _strangers(self) -> Iterator[str]:
        for name, limits in {"": self.limits, **self.profiles}.items():
            if not isinstance(cast("object", limits), Limits):
                of = f"its profile {name!r} is" if name else "its limits are"
                yield f"{of} {limits!r}; say Limits(…)."
        for name, price in self.prices.items():
            if not isinstance(cast("object", price), Price):
                yield f"its price of {name!r} is {price!r}; say Price(…)."

    def check(self) -> list[str]:
        """Return what is allowed but probably not meant, a sentence each."""
        return [oddity.sentence for oddity in self.oddities]

    @cached_property
    def oddities(self) -> tuple[Oddity, ...]:
        """What `check` returns, each with the agent, edge or tool it is about."""
        return tuple(oddities(self))

    def edge_description(self, edge: Edge) -> str:
        """Return when to use an edge: its own words, or the target's."""
        return edge.description or self.agent(edge.target).description

    def schema_json(self, name: str) -> str:
        """Return a registered schema as one line of JSON."""
        schema = self.schemas[name]
        return self.cached(("schema", name), lambda: canonical_text(json_schema(schema)))

    def cached(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return something that is the same in every session of this flow, made once."""
        known: _T | None = self._cached.get(key)
        if known is None:
            known = self._cached[key] = make()
        return known

    @cached_property
    def _cached(self) -> dict[Hashable, Any]:
        return {}

    @property
    def snapshot(self) -> bytes:
        """The whole flow as canonical JSON, redacted: what every session that runs it records."""
        return self.whole.body

    @cached_property
    def whole(self) -> Fixed:
        """The whole flow."""
        return Fixed(
            {
                "name": self.name,
                "start": self.start,
                "description": self.description,
                "agents": [_agent_snapshot(self, agent) for agent in self.agents],
                "schemas": {name: json_schema(s) for name, s in self.schemas.items()},
                "limits": self.limits.model_dump(),
                **{name: getattr(self, name) for name in _PLAIN},
                "prices": {name: vars(price) for name, price in self.prices.items()},
                **({"currency": self.currency} if self.currency else {}),
                "redaction": redaction_rules(self.redaction),
            },
            self.redaction,
        )

    def changed(self, **changes: Any) -> "Flow":
        """Return this flow with some fields replaced."""
        return replace(self, **changes)


_PLAIN = (
    "pool_tokens", "finish_floor_tokens", "depth", "max_handoffs", "max_edge_repeats",
    "max_workers", "max_workers_per_session", "max_result_bytes", "max_cost", "prompt_version",
    "aggregator", "alert_tokens",
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
        "trust": agent.trust,
        "ingress": check_rules(agent.ingress),
        "tools": [tool.recorded for tool in agent.tools],
        "edges": [
            {
                "target": edge.target,
                "via": edge.via.value,
                "description": flow.edge_description(edge),
                "allowed_tools": edge.allowed_tools,
                "limits": flow.limits_of(edge).model_dump(),
                "output_schema": edge.output_schema,
                "payload": json_schema(edge.payload) if edge.payload else None,
                "fields": edge.fields,
                "context": edge.context.value,
                "return_to": edge.return_to,
            }
            for edge in agent.edges
        ],
    }
