from handoff_console.store.commands import append_command, finish_command, open_commands


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
