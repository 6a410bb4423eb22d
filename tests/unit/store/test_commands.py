import pytest

from handoff_console.store.commands import append_command, finish_command, open_commands
from handoff_console.store.errors import AlreadySaid


def test_a_command_waits_until_it_is_done(db):
    first = append_command(db, "s-1", "approve", {"approval_id": "a1", "approved": True})
    second = append_command(db, "s-1", "cancel", {})
    append_command(db, "s-2", "cancel", {})

    before = open_commands(db, "s-1")
    done = finish_command(db, first)

    assert [(c.command, c.verb, c.arguments) for c in before] == [
        (first, "approve", {"approval_id": "a1", "approved": True}),
        (second, "cancel", {}),
    ]
    assert done
    assert [c.command for c in open_commands(db, "s-1")] == [second]


def test_a_command_is_done_once(db):
    number = append_command(db, "s-1", "cancel", {})

    assert [finish_command(db, number), finish_command(db, number)] == [True, False]
    assert not finish_command(db, 99)


def test_a_session_nobody_asked_anything_of_has_no_commands(db):
    assert open_commands(db, "s-1") == []


def test_one_command_of_a_verb_may_be_about_a_subject(db):
    append_command(db, "s-1", "decide", {}, subject="a1", sent_by="Ana")
    append_command(db, "s-1", "answer", {}, subject="a1")
    append_command(db, "s-2", "decide", {}, subject="a1")

    with pytest.raises(AlreadySaid, match=r"a1 of session 's-1' was dealt with before by Ana,"):
        append_command(db, "s-1", "decide", {}, subject="a1", sent_by="Bob")
    assert [c.sent_by for c in open_commands(db, "s-1")] == ["Ana", ""]


def test_a_name_that_no_store_can_hold_is_kept_as_near_as_it_gets(db):
    append_command(db, "s-1", "decide", {}, subject="a1", sent_by="A\0na\ud800")

    assert [c.sent_by for c in open_commands(db, "s-1")] == ["A\N{REPLACEMENT CHARACTER}na?"]
