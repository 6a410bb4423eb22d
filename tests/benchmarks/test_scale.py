"""Many workers at once, a pool that all of them want, and a tool that never ends.

Marked `benchmark` and left out of the normal run (`make bench`).
"""

import asyncio
import json
import random
import subprocess
import sys
import threading
import time

import pytest

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    Limits,
    ModelReply,
    Tool,
    Usage,
    delegate,
    run,
    say,
    together,
    use,
)

pytestmark = pytest.mark.benchmark

WORKERS = """
import asyncio, json, re, sys, time

from handoff_console.runtime import *
from handoff_console.store.writer import open_sink

PATH, N = sys.argv[1], int(sys.argv[2])
USAGE = Usage(100, 20)


async def look(number: int) -> str:
    return f"invoice {number}: 29.00 EUR"


async def root(call):
    await asyncio.sleep(0)
    if call.results:
        return say("done")
    numbers = range(call.request.inputs["n"])
    return together(*(delegate("worker", f"Find {n}", number=n) for n in numbers))


async def worker(call):
    await asyncio.sleep(0)
    return say("found") if call.results else use("look", number=call.inputs["number"])


def flow(n):
    return Flow(
        "wide",
        [
            Agent(
                "root",
                model=root,
                edges=[Edge.call("worker", "W.", limits=Limits(max_tokens=4_000))],
            ),
            Agent("worker", model=worker, tools=[Tool(look)]),
        ],
        pool_tokens=10_000_000,
        max_workers=n,
        max_workers_per_session=n,
    )


def peak_mb():
    # Not `ru_maxrss`: there a process begins at the peak of the one that started it.
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1]) / 1024


def session(n, sink):
    limits = Limits(max_tokens=1_000_000, deadline_seconds=600)
    request = HandoffRequest(task="Find them", inputs={"n": n}, limits=limits)
    return asyncio.run(run(flow(n), request, sink=sink))


with open_sink(PATH, create=True) as sink:
    session(2, sink)
    before, wall, cpu = peak_mb(), time.perf_counter(), time.process_time()
    result = session(N, sink)
    print(json.dumps({
        "answer": result.answer,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": peak_mb() - before,
        "events": sink.db.execute("select count(*) from events").fetchone()[0],
    }))
"""


@pytest.mark.parametrize("workers", [100, 1_000])
def test_workers_of_two_steps_and_a_tool_each_all_recorded(tmp_path, workers):
    code = [sys.executable, "-c", WORKERS, str(tmp_path / "handoff.db"), str(workers)]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)

    print(
        f"\n{workers} workers of 2 steps and a tool, in one file: {found['wall_seconds']:.2f} s "
        f"wall, {found['cpu_seconds']:.2f} s CPU, {found['cpu_seconds'] / workers * 1e3:.2f} ms a "
        f"worker, {found['peak_mb']:.0f} MB over the baseline, {found['events']} events"
    )
    assert found["answer"] == "done"
    assert found["events"] > workers * 10
    assert found["peak_mb"] <= 3 + workers * 0.02


def test_fifty_workers_with_uneven_usage_overshoot_a_pool_by_one_call_each_at_most():
    dice = random.Random(7)
    used = {number: (dice.randint(10, 900), dice.randint(1, 500)) for number in range(50)}
    grant, pool = 400, 10_000

    async def worker(call):
        await asyncio.sleep(0)
        taken = Usage(*used[call.inputs["number"]])
        if call.results:
            return ModelReply(text="found", usage=taken)
        asked = use("look")
        return ModelReply(tool_calls=asked.tool_calls, usage=taken)

    def root(call):
        if call.results:
            return say("done")
        return together(*(delegate("worker", f"Find {n}", number=n) for n in range(50)))

    limits = Limits(max_steps=3, max_tokens=grant)
    flow = Flow(
        "wide",
        [
            Agent("root", model=root, edges=[Edge.call("worker", "W.", limits=limits)]),
            Agent("worker", model=worker, tools=[Tool(lambda: "here", name="look", inline=True)]),
        ],
        pool_tokens=pool,
        max_workers=50,
        max_workers_per_session=50,
    )
    sink = EventList()
    asyncio.run(run(flow, "Find all.", sink=sink))

    charged = [event for event in sink.events if event.kind == "budget_charged"]
    calls = {event.handoff_id: 0 for event in charged}
    over = {event.handoff_id: 0 for event in charged}
    for event in sink.events:
        if event.kind == "budget_overdrawn":
            calls[event.handoff_id] += 1
            over[event.handoff_id] += event.payload.tokens
    free = min(event.payload.free for event in charged)
    opened = sum(event.kind == "handoff_opened" for event in sink.events) - 1
    refused = sum(event.kind == "handoff_rejected" for event in sink.events)
    print(
        f"\n50 workers want {50 * grant} of a pool of {pool}: {opened} ran, {refused} were "
        f"refused; beyond their grants {sum(over.values())} tokens in {sum(calls.values())} calls, "
        f"at most {max(over.values())} by one; the pool was overshot by {max(0, -free)}"
    )
    assert opened + refused == 50
    assert max(calls.values()) <= 1
    assert max(over.values()) <= max(sum(pair) for pair in used.values())


@pytest.mark.parametrize("kind", ["thread", "async"])
def test_a_result_comes_back_at_the_deadline_whatever_its_tool_does(kind):
    ended = threading.Event()

    def hang() -> None:
        ended.wait()

    async def never() -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            await asyncio.sleep(3_600)

    deadline_seconds, late = 0.3, []
    tool = Tool(hang if kind == "thread" else never, name="hang")
    flow = Flow(
        "slow",
        [Agent("a", tools=[tool], model=lambda call: use("hang"))],
        limits=Limits(deadline_seconds=deadline_seconds),
    )

    async def session() -> float:
        began = time.perf_counter()
        result = await run(flow, "Go.")
        assert result.reason == "deadline"
        return time.perf_counter() - began - deadline_seconds

    async def sessions() -> None:
        late.extend([await session() for _ in range(7)])

    async def left_behind() -> None:
        # Whatever still cleans up is not waited for by the one who measures either.
        task = asyncio.ensure_future(sessions())
        await task
        for other in asyncio.all_tasks() - {asyncio.current_task()}:
            other.cancel()

    asyncio.run(left_behind())
    ended.set()
    late.sort()
    print(
        f"\nfrom the deadline to the result, a tool that never ends ({kind}): "
        f"median {late[len(late) // 2] * 1e3:.1f} ms, longest {late[-1] * 1e3:.1f} ms"
    )
    assert late[len(late) // 2] < 0.25
