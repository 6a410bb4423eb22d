"""Whole sessions that a comparison ran: kept, found by their experiment, and in nobody's way."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support import event_logs

from handoff_console.console.commands.comparing_versions import run
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.keeping import old_sessions
from handoff_console.console.viewmodels.inbox import trials_left_out
from handoff_console.store import queries
from handoff_console.store.db import open_reader
from handoff_console.store.routed_sessions import routed_sessions
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.writer import open_sink

CASES = """
{"flow": "servicedesk"}
{"id": "c1", "input": "I was charged twice on my invoice", "expected": ["billing"]}
{"id": "c2", "input": "My parcel has not arrived", "expected": ["orders"]}
"""


@pytest.fixture
def compared(tmp_path):
    """A store with one session of traffic, and four trials; and their experiment."""
    store = tmp_path / "handoff.db"
    (tmp_path / "cases.jsonl").write_text(CASES.strip(), "utf-8")
    done = run(store, Asked(("v2", "v3"), str(tmp_path / "cases.jsonl"), mode="full"))
    with open_sink(store) as sink:
        event_logs.write(sink, "s-real", event_logs.charged_twice())
    return store, done.experiment_id


def test_trials_stand_in_no_list_unless_they_are_asked_for(compared):
    store, experiment_id = compared
    of_it = SessionFilter(label=("experiment", experiment_id))
    with closing(open_reader(store)) as db:
        assert [row["session_id"] for row in queries.session_rows(db)] == ["s-real"]
        assert queries.session_count(db) == 1
        assert queries.session_count(db, SessionFilter(trials=True)) == 5
        assert queries.session_count(db, of_it) == 4
        assert queries.trial_count(db) == 4
        assert [it.session_id for it in routed_sessions(db)] == ["s-real"]


def test_a_trial_that_runs_is_left_out_and_counted_like_one_that_is_over(compared):
    store, experiment_id = compared
    log = event_logs.at_work()
    begun = replace(log.events[0].payload, origin="batch", metadata={"experiment": experiment_id})
    log.events[0] = log.events[0]._replace(payload=begun)
    with open_sink(store) as sink:
        event_logs.write(sink, "s-trial", log)
    with closing(open_reader(store)) as db:
        assert queries.session_count(db) == 1
        assert queries.trial_count(db) == 5


def test_lists_are_filtered_by_nothing_that_only_trials_have_but_their_experiment(compared):
    store, experiment_id = compared
    with closing(open_reader(store)) as db:
        assert queries.label_rows(db) == [("experiment", experiment_id, 4)]
        assert "servicedesk" not in {value for _, value, _ in queries.facet_rows(db)}


def test_pruning_takes_trials_like_any_session(compared):
    store, _ = compared
    old, staying = old_sessions(store, datetime.now(UTC) + timedelta(days=1))

    assert (len(old), staying) == (5, 0)


@pytest.mark.parametrize(
    ("trials", "says"),
    [
        (0, ""),
        (1, " Left out: 1 session of comparisons; choose an experiment under labels to see them."),
        (
            1_200,
            " Left out: 1,200 sessions of comparisons; choose an experiment under labels to see "
            "them.",
        ),
    ],
)
def test_a_list_says_how_many_it_leaves_out(trials, says):
    assert trials_left_out(trials) == says
