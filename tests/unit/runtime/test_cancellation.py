"""A session that is cancelled closes what is open, innermost first, and then itself."""

import asyncio
import gc
import threading
from collections import Counter

import pytest
from support.sessions import SOMEWHERE

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    Limits,
    Origin,
    Tool,
    delegate,
    run,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual

SMALL = Limits(max_tokens=3_000, deadline_seconds=100)


def cancelled_after(seconds: float, flow: Flow) -> EventList:
    """Return the record of a session that is cancelled after some virtual seconds."""
    sink = EventList()

    async def session() -> None:
        task = asyncio.ensure_future(
            run(flow, "Go", sink=sink, clock=VirtualClock(), origin=Origin(process=SOMEWHERE))
        )
        await asyncio.sleep(seconds)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(1_000)

    run_virtual(session())
    gc.collect()  # a coroutine that was never awaited would warn now
    return sink


def tree() -> Flow:
    """Return a flow whose boss calls two workers; the first calls one more."""

    def boss(call):
        if call.results:
            return say("done")
        return timed(together(delegate("left", "Do it"), delegate("right", "Do it")), 5)

    def left(call):
        return say("done") if call.results else timed(delegate("deep", "Do it"), 5)

    return Flow(
        "tree",
        [
            Agent(
                "boss",
                edges=[Edge.call("left", "L."), Edge.call("right", "R.", limits=SMALL)],
                model=boss,
            ),
            Agent("left", edges=[Edge.call("deep", "D.", limits=SMALL)], model=left),
            Agent("right", model=lambda call: timed(say("right"), 50)),
            Agent("deep", model=lambda call: timed(say("deep"), 50)),
        ],
        depth=2,
    )


def test_what_is_open_closes_innermost_first_and_the_session_last():
    sink = cancelled_after(20, tree())

    closed = [e for e in sink.events if e.kind == "handoff_closed"]
    assert [e.handoff_id for e in closed] == ["h4", "h3", "h2", "h1"]
    assert {e.payload.ended_by for e in closed} == {"cancelled"}
    assert {(e.payload.status, e.payload.result) for e in closed} == {(None, None)}
    last = sink.events[-1]
    assert last.kind == "session_closed"
    assert (last.payload.status, last.payload.cancelled) == (None, True)
    assert sink.committed == len(sink.events)


def test_all_grants_come_back():
    sink = cancelled_after(20, tree())

    kinds = Counter(event.kind for event in sink.events)
    assert kinds["budget_reserved"] == kinds["budget_refunded"] == 3
    closed = sink.events[-1].payload
    assert closed.pool_free + closed.pool_spent == 50_000


def cancelled_at(number: int) -> EventList:
    """Return the record of a session that is cancelled while it records its n-th event."""
    sink = EventList()
    tasks: list[asyncio.Task] = []
    append = sink.append

    def cancels(event) -> None:
        append(event)
        if event.seq == number:
            tasks[0].cancel()

    sink.append = cancels  # type: ignore[method-assign]

    async def session() -> None:
        tasks.append(asyncio.ensure_future(run(tree(), "Go", sink=sink, clock=VirtualClock())))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]

    run_virtual(session())
    gc.collect()  # a coroutine that was never awaited would warn now
    return sink


@pytest.mark.parametrize("number", range(1, 43))
def test_whenever_it_is_cancelled_every_handoff_has_one_end(number):
    sink = cancelled_at(number)

    kinds = Counter(event.kind for event in sink.events)
    ended = [e.handoff_id for e in sink.events if e.kind in ("handoff_closed", "handoff_rejected")]
    asked = [e.handoff_id for e in sink.events if e.kind == "handoff_requested"]
    assert sorted(ended) == sorted(asked)
    assert kinds["handoff_opened"] == kinds["handoff_closed"]
    assert kinds["budget_reserved"] == kinds["budget_refunded"]
    assert kinds["session_closed"] == 1
    assert sink.events[-1].kind == "session_closed"
    closed = sink.events[-1].payload
    assert closed.pool_free + closed.pool_spent == 50_000


def test_a_tool_in_a_thread_cannot_be_stopped_and_is_reported():
    released = threading.Event()

    def blocks() -> str:
        """Block until released."""
        released.wait(10)
        return "done"

    sink = EventList()
    flow = Flow("one", [Agent("solo", tools=[Tool(blocks)], model=lambda call: use("blocks"))])

    async def session() -> None:
        called = asyncio.Event()
        append = sink.append

        def noted(event) -> None:
            append(event)
            if event.kind == "tool_called":
                called.set()

        sink.append = noted  # type: ignore[method-assign]
        task = asyncio.ensure_future(run(flow, "Go", sink=sink))
        await called.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    try:
        asyncio.run(session())
    finally:
        released.set()

    assert [e.kind for e in sink.events][-3:] == [
        "handoff_closed",
        "warning_raised",
        "session_closed",
    ]
    assert sink.events[-2].payload.code == "tool_left_running"


def test_a_worker_that_cancels_itself_is_a_failure_not_a_cancellation():
    async def gives_up(agent: str, messages: list) -> str:
        raise asyncio.CancelledError

    sink = EventList()
    flow = Flow("one", [Agent("solo", model=gives_up)])

    result = asyncio.run(run(flow, "Go", sink=sink))

    assert result.answer == "the model failed: RuntimeError: it was cancelled from within"
    assert sink.events[-1].payload.cancelled is False
