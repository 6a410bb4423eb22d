"""What recording and looking cost on this machine, measured in some seconds.

Times of work are CPU time, so that what else runs here counts little; ratios compare two things
that were measured one after the other.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from handoff_console.console.commands import bench_flows
from handoff_console.console.commands.bench_flows import QUESTION
from handoff_console.console.commands.listing import session_page
from handoff_console.console.commands.looking import open_session
from handoff_console.console.viewmodels.text import count
from handoff_console.runtime import EventList, Flow, run
from handoff_console.runtime.events import EventSink
from handoff_console.store.db import open_reader
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.writer import StoreSink, open_sink

EACH_SECONDS = 1.0
"""How long each thing is done over and over."""
SLICES = 5
CHAIN_HANDOFFS = 50
LARGE_HANDOFFS = 1_000
"""Of the session that is opened; it has some ten events for each."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured."""

    name: str
    title: str
    value: float
    unit: str
    ratio: float | None = None
    beside: str = ""
    """What the ratio compares it with."""


@dataclass(frozen=True, slots=True)
class _Spent:
    cpu_seconds: float
    times: int

    @property
    def each_ms(self) -> float:
        return self.cpu_seconds / self.times * 1e3


def bench(folder: Path, each_seconds: float = EACH_SECONDS) -> Iterator[Figure]:
    """Measure one thing after the other.

    Args:
        folder: Where a store is made and removed again, so that its disk is the one that counts; a
            temporary folder where nothing may be written there.
        each_seconds: How long each thing is done over and over.

    Yields:
        The figures, each as soon as it is there.
    """
    with _scratch(folder) as place:
        path = place / "bench.db"
        with closing(open_sink(path, create=True)) as sink:
            yield _events(sink, each_seconds)
            for title, flow in (
                ("a session: triage hands over to billing", bench_flows.one_transfer()),
                ("a session: the same with a tool", bench_flows.with_a_tool()),
                ("a session: two workers at once", bench_flows.two_workers()),
            ):
                yield _session(title, flow, sink, each_seconds)
        yield from _chain(place / "chain.db", each_seconds)
        yield _page(path, each_seconds / 5)
        yield from _large(place / "large.db", each_seconds / 2)


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    where = folder if folder.is_dir() and os.access(folder, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix=".handoff-bench-", dir=where) as made:
        yield Path(made)


def _over_and_over(work: Callable[[], object], seconds: float) -> _Spent:
    """Do some work again and again, the first time without counting it."""
    work()
    began, cpu, times = time.monotonic(), time.process_time(), 0
    while not times or time.monotonic() - began < seconds:
        work()
        times += 1
    return _Spent(time.process_time() - cpu, times)


def _runs(flow: Flow, sink: Callable[[], EventSink], seconds: float) -> _Spent:
    async def sessions() -> _Spent:
        await run(flow, QUESTION, sink=sink())
        began, cpu, times = time.monotonic(), time.process_time(), 0
        while not times or time.monotonic() - began < seconds:
            await run(flow, QUESTION, sink=sink())
            times += 1
        return _Spent(time.process_time() - cpu, times)

    return asyncio.run(sessions())


def _events(sink: StoreSink, seconds: float) -> Figure:
    recorded = EventList(digest_key=sink.digest_key)
    asyncio.run(run(bench_flows.one_transfer(), QUESTION, sink=recorded))
    number = 0

    def write() -> None:
        nonlocal number
        number += 1
        name = f"bench-{number}"
        for digest, body in recorded.bodies.items():
            sink.keep(digest, body, name)
        for event in recorded.events:
            sink.append(event._replace(session_id=name))
            if event.kind in ("model_called", "session_closed"):
                sink.commit()

    spent = _over_and_over(write, seconds)
    each_us = spent.each_ms * 1e3 / len(recorded.events)
    return Figure("event", "an event, with what it says", each_us, "µs")


def _session(title: str, flow: Flow, sink: StoreSink, seconds: float) -> Figure:
    kept_ms, alone_ms = _side_by_side(
        lambda slice_seconds: _runs(flow, lambda: sink, slice_seconds),
        lambda slice_seconds: _runs(flow, EventList, slice_seconds),
        seconds,
    )
    return Figure(flow.name, title, kept_ms, "ms", kept_ms / alone_ms, "without a store")


def _side_by_side(
    one: Callable[[float], _Spent], other: Callable[[float], _Spent], seconds: float
) -> tuple[float, float]:
    """Return what each takes in milliseconds: the best of several slices, taken in turn.

    What else the machine does makes a slice slower, never faster.
    """
    slices = [(one(seconds / SLICES), other(seconds / SLICES / 2)) for _ in range(SLICES)]
    return min(a.each_ms for a, _ in slices), min(b.each_ms for _, b in slices)


def _chain(path: Path, seconds: float) -> Iterator[Figure]:
    short, long = 10, CHAIN_HANDOFFS
    with closing(open_sink(path, create=True)) as sink:
        flows = bench_flows.chain(long), bench_flows.chain(short)
        long_ms, short_ms = _side_by_side(
            lambda slice_seconds: _runs(flows[0], lambda: sink, slice_seconds),
            lambda slice_seconds: _runs(flows[1], lambda: sink, slice_seconds),
            seconds,
        )
    ratio = (long_ms / long) / (short_ms / short)
    title, beside = f"a handoff of a chain of {long}", f"in a chain of {short}"
    yield Figure("chain", title, long_ms / long, "ms", ratio, beside)
    with closing(open_reader(path)) as db:
        opened = "select count(*) from events join kinds using (kind) where name = 'handoff_opened'"
        (handoffs,) = db.execute(opened).fetchone()
    yield Figure("size", "a handoff on the disk", path.stat().st_size / handoffs / 1e3, "KB")


def _page(path: Path, seconds: float) -> Figure:
    page = session_page(path, SessionFilter(), limit=50)
    spent = _over_and_over(lambda: session_page(path, SessionFilter(), limit=50), seconds)
    return Figure("list", f"the list of {count(page.total, 'session')}", spent.each_ms, "ms")


def _large(path: Path, seconds: float) -> Iterator[Figure]:
    with closing(open_sink(path, create=True)) as sink:
        result = asyncio.run(run(bench_flows.chain(LARGE_HANDOFFS), QUESTION, sink=sink))

    def look() -> int:
        with open_session(path, result.session_id) as record:
            record.header  # noqa: B018 - all that the top of a page says
            return len(record.events)

    events = look()
    spent = _over_and_over(look, seconds)
    yield Figure("open", f"opening a session of {count(events, 'event')}", spent.each_ms, "ms")
