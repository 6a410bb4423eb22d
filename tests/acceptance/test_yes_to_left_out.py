"""A yes to an act of which the record leaves a value out: said together with it, once."""

import json
from pathlib import Path

import pytest
from support.command import program
from support.terminals import typed
from support.tills import CARD, MESSAGE, TILL, lines

from handoff_console.console.commands.waiting import PendingApproval, pending

pytestmark = pytest.mark.acceptance

FLOW = ("--flow", "till.py:flow")
VALUE = ("--value", f"card number={CARD}")
NO_MARK = "nothing is done with a mark in its place; say it with --value 'card number=VALUE'."


@pytest.fixture(autouse=True)
def till(folder: Path) -> None:
    """Make the till charge only after a yes."""
    (folder / "till.py").write_text(TILL.replace("effect=Effect.WRITE", "effect=Effect.EXTERNAL"))


@pytest.fixture
def waiting(folder: Path) -> str:
    """A session that waits for a yes to a charge, of a process that is gone."""
    run = program(folder, "run", "till.py:flow", "--message", MESSAGE, "--json")
    return str(json.loads(run.out)["session_id"])


def act_of(folder: Path, session: str) -> PendingApproval:
    (act,) = pending(folder / "handoff.db", session).approvals
    return act


def charged(folder: Path) -> list[str]:
    return lines(folder / "charged.txt")


def is_written(folder: Path) -> bool:
    """Say whether the number stands in any file of the store."""
    return any(CARD.encode() in path.read_bytes() for path in folder.glob("handoff.db*"))


def outcome(handoff, session: str) -> str:
    return str(json.loads(handoff("show", session, "--json").out)["outcome"])


def test_one_command_says_yes_with_the_value_and_goes_on(handoff, folder, waiting):
    shown = handoff("show", waiting).out

    done = handoff("approve", waiting, *VALUE, *FLOW)

    line = f"  handoff approve {waiting} h1.2.0 --value 'card number=VALUE' --flow till.py:flow\n"
    assert line in shown
    assert done.status == 0
    assert done.out.startswith(
        "Yes to charge (h1.2.0):\n  card   [redacted: card number]\n  total  30\n"
    )
    assert "Done: " in done.out
    assert charged(folder) == [f"{CARD} 30"]
    assert not is_written(folder)


def test_the_process_that_ran_it_prints_the_mark_and_a_command_that_another_one_can_carry_out(
    handoff, folder
):
    run = handoff("run", "till.py:flow", "--message", MESSAGE)

    assert "  card   [redacted: card number]\n" in run.out
    assert " h1.2.0 --value 'card number=VALUE' --flow till.py:flow\n" in run.out
    assert CARD not in run.out


def test_a_yes_that_does_not_go_on_names_the_flow_that_was_said(handoff, waiting):
    done = handoff("approve", waiting, "--set", "card=none", "--flow", "./till.py:flow")

    assert done.out.endswith(f"\nhandoff resume {waiting} --flow ./till.py:flow\n")


def test_without_it_the_refusal_names_both_ways(handoff, folder, waiting):
    refused = handoff("approve", waiting)

    assert (refused.status, refused.err) == (
        2,
        "handoff: The value of 'card' was left out of the record, so it cannot be sent as it was; "
        "say what was left out with --value 'card number=VALUE', which goes on at once, or send "
        "another value with --set card=VALUE.\n",
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--value", "card number=4111", *FLOW], "is not what was left out in message"),
        (["--value", f"cart={CARD}", *FLOW], "No value 'cart' was left out of session"),
        (["--value", f"cart={CARD}"], "name it as path/to/file.py:name"),
        (["--leave-marks", *FLOW], NO_MARK),
    ],
)
def test_what_is_not_the_value_decides_nothing(handoff, folder, waiting, words, sentence):
    refused = handoff("approve", waiting, *words)

    assert refused.status == 2
    assert sentence in refused.err
    assert act_of(folder, waiting).said is None
    assert charged(folder) == []


def test_in_a_terminal_it_is_asked_for_unseen(folder, waiting):
    status, shown = typed(folder, ["approve", waiting, *FLOW], ["4111\n", f"{CARD}\n"])

    assert status == 0
    assert "clerk wants to use charge (external); this is what will be sent:\n" in shown
    assert "What is given for card number is not what was left out in message" in shown
    assert CARD not in shown
    assert charged(folder) == [f"{CARD} 30"]
    assert not is_written(folder)


def test_a_mark_that_is_left_is_asked_about_again(handoff, folder, waiting):
    status, shown = typed(folder, ["approve", waiting, *FLOW], ["\n", "\x04"])

    assert status == 2
    assert shown.count("leaves the mark: ") == 2
    assert NO_MARK in shown
    assert act_of(folder, waiting).said is None
    assert outcome(handoff, waiting) == "waiting"


def test_in_a_terminal_resume_asks_for_the_yes_and_then_for_the_value(folder, waiting):
    status, shown = typed(folder, ["resume", waiting, *FLOW], ["y\n", f"{CARD}\n"])

    assert status == 0
    assert "The value of card was left out of the record; after a yes it is asked for.\n" in shown
    assert CARD not in shown
    assert charged(folder) == [f"{CARD} 30"]
    assert not is_written(folder)


def test_whoever_says_yes_and_then_no_value_has_decided_nothing(folder, waiting):
    status, _ = typed(folder, ["resume", waiting, *FLOW], ["y\n", "\x03"])

    assert status == 2
    assert act_of(folder, waiting).said is None
    assert charged(folder) == []


def test_another_argument_is_changed_with_it_and_the_value_stays_unwritten(
    handoff, folder, waiting
):
    done = handoff("approve", waiting, *VALUE, "--set", "total=31", *FLOW)

    assert done.status == 0
    assert charged(folder) == [f"{CARD} 31"]
    assert not is_written(folder)


@pytest.mark.parametrize("words", [VALUE, ()])
def test_a_changed_argument_is_said_whole(handoff, folder, waiting, words):
    mark = "card=[redacted: card number], please"

    refused = handoff("approve", waiting, *words, "--set", mark, *FLOW)

    assert (refused.status, refused.err) == (
        2,
        "handoff: The mark in 'card' stands for a value that was left out of the record, so the "
        "argument is not whole; say all of it, or leave it as it is. Nothing was decided.\n",
    )
    assert act_of(folder, waiting).said is None
    assert charged(folder) == []


def test_a_no_goes_on_with_what_its_agent_was_told(handoff, folder, waiting):
    done = handoff("approve", waiting, "--no", *VALUE, *FLOW)

    assert done.status == 0
    assert done.out.startswith("No to charge (h1.2.0):\n")
    assert charged(folder) == []
    assert outcome(handoff, waiting) != "waiting"
    assert lines(folder / "read.txt")[-1] == MESSAGE


def test_a_yes_of_who_knew_the_value_is_not_carried_out_with_a_mark(handoff, folder):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    session = str(json.loads(run.out)["session_id"])
    approved = handoff("approve", session, "--set", "total=31")
    was_written = is_written(folder)

    marked = program(folder, "resume", session, *FLOW, "--leave-marks")
    done = program(folder, "resume", session, *FLOW, *VALUE)

    assert f"  card   {CARD}\n" in approved.out
    assert not was_written
    assert (marked.status, NO_MARK in marked.err) == (2, True)
    assert done.status == 0
    assert charged(folder) == [f"{CARD} 31"]


def test_an_act_of_a_re_run_is_approved_with_the_value_too(handoff, folder, waiting):
    handoff("approve", waiting, *VALUE, *FLOW)
    words = ("rerun", waiting, "h1", *FLOW, "--mode", "live", "--arm", "charge", *VALUE, "--json")
    again = json.loads(program(folder, *words).out)["runs"][0]["session_id"]

    done = handoff("approve", again, *VALUE, *FLOW)

    assert done.status == 0
    assert charged(folder) == [f"{CARD} 30"] * 2
    assert not is_written(folder)


@pytest.mark.parametrize(
    ("died", "words"),
    [
        ("after 2", []),
        ("charging", ["--happened", "h1.2.0"]),
        ("charging", ["--leave-unknown"]),
    ],
)
def test_an_act_that_is_not_carried_out_again_needs_no_value(folder, waiting, died, words):
    program(folder, "approve", waiting, *VALUE, *FLOW, DIES=died)

    done = program(folder, "resume", waiting, *FLOW, "--leave-marks", *words)

    assert done.status == 0
    assert charged(folder) == [f"{CARD} 30"]


def test_what_became_of_an_act_is_not_noted_where_its_value_is_missing(folder, waiting):
    program(folder, "approve", waiting, *VALUE, *FLOW, DIES="charging")
    again = ("resume", waiting, *FLOW, "--leave-marks")

    refused = program(folder, *again, "--not-happened", "h1.2.0")
    done = program(folder, *again, "--happened", "h1.2.0")

    assert (refused.status, NO_MARK in refused.err) == (2, True)
    assert done.status == 0
    assert charged(folder) == [f"{CARD} 30"]
