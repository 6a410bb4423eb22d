"""A flow as a session was recorded with it, and what has changed in it since."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.contract import ContextPolicy
from handoff_console.runtime.events import AgentActivated, Recording, SessionStarted
from handoff_console.runtime.flow import Flow


def with_recorded_prompts(flow: Flow, recording: Recording) -> Flow:
    """Return the flow with the prompts its agents had when the session was recorded.

    Of a session that ran with a prompt version, all that the version said of its agents comes from
    the record: descriptions, examples, thresholds, and whom they may hand off to. The flow as it is
    loaded knows nothing of it.
    """
    prompts: dict[str, str] = {}
    for event in recording.events:
        if isinstance(event.payload, AgentActivated):
            prompts[event.payload.agent] = str(recording.body(event.payload.prompt))
    agents = [replace(agent, prompt=prompts.get(agent.name, agent.prompt)) for agent in flow.agents]
    started = recording.events[0].payload if recording.events else None
    if not isinstance(started, SessionStarted) or not started.prompt_version:
        return flow.changed(agents=agents)
    whole = recording.body(started.flow_digest)
    recorded = {one["name"]: one for one in whole.get("agents", ())}
    return flow.changed(
        agents=[_as_told(agent, recorded.get(agent.name)) for agent in agents],
        prompt_version=started.prompt_version,
    )


def _as_told(agent: Agent, was: Mapping[str, Any] | None) -> Agent:
    if was is None:
        return agent
    edges = {(edge["target"], edge["via"]): edge for edge in was["edges"]}
    return replace(
        agent,
        description=was["description"],
        examples=tuple(was["examples"]),
        threshold=was["threshold"],
        edges=[
            replace(edge, description=said["description"], context=ContextPolicy(said["context"]))
            for edge in agent.edges
            if (said := edges.get((edge.target, edge.via.value)))
        ],
    )


def flow_changes(flow: Flow, snapshot: Mapping[str, Any]) -> list[str]:
    """Return what differs between a flow and the one a session was recorded with.

    Tools are compared by source, schema and effect; a changed one is announced before anything
    runs live.
    """
    recorded = {agent["name"]: agent for agent in snapshot.get("agents", ())}
    changes = []
    for agent in flow.agents:
        was = recorded.get(agent.name)
        if was is None:
            changes.append(f"agent {agent.name!r} is new")
            continue
        before = {tool["name"]: tool for tool in was.get("tools", ())}
        now = {tool.name: tool.spec for tool in agent.tools}
        changes += [
            f"the tool {name!r} of {agent.name!r} {_change(before.get(name), now.get(name))}"
            for name in sorted(before.keys() | now.keys())
            if before.get(name) != now.get(name)
        ]
        if was.get("prompt") != agent.prompt:
            changes.append(f"the prompt of {agent.name!r} is another one")
    gone = recorded.keys() - flow.agents_by_name.keys()
    return changes + [f"agent {name!r} is gone" for name in sorted(gone)]


def _change(before: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> str:
    if before is None:
        return "is new"
    if now is None:
        return "is gone"
    parts = [part for part in ("source", "parameters", "effect") if before[part] != now[part]]
    return f"has another {' and '.join(parts) or 'description'}"
