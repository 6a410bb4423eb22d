"""What a flow allows but probably does not mean, a sentence each.

Only what can be seen without running it, and only where a false alarm is unlikely.
Source: S0 "Common mistakes to avoid", S2 "The Limits of the Monolithic Agent", S3 and S4 on when
one agent is enough.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.contract import HUMAN, HandoffKind, Limits
from handoff_console.runtime.errors import choices
from handoff_console.runtime.redaction import RECORD_WORDS, Redaction

MANY_TOOLS = 10
"""An agent with more tools is probably two agents."""
LONG_PROMPT_CHARACTERS = 4_000
"""About a thousand tokens, read again in every step."""


class Oddity(NamedTuple):
    """Something that is allowed but probably not meant, and where."""

    sentence: str
    agent: str = ""
    """Empty where it is about the flow as a whole."""
    target: str = ""
    """Of the agent's edge that it is about; empty for no edge."""
    tool: str = ""
    """Of the agent that it is about; empty for no tool."""


class FlowShape(Protocol):
    """What of a flow is looked at."""

    @property
    def agents(self) -> Sequence[Agent]:
        """Its agents."""
        ...

    @property
    def start(self) -> str:
        """Who gets the user's message."""
        ...

    @property
    def aggregator(self) -> str:
        """Who merges the answers of a fork; empty for nobody."""
        ...

    @property
    def pool_tokens(self) -> int:
        """What all handoffs of a request share."""
        ...

    @property
    def finish_floor_tokens(self) -> int:
        """What calls may not reserve."""
        ...

    @property
    def depth(self) -> int:
        """How deep calls may nest."""
        ...

    @property
    def redaction(self) -> Redaction:
        """What is left out of the record."""
        ...

    def limits_of(self, edge: Edge) -> Limits:
        """Return an edge's limits."""
        ...

    def edge_description(self, edge: Edge) -> str:
        """Return when to use an edge."""
        ...


def oddities(flow: FlowShape) -> Iterator[Oddity]:
    """Yield what is probably not meant: agent by agent, then of the flow as a whole."""
    depths, entries = _depths(flow), _entries(flow)
    for agent in flow.agents:
        yield from _of_agent(agent)
        for sentence in _passes_on(flow, agent, entries[agent.name]):
            yield Oddity(sentence, agent.name)
        if agent.name not in depths and agent.name != flow.aggregator:
            yield Oddity(
                f"Agent {agent.name!r} is never reached: no edge leads to it from {flow.start!r}.",
                agent.name,
            )
        for edge in agent.edges:
            found = [
                *_of_edge(flow, agent, edge),
                *_never_reserved(flow, agent, edge, entries[agent.name]),
                *_too_deep(flow, agent, edge, depths.get(agent.name, 0)),
            ]
            yield from (Oddity(sentence, agent.name, edge.target) for sentence in found)
    yield from map(Oddity, _of_redaction(flow.redaction))
    if _one_would_do(flow):
        yield Oddity(
            "All agents have the same model, tools, rights and form of answer, and only hand over "
            "to each other: one agent would do."
        )


def _of_redaction(redaction: Redaction) -> Iterator[str]:
    taken = sorted(filter(redaction.is_sensitive, RECORD_WORDS))
    if taken:
        yield (
            f"Its redaction removes what is called {choices(taken)}, as parts of the record itself "
            "are called: a session can neither be read whole nor run again. Say a longer key, such "
            f"as 'customer_{taken[0]}'."
        )


def _of_agent(agent: Agent) -> Iterator[Oddity]:
    name = agent.name
    if len(agent.tools) > MANY_TOOLS:
        yield Oddity(
            f"Agent {name!r} has {len(agent.tools)} tools; with more than {MANY_TOOLS} it "
            "is probably two agents.",
            name,
        )
    if len(agent.prompt) > LONG_PROMPT_CHARACTERS:
        yield Oddity(
            f"The prompt of agent {name!r} has {len(agent.prompt):,} characters; with more "
            f"than {LONG_PROMPT_CHARACTERS:,} it probably says several things at once.",
            name,
        )
    for tool in agent.tools:
        if not tool.description:
            yield Oddity(
                f"The tool {tool.name!r} of agent {name!r} has no description, so nothing "
                "says what it does.",
                name,
                tool=tool.name,
            )
        if tool.untyped:
            yield Oddity(
                f"The tool {tool.name!r} of agent {name!r} takes {', '.join(tool.untyped)} without "
                "a type, so whatever a model sends gets in; annotate the function.",
                name,
                tool=tool.name,
            )


def _of_edge(flow: FlowShape, agent: Agent, edge: Edge) -> Iterator[str]:
    if not flow.edge_description(edge):
        yield f"{_named(agent, edge)} has no description, so nothing says when to use it."
    target = _agent(flow, edge.target)
    if target and agent.trust < target.trust and not target.ingress:
        yield (
            f"{_named(agent, edge)} is always refused: {agent.name!r} (trust {agent.trust}) is "
            f"trusted less than {target.name!r} (trust {target.trust}), which checks nothing that "
            "comes in. Give it `ingress` checks."
        )


def _too_deep(flow: FlowShape, agent: Agent, edge: Edge, nested: int) -> Iterator[str]:
    if edge.via is HandoffKind.CALL and nested >= flow.depth:
        yield (
            f"{_named(agent, edge)} is always refused: calls may nest {flow.depth} deep, "
            f"and {agent.name!r} stands {nested} deep. Raise `depth` of the flow, or "
            "remove it."
        )


def _passes_on(flow: FlowShape, agent: Agent, entries: Sequence[Edge]) -> Iterator[str]:
    """An agent in the middle that can do nothing itself and has one way on.

    Not the first one, which may answer what needs nobody else; nor one of two desks that hand over
    to each other.
    """
    if agent.name == flow.start or agent.tools or len(agent.edges) != 1 or not entries:
        return
    (edge,) = agent.edges
    target = _agent(flow, edge.target)
    if target is None or edge.via is not HandoffKind.TRANSFER:
        return
    if any(back.target == agent.name for back in target.edges):
        return
    yield (
        f"Agent {agent.name!r} has no tools and one way on, so it can only pass things on to "
        f"{edge.target!r}; hand off to {edge.target!r} directly."
    )


def _never_reserved(
    flow: FlowShape, agent: Agent, edge: Edge, entries: Sequence[Edge]
) -> Iterator[str]:
    """An edge that wants more tokens than its caller, or the pool, can ever have left.

    Equal is too much as well: who asks has spent something by then.
    """
    wanted, is_call = flow.limits_of(edge).max_tokens, edge.via is HandoffKind.CALL
    most = flow.pool_tokens - (flow.finish_floor_tokens if is_call else 0)
    whose = "the pool has" if not is_call else "the pool has, without the finish floor,"
    if is_call and entries and agent.name != flow.start:
        granted = max(flow.limits_of(entry).max_tokens for entry in entries)
        if granted <= most:
            most, whose = granted, f"{agent.name!r} itself is granted at most"
    if wanted >= most:
        yield (
            f"{_named(agent, edge)} wants {wanted:,} tokens, which can never be reserved: {whose} "
            f"{most:,}, and some are spent on asking."
        )


def _one_would_do(flow: FlowShape) -> bool:
    first, *others = flow.agents
    edges = [edge for agent in flow.agents for edge in agent.edges]
    if not others or flow.aggregator or any(edge.via is HandoffKind.CALL for edge in edges):
        return False
    if any(edge.fields is not None or edge.target == HUMAN for edge in edges):
        return False
    if sum(len(agent.prompt) for agent in flow.agents) > LONG_PROMPT_CHARACTERS:
        return False
    return all(_kind_of(agent) == _kind_of(first) for agent in others)


def _kind_of(agent: Agent) -> tuple[object, ...]:
    """What makes it worth having an agent of its own."""
    model = agent.model if isinstance(agent.model, str | None) else id(agent.model)
    tools = frozenset(tool.name for tool in agent.tools)
    checks = tuple(map(id, agent.ingress))
    return (model, tools, agent.output_schema, agent.may_write, agent.trust, checks)


def _depths(flow: FlowShape) -> dict[str, int]:
    """Return how many calls deep each agent stands at least; without those nothing leads to."""
    depths = {flow.start: 0}
    waiting = [flow.start, *([flow.aggregator] if flow.aggregator else [])]
    depths.setdefault(waiting[-1], 0)
    while waiting:
        name = waiting.pop(0)
        agent = _agent(flow, name)
        for edge in agent.edges if agent else ():
            depth = depths[name] + (edge.via is HandoffKind.CALL)
            if edge.target != HUMAN and depth < depths.get(edge.target, len(flow.agents) + 1):
                depths[edge.target] = depth
                waiting.append(edge.target)
    return depths


def _entries(flow: FlowShape) -> dict[str, list[Edge]]:
    entries: dict[str, list[Edge]] = defaultdict(list)
    for agent in flow.agents:
        for edge in agent.edges:
            entries[edge.target].append(edge)
    return entries


def _agent(flow: FlowShape, name: str) -> Agent | None:
    return next((agent for agent in flow.agents if agent.name == name), None)


def _named(agent: Agent, edge: Edge) -> str:
    return f"The edge {agent.name!r} → {edge.target!r}"
