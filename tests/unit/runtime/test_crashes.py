"""What a process leaves behind that dies, or cannot write, at any moment.  # T8"""

import asyncio
import gc

import pytest
from support.sessions import SOMEWHERE

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    EventList,
    Flow,
    Origin,
    Tool,
    delegate,
    hand_over,
    run,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual


class FullDisk(EventList):
    """A sink that cannot take its k-th event."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def append(self, event, /) -> None:
        if len(self.events) + 1 == self.at:
            raise OSError("the disk is full")
        super().append(event)


class World:
    """What happens outside, and what stood on the disk before it did."""

    def __init__(self, sink: EventList) -> None:
        self.sink = sink
        self.happened: list[tuple[str, list[str]]] = []
        self.synced: list[bool] = []
        commit = sink.commit

        def noted(*, synced: bool = False) -> None:
            self.synced.append(synced)
            commit(synced=synced)

        sink.commit = noted  # type: ignore[method-assign]

    def act(self, what: str) -> None:
        committed = self.sink.events[: self.sink.committed]
        self.happened.append((what, [event.kind for event in committed]))


def shop(world: World) -> Flow:
    """Return a flow with a fork, a transfer, tools that read and tools that write."""

    async def look_up(order_id: str) -> str:
        """Look an order up."""
        world.act(f"read {order_id}")
        return "found"

    async def note(order_id: str) -> str:
        """Write a note."""
        world.act(f"write {order_id}")
        return "noted"

    def boss(call):
        world.act("model boss")
        if not call.results:
            return together(delegate("one", "Do it"), delegate("two", "Do it"))
        return hand_over("closer", "all is there")

    def worker(call):
        world.act(f"model {call.agent.name}")
        if not call.results:
            return together(
                use("look_up", order_id=call.agent.name), use("note", order_id=call.agent.name)
            )
        return timed(say("ok"), 3)

    def closer(call):
        world.act("model closer")
        return say("Bye.")

    tools = [Tool(look_up), Tool(note, effect=Effect.WRITE)]
    return Flow(
        "shop",
        [
            Agent(
                "boss",
                edges=[
                    Edge.call("one", "O."),
                    Edge.call("two", "T."),
                    Edge.transfer("closer", "C."),
                ],
                model=boss,
            ),
            Agent("one", tools=tools, model=worker, may_write=True),
            Agent("two", tools=tools, model=worker, may_write=True),
            Agent("closer", model=closer),
        ],
    )


def played(sink: EventList) -> World:
    world = World(sink)
    options = {"sink": sink, "session_id": "s1", "origin": Origin(process=SOMEWHERE)}
    run_virtual(run(shop(world), "Go", clock=VirtualClock(), **options))
    return world


WHOLE = EventList()
WORLD = played(WHOLE)


def test_nothing_happens_outside_that_is_not_in_the_record_before():
    assert len(WORLD.happened) == 11
    for what, committed in WORLD.happened:
        if what.startswith("model"):
            assert "model_called" in committed
        else:
            assert "tool_called" in committed
    for number, (_, committed) in enumerate(WORLD.happened, 1):
        asked = committed.count("model_called") + committed.count("tool_called")
        assert asked >= number


def test_a_write_is_synced_to_the_disk_before_it_happens():
    sink = EventList()
    world = World(sink)
    order: list[str] = []
    act, commit = world.act, sink.commit

    def seen(what: str) -> None:
        order.append(what.partition(" ")[0])
        act(what)

    def synced(*, synced: bool = False) -> None:
        order.append("synced" if synced else "committed")
        commit(synced=synced)

    world.act, sink.commit = seen, synced  # type: ignore[method-assign]
    run_virtual(run(shop(world), "Go", sink=sink, clock=VirtualClock()))

    writes = [place for place, what in enumerate(order) if what == "write"]
    assert len(writes) == 2
    assert order[: writes[0]].count("synced") >= 1
    assert order[: writes[1]].count("synced") >= 2
    assert order[-1] == "committed"


@pytest.mark.parametrize("at", range(1, len(WHOLE.events) + 1))
def test_a_sink_that_fails_stops_the_session_at_once_wherever_it_does(at):
    sink = FullDisk(at)
    world = World(sink)

    async def session() -> set[asyncio.Task]:
        with pytest.raises(OSError, match=r"^the disk is full$"):
            await run(
                shop(world),
                "Go",
                sink=sink,
                clock=VirtualClock(),
                session_id="s1",
                origin=Origin(process=SOMEWHERE),
            )
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    left = run_virtual(session())
    gc.collect()  # a coroutine that was never awaited would warn now

    assert left == set()
    assert sink.events == WHOLE.events[: at - 1]
    assert sink.committed <= len(sink.events)
    for what, committed in world.happened:
        if what.startswith("write"):
            assert "tool_called" in committed
