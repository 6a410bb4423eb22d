"""A session that was killed anywhere goes on from its record, and does nothing twice."""

import asyncio
from typing import Any

import pytest
from support.towns import Journal, Town

from handoff_console.runtime import Agent, Event, EventList, Recording, resume, run
from handoff_console.runtime.errors import ReplayDiverged
from handoff_console.runtime.ledger import MemoryLedger


def recorded() -> tuple[Town, Journal, Any]:
    town = Town()
    journal = Journal(town)
    result = asyncio.run(run(town.flow(), "Go.", sink=journal))
    return town, journal, result


def killed_at(journal: Journal, events: int) -> EventList:
    left = EventList()
    left.bodies.update(journal.bodies)
    left.events.extend(journal.events[:events])
    return left


def pools_add_up(events: list[Event]) -> bool:
    total = 0
    for event in events:
        if event.kind == "user_message_received":
            total = event.payload.pool_tokens
        if event.kind.startswith("budget_"):
            payload = event.payload
            if payload.free + payload.open + payload.spent != total:
                return False
    return True


# R30
def test_resumed_from_every_commit_it_comes_to_the_same_end_and_does_nothing_twice():
    first, journal, result = recorded()
    tried = 0
    for committed, written in dict.fromkeys(journal.cuts):
        left = killed_at(journal, committed)
        if left.events[-1].kind == "session_closed":
            continue
        ledger = MemoryLedger()
        for event in left.events:
            if event.kind == "tool_returned" and event.payload.tool == "note":
                called = next(e for e in left.events if e.payload.kind == "tool_called"
                              and e.payload.tool == "note")  # fmt: skip
                ledger.done(called.payload.idempotency_key or "", "noted 7")
        town = Town()
        town.written.extend(written)
        recording = Recording(result.session_id, list(left.events), left.body)
        again = asyncio.run(resume(town.flow(), recording, sink=left, ledger=ledger))

        heard = sum(e.kind == "model_replied" for e in recording.events)
        assert again.answer == result.answer
        assert town.asked == first.asked - heard
        assert town.written == [7]
        assert [event.seq for event in left.events] == list(range(1, len(left.events) + 1))
        opened = [e.handoff_id for e in left.events if e.kind == "handoff_opened"]
        closed = [e.handoff_id for e in left.events if e.kind == "handoff_closed"]
        assert sorted(opened) == sorted(closed)
        assert len(set(opened)) == len(opened)
        assert pools_add_up(left.events)
        tried += 1
    assert tried >= 10


def test_a_reply_that_nobody_heard_is_charged_as_estimated_and_asked_for_again():
    _, journal, result = recorded()
    cut = next(i for i, e in enumerate(journal.events, 1) if e.kind == "model_called")
    left = killed_at(journal, cut)
    recording = Recording(result.session_id, list(left.events), left.body)

    again = asyncio.run(resume(Town().flow(), recording, sink=left))

    lost = [e.payload for e in left.events if e.kind == "model_replied" and e.payload.error]
    assert [payload.error for payload in lost] == ["the process ended before the reply came"]
    assert lost[0].input_tokens > 0
    assert again.tokens_used == result.tokens_used + lost[0].input_tokens


def test_a_flow_that_asks_for_something_else_does_not_go_on_with_foreign_answers():
    _, journal, result = recorded()
    recording = Recording(result.session_id, list(journal.events[:-1]), journal.body)
    flow = Town().flow()
    changed = flow.changed(
        agents=[
            agent if agent.name != "finder" else Agent("finder", "Other.", model=agent.model)
            for agent in flow.agents
        ]
    )

    with pytest.raises(ReplayDiverged, match=r"at t1/1\.0 step 1 the flow now asks for something"):
        asyncio.run(resume(changed, recording, sink=killed_at(journal, len(journal.events) - 1)))
