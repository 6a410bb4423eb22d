"""The agents of a session and what went between them: what was allowed, used, refused, repeated."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handoff_console.console.viewmodels.text import amount, as_name, count
from handoff_console.runtime.contract import USER, WORST_FIRST, HandoffKind, State
from handoff_console.runtime.events import Event, SessionStarted
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.nodes import HandoffNode, HandoffTree
from handoff_console.store.analysis.tree import handoff_tree

AGENTS_SHOWN = 30
OTHER = "other"


@dataclass(frozen=True, slots=True)
class AgentNode:
    """An agent in the graph."""

    key: str
    """Its own id in the drawing: safe, and stable for the same session."""
    name: str
    handoffs: int
    """How many it took; 0 for one that only might have."""
    tokens: int
    worst: str
    """The worst outcome among them, as a `Status` or `State`; empty without any."""
    handoff_id: str | None
    """The handoff to select when it is clicked: its worst, or its last."""
    is_start: bool
    tooltip: str


@dataclass(frozen=True, slots=True)
class AgentEdge:
    """What went, or might have gone, from one agent to another."""

    source: str
    """A node's key; so is the target."""
    target: str
    look: str
    """`allowed` (never used), `used`, `refused` (never let through) or `repeated` (a loop)."""
    via: str
    """`call`, `transfer`, or `both`."""
    uses: int
    refusals: int
    label: str
    """`2`, `3 refused`; empty for an edge nobody used."""


@dataclass(frozen=True, slots=True)
class AgentGraph:
    """The graph, at most thirty agents; the rest is folded into `other`."""

    nodes: tuple[AgentNode, ...]
    edges: tuple[AgentEdge, ...]
    folded: int
    """Agents behind `other`."""
    summary: str
    """What the graph shows, for those who cannot see it."""


@dataclass(slots=True)
class _Traffic:
    vias: set[HandoffKind] = field(default_factory=set)
    uses: int = 0
    refusals: int = 0
    by_turn: Counter[int] = field(default_factory=Counter)
    looped: bool = False


def agent_graph(
    tree: HandoffTree, events: Iterable[Event], *, body: Body | None = None
) -> AgentGraph:
    """Return the graph of a session's agents.

    Args:
        tree: The session's handoffs, as they were at the moment to show.
        events: The session's; only `session_started` is read of them.
        body: Gives the flow that was recorded; without it there are only the agents that acted.
    """
    return _graph(tree, _flow(events, body))


def flow_graph(flow: Mapping[str, Any]) -> AgentGraph:
    """Return the graph of a flow that nobody has run: who may hand off to whom.

    Args:
        flow: As sessions record it (`Flow.snapshot`).
    """
    graph = _graph(handoff_tree(()), flow)
    names = {node.key: node.name for node in graph.nodes}
    ways = [
        f"{names[edge.source]} {'calls' if edge.via == 'call' else 'hands off to'} "
        f"{names[edge.target]}"
        for edge in graph.edges
    ]
    nodes = tuple(replace(node, tooltip=node.name, handoff_id=None) for node in graph.nodes)
    return replace(graph, nodes=nodes, summary="; ".join(ways) or "No handoffs are allowed")


def _graph(tree: HandoffTree, flow: Mapping[str, Any]) -> AgentGraph:
    agents = _agents_of(flow)
    traffic: dict[tuple[str, str], _Traffic] = defaultdict(_Traffic)
    for source, target, via in _edges_of(flow):
        traffic[source, target].vias.add(via)
    for node in tree.nodes:
        if node.source != USER:
            _count(traffic[node.source, node.agent], node)
    acted = _by_agent(tree.nodes)
    mentioned = [*agents, *acted, *(name for edge in traffic for name in edge)]
    names = list(dict.fromkeys(mentioned))
    shown = _most_active(names, acted, traffic)
    keys = {name: f"a{place}" for place, name in enumerate(shown)}
    start = str(flow.get("start", "")) or (tree.nodes[0].agent if tree.nodes else "")
    nodes = [_node(name, keys[name], acted.get(name, []), start) for name in shown]
    folded = len(names) - len(shown)
    if folded:
        nodes.append(_other(folded, [n for name in names if name not in keys for n in acted[name]]))
    edges = _edges(traffic, keys)
    return AgentGraph(tuple(nodes), edges, folded, _summary(nodes, edges))


def _flow(events: Iterable[Event], body: Body | None) -> Mapping[str, Any]:
    for event in events:
        if isinstance(event.payload, SessionStarted):
            return read_fields(body, event.payload.flow_digest)
    return {}


def _agents_of(flow: Mapping[str, Any]) -> list[str]:
    return [str(agent["name"]) for agent in _items(flow, "agents") if "name" in agent]


def _edges_of(flow: Mapping[str, Any]) -> Iterable[tuple[str, str, HandoffKind]]:
    for agent in _items(flow, "agents"):
        for edge in _items(agent, "edges"):
            is_transfer = edge.get("via") == HandoffKind.TRANSFER
            via = HandoffKind.TRANSFER if is_transfer else HandoffKind.CALL
            if "name" in agent and "target" in edge:
                yield str(agent["name"]), str(edge["target"]), via


def _items(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = fields.get(name)
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _count(traffic: _Traffic, node: HandoffNode) -> None:
    traffic.vias.add(node.via)
    if node.outcome is State.REFUSED:
        traffic.refusals += 1
        traffic.looped = traffic.looped or node.rule == "cycle"
    else:
        traffic.uses += 1
        if node.via is HandoffKind.TRANSFER and node.attempt == 1:
            traffic.by_turn[node.turn] += 1


def _by_agent(nodes: Iterable[HandoffNode]) -> dict[str, list[HandoffNode]]:
    acted: dict[str, list[HandoffNode]] = defaultdict(list)
    for node in nodes:
        acted[node.agent].append(node)
    return acted


def _most_active(
    names: Sequence[str],
    acted: Mapping[str, Sequence[HandoffNode]],
    traffic: Mapping[tuple[str, str], _Traffic],
) -> list[str]:
    """Return the agents to show, in the order given; of too many, those who did most."""
    if len(names) <= AGENTS_SHOWN:
        return list(names)
    weight = Counter({name: len(acted.get(name, ())) for name in names})
    for (source, target), went in traffic.items():
        weight[source] += went.uses + went.refusals
        weight[target] += went.refusals
    kept = {name for name, _ in weight.most_common(AGENTS_SHOWN - 1)}
    return [name for name in names if name in kept]


def _worst(nodes: Sequence[HandoffNode]) -> HandoffNode | None:
    return min(
        nodes, key=lambda node: (WORST_FIRST.index(node.outcome), -node.first_seq), default=None
    )


def _node(name: str, key: str, handoffs: Sequence[HandoffNode], start: str) -> AgentNode:
    worst = _worst(handoffs)
    made = [node for node in handoffs if node.outcome is not State.REFUSED]
    tokens = sum(node.tokens_used for node in made)
    did = f"{count(len(made), 'handoff')}, {count(tokens, 'token')}" if made else "did not act"
    return AgentNode(
        key=key,
        name=as_name(name),
        handoffs=len(made),
        tokens=tokens,
        worst=worst.outcome.value if worst else "",
        handoff_id=worst.handoff_id if worst else None,
        is_start=name == start,
        tooltip=f"{as_name(name)}: {did}",
    )


def _other(folded: int, handoffs: Sequence[HandoffNode]) -> AgentNode:
    node = _node(OTHER, OTHER, handoffs, "")
    name = f"{count(folded, 'other agent')}"
    return AgentNode(
        OTHER, name, node.handoffs, node.tokens, node.worst, node.handoff_id, False, node.tooltip
    )


def _edges(
    traffic: Mapping[tuple[str, str], _Traffic], keys: Mapping[str, str]
) -> tuple[AgentEdge, ...]:
    merged: dict[tuple[str, str], _Traffic] = {}
    for (source, target), went in traffic.items():
        ends = keys.get(source, OTHER), keys.get(target, OTHER)
        if ends == (OTHER, OTHER):
            continue
        into = merged.setdefault(ends, _Traffic())
        into.vias |= went.vias
        into.uses += went.uses
        into.refusals += went.refusals
        into.looped = into.looped or went.looped or max(went.by_turn.values(), default=0) > 1
    return tuple(_edge(*ends, went) for ends, went in merged.items())


def _edge(source: str, target: str, went: _Traffic) -> AgentEdge:
    look = "allowed"
    if went.looped:
        look = "repeated"
    elif went.uses:
        look = "used"
    elif went.refusals:
        look = "refused"
    parts = [amount(went.uses)] if went.uses else []
    if went.refusals:
        parts.append(f"{amount(went.refusals)} refused")
    via = "both" if len(went.vias) > 1 else next(iter(went.vias)).value
    return AgentEdge(source, target, look, via, went.uses, went.refusals, ", ".join(parts))


def _summary(nodes: Sequence[AgentNode], edges: Sequence[AgentEdge]) -> str:
    names = {node.key: node.name for node in nodes}
    said = [
        f"{names[edge.source]} to {names[edge.target]} {edge.label} ({edge.look})"
        for edge in edges
        if edge.label
    ]
    acted = sum(node.handoffs > 0 for node in nodes)
    return f"{count(acted, 'agent')} acted. " + ("; ".join(said) or "No handoff between agents")
