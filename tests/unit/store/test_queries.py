import dataclasses
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from support import event_logs
from support.logs import Log

from handoff_console.runtime.events import SessionStarted
from handoff_console.runtime.process import this_process
from handoff_console.store import queries, session_queries
from handoff_console.store.analysis.tree import handoff_tree
from handoff_console.store.db import open_reader
from handoff_console.store.errors import SessionUnknown
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.views import LINES_SQL, SESSIONS_SQL
from handoff_console.store.writer import open_sink

NINE = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def started(log: Log, **changed) -> Log:
    """Change what a session's first event says."""
    first = log.events[0]
    assert isinstance(first.payload, SessionStarted)
    log.events[0] = first._replace(payload=dataclasses.replace(first.payload, **changed))
    return log


def here(log: Log) -> Log:
    """Let a session run in this process."""
    host, boot, pid, began = this_process()
    return started(log, host=host, boot=boot, pid=pid, process_started=began)


def gone(log: Log) -> Log:
    """Let a session have run in a process that has ended."""
    host, boot, pid, began = this_process()
    return started(log, host=host, boot=boot, pid=pid, process_started=began - 100)


LOGS = {
    "ok": event_logs.charged_twice,
    "not-found": event_logs.not_found,
    "error": event_logs.failed,
    "limit": event_logs.at_its_limit,
    "running": lambda: here(event_logs.at_work()),
    "interrupted": lambda: gone(event_logs.at_work()),
    "waiting": lambda: gone(event_logs.waiting()),
    "ok-later": lambda: started(
        event_logs.charged_twice("Is my invoice ORD-9812 paid?"),
        flow="research", prompt_version="v2", origin="sample",
        metadata={"intent": "billing", "line": "7"},
    ),
}  # fmt: skip


def _cancelled() -> Log:
    """A session that was closed before its handoffs were."""
    return event_logs.at_work().end(None, cancelled=True)


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    """A store with a session of each kind, each a minute later than the one before."""
    path = tmp_path_factory.mktemp("inbox") / "handoff.db"
    with open_sink(path, create=True) as sink:
        for minute, (name, make) in enumerate(LOGS.items()):
            event_logs.write(sink, name, make(), later_seconds=60.0 * minute)
    with closing(open_reader(path)) as db:
        yield db


def ids(frame: pd.DataFrame) -> list[str]:
    return frame["session_id"].tolist()


def found(db, **asked) -> set[str]:
    wanted = SessionFilter(**asked)
    names = set(ids(queries.sessions(db, wanted)))
    assert queries.session_count(db, wanted) == len(names)
    assert queries.outcome_counts(db, wanted)["sessions"].sum() == len(names)
    return names


def test_failed_sessions_come_first_then_the_newest(inbox):
    assert ids(queries.sessions(inbox)) == [
        "error", "limit", "waiting", "interrupted", "running", "not-found", "ok-later", "ok",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("order", "first"),
    [("newest", ["ok-later", "waiting"]), ("oldest", ["ok", "not-found"]),
     ("longest", ["ok-later", "ok"]), ("most_tokens", ["limit", "ok-later"])],
)  # fmt: skip
def test_sessions_can_be_ordered_otherwise(inbox, order, first):
    assert ids(queries.sessions(inbox, order=order, limit=2)) == first


def test_pages_hold_every_session_once(inbox):
    pages = [ids(queries.sessions(inbox, limit=3, offset=offset)) for offset in (0, 3, 6, 9)]

    assert [len(page) for page in pages] == [3, 3, 2, 0]
    assert [name for page in pages for name in page] == ids(queries.sessions(inbox, limit=None))
    assert queries.session_count(inbox) == 8


def test_a_row_says_what_the_inbox_shows(inbox):
    (row,) = queries.sessions(inbox, SessionFilter(flow="research")).to_dict("records")

    assert row == {
        "session_id": "ok-later",
        "outcome": "ok",
        "reason": "",
        "flow": "research",
        "prompt_version": "v2",
        "origin": "sample",
        "source": None,
        "message": "Is my invoice ORD-9812 paid?",
        "verdict": "billing answered after 1 transfer; nothing stands out.",
        "problem_handoff_id": "h2",
        "agent_at_fault": None,
        "turns": 1,
        "handoffs": 2,
        "refused": 0,
        "depth": 0,
        "hops": 1,
        "tokens_used": 270,
        "pool_tokens": 20_000,
        "started_at": pd.Timestamp(NINE + timedelta(minutes=7)),
        "duration_seconds": 1.8,
        "last_seen_at": pd.Timestamp(NINE + timedelta(minutes=7, seconds=1.8)),
        "last_seq": 19,
        "agents": ["triage", "billing"],
        "metadata": {"intent": "billing", "line": "7"},
        "rerun_of": "",
        "rerun_handoff": "",
        "rerun_mode": "",
        "reruns": 0,
    }


def test_whether_a_session_runs_is_judged_by_its_process(inbox):
    outcome = queries.sessions(inbox).set_index("session_id")["outcome"]

    assert outcome.to_dict() == {
        "error": "error", "limit": "limit_reached", "waiting": "waiting", "ok": "ok",
        "interrupted": "interrupted", "running": "running", "not-found": "not_found",
        "ok-later": "ok",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"outcomes": ("ok",)}, {"ok", "ok-later"}),
        ({"outcomes": ("running", "error")}, {"running", "error"}),
        ({"outcomes": ("interrupted",)}, {"interrupted"}),
        ({"flow": "research"}, {"ok-later"}),
        ({"flow": "nothing"}, set()),
        ({"prompt_version": "v2"}, {"ok-later"}),
        ({"prompt_version": "", "outcomes": ("ok",)}, {"ok"}),
        ({"origin": "sample"}, {"ok-later"}),
        ({"agent": "billing"}, {"ok", "ok-later"}),
        ({"agent": "outage"}, {"running", "interrupted"}),
        ({"agent": "bill"}, set()),
        ({"finding": "model_failed"}, {"error"}),
        ({"label": ("intent", "billing")}, {"ok-later"}),
        ({"label": ("intent", "other")}, set()),
        ({"label": ("line", "7")}, {"ok-later"}),
        ({"label": ("line", "")}, set()),
        ({"label": ('x":"', "y")}, set()),
        ({"agent": ""}, set()),
        ({"agent": 'triage","billing'}, set()),
        ({"agent": "\ud800"}, set()),
        ({"since": NINE + timedelta(minutes=6)}, {"waiting", "ok-later"}),
        ({"until": NINE + timedelta(minutes=1)}, {"ok"}),
        ({"since": NINE, "until": NINE}, set()),
        ({"text": "charged"}, {"ok"}),
        ({"text": "twice cha"}, {"ok"}),
        ({"text": "proration"}, {"ok", "ok-later"}),
        ({"text": "ord-9812"}, {"ok-later"}),
        ({"text": "ORD 98"}, {"ok-later"}),
        ({"text": "service"}, {"running", "interrupted"}),
        ({"text": "billing checked"}, {"ok", "ok-later"}),
        ({"text": "charged nothing"}, set()),
        ({"text": "  "}, set(LOGS)),
        ({"text": '"'}, set()),
        ({"text": "?"}, set(LOGS) - {"limit", "waiting"}),
        ({"text": "% _"}, set()),
        ({"text": "NOT ("}, set()),
        ({"text": "a OR b*", "flow": "support"}, set()),
        ({"text": "invoice", "outcomes": ("ok",), "flow": "research"}, {"ok-later"}),
    ],
)  # fmt: skip
def test_sessions_can_be_filtered(inbox, asked, names):
    assert found(inbox, **asked) == names


@pytest.mark.parametrize("spoiled", ["", "\ud800"])
def test_names_in_any_script_can_be_filtered_by(tmp_path, spoiled):
    metadata = {"ämter": "Müller \U0001f600", "other": spoiled}
    log = started(event_logs.charged_twice(), metadata=metadata)
    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        event_logs.write(sink, "s", log)

        assert found(sink.db, label=("ämter", "Müller \U0001f600")) == {"s"}
        assert found(sink.db, label=("ämter", "Müller")) == set()


def test_outcomes_are_counted_the_worst_first(inbox):
    counts = queries.outcome_counts(inbox)

    assert counts.values.tolist() == [
        ["error", 1], ["limit_reached", 1], ["interrupted", 1], ["running", 1], ["waiting", 1],
        ["not_found", 1], ["ok", 2],
    ]  # fmt: skip


def test_facets_say_what_can_be_filtered_by(inbox):
    facets = queries.facets(inbox)

    assert facets.values.tolist() == [
        ["flow", "support", 7], ["flow", "research", 1],
        ["prompt_version", "", 7], ["prompt_version", "v2", 1],
        ["origin", "run", 7], ["origin", "sample", 1],
        ["agent", "triage", 5], ["agent", "billing", 2], ["agent", "outage", 2],
        ["agent", "accounts", 1], ["agent", "invoices", 1], ["agent", "parcels", 1],
        ["finding", "limit_reached", 1], ["finding", "model_failed", 1],
    ]  # fmt: skip


def test_labels_with_too_many_values_are_left_out(inbox):
    assert queries.labels(inbox).values.tolist() == [
        ["intent", "billing", 1], ["line", "7", 1],
    ]  # fmt: skip
    assert queries.labels(inbox, most_values=0).empty


def test_handoffs_of_a_session_stand_in_the_order_they_were_asked_for(inbox):
    frame = session_queries.handoffs(inbox, "ok")

    first, second = frame.to_dict("records")
    assert (first["handoff_id"], first["source"], first["target"]) == ("h1", "user", "triage")
    assert (first["outcome"], first["transferred_to"]) == ("transferred", "h2")
    assert (second["handoff_id"], second["via"], second["hop"]) == ("h2", "transfer", 1)
    assert (second["outcome"], second["grant_tokens"], second["tokens_used"]) == ("ok", 2000, 150)
    assert second["at"] == pd.Timestamp(NINE + timedelta(seconds=0.8))


@pytest.mark.parametrize(
    ("name", "state"), [("running", "running"), ("interrupted", "interrupted")]
)
def test_a_handoff_that_is_not_closed_is_as_alive_as_its_process(inbox, name, state):
    assert session_queries.handoffs(inbox, name)["outcome"].tolist() == ["transferred", state]


@pytest.mark.parametrize("alive", [here, gone])
@pytest.mark.parametrize(
    "make", [event_logs.charged_twice, event_logs.waiting, event_logs.failed, _cancelled]
)
def test_a_handoff_is_called_what_the_tree_calls_it_at_every_event(tmp_path, make, alive):
    log = alive(make())
    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        events = event_logs.keep(sink, "s", log)
        for event in events:
            sink.append(event)
            sink.commit()
            nodes = handoff_tree(events[: event.seq], interrupted=alive is gone).nodes
            shown = dict(session_queries.handoffs(sink.db, "s")[["handoff_id", "outcome"]].values)

            assert shown == {node.handoff_id: node.outcome for node in nodes}, event.payload


def test_what_was_only_asked_for_is_not_called_running(tmp_path):
    log = here(Log().user("Hello"))
    log.call(log.root("triage"), "billing", opened=False)
    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        event_logs.write(sink, "s", log)

        assert session_queries.handoffs(sink.db, "s")["outcome"].tolist() == [
            "running",
            "asked for",
        ]


def test_a_refused_handoff_has_a_row(tmp_path):
    log = Log().user("Hello")
    root = log.root("triage")
    log.call(root, "nobody", refused="target")
    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        event_logs.write(sink, "s", log)
        row = session_queries.handoffs(sink.db, "s").iloc[1]

    assert (row["outcome"], row["refused_by"], row["target"]) == ("refused", "target", "nobody")
    assert pd.isna(row["opened_seq"])


def test_findings_come_with_their_evidence(inbox):
    (row,) = session_queries.findings(inbox, "error").to_dict("records")

    assert (row["session_id"], row["code"], row["severity"]) == ("error", "model_failed", "error")
    assert row["handoff_id"] == "h1"
    assert [seq for seq, _ in row["evidence"]] == [7]
    assert set(session_queries.findings(inbox)["session_id"]) == {"error", "limit"}


def test_an_unknown_session_is_named(inbox):
    for ask in (session_queries.handoffs, session_queries.findings):
        with pytest.raises(SessionUnknown, match="no session 'nobody'"):
            ask(inbox, "nobody")


def test_columns_are_there_when_no_row_is(db):
    for frame, columns in [
        (queries.sessions(db), 28),
        (queries.outcome_counts(db), 2),
        (queries.facets(db), 3),
        (queries.labels(db), 3),
        (session_queries.findings(db), 9),
    ]:
        assert frame.empty
        assert len(frame.columns) == columns
    assert str(queries.sessions(db)["started_at"].dtype) == "datetime64[us, UTC]"
    assert queries.session_count(db) == 0


def test_text_that_sqlite_cannot_decode_breaks_no_list(tmp_path):
    log = started(event_logs.at_work("a\0b \ud800"), flow="\ud800\0", metadata={"k": "\ud800"})
    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        event_logs.write(sink, "s", log)
        row = queries.sessions(sink.db).iloc[0]
        assert session_queries.handoffs(sink.db, "s")["handoff_id"].tolist() == ["h1", "h2"]

    assert row["metadata"] == {"k": "\ud800"}
    assert row["message"].startswith("a")


PREFIXES = [
    event_logs.charged_twice,
    event_logs.failed,
    event_logs.at_its_limit,
    event_logs.waiting,
]


@pytest.mark.parametrize("make", PREFIXES)
def test_a_session_read_from_its_events_says_what_its_line_would(tmp_path, make):
    """Two ways lead to a line: `summarise`, and SQL while it is not written."""
    from handoff_console.store.summary import summarise

    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        events = event_logs.keep(sink, "s", make())
        for event in events:
            sink.append(event)
            sink.commit()
            sink.db.execute("delete from session_summary")
            line = queries.sessions(sink.db).iloc[0]
            (row,) = queries.session_rows(sink.db)
            summary = summarise(events[: event.seq])
            for column, said in {
                "outcome": summary.outcome, "reason": summary.reason, "flow": summary.flow,
                "message": summary.preview, "turns": summary.turns, "origin": summary.origin,
                "handoffs": summary.handoffs, "refused": summary.refused, "depth": summary.depth,
                "hops": summary.hops, "tokens_used": summary.tokens_used,
                "pool_tokens": summary.pool_tokens, "agents": list(summary.agents),
                "duration_seconds": summary.duration_seconds, "metadata": summary.metadata,
                "verdict": summary.verdict, "problem_handoff_id": summary.problem_handoff_id,
                "agent_at_fault": summary.agent_at_fault,
            }.items():  # fmt: skip
                assert row[column] == said, (event.seq, column)
                assert line[column] == said or (said is None and pd.isna(line[column]))


def test_the_views_that_a_person_can_open_hold_the_same_rows(inbox):
    inbox.execute("pragma trusted_schema = on")
    try:
        for view, sql in [("sessions", SESSIONS_SQL), ("open_sessions", None)]:
            rows = inbox.execute(f"select * from {view} order by session").fetchall()
            if sql:
                assert rows == inbox.execute(f"select * from ({sql}) order by session").fetchall()
        assert len(inbox.execute("select * from handoffs").fetchall()) == 12
        assert len(inbox.execute(LINES_SQL).fetchall()) == 8
    finally:
        inbox.execute("pragma trusted_schema = off")


def test_rows_without_a_frame_are_those_of_the_frame(inbox):
    frame, rows = queries.sessions(inbox), queries.session_rows(inbox)

    assert [row["session_id"] for row in rows] == list(frame["session_id"])
    assert [list(row) for row in rows] == [list(frame)] * len(frame)
    assert [row["started_at"] for row in rows] == list(frame["started_at"])
    assert [row["agents"] for row in rows] == list(frame["agents"])
    assert rows[-1]["source"] is None
