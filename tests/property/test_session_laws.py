"""Laws of sessions, for random trees of calls and transfers with random usage, pools and limits."""

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from support.sessions import Played, play
from support.worlds import MARKER, WORLDS, Ledger, World

from handoff_console.runtime import EventList
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.events import load_payload, payload_fields

A_FEW = settings(max_examples=25)
"""A session costs much more than a value, and every law sees worlds of its own."""


def played(world: World, **options: Any) -> Played:
    made = play(world.flow(), f"Do it. api_key={MARKER}", **options)
    assert made.raised is None, made.raised
    return made


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
