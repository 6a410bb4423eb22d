"""What one request did to its pool and its limits, step by step: the ground of a what-if."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.events import (
    BudgetCharged,
    BudgetReserved,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRequested,
    ModelCalled,
    ModelReplied,
    SessionStarted,
    ToolReturned,
    UserMessageReceived,
)
from handoff_console.store.analysis.bodies import read_fields
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode, Outcome


class Act(IntEnum):
    """What a step does."""

    ASK = 0
    RESERVE = 1
    """`amount`: tokens."""
    OPEN = 2
    MODEL = 3
    """A model is about to be asked; `amount`: tokens that its input may take."""
    CHARGE = 4
    """`amount`: tokens."""
    TIME = 5
    """Something came back; only its time counts."""
    CLOSE = 6


class Step(NamedTuple):
    """One thing that happened to a handoff."""

    seq: int
    elapsed_seconds: float
    handoff_id: str
    act: Act
    amount: int = 0
    number: int = 0
    """Of the step that a model is asked in, from 1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One handoff, with what the gate and its limits said of it."""

    handoff_id: str
    agent: str
    source: str
    via: HandoffKind
    asker: str | None
    """Who asked for it; None for the user's request."""
    parent: str | None
    """Who called it, so that its grant is carved from that one's."""
    follows: str | None
    """The attempt that this one repeats."""
    tokens: int | None
    """Asked of the pool; None at the root, and where the record does not say."""
    outcome: Outcome
    rule: str
    """Why it was refused; empty when it was not."""
    limit: str
    """For `limit_reached`, which limit."""
    max_steps: int
    """0 when it never opened; so are the next three."""
    max_tokens: int
    deadline_seconds: float
    depth_left: int

    @property
    def is_root(self) -> bool:
        """It is the user's request, which passes no gate."""
        return self.asker is None and self.parent is None and not self.rule


@dataclass(frozen=True)
class Course:
    """One request from its beginning to its end."""

    asked: UserMessageReceived
    handoffs: Mapping[str, Asked]
    steps: Sequence[Step]


def courses(record: Record) -> tuple[Course, ...]:
    """Return the course of every request of a session; none without a user's message."""
    limits = _edge_limits(record)
    opened = {event.handoff_id: payload for event, payload in record.of(HandoffOpened)}
    handoffs = {
        node.handoff_id: _asked(record, node, opened.get(node.handoff_id), limits)
        for node in record.tree.nodes
    }
    by_turn: dict[int, list[Step]] = {}
    messages: dict[int, UserMessageReceived] = {}
    for event, payload in record.of(UserMessageReceived):
        messages[event.turn], by_turn[event.turn] = payload, []
    for event in record.events:
        steps = by_turn.get(event.turn)
        if steps is not None and event.handoff_id in handoffs:
            steps.extend(_steps(event, event.handoff_id or ""))
    return tuple(
        Course(
            messages[turn],
            {step.handoff_id: handoffs[step.handoff_id] for step in steps},
            tuple(steps),
        )
        for turn, steps in by_turn.items()
    )


def _steps(event: Event, handoff_id: str) -> Iterator[Step]:
    at = event.seq, event.elapsed_seconds, handoff_id
    match event.payload:
        case HandoffRequested():
            yield Step(*at, Act.ASK)
        case BudgetReserved(tokens=tokens):
            yield Step(*at, Act.RESERVE, tokens)
        case HandoffOpened():
            yield Step(*at, Act.OPEN)
        case ModelCalled(estimate_tokens=estimate, step=number):
            yield Step(*at, Act.MODEL, estimate, number)
        case BudgetCharged(tokens=tokens):
            yield Step(*at, Act.CHARGE, tokens)
        case ModelReplied() | ToolReturned():
            yield Step(*at, Act.TIME)
        case HandoffClosed():
            yield Step(*at, Act.CLOSE)


_EdgeLimits = Mapping[tuple[str, str, str], int]
"""Tokens that a handoff may use, by who asks, whom, and which way."""


def _edge_limits(record: Record) -> _EdgeLimits:
    """Read from the recorded flow what a refused handoff would have reserved."""
    found: dict[tuple[str, str, str], int] = {}
    for _, started in record.of(SessionStarted):
        for agent in _mappings(read_fields(record.body, started.flow_digest).get("agents")):
            for edge in _mappings(agent.get("edges")):
                limits = edge.get("limits")
                tokens = limits.get("max_tokens") if isinstance(limits, Mapping) else None
                if isinstance(tokens, int):
                    names = (agent.get("name"), edge.get("target"), edge.get("via"))
                    found[str(names[0]), str(names[1]), str(names[2])] = tokens
    return found


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _asked(
    record: Record, node: HandoffNode, opened: HandoffOpened | None, limits: _EdgeLimits
) -> Asked:
    asker = record.asker(node)
    tokens = node.grant_tokens
    if tokens is None and node.rule:
        tokens = limits.get((node.source, node.agent, node.via.value))
    return Asked(
        handoff_id=node.handoff_id,
        agent=node.agent,
        source=node.source,
        via=node.via,
        asker=asker.handoff_id if asker else None,
        parent=node.parent_id,
        follows=node.follows,
        tokens=tokens,
        outcome=node.outcome,
        rule=node.rule,
        limit=node.limit,
        max_steps=opened.max_steps if opened else 0,
        max_tokens=opened.max_tokens if opened else 0,
        deadline_seconds=opened.deadline_seconds if opened else 0.0,
        depth_left=opened.depth_left if opened else 0,
    )
