"""A plan made from what was kept of a record is the plan made from the record; so are its parts."""

from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handoff_console.console.commands.estimates import plan_rerun
from handoff_console.console.commands.rerun_course import course_of
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.kept_pasts import plan_now
from handoff_console.console.queries import version
from handoff_console.runtime.contract import HUMAN
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.rerun_player import Mode
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store import reader
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of

CHANGES = (
    Edits(),
    Edits(task="Look into something else"),
    Edits(limits={"max_steps": 1}),
    Edits(limits={"max_tokens": 600, "deadline_seconds": 2.0}),
    Edits(limits={"max_steps": 50}),
    Edits(denied=("billing.list_payments",)),
)


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """A store with the sample sessions, and the handoffs of all of them."""
    path = tmp_path_factory.mktemp("plans") / "samples.db"
    unpack(path)
    with closing(open_reader(path)) as db:
        opened = [
            (session, event.handoff_id)
            for session in reader.session_ids(db)
            for event in reader.load_events(db, session, kinds={"handoff_opened"})
            if event.payload.target != HUMAN
        ]
    return path, opened


def said(work):
    try:
        return work()
    except HandoffConsoleError as error:
        return str(error)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_was_kept_gives_the_plan_that_the_record_gives(samples, data):
    path, opened = samples
    session, handoff = data.draw(st.sampled_from(opened))
    order = RerunOrder(
        handoff_id=handoff,
        mode=data.draw(st.sampled_from(Mode)),
        edits=data.draw(st.sampled_from(CHANGES)),
        times=data.draw(st.integers(1, 3)),
        leave_marks=data.draw(st.booleans()),
    )

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HANDOFF_DB", str(path))
        for one in (order, replace(order, edits=Edits())):
            kept = said(lambda one=one: plan_now(version(session), one))

            assert kept == said(lambda one=one: plan_rerun(path, session, one))


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_part_of_a_course_is_the_course_of_that_part_of_the_record(samples, data):
    path, opened = samples
    session = data.draw(st.sampled_from(opened))[0]
    with closing(open_reader(path)) as db:
        record = Record((found := recording_of(db, session)).events, found.body)
    ids = [node.handoff_id for node in record.tree.nodes]
    inside = frozenset(data.draw(st.sets(st.sampled_from(ids))))
    cut = data.draw(st.integers(1, record.events[-1].seq + 1))
    course = course_of(record)

    def of(happens):
        return course_of(Record(list(filter(happens, record.events)), record.body))

    assert course.only(lambda name: name in inside) == of(lambda e: e.handoff_id in inside)
    assert course.only(lambda name: name not in inside) == of(lambda e: e.handoff_id not in inside)
    happens = course.until(cut, inside)
    assert happens == of(lambda e: e.seq < cut or e.handoff_id not in inside)
