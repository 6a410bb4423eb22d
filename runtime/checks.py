"""What makes a flow contradict itself."""

from collections.abc import Collection, Iterable, Sequence
from typing import cast

from pydantic import BaseModel
from pydantic.errors import PydanticUserError

from handoff_console.runtime.agents import (
    Agent,
    Edge,
    arguments_of_model,
    is_function,
    mistake_of_function,
)
from handoff_console.runtime.canonical import json_schema
from handoff_console.runtime.contract import HUMAN, TEXT, Limits
from handoff_console.runtime.errors import choices
from handoff_console.runtime.tool import Tool, tool_mistakes


def strangers(agents: object) -> Iterable[str]:
    """Yield what stands where agents, tools and edges should, and is none: look at it first."""
    if isinstance(agents, Agent):
        yield f"its agents are no list; say [{agents.name}]."
        return
    for agent in cast("Iterable[object]", agents):
        if not isinstance(agent, Agent):
            yield f"its agents hold {agent!r}, no Agent; say Agent(NAME)."
            continue
        tools: object = agent.tools
        edges: object = agent.edges
        if isinstance(tools, Tool):
            yield f"the tools of {agent.name!r} are no list; say [Tool({tools.name})]."
        else:
            yield from _strange_tools(agent.name, cast("Iterable[object]", tools))
        if isinstance(edges, Edge):
            to = edges.target
            yield f"the edges of {agent.name!r} are no list; put [ ] around the one to {to!r}."
        else:
            yield from _strange_edges(agent.name, cast("Iterable[object]", edges))


def _strange_tools(agent: str, tools: Iterable[object]) -> Iterable[str]:
    for one in tools:
        if not isinstance(one, Tool):
            name = getattr(one, "__name__", repr(one))
            yield f"the tools of {agent!r} hold {name}, no Tool; say Tool({name})."


def _strange_edges(agent: str, edges: Iterable[object]) -> Iterable[str]:
    for one in edges:
        if not isinstance(one, Edge):
            yield (
                f"the edges of {agent!r} hold {one!r}, no Edge; say Edge.call(NAME) or "
                "Edge.transfer(NAME) with the name of an agent."
            )


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
            yield from _limit_mistakes(f"{agent.name!r} → {edge.target!r}", edge.limits, profiles)


def _limit_mistakes(edge: str, limits: object, profiles: Collection[str]) -> Iterable[str]:
    if not isinstance(limits, str | Limits):
        yield (
            f"the limits of the edge {edge} are {limits!r}; say Limits(…) or the name of a profile."
        )
    elif isinstance(limits, str) and limits not in profiles:
        yield (
            f"the edge {edge} wants the limits {limits!r}, which is no profile of it; there are: "
            f"{choices(profiles, 'none')}."
        )


COUNTS = (
    "pool_tokens", "finish_floor_tokens", "depth", "max_handoffs", "max_edge_repeats",
    "max_workers", "max_workers_per_session", "max_result_bytes",
)  # fmt: skip
"""The numbers of a flow: how many of something, and 0 is possible."""
_SOME_OR_NONE = ("max_cost", "alert_tokens")


def number_mistakes(flow: object) -> Iterable[str]:
    """Yield which numbers of a flow are none that can be counted with, and recorded."""
    for name in COUNTS:
        number = getattr(flow, name)
        if type(number) is not int or not 0 <= number < _TOO_MANY:
            yield f"its {name} is {number!r}; say a whole number, 0 or more."
    for name in _SOME_OR_NONE:
        number = getattr(flow, name)
        kinds = (int, float) if name == "max_cost" else (int,)
        if number is not None and not (type(number) in kinds and 0 <= number < _TOO_MANY):
            what = "number" if name == "max_cost" else "whole number"
            yield f"its {name} is {number!r}; say a {what}, 0 or more, or None."


_TOO_MANY = 2**53


def schema_mistakes(schema: object, of: str) -> Iterable[str]:
    """Yield why something cannot be the shape of an answer or of what goes along."""
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        yield f"{of} is {schema!r}, no pydantic model; say `class NAME(BaseModel)` and its fields."
        return
    try:
        json_schema(schema)
    except (PydanticUserError, NameError) as error:
        first = str(error).partition("\n")[0]
        yield f"{of}, {schema.__name__}, has no form that a model can be told: {first}."


def _agent_mistakes(agent: Agent, known: set[str]) -> Iterable[str]:
    tool_names = [tool.name for tool in agent.tools] + [edge.tool_name for edge in agent.edges]
    for name in sorted({name for name in tool_names if tool_names.count(name) > 1}):
        yield f"agent {agent.name!r} has two tools called {name!r}; rename one."
    if agent.output_schema not in known:
        yield (
            f"agent {agent.name!r} answers with {agent.output_schema!r}, which is no registered "
            f"schema; there are: {choices(known)}."
        )
    if is_function(agent.model) and arguments_of_model(agent.model) is None:
        yield mistake_of_function(agent.model, agent.name)
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
    if edge.payload is not None:
        of = f"the payload of the edge {agent.name!r} → {edge.target!r}"
        yield from schema_mistakes(edge.payload, of)
    if edge.return_to and edge.return_to not in [other.name for other in agents]:
        yield (
            f"the edge {agent.name!r} → {edge.target!r} returns to {edge.return_to!r}, which is no "
            f"agent of it; there are: {choices([other.name for other in agents])}."
        )
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
