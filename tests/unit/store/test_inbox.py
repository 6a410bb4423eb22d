import json

import pytest

from handoff_console.runtime import Decision
from handoff_console.store.errors import AlreadySaid
from handoff_console.store.inbox import inbox_of, put_answer, put_decision, take_over

YES = Decision(
    approval_id="h2.1.0",
    approved=True,
    shown="d1",
    arguments={"to": "bob", "text": "Hello"},
    decided_by="M. Adeyemi",
    note="checked",
)


def test_what_was_said_comes_out_as_it_was_put_in(db):
    put_decision(db, "s-1", YES)
    put_answer(db, "s-1", "h3#1", "It is 4812.", "Ana")
    put_answer(db, "s-2", "h3#1", "Another session's.")

    inbox = inbox_of(db, "s-1")

    assert inbox.decisions == (YES,)
    assert inbox.answers == {"h3#1": "It is 4812."}
    assert inbox.answers_by_handoff == {"h3": "It is 4812."}


def test_a_session_that_nobody_said_anything_to_has_an_empty_inbox(db):
    assert inbox_of(db, "s-1") == ((), {})


@pytest.mark.parametrize("approved", [False, "yes", 1, None])
def test_only_true_is_kept_as_a_yes(db, approved):
    put_decision(db, "s-1", Decision(approval_id="h2.1.0", approved=approved, shown="d1"))

    assert inbox_of(db, "s-1").decisions[0].approved is False


def test_an_act_is_decided_about_once_also_after_it_was_taken_over(db):
    put_decision(db, "s-1", YES)
    refusals = []
    for _ in range(2):
        with pytest.raises(AlreadySaid) as raised:
            put_decision(db, "s-1", Decision(approval_id="h2.1.0", approved=False, shown="d1"))
        refusals.append(str(raised.value))
        take_over(db, "s-1", {"h2.1.0"})

    assert set(refusals) == {
        "h2.1.0 of session 's-1' was dealt with before by M. Adeyemi, and that counts; "
        "`handoff show s-1` says how to go on."
    }


def test_another_question_of_the_same_handoff_is_another_subject(db):
    put_answer(db, "s-1", "h3#1", "It is 4812.")
    take_over(db, "s-1", {"h3#1"})
    put_answer(db, "s-1", "h3#2", "In May.")

    assert inbox_of(db, "s-1").answers == {"h3#2": "In May."}


def test_what_was_taken_over_is_forgotten(db, path):
    put_decision(db, "s-1", YES)
    put_answer(db, "s-1", "h3#1", "my password is hunter2")
    take_over(db, "s-1", {"h2.1.0", "h3#1", "h9#1"})

    assert inbox_of(db, "s-1") == ((), {})
    rows = db.execute("select arguments, sent_by from commands order by command").fetchall()
    assert [(json.loads(said), by) for said, by in rows] == [({}, "M. Adeyemi"), ({}, "")]
    db.execute("pragma wal_checkpoint(truncate)")
    assert not any(b"hunter2" in file.read_bytes() for file in path.parent.iterdir())
