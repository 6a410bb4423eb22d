"""Laws of sessions, for random trees of calls and transfers with random usage, pools and limits."""

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.sessions import Played, play

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
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
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.errors import ModelError, TransientModelError
from handoff_console.runtime.events import Event, load_payload, payload_fields

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


A_FEW = settings(max_examples=25)
"""A session costs much more than a value, and every law sees worlds of its own."""

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


def played(world: World, **options: Any) -> Played:
    made = play(world.flow(), f"Do it. api_key={MARKER}", **options)
    assert made.raised is None, made.raised
    return made


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


@given(WORLDS)
@A_FEW
def test_free_and_open_and_spent_are_the_pool_after_every_event(world):  # R26
    session = played(world)
    ledger = Ledger(world.pool_tokens)

    for event in session.events:
        if not event.kind.startswith("budget_"):
            continue
        ledger.follow(event)
        said = event.payload
        assert (said.free, said.open, said.spent) == (ledger.free, ledger.open, ledger.spent)
        assert said.free + said.open + said.spent == world.pool_tokens
        assert said.open >= 0
    closed = session.one("session_closed")
    assert ledger.grants == {}
    assert (closed.pool_free, closed.pool_spent) == (ledger.free, ledger.spent)


@given(WORLDS)
@A_FEW
def test_reservations_never_reach_into_what_others_hold(world):  # R26
    for event in played(world).events:
        if event.kind == "budget_reserved":
            assert event.payload.free >= 0


@given(WORLDS)
@A_FEW
def test_whatever_is_asked_for_has_exactly_one_end(world):
    session = played(world)

    def ids(kind: str) -> Counter[str]:
        return Counter(e.handoff_id or "" for e in session.events if e.kind == kind)

    asked, opened = ids("handoff_requested"), ids("handoff_opened")
    closed, rejected = ids("handoff_closed"), ids("handoff_rejected")
    assert set(asked.values()) == {1}
    assert opened == closed
    assert opened + rejected == asked
    assert ids("budget_reserved") == ids("budget_refunded")
    assert session.kinds.count("fork_opened") == session.kinds.count("fork_joined")


@given(WORLDS)
@A_FEW
def test_events_are_numbered_in_order_and_nothing_follows_the_close(world):
    events = played(world).events

    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    elapsed = [event.elapsed_seconds for event in events]
    assert elapsed == sorted(elapsed)
    assert [event.kind for event in events].count("session_closed") == 1
    assert events[-1].kind == "session_closed"


@given(WORLDS)
@A_FEW
def test_limits_hold_whatever_the_agents_do(world):  # R16 R20 R21 R55
    session = played(world)

    for opened in session.of("handoff_opened"):
        assert opened.depth <= world.depth
        assert opened.depth + opened.depth_left == world.depth
    steps = Counter(e.handoff_id for e in session.events if e.kind == "model_called")
    limit = {
        e.handoff_id: e.payload.max_steps for e in session.events if e.kind == "handoff_opened"
    }
    assert all(count <= limit[handoff_id] for handoff_id, count in steps.items())
    first = [e for e in session.events if e.kind == "handoff_opened" and e.attempt == 1]
    calls = [e for e in first if e.payload.via == "call" and e.payload.source != "user"]
    hops = [e for e in first if e.payload.via == "transfer" and e.payload.source != "runtime"]
    assert len(calls) <= world.max_workers
    assert len(hops) <= world.max_handoffs
    assert session.events[-1].elapsed_seconds <= 60.0


@given(WORLDS)
@A_FEW
def test_every_model_call_is_paid_for_once_and_adds_up(world):
    session = played(world)

    charged: Counter[str] = Counter()
    for event in session.events:
        if event.kind == "budget_charged":
            charged[event.handoff_id or ""] += event.payload.tokens
    used = {
        e.handoff_id: e.payload.tokens_used for e in session.events if e.kind == "handoff_closed"
    }
    assert {h: n for h, n in used.items() if n} == {h: n for h, n in charged.items() if n}
    assert session.one("session_closed").pool_spent == sum(used.values())
    assert session.count("model_called") == session.count("model_replied")


@given(WORLDS)
@A_FEW
def test_nothing_orphaned_nothing_nameless(world):  # R34 R36 R37
    session = played(world)

    known = {e.handoff_id for e in session.events if e.kind == "handoff_requested"}
    for event in session.events[1:]:
        assert event.request_id == "s1/t1"
        assert event.handoff_id is None or event.handoff_id in known
        assert event.parent_id is None or event.parent_id in known
        if event.kind in ("handoff_requested", "tool_called"):
            assert event.payload.reason
        if event.kind == "handoff_closed":
            closed = event.payload
            assert closed.target
            assert closed.inputs_hash
            assert closed.duration_seconds >= 0
            assert (closed.status is None) == (closed.ended_by == "transferred")


@given(WORLDS)
@A_FEW
def test_the_same_seed_gives_the_same_bytes(world):
    assert played(world).as_text() == played(world).as_text()


@given(WORLDS)
@A_FEW
def test_what_stands_under_a_sensitive_key_is_written_nowhere(world):  # R63
    assert MARKER not in played(world).everything_written()


@given(WORLDS)
@A_FEW
def test_every_payload_that_is_written_can_be_read_back(world):
    for event in played(world).events:
        fields = json.loads(canonical_text(payload_fields(event.payload)))
        assert load_payload(event.kind, event.payload.version, fields) == event.payload


@given(WORLDS)
@A_FEW
def test_every_body_that_an_event_names_is_kept(world):
    session = played(world)
    hashes = {"inputs_hash"}

    for event in session.events:
        for name in event.payload.digests:
            digest = getattr(event.payload, name)
            if digest and name not in hashes:
                assert digest in session.sink.bodies, (event.kind, name)
        if event.kind == "model_called":
            assert len(session.read(event.payload.context)) == event.payload.messages


@given(WORLDS)
@A_FEW
def test_nothing_is_left_uncommitted(world):
    sink = EventList(b"key")

    played(world, sink=sink)

    assert sink.committed == len(sink.events)
