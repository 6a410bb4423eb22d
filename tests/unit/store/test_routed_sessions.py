"""Which sessions are judged by their routing, and what came with their requests."""

from contextlib import closing
from dataclasses import replace

import pytest
from support import recorded

from handoff_console.store.db import open_reader
from handoff_console.store.routed_sessions import (
    first_messages,
    label_keys,
    previews,
    recorded_flows,
    routed_sessions,
    session_labels,
)


@pytest.fixture
def db(tmp_path):
    labelled = recorded.refund_policy()
    first = labelled.events[0]
    told = replace(first.payload, metadata={"who": "supervisor", "line": "7"})
    labelled.events[0] = first._replace(payload=told)
    path = recorded.record(
        tmp_path / "sessions.db",
        [
            ("s-new", labelled),
            ("s-old", recorded.double_charge()),
            ("s-open", recorded.running()),
        ],
    )
    with closing(open_reader(path)) as opened:
        yield opened


def test_only_closed_sessions_are_judged_the_oldest_first(db):
    found = routed_sessions(db)

    assert [it.session_id for it in found] == ["s-old", "s-new"]
    assert all(it.last_seq > 1 for it in found)


def test_what_came_with_a_request_may_be_its_label_when_it_names_an_agent(db):
    assert label_keys(db) == ["who"]
    assert session_labels(db, "who") == {"s-new": "supervisor"}
    assert session_labels(db, "line") == {"s-new": "7"}
    assert session_labels(db, 'a"b$') == {}


def test_sessions_are_known_by_what_they_began_with_the_newest_first(db):
    assert [(it.session_id, it.flow, it.text) for it in first_messages(db)] == [
        ("s-new", "support", "How long does a refund take?"),
        ("s-old", "support", "Why was I charged twice last month?"),
    ]
    assert first_messages(db, "bank") == []
    assert [it.session_id for it in first_messages(db, session_id="s-old")] == ["s-old"]


def test_some_sessions_are_known_by_the_beginning_of_what_they_began_with(db):
    assert previews(db, ["s-old", "s-gone"]) == {"s-old": "Why was I charged twice last month?"}
    assert previews(db, []) == {}


def test_the_flows_that_have_sessions_are_named(db):
    assert recorded_flows(db) == ["support"]
