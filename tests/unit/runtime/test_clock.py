"""Time, and time in which nobody waits."""

import asyncio
import threading
import time
from datetime import UTC, datetime

from handoff_console.runtime.clock import SystemClock, VirtualClock, in_virtual_time, run_virtual


def test_virtual_hours_pass_at_once():
    began = time.monotonic()

    async def wait() -> float:
        await asyncio.sleep(3_600)
        return asyncio.get_running_loop().time()

    assert run_virtual(wait()) == 3_600
    assert time.monotonic() - began < 5


def test_timers_fire_in_order_and_overlap():
    heard = []

    async def say_after(seconds: float, word: str) -> None:
        await asyncio.sleep(seconds)
        heard.append((asyncio.get_running_loop().time(), word))

    async def both() -> None:
        await asyncio.gather(say_after(20, "late"), say_after(10, "early"), say_after(20, "too"))

    run_virtual(both())

    assert heard == [(10, "early"), (20, "late"), (20, "too")]


def test_a_virtual_clock_starts_where_it_is_told_and_stands_still_while_code_runs():
    clock = VirtualClock(datetime(2026, 3, 1, 12, 0, tzinfo=UTC))

    async def read() -> tuple[float, float, float]:
        before = clock.now()
        sum(range(100_000))
        still = clock.now()
        await asyncio.sleep(1.5)
        return before, still, clock.now()

    start = datetime(2026, 3, 1, 12, 0, tzinfo=UTC).timestamp()
    assert run_virtual(read()) == (start, start, start + 1.5)


def test_virtual_time_waits_for_a_thread_when_nothing_else_is_due():
    async def ask() -> str:
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        threading.Thread(
            target=lambda: loop.call_soon_threadsafe(answer.set_result, "from the thread")
        ).start()
        return await answer

    assert run_virtual(ask()) == "from the thread"


def test_a_timer_does_not_wait_for_a_thread():
    released = threading.Event()

    async def race() -> tuple[bool, float]:
        work = asyncio.get_running_loop().run_in_executor(None, released.wait, 5)
        done, _ = await asyncio.wait({work}, timeout=1_000)
        seconds = asyncio.get_running_loop().time()
        released.set()
        await work
        return bool(done), seconds

    assert run_virtual(race()) == (False, 1_000)


def test_a_coroutine_can_tell_whether_its_time_is_virtual():
    async def ask() -> bool:
        return in_virtual_time()

    assert run_virtual(ask())
    assert not asyncio.run(ask())


def test_the_system_clock_reads_the_machines_time():
    clock = SystemClock()

    assert abs(clock.now() - time.time()) < 5
    assert clock.elapsed() <= clock.elapsed()
