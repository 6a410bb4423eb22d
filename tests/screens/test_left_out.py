"""Values that a record leaves out, said in the page before anybody reads on from it."""

import pytest
from support.command import program
from support.seen import pressed, text
from support.threads import joined
from support.tills import CARD, MESSAGE, lines, with_till

from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.db import open_reader

FLOW = "till.py:flow"
MISSING = "Say each value that was left out of its record, or let the agents read the marks."


@pytest.fixture(autouse=True)
def till(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_till(tmp_path)
    monkeypatch.setenv("HANDOFF_FLOWS", f'["{FLOW}"]')


@pytest.fixture
def killed(store, tmp_path) -> str:
    """A session whose process was killed while it looked the order up."""
    program(tmp_path, "run", FLOW, "--message", MESSAGE, "--db", store, DIES="looking")
    return only_session(store)


@pytest.fixture
def waiting(store, tmp_path) -> str:
    """A session that waits for a yes, of a process that is gone."""
    message = f"{MESSAGE} And write a letter."
    program(tmp_path, "run", FLOW, "--message", message, "--db", store)
    return only_session(store)


def only_session(store) -> str:
    with open_reader(store) as db:
        return str(db.execute("select session_id from session_keys").fetchone()[0])


def last_kind(store, session):
    with open_reader(store) as db:
        return reader.load_events(db, session)[-1].kind


def test_an_interrupted_session_asks_for_what_was_left_out_and_goes_on_with_it(
    screen, killed, store, tmp_path
):
    page = screen("session", session=killed)
    shown = text(page, "left_out message")
    page.text_input[0].set_value(CARD)

    pressed(page, killed, "Resume this session")

    assert shown == "message: Charge order A-1 to [redacted: card number], please."
    assert last_kind(store, killed) == "session_closed"
    assert lines(tmp_path / "charged.txt") == [f"{CARD} 30"]


def test_an_interrupted_session_is_gone_on_with_from_the_live_page_too(
    screen, killed, store, tmp_path
):
    page = screen("live", run=killed)
    next(one for one in page.text_input if one.label == "card number").set_value(CARD)

    pressed(page, killed, "Resume this session")

    assert last_kind(store, killed) == "session_closed"
    assert lines(tmp_path / "charged.txt") == [f"{CARD} 30"]


def test_without_the_value_nothing_goes_on_and_the_page_says_what_to_do(
    screen, killed, store, tmp_path
):
    page = pressed(screen("session", session=killed), killed, "Resume this session")

    assert text(page, "resume_problem") == MISSING
    assert last_kind(store, killed) == "tool_called"
    assert lines(tmp_path / "read.txt") == [MESSAGE]


def test_another_value_is_refused_beside_the_field(screen, killed, store):
    page = screen("session", session=killed)
    page.text_input[0].set_value("4111")

    pressed(page, killed, "Resume this session")

    assert text(page, "resume_problem").startswith(
        "What is given for card number is not what was left out in message"
    )
    assert last_kind(store, killed) == "tool_called"


def test_marks_are_read_where_the_box_is_ticked(screen, killed, tmp_path):
    page = screen("session", session=killed)
    page.checkbox[0].check()

    pressed(page, killed, "Resume this session")

    assert lines(tmp_path / "charged.txt") == ["[redacted: card number] 30"]


def test_after_a_yes_the_page_asks_for_what_the_session_cannot_go_on_without(
    screen, waiting, store, tmp_path
):
    page = pressed(screen("session", session=waiting), waiting, "Yes, send exactly this")
    told = text(page, "asking_told")
    next(one for one in page.text_input if one.label == "card number").set_value(CARD)

    pressed(page, waiting, "Go on")

    assert told == f"What you said is kept. {MISSING}"
    assert last_kind(store, waiting) == "session_closed"
    assert lines(tmp_path / "charged.txt") == [f"{CARD} 30"]


def test_a_search_for_what_flips_it_reads_marks_only_where_the_box_is_ticked(screen, store):
    flow = load_flow(FLOW).flow
    good = run_once(store, flow, MESSAGE, source=FLOW).session_id
    edits = Edits(limits={"max_steps": 1})
    order = RerunOrder(
        handoff_id="h1", mode=Mode.WHAT_IF, edits=edits, named=FLOW, leave_marks=True
    )
    failed = rerun_handoff(store, good, order).runs[0].session_id
    page = screen("side_by_side", left=failed, right=good, handoff="h1")
    page = pressed(page, failed, "Which change flips it?")
    told = text(page, "flip")

    next(one for one in page.checkbox if one.label == "Let the marks be read").check()
    page.run()

    assert told.startswith("Values were left out of what they were asked with")
    assert text(page, "flip").startswith("1 difference between the two can be tried")
    again = [line.value for line in page.code if "bisect" in line.value or "rerun" in line.value]
    assert len(again) == 2
    assert all(" --leave-marks" in line for line in again)


def test_a_session_that_the_console_ran_itself_is_not_asked_about(screen, store, tmp_path):
    from handoff_console.console.commands.conversations import start_run

    session = start_run(store, FLOW, f"{MESSAGE} And write a letter.")
    joined(f"session-{session}")

    pressed(screen("session", session=session), session, "Yes, send exactly this")

    assert last_kind(store, session) == "session_closed"
    assert lines(tmp_path / "charged.txt") == [f"{CARD} 30"]
