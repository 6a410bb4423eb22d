"""A flow as a session was recorded with it: its words, its edges, its limits.

What a record holds as data counts; code comes from the flow that the user names: tools, schemas,
payloads, checks. What is gone from that flow stays gone (an edge, an agent, a tool, a schema), and
what is new since is not offered. Limits, and which tools an edge lets through, are the recorded
ones, wider or narrower than the flow's by now.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.contract import HUMAN, TEXT, ContextPolicy, HandoffKind, Limits
from handoff_console.runtime.events import AgentActivated, Recording, SessionStarted
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.recorded_rules import recorded_redaction, tells_rules

_NUMBERS = ("max_workers_per_session", "max_result_bytes", "alert_tokens")
"""Of the flow; those of a request are recorded with each message."""


def as_recorded(flow: Flow, recording: Recording) -> Flow:
    """Return the flow with all that a session's record says of it.

    Prompts, limits and edges are those that were recorded. By which words agents are chosen
    (descriptions, examples, thresholds) stays as the flow has it now, so that whoever mends them
    tries them by running a handoff again; of a session that ran with a prompt version they come
    from the record too, since the flow as it is loaded knows nothing of that version.

    What stands in the flow as it was recorded is left alone, so that nothing is replaced by what
    redaction left of it.
    """
    started = recording.events[0].payload if recording.events else None
    if not isinstance(started, SessionStarted):
        return flow
    recorded = recording.body(started.flow_digest)
    were = {one["name"]: one for one in recorded.get("agents", ())}
    prompts = {name: one["prompt"] for name, one in were.items() if "prompt" in one}
    for event in recording.events:
        if isinstance(event.payload, AgentActivated):
            prompts[event.payload.agent] = str(recording.body(event.payload.prompt))
    rules = [flow.redaction, *([recorded_redaction(recorded)] if tells_rules(recorded) else [])]
    for name, agent in flow.agents_by_name.items():
        if prompts.get(name) in [one.clean(agent.prompt) for one in rules]:
            del prompts[name]
    now = snapshot_of(flow)
    is_versioned = bool(started.prompt_version)
    agents = [
        _as_it_was(flow, agent, here, were.get(agent.name), prompts, versioned=is_versioned)
        for agent, here in zip(flow.agents, now["agents"], strict=True)
    ]
    changes = {"prompt_version": started.prompt_version} if is_versioned else {}
    return flow.changed(agents=agents, **changes, **_of_flow(flow, recorded, now))


def snapshot_of(flow: Flow) -> dict[str, Any]:
    """Return a flow as it would be recorded."""
    found: dict[str, Any] = json.loads(flow.snapshot)
    return found


def pairs(
    now: Sequence[Mapping[str, Any]], were: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[int, int]]:
    """Yield which edge is which recorded one: by target and kind, or the only one to its target.

    Args:
        now: The edges of an agent, as they would be recorded.
        were: As they were.
    """
    left = dict(enumerate(were))
    for keys in (("target", "via"), ("target",)):
        known = {at: [one[key] for key in keys] for at, one in left.items()}
        for number, edge in enumerate(now):
            wanted = [edge[key] for key in keys]
            same = [at for at, place in known.items() if place == wanted and at in left]
            if len(same) == 1 and _is_alone(now, were, edge, keys):
                del left[same[0]]
                yield number, same[0]


def _is_alone(
    now: Sequence[Mapping[str, Any]],
    were: Sequence[Mapping[str, Any]],
    edge: Mapping[str, Any],
    keys: Sequence[str],
) -> bool:
    """Say whether an edge can be told by its keys; two kinds to one target cannot by that alone."""
    return len(keys) > 1 or all(
        sum(one["target"] == edge["target"] for one in edges) == 1 for edges in (now, were)
    )


def _of_flow(flow: Flow, recorded: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    changes = {
        name: recorded[name]
        for name in _NUMBERS
        if name in recorded and recorded[name] != now[name]
    }
    agents = flow.agents_by_name
    if recorded.get("start", flow.start) in agents:
        changes["start"] = recorded.get("start", flow.start)
    if recorded.get("aggregator", flow.aggregator) in {"", *agents}:
        changes["aggregator"] = recorded.get("aggregator", flow.aggregator)
    if recorded.get("limits", now["limits"]) != now["limits"]:
        changes["limits"] = Limits(**recorded["limits"])
    return changes


def _as_it_was(
    flow: Flow,
    agent: Agent,
    now: Mapping[str, Any],
    was: Mapping[str, Any] | None,
    prompts: Mapping[str, str],
    *,
    versioned: bool,
) -> Agent:
    if agent.name in prompts:
        agent = replace(agent, prompt=prompts[agent.name])
    if was is None:
        return agent
    schema = was.get("output_schema", agent.output_schema)
    found = sorted(pairs(now["edges"], was.get("edges", ())), key=lambda pair: pair[1])
    agent = replace(
        agent,
        output_schema=schema if schema in {TEXT, *flow.schemas} else agent.output_schema,
        edges=[
            _edge_as_it_was(flow, agent.edges[at], now["edges"][at], was["edges"][before])
            for at, before in found
        ],
    )
    return (
        _as_told(agent, was, [was["edges"][before] for _, before in found]) if versioned else agent
    )


def _as_told(agent: Agent, was: Mapping[str, Any], edges: Sequence[Mapping[str, Any]]) -> Agent:
    """Return an agent with the words of a prompt version."""
    return replace(
        agent,
        description=was["description"],
        examples=tuple(was["examples"]),
        threshold=was["threshold"],
        edges=[
            replace(edge, description=said["description"])
            for edge, said in zip(agent.edges, edges, strict=True)
        ],
    )


def _edge_as_it_was(flow: Flow, edge: Edge, now: Mapping[str, Any], was: Mapping[str, Any]) -> Edge:
    """Return an edge with what was recorded of it, as far as there is still what it names."""
    changes: dict[str, Any] = {}
    for name, read in _EDGE.items():
        if name in was and was[name] != now[name]:
            changes[name] = read(was[name])
    known = {TEXT, "", *flow.schemas}
    if changes.get("output_schema", "") not in known:
        del changes["output_schema"]
    if changes.get("return_to", "") not in {"", *flow.agents_by_name}:
        del changes["return_to"]
    if changes.get("allowed_tools") is not None and edge.target != HUMAN:
        owned = flow.agents_by_name[edge.target].tools_by_name
        changes["allowed_tools"] = tuple(t for t in changes["allowed_tools"] if t in owned)
    return replace(edge, **changes) if changes else edge


def _names(value: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


_EDGE: Mapping[str, Any] = {
    "via": HandoffKind,
    "context": ContextPolicy,
    "limits": lambda value: Limits(**value),
    "allowed_tools": _names,
    "fields": _names,
    "output_schema": str,
    "return_to": str,
}
"""What is recorded of an edge besides its words, and how it is read."""
