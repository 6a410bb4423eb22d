"""The checks of the gate: they hold whatever the model says.

Source: S0 step 3, S2 "The Infinite Ping-Pong Cycle", S3 "Under the hood".
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field

from handoff_console.runtime.agents import Agent, Edge, Ingress
from handoff_console.runtime.contract import HUMAN, HandoffKind, HandoffRequest
from handoff_console.runtime.counting import count
from handoff_console.runtime.errors import (
    MISTAKES,
    CycleStopped,
    SessionStopped,
    TooManyHandoffs,
    choices,
    named,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.tool import HANDOFF_PREFIXES


@dataclass(frozen=True)
class Refusal:
    """Why the gate does not let a handoff through."""

    rule: str
    """The check that failed, as `handoff_rejected` records it."""
    reason: str
    """One sentence: who refused what, what is allowed."""
    choices: tuple[str, ...] = ()
    transitions: tuple[str, ...] = ()
    """Only of a cycle: the turn's transfers that lead to it, the refused one last."""

    @property
    def stops(self) -> bool:
        """Whether asking again ends the handoff: the model is told once and may still answer."""
        return self.rule in ("cycle", "handoffs")


@dataclass
class TurnCounters:
    """What one request has done so far. They live here: a new agent resets none."""

    transfers: int = 0
    """Accepted ones, the others of the reply that is judged included."""
    workers: int = 0
    edges: dict[tuple[str, str], int] = field(default_factory=dict)
    order: list[tuple[str, str]] = field(default_factory=list)

    def transferred(self, source: str, target: str) -> None:
        """Note that an accepted transfer happens: only from now on is its edge a repetition."""
        self.edges[source, target] = self.edges.get((source, target), 0) + 1
        self.order.append((source, target))


def find_edge(agent: Agent, tool_name: str) -> Edge | Refusal:
    """Return the edge that a special tool call asks for, or why there is none.

    A model may invent a target, add a suffix to a real one, or name itself; none of that is an
    error of the program. Source: S3, "Mistake 1".
    """
    edge = agent.edges_by_tool.get(tool_name)
    if edge is not None:
        return edge
    kind, _, target = tool_name.partition("_to_")
    allowed = tuple(sorted(e.target for e in agent.edges if e.tool_name.startswith(kind + "_to_")))
    return Refusal(
        "target",
        f"{agent.name!r} may not {kind} to {target!r}; it may {kind} to: {choices(allowed)}.",
        allowed,
    )


def asks_for_handoff(tool_name: str) -> bool:
    """Say whether a tool call is a handoff, to a known target or not."""
    return tool_name.startswith(HANDOFF_PREFIXES)


def check_path(
    flow: Flow,
    edge: Edge,
    source: str,
    *,
    depth_left: int,
    ancestors: Sequence[str],
    turn: TurnCounters,
    session_workers: int,
) -> Refusal | None:
    """Check depth, loops and counts of a handoff along a permitted edge; None lets it through.

    Args:
        flow: Its limits hold.
        edge: The edge asked for.
        source: The agent that asks.
        depth_left: How many more calls may nest below the asking handoff.
        ancestors: The agents whose calls are waiting, the asking one included.
        turn: What this request did so far.
        session_workers: Calls that the session opened so far.
    """
    if edge.via is HandoffKind.TRANSFER:
        return _check_transfer(flow, edge, source, turn)
    return _check_call(flow, edge, source, depth_left, ancestors, turn, session_workers)


def _check_transfer(flow: Flow, edge: Edge, source: str, turn: TurnCounters) -> Refusal | None:
    step = (source, edge.target)
    if turn.edges.get(step, 0) > flow.max_edge_repeats:
        first = turn.order.index(step)
        loop = (*(f"{a} → {b}" for a, b in turn.order[first:]), f"{source} → {edge.target}")
        return Refusal(
            "cycle",
            f"{source!r} handed off to {edge.target!r} before in this turn; a transfer may be "
            f"repeated {count(flow.max_edge_repeats, 'time')}. Answer with what you have.",
            transitions=loop,
        )
    if turn.transfers >= flow.max_handoffs:
        return Refusal(
            "handoffs",
            f"{source!r} may not hand off to {edge.target!r}: this request has made "
            f"{count(turn.transfers, 'transfer')} of at most {flow.max_handoffs}. "
            "Answer with what you have.",
        )
    return None


def _check_call(
    flow: Flow,
    edge: Edge,
    source: str,
    depth_left: int,
    ancestors: Sequence[str],
    turn: TurnCounters,
    session_workers: int,
) -> Refusal | None:
    if depth_left < 1:
        return Refusal(
            "depth",
            f"{source!r} may not call {edge.target!r}: no depth is left, calls may nest "
            f"{flow.depth} deep. Do the task yourself or answer with what you have.",
        )
    if edge.target in ancestors:
        return Refusal(
            "cycle",
            f"{source!r} may not call {edge.target!r}, which is waiting for this very answer.",
            transitions=tuple(
                f"{a} → {b}" for a, b in zip(ancestors, (*ancestors[1:], edge.target), strict=True)
            ),
        )
    if turn.workers >= flow.max_workers:
        return Refusal(
            "workers",
            f"{source!r} may not call {edge.target!r}: this request has called {turn.workers} "
            f"workers of at most {flow.max_workers}. Go on with the results you have.",
        )
    if session_workers >= flow.max_workers_per_session:
        return Refusal(
            "workers",
            f"{source!r} may not call {edge.target!r}: this session has called {session_workers} "
            f"workers of at most {flow.max_workers_per_session}. Go on with the results you have.",
        )
    return None


def check_trust(source: Agent, target: Agent, request: HandoffRequest) -> Refusal | None:
    """Check what comes in from whom. Source: S3, "Privilege confusion"."""
    if source.trust < target.trust and not target.ingress and target.name != HUMAN:
        return Refusal(
            "trust",
            f"{source.name!r} (trust {source.trust}) may not hand off to {target.name!r} "
            f"(trust {target.trust}), which checks nothing that comes in.",
        )
    for check in target.ingress:
        if problem := _found_by(check, request):
            return Refusal("ingress", f"{target.name!r} did not take the request: {problem}.")
    return None


def _found_by(check: Ingress, request: HandoffRequest) -> str:
    """Return what a check found wrong, empty for nothing; one that fails lets nobody in."""
    name = getattr(check, "__name__", type(check).__name__)
    try:
        found: object = check(request)
    except MISTAKES as error:
        return f"its check {name!r} failed ({named(error)})"
    if found is None or isinstance(found, str):
        return found or ""
    if inspect.iscoroutine(found):
        found.close()  # or Python warns that nobody waited for it
    return (
        f"its check {name!r} returned a {type(found).__name__}; it has to return what is wrong as "
        "a text, or None"
    )


def as_exception(refusal: Refusal, flow: Flow, source: str, target: str) -> SessionStopped:
    """Return a refusal that stops as the exception for those who want it raised."""
    if refusal.rule == "cycle":
        return CycleStopped(refusal.transitions, flow.max_edge_repeats)
    return TooManyHandoffs(source, target, flow.max_handoffs)
