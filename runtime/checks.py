"""What makes a flow contradict itself."""

from collections.abc import Collection, Iterable, Sequence

from handoff_console.runtime.agents import HUMAN, TEXT, Agent, Edge
from handoff_console.runtime.errors import choices
from handoff_console.runtime.tool import tool_mistakes


def mistakes(
    agents: Sequence[Agent],
    start: str,
    schemas: Collection[str],
    profiles: Collection[str],
) -> Iterable[str]:
    """Yield what contradicts itself among the agents of a flow, a sentence each."""
    names = [agent.name for agent in agents]
    if not names:
        yield "it has no agents; give it at least one."
        return
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two agents are called {name!r}; every agent needs a name of its own."
    if start not in names:
        yield f"its start {start!r} is no agent of it; there are: {choices(names)}."
    if HUMAN in names:
        yield f"an agent is called {HUMAN!r}, which stands for a person; rename it."
    known = {TEXT, *schemas}
    for agent in agents:
        yield from _agent_mistakes(agent, known)
        for edge in agent.edges:
            yield from _edge_mistakes(agents, agent, edge, known)
            if isinstance(edge.limits, str) and edge.limits not in profiles:
                yield (
                    f"the edge {agent.name!r} → {edge.target!r} wants the limits {edge.limits!r}, "
                    f"which is no profile of it; there are: {choices(profiles, 'none')}."
                )


def _agent_mistakes(agent: Agent, known: set[str]) -> Iterable[str]:
    tool_names = [tool.name for tool in agent.tools] + [edge.tool_name for edge in agent.edges]
    for name in sorted({name for name in tool_names if tool_names.count(name) > 1}):
        yield f"agent {agent.name!r} has two tools called {name!r}; rename one."
    if agent.output_schema not in known:
        yield (
            f"agent {agent.name!r} answers with {agent.output_schema!r}, which is no registered "
            f"schema; there are: {choices(known)}."
        )
    for tool in agent.tools:
        yield from tool_mistakes(tool, agent.name, may_write=agent.may_write)


def _edge_mistakes(
    agents: Sequence[Agent], agent: Agent, edge: Edge, known: set[str]
) -> Iterable[str]:
    if edge.target == HUMAN:
        return
    target = next((other for other in agents if other.name == edge.target), None)
    if target is None:
        names = [other.name for other in agents]
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
