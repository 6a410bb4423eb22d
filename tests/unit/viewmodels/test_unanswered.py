"""Calls that a re-run refused for want of a recorded answer."""

from contextlib import closing

import pytest

from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.viewmodels.unanswered import (
    KINDS,
    Unanswered,
    unanswered,
    unanswered_sentence,
)
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store import reader
from handoff_console.store.db import open_reader

CUT_OFF, REFUSED_ACT = "20261125-102000-41063c09", "20261124-121000-476edd6b"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("unanswered") / "handoff.db"
    unpack(path)
    return path


def again(store, session, handoff, mode, **edits) -> Unanswered:
    order = RerunOrder(handoff_id=handoff, mode=mode, edits=Edits(**edits))
    (run,) = rerun_handoff(store, session, order).runs
    with closing(open_reader(store)) as db:
        found = unanswered(reader.load_events(db, run.session_id, kinds=KINDS))
    assert found == (run.unanswered_calls, run.unanswered_acts)
    return found


def test_a_call_that_only_reads_is_answered_by_live_reads(store):
    more = {"limits": {"max_steps": 20, "max_tokens": 40_000}}
    found = again(store, CUT_OFF, "h2", Mode.WHAT_IF, **more)

    assert found == Unanswered(1, 0)
    assert unanswered_sentence(found) == (
        "1 tool call without a recorded answer; live-reads asks the tools."
    )
    assert again(store, CUT_OFF, "h2", Mode.LIVE_READS, **more) == Unanswered(0, 0)


@pytest.mark.parametrize("mode", [Mode.WHAT_IF, Mode.LIVE_READS])
def test_an_act_that_was_never_done_is_done_by_live_alone_after_a_yes(store, mode):
    found = again(store, REFUSED_ACT, "h1", mode)

    assert found == Unanswered(1, 1)
    assert unanswered_sentence(found) == (
        "1 tool call without a recorded answer; live asks the tools, and acts after a yes."
    )


def test_where_every_call_was_answered_nothing_is_said(store):
    found = again(store, CUT_OFF, "h2", Mode.VERIFY)

    assert (found, unanswered_sentence(found)) == (Unanswered(0, 0), "")
