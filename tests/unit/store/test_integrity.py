from contextlib import closing

import pytest
from support import event_logs

from handoff_console.store.db import open_reader
from handoff_console.store.integrity import problems
from handoff_console.store.writer import open_sink


@pytest.fixture
def db(sink):
    event_logs.write(sink, "s-1", event_logs.charged_twice())
    event_logs.write(sink, "s-2", event_logs.at_work())
    return sink.db


def test_a_whole_store_has_no_problem(db):
    assert problems(db) == []


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (
            "delete from events where seq = 3 and session = 1",
            "Session s-1 has 18 events numbered from 1 to 19; some are missing.",
        ),
        (
            "delete from session_keys where session = 2",
            "events belong to session number 2, which is not there.",
        ),
        (
            "update events set payload = '{}' where event = (1 << 32) + 2",
            "Event 2 of session number 1 cannot be read (An event 'user_message_received'",
        ),
        (
            "delete from bodies where body = 2",
            "Session s-1 names 1 body that is not there.",
        ),
        ("delete from body_refs where session = 1", "bodies belong to no session."),
        (
            "update bodies set content = '\"changed\"' where body = 2",
            "1 body was changed after recording: content and digest differ; the",
        ),
        (
            "delete from session_keys where session = 1",
            "1 line of the inbox belongs to no session; `handoff rebuild` mends that.",
        ),
    ],
)
def test_damage_is_named(db, damage, says):
    db.execute(damage)

    assert any(says in problem for problem in problems(db))


def test_a_damaged_page_is_one_sentence(path):
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.charged_twice("x" * 50_000))
    content = bytearray(path.read_bytes())
    with closing(open_reader(path)) as db:
        page = db.execute("select rootpage from sqlite_schema where name = 'events'").fetchone()[0]
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(content)

    with closing(open_reader(path)) as db:
        found = problems(db)

    assert found
    assert all(problem.startswith("The file is damaged: ") for problem in found)


def test_no_more_problems_are_listed_than_anybody_reads(db, monkeypatch):
    monkeypatch.setattr("handoff_console.store.integrity.PROBLEMS_SHOWN", 3)
    db.execute("update events set payload = '{}' where seq > 1")

    assert len(problems(db)) == 3
