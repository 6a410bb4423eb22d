"""What a flow is made of, before anybody runs it: agents, tools, edges with their policy."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.agent_graph import AgentGraph, flow_graph
from handoff_console.console.viewmodels.text import (
    amount,
    as_name,
    block,
    count,
    one_line,
)
from handoff_console.runtime import Agent, Edge, Effect, Flow, Limits, Tool
from handoff_console.runtime.contract import TEXT, ContextPolicy, HandoffKind
from handoff_console.runtime.errors import FlowError
from handoff_console.runtime.lint import Oddity
from handoff_console.runtime.models import as_model

PROMPT_CHARACTERS = 200_000
"""Of a prompt, shown at most."""

_CONTEXTS = {
    ContextPolicy.PACKET: "a packet: goal, summary and facts, nothing of the conversation",
    ContextPolicy.SLICE: "a slice: the checked values and the most recent turns",
    ContextPolicy.FULL_HISTORY: "the whole conversation",
}
_EFFECTS = {
    Effect.READ: "reads",
    Effect.WRITE: "changes something",
    Effect.EXTERNAL: "reaches outside",
}


@dataclass(frozen=True, slots=True)
class ToolShown:
    """A tool of an agent."""

    name: str
    does: str
    """What it is for, in its own words; empty where nothing says so."""
    effect: str
    """`read`, `write` or `external`."""
    marks: tuple[str, ...]
    """`changes something`, `asks a person first`, `untrusted`, …; a tool that only reads has none
    but that."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EdgeShown:
    """A handoff that is allowed, and what goes with it."""

    target: str
    way: str
    """`calls` or `hands off to`."""
    when: str
    """When to use it; empty where nothing says so."""
    policy: tuple[tuple[str, str], ...]
    """What goes along, how far the target may go, what comes back: a label and a text each."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentShown:
    """One agent."""

    name: str
    key: str
    """Its name as it is."""
    is_start: bool
    does: str
    """What others read when they choose; empty where nothing says so."""
    prompt: str
    prompt_size: str
    """`1,204 characters`."""
    facts: tuple[tuple[str, str], ...]
    """Its model, rights, trust and form of answer: a label and a text each."""
    tools: tuple[ToolShown, ...]
    edges: tuple[EdgeShown, ...]
    warnings: tuple[str, ...]
    """About the agent itself; those about its tools and edges stand with them."""

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """Those about it, its tools and its edges."""
        parts: tuple[ToolShown | EdgeShown, ...] = (*self.tools, *self.edges)
        return (*self.warnings, *(said for part in parts for said in part.warnings))


@dataclass(frozen=True, slots=True)
class FlowShown:
    """A flow."""

    name: str
    source: str
    """How it is named on the command line."""
    description: str
    agents: tuple[AgentShown, ...]
    limits: tuple[tuple[str, str], ...]
    """Of each request: a label and a text each."""
    examples: tuple[str, ...]
    warnings: tuple[str, ...]
    """About the flow as a whole; those about an agent stand with it."""
    graph: AgentGraph

    @property
    def all_warnings(self) -> tuple[tuple[str, str], ...]:
        """Every warning, each with the key of the agent it is about; empty for the flow itself."""
        own = [("", said) for said in self.warnings]
        return (*own, *((one.key, said) for one in self.agents for said in one.all_warnings))


def flow_shown(flow: Flow, source: str) -> FlowShown:
    """Return what a flow is made of.

    Args:
        flow: The flow.
        source: How it is named on the command line.
    """
    odd = flow.oddities
    return FlowShown(
        name=one_line(flow.name, 60),
        source=source,
        description=one_line(flow.description, 600),
        agents=tuple(_agent(flow, agent, odd) for agent in flow.agents),
        limits=tuple(request_limits(flow)),
        examples=tuple(flow.examples),
        warnings=tuple(one.sentence for one in odd if not one.agent),
        graph=flow_graph(json.loads(flow.snapshot)),
    )


def request_limits(flow: Flow) -> Iterator[tuple[str, str]]:
    """Yield what one request of a flow may take: a label and a text each."""
    yield "pool", f"{count(flow.pool_tokens, 'token')} for all its handoffs together"
    yield "kept back", f"{count(flow.finish_floor_tokens, 'token')}, so that an answer is possible"
    yield "first agent", limits_text(flow.limits)
    yield "calls nest", f"{count(flow.depth, 'level')} deep"
    yield "transfers", f"at most {amount(flow.max_handoffs)}; the same one {_repeats(flow)}"
    per_session = amount(flow.max_workers_per_session)
    yield "calls", f"at most {amount(flow.max_workers)} in a request, {per_session} in a session"
    yield "results", f"at most {count(flow.max_result_bytes, 'byte')} each"
    if flow.max_cost is not None:
        yield "cost", f"at most {flow.max_cost:g} {flow.currency}".rstrip()
    if flow.alert_tokens is not None:
        yield "warning", f"at {count(flow.alert_tokens, 'token')}"
    if flow.aggregator:
        yield "merges answers", as_name(flow.aggregator)


def limits_text(limits: Limits) -> str:
    """Return how far a handoff may go, in words."""
    return (
        f"at most {count(limits.max_steps, 'step')}, {count(limits.max_tokens, 'token')}, "
        f"{limits.deadline_seconds:g} s"
    )


def edge_policy(flow: Flow, edge: Edge) -> Iterator[tuple[str, str]]:
    """Yield what goes along with a handoff, how far it may go and what comes back."""
    is_call = edge.via is HandoffKind.CALL
    yield "goes along", "the request alone" if is_call else _CONTEXTS[edge.context]
    if edge.payload is not None:
        yield "has to have", ", ".join(edge.payload.model_fields) or "nothing"
    if edge.fields is not None:
        yield "may see", ", ".join(edge.fields) or "no facts"
    if edge.allowed_tools is not None:
        yield "may use", ", ".join(edge.allowed_tools) or "no tools"
    profile = f" ({edge.limits})" if isinstance(edge.limits, str) else ""
    yield "limits", f"{limits_text(flow.limits_of(edge))}{profile}"
    if is_call and edge.output_schema:
        yield "answers as", edge.output_schema
    if not is_call:
        yield "next turn", f"goes to {edge.return_to}" if edge.return_to else "stays with it"


def tool_marks(tool: Tool) -> Iterator[str]:
    """Yield what is to be known of a tool beside its name."""
    yield _EFFECTS[tool.effect]
    if tool.needs_approval:
        yield "asks a person first"
    if tool.untrusted:
        yield "untrusted"
    if tool.remembers:
        yield f"remembers {', '.join(tool.remembers)}"


def _agent(flow: Flow, agent: Agent, odd: Sequence[Oddity]) -> AgentShown:
    about = [one for one in odd if one.agent == agent.name]
    return AgentShown(
        name=as_name(agent.name),
        key=agent.name,
        is_start=agent.name == flow.start,
        does=one_line(agent.description, 400),
        prompt=block(agent.prompt, PROMPT_CHARACTERS),
        prompt_size=count(len(agent.prompt), "character"),
        facts=tuple(_facts(flow, agent)),
        tools=tuple(_tool(tool, about) for tool in agent.tools),
        edges=tuple(_edge(flow, edge, about) for edge in agent.edges),
        warnings=tuple(one.sentence for one in about if not one.target and not one.tool),
    )


def _facts(flow: Flow, agent: Agent) -> Iterator[tuple[str, str]]:
    yield "model", _model(flow, agent)
    yield "rights", "may change things" if agent.may_write else "only reads"
    if agent.output_schema != TEXT:
        yield "answers as", agent.output_schema
    if agent.trust != 1:
        yield "trust", str(agent.trust)
    if agent.ingress:
        yield "checks", f"{count(len(agent.ingress), 'check')} of whatever comes in"
    if agent.threshold:
        yield "hands off", f"only with a score of {agent.threshold:g} or more"
    if agent.examples:
        yield "examples", "; ".join(one_line(one, 80) for one in agent.examples[:5])


def _model(flow: Flow, agent: Agent) -> str:
    try:
        model = as_model(agent.model or flow.model, flow.name, agent.name)
    except FlowError:
        return "none; say which with --model"
    rules = "" if model.reads_prompt else " (follows rules and does not read its prompt)"
    return f"{one_line(model.name, 60)}{rules}"


def _tool(tool: Tool, about: Sequence[Oddity]) -> ToolShown:
    return ToolShown(
        name=as_name(tool.name),
        does=one_line(tool.description, 300),
        effect=tool.effect.value,
        marks=tuple(one_line(mark, 120) for mark in tool_marks(tool)),
        warnings=tuple(one.sentence for one in about if one.tool == tool.name),
    )


def _edge(flow: Flow, edge: Edge, about: Sequence[Oddity]) -> EdgeShown:
    return EdgeShown(
        target=as_name(edge.target),
        way="calls" if edge.via is HandoffKind.CALL else "hands off to",
        when=one_line(flow.edge_description(edge), 400),
        policy=tuple((label, one_line(text, 300)) for label, text in edge_policy(flow, edge)),
        warnings=tuple(one.sentence for one in about if one.target == edge.target),
    )


def _repeats(flow: Flow) -> str:
    return "once" if not flow.max_edge_repeats else f"{count(flow.max_edge_repeats + 1, 'time')}"
