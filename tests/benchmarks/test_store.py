"""What recording costs beside plain SQLite, on disk, and what reading a large store takes.

Ratios are taken in one run, because machines differ; the figures to reach stand in the assertions.
"""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from support import event_logs
from support.logs import Log
from support.recorded import wide

from handoff_console.runtime.events import Event, payload_fields
from handoff_console.store import queries, reader, session_queries
from handoff_console.store.db import open_reader
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.writer import StoreSink, open_sink

pytestmark = pytest.mark.benchmark

SESSIONS = 300
REPEATS = 7
INBOX_SESSIONS = 100_000


def cpu_ms(work, *, per: int) -> float:
    before = time.process_time()
    work()
    return (time.process_time() - before) / per * 1000


def plain_store(path: Path) -> sqlite3.Connection:
    """The least that keeps the same events: one table, an index of nothing, JSON as it is."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = normal")
    db.execute("create table event (session text, seq integer, at real, kind text, handoff text,"
               " payload text, primary key (session, seq)) without rowid")  # fmt: skip
    return db


def write_plainly(db: sqlite3.Connection, events: list[Event]) -> None:
    rows = []
    for event in events:
        fields = json.dumps(payload_fields(event.payload), separators=(",", ":"))
        rows.append((event.session_id, event.seq, event.at, event.kind, event.handoff_id, fields))
        if event.kind in ("model_called", "session_closed"):
            db.execute("begin")
            db.executemany("insert into event values (?, ?, ?, ?, ?, ?)", rows)
            db.execute("commit")
            rows.clear()


def write(sink: StoreSink, events: list[Event], bodies: dict[str, bytes]) -> None:
    for digest, body in bodies.items():
        sink.keep(digest, body, events[0].session_id)
    for event in events:
        sink.append(event)
        if event.kind in ("model_called", "session_closed"):
            sink.commit()


class Collected:
    """Takes a session's bodies without writing them."""

    def __init__(self, digest_key: bytes) -> None:
        self.digest_key = digest_key
        self.bodies: dict[str, bytes] = {}

    def keep(self, digest: str, body: bytes, session_id: str) -> None:
        self.bodies.setdefault(digest, body)


def sessions(sink: StoreSink, first: int) -> list[tuple[list[Event], dict[str, bytes]]]:
    made = []
    for number in range(first, first + SESSIONS):
        collected = Collected(sink.digest_key)
        log = event_logs.charged_twice(f"Why was I charged twice last month? ({number})")
        made.append((event_logs.keep(collected, f"s-{number:08}", log), collected.bodies))
    return made


def test_recording_a_session_beside_plain_inserts_of_its_events(tmp_path):
    ours, plain = [], []
    with (
        open_sink(tmp_path / "ours.db", create=True) as sink,
        closing(plain_store(tmp_path / "plain.db")) as db,
    ):
        empty_bytes = sink.db.execute("pragma page_count").fetchone()[0] * 4096
        for repeat in range(REPEATS):
            made = sessions(sink, repeat * SESSIONS)
            plain.append(
                cpu_ms(
                    lambda made=made: [write_plainly(db, events) for events, _ in made],
                    per=SESSIONS,
                )
            )
            ours.append(
                cpu_ms(lambda made=made: [write(sink, *session) for session in made], per=SESSIONS)
            )
    size = ((tmp_path / "ours.db").stat().st_size - empty_bytes) / (SESSIONS * REPEATS) / 1024
    ratio = min(ours) / min(plain)
    print(
        f"\na session of 19 events, 14 bodies, 3 commits: {min(ours):.3f} ms of CPU,"
        f" {min(ours) / 19 * 1000:.1f} µs an event; plain inserts of its events alone:"
        f" {min(plain):.3f} ms; ratio {ratio:.2f}; {size:.2f} KB on disk"
    )

    assert ratio < 4.5
    assert size < 4.6


@pytest.mark.parametrize("handoffs", [10, 200])
def test_a_handoff_of_a_long_chain_costs_no_more_than_one_of_a_short_chain(tmp_path, handoffs):
    log = Log(pool_tokens=10**7).user("Pass it on")
    now = log.root("one")
    for number in range(handoffs):
        log.step(now, tokens=50)
        now = log.transfer(now, ("two", "one")[number % 2], task="Find the invoices of 4812")
    log.step(now).close(now, "ok").end("ok")
    with open_sink(tmp_path / "store.db", create=True) as sink:
        empty = sink.db.execute("pragma page_count").fetchone()[0]
        for number in range(20):
            event_logs.write(sink, f"s-{number}", log)
    kilobytes = ((tmp_path / "store.db").stat().st_size - empty * 4096) / 1024 / 20 / handoffs
    print(f"\n{handoffs} handoffs: {kilobytes:.2f} KB a handoff on disk")

    assert kilobytes < 4


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    """A store with 100,000 sessions of two events each, 200 of them not closed."""
    path = tmp_path_factory.mktemp("inbox") / "store.db"
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-0", event_logs.charged_twice())
    with closing(sqlite3.connect(path)) as db:
        multiply(db)
        db.commit()
    with closing(open_reader(path)) as db:
        yield db


def multiply(db: sqlite3.Connection) -> None:
    """Make many sessions of one, with outcomes and words of their own."""
    db.execute(f"""
        create temp table numbers as with recursive n (n) as (
            select 2 union all select n + 1 from n where n < {INBOX_SESSIONS}) select n from n""")
    db.execute("insert into session_keys (session, session_id) select n, 's-' || n from numbers")
    columns = "at_us, elapsed_us, turn, attempt, kind, version, payload"
    for seq, source in ((1, 1), (2, 19)):
        db.execute(
            f"insert into events (event, {columns}) select (n << 32) + {seq}, {columns}"
            f" from numbers, events where event = (1 << 32) + iif(n % 500 = 0, 1, {source})"
        )
    names = [row[1] for row in db.execute("pragma table_info(session_summary)")]
    changed = {
        "session": "n",
        "severity": "n % 5",
        "outcome": 'json_extract(\'["error","limit_reached","needs_input","not_found",'
        "\"ok\"]', '$[' || (n % 5) || ']')",
        "started_at_us": "started_at_us + (n * 7919 % 1000003) * 1000000",
        "preview": "'How do I change order ' || n || ' word' || (n % 997)",
        "agents": 'iif(n % 3, \'["triage","billing"]\', \'["triage","parcels"]\')',
        "metadata": "json_object('intent', 'i' || (n % 40), 'line', cast(n as text))",
    }
    values = ", ".join(changed.get(name, name) for name in names)
    db.execute(
        f"insert into session_summary select {values} from numbers, session_summary"
        " where session = 1 and n % 500 <> 0"
    )
    db.execute(
        "insert into session_words (rowid, message, answer, agents, notes)"
        " select session, preview, '', 'triage', '' from session_summary where session > 1"
    )


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(queries.sessions, id="first page"),
        pytest.param(lambda db: queries.sessions(db, offset=50_000), id="page 1,000"),
        pytest.param(lambda db: queries.sessions(db, order="newest"), id="newest"),
        pytest.param(queries.session_count, id="count"),
        pytest.param(queries.outcome_counts, id="outcomes"),
        pytest.param(
            lambda db: queries.sessions(db, SessionFilter(outcomes=("interrupted", "ok"))),
            id="outcome",
        ),
        pytest.param(lambda db: queries.sessions(db, SessionFilter(agent="parcels")), id="agent"),
        pytest.param(
            lambda db: queries.sessions(db, SessionFilter(text="order word77")), id="text"
        ),
        pytest.param(
            lambda db: queries.sessions(db, SessionFilter(label=("intent", "i3"))), id="label"
        ),
    ],
)
def test_the_inbox_of_many_sessions_answers_at_once(inbox, ask, request):
    took = []
    for _ in range(3):
        before = time.process_time()
        ask(inbox)
        took.append(time.process_time() - before)
    print(f"\n{request.node.callspec.id}: {min(took):.3f} s over {INBOX_SESSIONS:,} sessions")

    assert min(took) < 0.5


def test_a_large_session_is_read_in_pieces_and_as_a_whole(tmp_path):
    with open_sink(tmp_path / "store.db", create=True) as sink:
        events = event_logs.write(sink, "s-1", wide(1_000, steps=18))
    with closing(open_reader(tmp_path / "store.db")) as db:
        took = {}
        for what, options in {
            "all": {},
            "tail of 100": {"last": 100},
            "page of 100": {"after_seq": 50_000, "until_seq": 50_100},
            "handoffs": {"kinds": ["handoff_requested", "handoff_opened", "handoff_closed"]},
            "one handoff": {"handoff_id": "h500"},
        }.items():
            before = time.perf_counter()
            reader.load_events(db, "s-1", **options)
            took[what] = time.perf_counter() - before
        before = time.perf_counter()
        session_queries.handoffs(db, "s-1")
        took["handoffs as a frame"] = time.perf_counter() - before
    print(f"\n{len(events):,} events:", ", ".join(f"{k} {v:.3f} s" for k, v in took.items()))

    assert took["tail of 100"] < 0.02
    assert took["page of 100"] < 0.02
