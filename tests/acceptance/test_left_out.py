"""Values that were left out of a record, when somebody goes on from it: asked for, not invented."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.command import program
from support.terminals import typed
from support.tills import CARD, MESSAGE, lines, with_till

pytestmark = pytest.mark.acceptance

FLOW = ("--flow", "till.py:flow")


@pytest.fixture(autouse=True)
def till(folder: Path) -> None:
    with_till(folder)


@pytest.fixture
def killed(handoff, folder) -> str:
    """A session whose process was killed while it looked the order up."""
    program(folder, "run", "till.py:flow", "--message", MESSAGE, DIES="1")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))
    return str(session)


def is_written(folder: Path) -> bool:
    """Say whether the number stands in any file of the store."""
    return any(CARD.encode() in path.read_bytes() for path in folder.glob("handoff.db*"))


def events_of(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "handoff.db")) as db:
        return int(db.execute("select count(*) from events").fetchone()[0])


def test_without_the_value_nothing_goes_on_and_the_refusal_says_what_to_say(
    handoff, folder, killed
):
    before = events_of(folder)

    refused = handoff("resume", killed, *FLOW)

    assert refused.status == 2
    assert refused.err == (
        f"handoff: Values were left out of the record of session {killed!r}, and its agents would "
        "read marks in their place: card number (message). Say each with --value 'card "
        "number=VALUE', or --leave-marks to go on with the marks.\n"
    )
    assert events_of(folder) == before
    assert lines(folder / "read.txt") == [MESSAGE]


def test_with_the_value_it_goes_on_as_if_nothing_had_been_left_out(handoff, folder, killed):
    done = handoff("resume", killed, *FLOW, "--value", f"card number={CARD}")

    assert done.status == 0
    assert lines(folder / "charged.txt") == [f"{CARD} 30"]
    assert lines(folder / "read.txt") == [MESSAGE] * 3
    assert not is_written(folder)


def test_another_value_is_refused_before_anybody_reads_it(handoff, folder, killed):
    wrong = handoff("resume", killed, *FLOW, "--value", "card number=4111")
    misspelt = handoff("resume", killed, *FLOW, "--value", f"cart={CARD}")
    none = handoff("resume", killed, *FLOW, "--value", "card number")

    assert "is not what was left out in message" in wrong.err
    assert f"No value 'cart' was left out of session '{killed}'" in misspelt.err
    assert "write --value NAME=VALUE" in none.err
    assert {wrong.status, misspelt.status, none.status} == {2}
    assert lines(folder / "read.txt") == [MESSAGE]


def test_marks_are_read_only_where_somebody_says_so(handoff, folder, killed):
    done = handoff("resume", killed, *FLOW, "--leave-marks")

    assert done.status == 0
    assert lines(folder / "read.txt")[1:] == [MESSAGE.replace(CARD, "[redacted: card number]")] * 2
    assert lines(folder / "charged.txt") == ["[redacted: card number] 30"]


def test_in_a_terminal_it_is_asked_for_and_does_not_appear(folder, killed):
    status, shown = typed(folder, ["resume", killed, *FLOW], [f"{CARD}\n"])

    assert status == 0
    assert "message: Charge order A-1 to [redacted: card number], please.\n" in shown
    assert "  card number; an empty line leaves the mark: \n" in shown
    assert CARD not in shown
    assert lines(folder / "charged.txt") == [f"{CARD} 30"]


def test_an_empty_line_leaves_the_mark(folder, killed):
    status, _ = typed(folder, ["resume", killed, *FLOW], ["\n"])

    assert status == 0
    assert lines(folder / "charged.txt") == ["[redacted: card number] 30"]


def test_whoever_ran_it_until_it_waited_still_knows_what_it_was_told(folder):
    words = ["run", "till.py:flow", "--message", f"{MESSAGE} And write a letter."]

    status, shown = typed(folder, words, ["y\n"])

    assert status == 0
    assert "leaves the mark" not in shown
    assert lines(folder / "charged.txt") == [f"{CARD} 30"]
    assert not is_written(folder)


def test_another_process_that_goes_on_with_it_is_told(handoff, folder):
    asked = f"{MESSAGE} And write a letter."
    run = program(folder, "run", "till.py:flow", "--message", asked, "--json")
    session = json.loads(run.out)["session_id"]
    handoff("approve", session)

    refused = handoff("resume", session, *FLOW)
    done = handoff("resume", session, *FLOW, "--value", f"card number in message={CARD}")

    assert "card number (message)" in refused.err
    assert done.status == 0
    assert lines(folder / "charged.txt") == [f"{CARD} 30"]


def test_a_handoff_is_run_again_with_the_value(handoff, folder):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    session = json.loads(run.out)["session_id"]
    before = lines(folder / "read.txt")

    refused = handoff("rerun", session, "h1", *FLOW, "--mode", "what-if")
    done = handoff(
        "rerun", session, "h1", *FLOW, "--mode", "what-if", "--value", f"card number={CARD}"
    )

    assert (
        "say it with --value NAME=VALUE, the whole task with --task TEXT, or --leave-marks"
        in refused.err
    )
    assert done.status == 0
    assert lines(folder / "read.txt")[len(before) :] == [MESSAGE] * 3
    assert re.search(r"the same result", done.out)
    assert not is_written(folder)


def test_a_verification_is_the_same_with_the_value(handoff):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    session = json.loads(run.out)["session_id"]

    assert handoff("rerun", session, "h1", *FLOW, "--value", f"card number={CARD}").status == 0
