"""Random flows whose agents do something random, but the same for each seed."""

import asyncio
import random
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from handoff_console.runtime import (
    Agent,
    Edge,
    Event,
    Flow,
    Limits,
    ModelReply,
    Tool,
    ToolError,
    answer,
    delegate,
    hand_over,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.errors import ModelError, TransientModelError

NAMES = ("a", "b", "c", "d")
STATUSES = ("ok", "ok", "not_found", "needs_input", "error")
MARKER = "q7Zsecret"


@dataclass(frozen=True)
class World:
    """A flow, and agents that do something random but the same for each seed."""

    seed: int
    pool_tokens: int
    finish_floor_tokens: int
    grant_tokens: int
    max_steps: int
    depth: int
    max_handoffs: int
    max_workers: int
    max_edge_repeats: int
    most_tokens: int
    has_aggregator: bool

    def flow(self) -> Flow:
        limits = Limits(
            max_tokens=self.grant_tokens, max_steps=self.max_steps, deadline_seconds=20.0
        )
        agents = [
            Agent(
                name,
                f"You are {name}.",
                tools=[Tool(look), Tool(fail), Tool(hang)],
                edges=[
                    make(other, f"{other} does it.", limits=limits)
                    for other in NAMES
                    if other != name
                    for make in (Edge.call, Edge.transfer)
                ],
                model=self.reply,
                output_schema="Text",
            )
            for name in NAMES
        ]
        return Flow(
            "random",
            agents,
            pool_tokens=self.pool_tokens,
            finish_floor_tokens=self.finish_floor_tokens,
            depth=self.depth,
            max_handoffs=self.max_handoffs,
            max_workers=self.max_workers,
            max_edge_repeats=self.max_edge_repeats,
            aggregator="d" if self.has_aggregator else "",
            limits=Limits(max_steps=self.max_steps + 2, max_tokens=10**6, deadline_seconds=60.0),
        )

    def reply(self, call: Any) -> ModelReply:
        chance = random.Random(f"{self.seed} {call.path} {call.step} {call.attempt}")
        others = [name for name in NAMES if name != call.agent.name]
        said = self.said(chance, others, may_end=call.step > 1 or "/" in call.path)
        seconds = chance.choice((0, 0, 0, 0, 0, 0.5, 1, 2.5, 2.5, 30))
        if chance.random() < 0.2:
            return timed(said, seconds)  # no usage
        tokens = (chance.randrange(self.most_tokens), chance.randrange(self.most_tokens))
        return timed(said, seconds, tokens=tokens)

    def said(self, chance: random.Random, others: list[str], *, may_end: bool) -> ModelReply:
        draw = chance.random()
        if draw < 0.03:
            raise TransientModelError("busy", billed=chance.random() < 0.5)
        if draw < 0.04:
            raise ModelError("broken")
        if draw < 0.35 and may_end:
            status = chance.choice(STATUSES)
            transient = status == "error" and chance.random() < 0.5
            return answer(status, "notes", transient=transient)
        if draw < 0.40:
            return say(chance.choice(("", "text", '{"status": "done"}')))
        asks = chance.choice((1, 1, 2, 2, 3))
        return together(*(self.ask(chance, others) for _ in range(asks)))

    def ask(self, chance: random.Random, others: list[str]) -> ModelReply:
        name = "nobody" if chance.random() < 0.05 else chance.choice(others)
        secret = {"card_number": MARKER, "buyer": {"iban": MARKER}} if chance.random() < 0.3 else {}
        draw = chance.random()
        if draw < 0.45:
            return delegate(name, "Do it", number=chance.randrange(9), **secret)
        if draw < 0.75:
            summary = f"password: {MARKER}" if secret else ""
            return hand_over(name, "yours", number=chance.randrange(9), summary=summary, **secret)
        tool = chance.choice(("look", "look", "fail", "hang", "nothing"))
        return use(tool, number=chance.randrange(9)) if tool != "nothing" else use(tool)


async def look(number: int) -> dict[str, Any]:
    """Look."""
    return {"number": number, "api_key": MARKER, "nested": [{"token": {"a": MARKER}}]}


async def fail(number: int) -> None:
    """Fail."""
    raise ToolError(f"page {number} is missing; secret={MARKER}")


async def hang(number: int) -> str:
    """Take longer than anybody waits, sometimes."""
    await asyncio.sleep(number * 8)
    return "late"


WORLDS = st.builds(
    World,
    seed=st.integers(0, 2**32),
    pool_tokens=st.integers(2_001, 60_000),
    finish_floor_tokens=st.integers(0, 2_000),
    grant_tokens=st.integers(300, 6_000),
    max_steps=st.integers(1, 4),
    depth=st.integers(0, 3),
    max_handoffs=st.integers(0, 6),
    max_workers=st.integers(0, 10),
    max_edge_repeats=st.integers(0, 1),
    most_tokens=st.sampled_from([10, 50, 300, 3_000]),
    has_aggregator=st.booleans(),
)


@dataclass
class Grant:
    """A grant as it follows from the deltas of the events alone."""

    parent: str | None
    rest: int


class Ledger:
    """The pool, added up again from what happened, not from what the events say it was."""

    def __init__(self, total: int) -> None:
        self.total = self.free = total
        self.spent = 0
        self.grants: dict[str, Grant] = {}

    @property
    def open(self) -> int:
        return sum(grant.rest for grant in self.grants.values())

    def follow(self, event: Event) -> None:
        handoff_id, tokens = event.handoff_id or "", event.payload.tokens
        match event.kind:
            case "budget_reserved":
                parent = event.parent_id if event.parent_id in self.grants else None
                if parent:
                    self.grants[parent].rest -= tokens
                else:
                    self.free -= tokens
                self.grants[handoff_id] = Grant(parent, tokens)
            case "budget_charged":
                grant = self.grants.get(handoff_id)
                covered = min(tokens, grant.rest) if grant else 0
                if grant:
                    grant.rest -= covered
                self.free -= tokens - covered
                self.spent += tokens
            case "budget_refunded":
                grant = self.grants.pop(handoff_id)
                assert grant.rest == tokens
                if grant.parent in self.grants:
                    self.grants[grant.parent].rest += tokens
                else:
                    self.free += tokens
