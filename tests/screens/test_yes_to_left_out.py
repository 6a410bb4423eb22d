"""A yes in the page to an act of which the record leaves a value out: said where the yes is."""

import json

import pytest
from support.command import program
from support.seen import pressed, text
from support.tills import CARD, MESSAGE, TILL, lines

from handoff_console.console.commands.saying import decide
from handoff_console.console.commands.waiting import pending
from handoff_console.store import reader
from handoff_console.store.db import open_reader

FLOW = "till.py:flow"
YES = "Yes, send exactly this"


@pytest.fixture(autouse=True)
def till(store, tmp_path, monkeypatch):
    """A console that knows the till, which charges only after a yes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "till.py").write_text(TILL.replace("effect=Effect.WRITE", "effect=Effect.EXTERNAL"))
    monkeypatch.setenv("HANDOFF_FLOWS", f'["{FLOW}"]')


@pytest.fixture
def waiting(store, tmp_path) -> str:
    """A session that waits for a yes to a charge, of a process that is gone."""
    run = program(tmp_path, "run", FLOW, "--message", MESSAGE, "--db", store, "--json")
    return str(json.loads(run.out)["session_id"])


def card(page):
    return next(one for one in page.text_input if one.label == "card number")


def last_kind(store, session):
    with open_reader(store) as db:
        return reader.last_kind(db, session)


def is_written(store):
    """Say whether the number stands in any file of the store."""
    files = store.parent.glob(f"{store.name}*")
    return any(CARD.encode() in path.read_bytes() for path in files)


def test_the_value_is_said_where_one_says_yes_and_the_session_goes_on(
    screen, waiting, store, tmp_path
):
    page = screen("session", session=waiting)
    sent = text(page, f"asked/{waiting}/h1.2.0/sent")
    asked = text(page, "left_out h1.2.0 message")
    card(page).set_value(CARD)

    pressed(page, waiting, YES)

    assert sent == (
        "Exactly this will be sent, with what you say below in the place of its mark "
        "card [redacted: card number] total 30"
    )
    assert asked == "message: Charge order A-1 to [redacted: card number], please."
    assert last_kind(store, waiting) == "session_closed"
    assert lines(tmp_path / "charged.txt") == [f"{CARD} 30"]
    assert not is_written(store)


def test_a_value_of_another_form_decides_nothing(screen, waiting, store):
    page = screen("session", session=waiting)
    card(page).set_value("4111")

    pressed(page, waiting, YES)

    (act,) = pending(store, waiting).approvals
    assert "is not what was left out in message" in text(page, "asking_told")
    assert act.said is None


def test_a_no_needs_no_value(screen, waiting, store, tmp_path):
    pressed(screen("session", session=waiting), waiting, "No, do not send it")

    (act,) = pending(store, waiting).approvals
    assert act.said is not None
    assert not act.said.approved


def test_another_argument_is_changed_beside_the_value(screen, waiting, store, tmp_path):
    page = screen("session", session=waiting)
    page = page.toggle[0].set_value(True).run()
    page.text_input(key=f"asked/{waiting}/h1.2.0/value/total").set_value("31")
    card(page).set_value(CARD)

    pressed(page, waiting, "Yes, send it as changed")

    assert lines(tmp_path / "charged.txt") == [f"{CARD} 31"]
    assert not is_written(store)


def test_a_second_window_says_that_another_one_decided(screen, waiting, store, tmp_path):
    page = screen("session", session=waiting)
    card(page).set_value(CARD)
    decide(store, waiting, approved=False, decided_by="Ana")

    pressed(page, waiting, YES)

    assert "was left out" not in text(page, "asking_told")
    assert lines(tmp_path / "charged.txt") == []


def test_a_console_without_the_flow_names_the_command(screen, waiting, monkeypatch, store):
    monkeypatch.setenv("HANDOFF_FLOWS", "[]")
    page = screen("session", session=waiting)
    card(page).set_value(CARD)

    pressed(page, waiting, YES)

    told = text(page, "asking_told")
    assert told.startswith("Nothing was decided. The session ran a flow of your own, and no code")
    assert f"handoff approve {waiting} h1.2.0 --value 'card number=VALUE' --flow " in told
