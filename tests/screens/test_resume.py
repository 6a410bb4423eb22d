"""Going on with an interrupted session from its page."""

import pytest
from support.command import program
from support.mailboxes import mailbox, sent
from support.seen import text
from support.threads import joined

from handoff_console.store import reader
from handoff_console.store.db import open_reader

FLOW = "mail.py:flow"


@pytest.fixture
def killed(store, tmp_path, monkeypatch):
    """Return a function that runs a session whose process is killed while it acts."""
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    monkeypatch.setenv("HANDOFF_FLOWS", f'["{FLOW}"]')

    def run(dies):
        program(tmp_path, "run", FLOW, "--message", "note it", "--db", store, DIES=dies)
        with open_reader(store) as db:
            return db.execute("select session_id from session_keys").fetchone()[0]

    return run


def kinds(store, session):
    with open_reader(store) as db:
        return [event.kind for event in reader.load_events(db, session)]


def resume_button(page):
    return next(one for one in page.button if one.label == "Resume this session")


def resumed(page, session):
    resume_button(page).click()
    page.run()
    joined(f"session-{session}")
    assert not page.exception
    return page


def say(page, what):
    page.radio[0].set_value(what)
    page.run()
    assert not page.exception
    return page


def test_it_says_what_is_finished_and_what_nobody_knows(screen, killed):
    page = screen("session", session=killed("after"))

    assert not page.exception
    assert text(page, "resume") == (
        "The process that ran this session is gone. It can go on from its record. "
        "No handoff is finished, and 1 answer of models and tools is recorded: none of that is "
        "done again. clerk (h1) goes on after 1 answer of its model."
    )
    said = text(page, "act h1.1.0")
    assert said.startswith("clerk was calling note (h1.1.0): nobody knows whether it happened.")
    assert resume_button(page).disabled


@pytest.mark.parametrize(
    ("dies", "what", "acts"),
    [
        ("after", "It happened", ["noted this"]),
        ("before", "It did not happen", ["noted this"]),
        ("after", "Go on without knowing", ["noted this"]),
        ("before", "Go on without knowing", []),
    ],
)
def test_the_operator_says_what_became_of_an_act_and_it_goes_on(
    screen, killed, store, tmp_path, dies, what, acts
):
    session = killed(dies)
    page = say(screen("session", session=session), what)

    resumed(page, session)

    assert kinds(store, session)[-1] == "session_closed"
    assert sent(tmp_path) == acts


def test_what_came_back_is_read_by_the_agent(screen, killed, store):
    session = killed("after")
    page = say(screen("session", session=session), "It happened")
    page.text_input[0].set_value("noted as number 7").run()

    resumed(page, session)

    with open_reader(store) as db:
        closed = reader.load_events(db, session, kinds={"session_closed"})[0]
        assert "noted as number 7" in str(reader.body(db, closed.payload.answer))


def test_what_came_back_is_not_taken_for_a_text_where_it_begins_as_json(screen, killed, store):
    session = killed("after")
    page = say(screen("session", session=session), "It happened")
    page.text_input[0].set_value('{"noted": ').run()

    resumed(page, session)

    assert text(page, "resume_problem").startswith("What came back begins as JSON and is none")
    assert kinds(store, session)[-1] == "tool_called"


def test_a_flow_that_nobody_named_is_not_loaded(screen, killed, store, monkeypatch):
    session = killed("before")
    monkeypatch.setenv("HANDOFF_FLOWS", "[]")
    page = say(screen("session", session=session), "It did not happen")

    resumed(page, session)

    assert text(page, "resume_problem").endswith(
        f"go on with `handoff resume {session} --flow {FLOW} --db {store}`, or open the console "
        f"with `handoff open --flow {FLOW} --db {store}`."
    )
    assert f"handoff resume {session} --flow {FLOW} --db {store}" in text(page, "header")
    assert kinds(store, session)[-1] != "session_closed"
