"""Re-runs in a store: found from either end, listed under what they repeat."""

import dataclasses
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support import event_logs
from support.logs import Log

from handoff_console.store import queries
from handoff_console.store.db import open_store
from handoff_console.store.errors import SessionUnknown
from handoff_console.store.lineage import ATTEMPT_COLUMNS, attempt_rows, attempts, origin_of
from handoff_console.store.maintenance import delete_sessions, rebuild
from handoff_console.store.schema import MIGRATIONS
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.writer import StoreSink

OF_EXPERIMENTS = (
    "experiment_trials",
    "experiments",
    "trials",
    "datasets",
    "prompt_versions",
    "baselines",
    "labels",
)
"""Tables that are younger than the columns of re-runs."""


def rerun(of: str, handoff_id: str = "h1", mode: str = "what-if", *, closed: bool = True) -> Log:
    """A re-run of a handoff, as the runtime records it."""
    log = event_logs.charged_twice() if closed else event_logs.at_work()
    started = dataclasses.replace(
        log.events[0].payload,
        origin="rerun",
        rerun_of=of,
        rerun_handoff=handoff_id,
        rerun_mode=mode,
    )
    log.events[0] = log.events[0]._replace(payload=started)
    return log


@pytest.fixture
def inbox(sink: StoreSink) -> sqlite3.Connection:
    """A session with three re-runs, one of them of another one; and a session without."""
    event_logs.write(sink, "first", event_logs.failed())
    event_logs.write(sink, "other", event_logs.not_found(), later_seconds=10)
    event_logs.write(sink, "again", rerun("first", "h1", "verify"), later_seconds=20)
    event_logs.write(sink, "twice", rerun("again", "h1"), later_seconds=30)
    event_logs.write(sink, "running", rerun("first", "h2", closed=False), later_seconds=40)
    return sink.db


def listed(db: sqlite3.Connection, **asked: object) -> list[tuple[str, int]]:
    rows = queries.session_rows(db, SessionFilter(**asked))  # type: ignore[arg-type]
    return [(row["session_id"], row["reruns"]) for row in rows]


def test_reruns_are_counted_under_what_they_repeat_and_have_no_rows_of_their_own(inbox):
    assert listed(inbox) == [("first", 3), ("other", 0)]
    assert queries.session_count(inbox) == 2
    counts = queries.outcome_counts(inbox)
    assert dict(zip(counts["outcome"], counts["sessions"], strict=True)) == {
        "error": 1,
        "not_found": 1,
    }
    flows = queries.facets(inbox)
    assert flows.loc[flows["facet"] == "flow", "sessions"].tolist() == [2]


def test_reruns_are_listed_when_they_are_asked_for(inbox):
    assert sorted(listed(inbox, reruns=True)) == [
        ("again", 1),
        ("first", 3),
        ("other", 0),
        ("running", 0),
        ("twice", 0),
    ]
    assert sorted(listed(inbox, origin="rerun")) == [("again", 1), ("running", 0), ("twice", 0)]
    assert queries.session_count(inbox, SessionFilter(reruns=True)) == 5


def test_a_row_of_a_rerun_says_what_it_repeats_and_how(inbox):
    rows = {
        row["session_id"]: row for row in queries.session_rows(inbox, SessionFilter(reruns=True))
    }

    for name, wanted in [
        ("first", ("", "", "")),
        ("again", ("first", "h1", "verify")),
        ("running", ("first", "h2", "what-if")),
    ]:
        row = rows[name]
        assert (row["rerun_of"], row["rerun_handoff"], row["rerun_mode"]) == wanted


def test_a_family_is_the_same_whoever_of_it_is_asked_for(inbox):
    family = [(row["session_id"], row["level"]) for row in attempt_rows(inbox, "first")]

    assert family == [("first", 0), ("again", 1), ("twice", 2), ("running", 1)]
    for name, _ in family:
        assert [(r["session_id"], r["level"]) for r in attempt_rows(inbox, name)] == family
    assert [row["session_id"] for row in attempt_rows(inbox, "other")] == ["other"]


def test_an_attempt_says_how_it_came_out(inbox):
    rows = {row["session_id"]: row for row in attempt_rows(inbox, "first")}

    assert rows["again"] == {
        "session_id": "again",
        "rerun_of": "first",
        "rerun_handoff": "h1",
        "rerun_mode": "verify",
        "level": 1,
        "outcome": "ok",
        "reason": "",
        "tokens_used": 270,
        "pool_tokens": 20_000,
        "duration_seconds": rows["again"]["duration_seconds"],
        "started_at": rows["again"]["started_at"],
    }
    assert rows["running"]["outcome"] == "running"
    assert (rows["first"]["outcome"], rows["first"]["rerun_mode"]) == ("error", "")
    assert rows["twice"]["started_at"] - rows["again"]["started_at"] == 10


def test_a_family_comes_as_a_frame_too(inbox):
    frame = attempts(inbox, "twice")

    assert list(frame.columns) == ATTEMPT_COLUMNS
    assert frame["session_id"].tolist() == ["first", "again", "twice", "running"]
    assert str(frame["started_at"].dt.tz) == "UTC"


def test_an_unknown_session_has_no_family(inbox):
    with pytest.raises(SessionUnknown):
        attempt_rows(inbox, "nobody")


def test_when_the_original_is_deleted_its_reruns_are_listed(inbox, path):
    with closing(open_store(path)) as db:
        delete_sessions(db, ["first"])

        assert sorted(listed(db)) == [("again", 1), ("other", 0), ("running", 0)]
        assert origin_of(db, "twice") == "again"
        assert [row["session_id"] for row in attempt_rows(db, "twice")] == ["again", "twice"]
        assert [row["rerun_of"] for row in attempt_rows(db, "running")] == ["first"]


def test_sessions_that_name_each_other_are_listed_and_come_to_an_end(sink: StoreSink):
    event_logs.write(sink, "a", rerun("b"))
    event_logs.write(sink, "b", rerun("a"))
    event_logs.write(sink, "self", rerun("self"))

    assert sorted(name for name, _ in listed(sink.db)) == ["a", "b", "self"]
    assert {row["session_id"] for row in attempt_rows(sink.db, "a")} == {"a", "b"}
    assert [row["session_id"] for row in attempt_rows(sink.db, "self")] == ["self"]


def test_a_rebuild_gives_the_same_lines(inbox, path):
    before = listed(inbox, reruns=True)
    with closing(open_store(path)) as db:
        rebuild(db)

        assert listed(db, reruns=True) == before
        assert listed(db) == [("first", 3), ("other", 0)]


def test_a_store_of_before_learns_which_of_its_sessions_are_reruns(tmp_path: Path, inbox, path):
    """A store as version 11 left it: the same rows, without the columns."""
    old = tmp_path / "old.db"
    with closing(open_store(path)) as db:
        db.execute("vacuum into ?", (str(old),))
    with closing(sqlite3.connect(old)) as db:
        db.execute("drop view sessions")
        db.execute("drop view open_sessions")
        db.execute("drop index reruns")
        for table in OF_EXPERIMENTS:
            db.execute(f"drop table {table}")
        for column in ("rerun_of", "rerun_handoff", "rerun_mode"):
            db.execute(f"alter table session_summary drop column {column}")
        db.execute("create view open_sessions as select 1")
        db.execute("create view sessions as select 1")
        db.execute("pragma user_version = 11")
        db.commit()

    with closing(open_store(old)) as db:
        assert listed(db) == [("first", 3), ("other", 0)]
        assert db.execute("pragma user_version").fetchone()[0] == len(MIGRATIONS)
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
    with closing(sqlite3.connect(old)) as db:
        found = db.execute("select session_id, rerun_of from sessions order by session_id")
        assert dict(found.fetchall())["again"] == "first"
