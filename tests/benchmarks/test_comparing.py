"""What comparing takes, beside reading the same sessions; run with `make bench`."""

import time
from contextlib import closing
from pathlib import Path

import pytest
from support import event_logs
from support.recorded import wide

from handoff_console.store import reader
from handoff_console.store.analysis.diff import compare
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.text_diff import text_diff
from handoff_console.store.analysis.what_if import Change, courses, pool_marks, what_if
from handoff_console.store.db import open_reader
from handoff_console.store.writer import open_sink

pytestmark = pytest.mark.benchmark

HANDOFFS = 1_000
MEGABYTE = 1_000_000


def cpu_seconds(work) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two sessions of 1,000 handoffs and 24,000 events in one store, and one of them in another."""
    folder = tmp_path_factory.mktemp("comparing")
    left, right = wide(HANDOFFS, steps=3), wide(HANDOFFS - 1, steps=4)
    with open_sink(folder / "one.db", create=True) as sink:
        event_logs.write(sink, "left", left)
        event_logs.write(sink, "same", left)
        event_logs.write(sink, "right", right)
    with open_sink(folder / "other.db", create=True) as sink:
        event_logs.write(sink, "same", left)
    return folder


@pytest.mark.parametrize(
    ("store", "name", "ratio"),
    [("one.db", "same", 3.0), ("one.db", "right", 4.0), ("other.db", "same", 6.0)],
    ids=["the same", "one step more each", "the same in another store"],
)
def test_comparing_two_sessions_of_a_thousand_handoffs(folder, store, name, ratio):
    with (
        closing(open_reader(folder / "one.db")) as mine,
        closing(open_reader(folder / store)) as other,
    ):
        records = []

        def load() -> None:
            for db, session in ((mine, "left"), (other, name)):
                events = reader.load_events(db, session)
                records.append(Record(events, lambda digest, db=db: reader.body(db, digest)))

        reading = cpu_seconds(load)
        comparing = cpu_seconds(lambda: compare(*records))

    print(f"\n{comparing:.2f} s beside {reading:.2f} s of reading ({comparing / reading:.1f} ×)")
    assert comparing <= ratio * reading


def test_a_what_if_over_a_thousand_handoffs_follows_a_slider():
    log = wide(HANDOFFS, steps=3)
    played = courses(Record(log.events, log.body))
    one = cpu_seconds(lambda: what_if(played, Change(pool_tokens=50_000)))
    marks = cpu_seconds(lambda: pool_marks(played))

    print(f"\na position of the slider {1000 * one:.0f} ms, its marks {1000 * marks:.0f} ms")
    assert one <= 0.4
    assert marks <= 0.8


def test_texts_of_a_megabyte():
    words = [f"w{number % 5_003}" for number in range(MEGABYTE // 6)]
    lines = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
    changed = [
        line.replace(" ", " new ", 1) if not n % 100 else line for n, line in enumerate(lines)
    ]
    few = cpu_seconds(lambda: text_diff("\n".join(lines), "\n".join(changed)))
    every = cpu_seconds(lambda: text_diff(" ".join(words), " ".join(reversed(words))))

    print(f"\n140 changed lines {few:.2f} s, nothing in common {every:.2f} s")
    assert few <= 2
    assert every <= 12
