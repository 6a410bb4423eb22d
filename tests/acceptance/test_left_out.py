"""Values that were left out of a record, when somebody goes on from it: asked for, not invented."""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.command import program
from support.terminals import typed
from support.tills import CARD, MESSAGE, TILL, lines, with_till

from handoff_console.console.commands.rerun_records import recorded_order
from handoff_console.console.commands.rerun_words import rerun_command
from handoff_console.store.db import open_reader

pytestmark = pytest.mark.acceptance

FLOW = ("--flow", "till.py:flow")
VAULT = """\
from handoff_console.runtime import Agent, Flow, say


def clerk(call):
    if call.request.inputs.get("password") != "hunter2":
        raise ValueError("wrong password")
    return say("open")


flow = Flow("vault", [Agent("clerk", model=clerk)])
"""
OPEN = """\
from pathlib import Path

from vault import flow

from handoff_console.console.commands.running import run_once
from handoff_console.runtime import HandoffRequest

for inputs in ({}, {"password": "hunter2"}):
    request = HandoffRequest(task="Open it.", inputs=inputs)
    run_once(Path("handoff.db"), flow, request, source="vault.py:flow")
"""


@pytest.fixture(autouse=True)
def till(folder: Path) -> None:
    with_till(folder)


@pytest.fixture
def killed(handoff, folder) -> str:
    """A session whose process was killed while it looked the order up."""
    program(folder, "run", "till.py:flow", "--message", MESSAGE, DIES="looking")
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


def test_a_mark_that_somebody_left_is_not_asked_about_again_after_a_yes(handoff, folder):
    program(
        folder, "run", "till.py:flow", "--message", f"{MESSAGE} A letter later.", DIES="looking"
    )
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))

    status, shown = typed(folder, ["resume", session, *FLOW], ["\n", "y\n"])

    assert status == 0
    assert shown.count("leaves the mark") == 1
    assert lines(folder / "charged.txt") == ["[redacted: card number] 30"]


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "the end of input"])
def test_who_ends_the_questions_lets_nobody_read_marks(folder, killed, key):
    before = events_of(folder)

    status, shown = typed(folder, ["resume", killed, *FLOW], [key])

    assert status == 2
    assert "or --leave-marks to go on with the marks." in shown
    assert events_of(folder) == before
    assert lines(folder / "read.txt") == [MESSAGE]


def test_a_value_that_is_given_wrongly_is_not_said_again(handoff, folder, killed):
    words = (CARD, f"={CARD}", f"{CARD}=card number")

    said = [handoff("resume", killed, *FLOW, "--value", word).err for word in words]

    assert (
        said[:2]
        == [
            "handoff: A value has to be given with its name; write --value NAME=VALUE, or NAME in "
            "PLACE=VALUE.\n"
        ]
        * 2
    )
    assert said[2].startswith("handoff: No value '[redacted: card number]' was left out of")


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


def test_a_re_run_that_was_told_a_value_is_repeated_with_its_name(handoff, folder):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    words = ("rerun", json.loads(run.out)["session_id"], "h1", *FLOW, "--mode", "what-if", "--json")
    told = json.loads(handoff(*words, "--value", f"card number={CARD}").out)["runs"][0]
    marked = json.loads(handoff(*words, "--leave-marks").out)["runs"][0]

    with closing(open_reader(folder / "handoff.db")) as db:
        orders = [recorded_order(db, one["session_id"]) for one in (told, marked)]
    lines = [rerun_command("s", order) for order in orders]

    assert " --value 'card number=VALUE' " in lines[0]
    assert " --leave-marks " in lines[1]


def test_a_verification_is_the_same_with_the_value(handoff):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    session = json.loads(run.out)["session_id"]

    assert handoff("rerun", session, "h1", *FLOW, "--value", f"card number={CARD}").status == 0


def test_what_flips_it_is_looked_for_with_the_value_or_with_marks_where_somebody_says_so(
    handoff, folder
):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    good = json.loads(run.out)["session_id"]
    words = ("rerun", good, "h1", *FLOW, "--value", f"card number={CARD}", "--json")
    form = handoff(*words, "--limits", "max_steps=1").out
    failed = json.loads(form)["runs"][0]["session_id"]
    asked = ("bisect", failed, f"{good}:h1", *FLOW)
    before = lines(folder / "read.txt")

    refused = handoff(*asked)
    planned = handoff(*asked, "--plan", "--leave-marks")
    untouched = lines(folder / "read.txt")
    done = handoff(*asked, "--value", f"card number={CARD}")
    misspelt = handoff(*asked, "--value", f"cart={CARD}")

    assert refused.err == (
        f"handoff: Values were left out of what {failed}:h1 was asked with, and a model would be "
        "asked with marks in their place; say them with --value NAME=VALUE, or --leave-marks to "
        "ask with the marks.\n"
    )
    assert planned.status == 0
    assert untouched == before
    assert done.out.startswith("limits.max_steps alone flips it")
    assert set(lines(folder / "read.txt")[len(before) :]) == {MESSAGE}
    assert "No value 'cart' was left out" in misspelt.err
    assert not is_written(folder)


def test_a_value_by_which_the_outcome_flips_is_not_printed(handoff, folder):
    (folder / "vault.py").write_text(VAULT)
    (folder / "open.py").write_text(OPEN)
    subprocess.run([sys.executable, "open.py"], cwd=folder, check=True)
    ids = {one["outcome"]: one["session_id"] for one in json.loads(handoff("list", "--json").out)}
    words = ("bisect", f"{ids['error']}:h1", f"{ids['ok']}:h1", "--flow", "vault.py:flow")
    value = ("--value", "password=hunter2")

    text, form = (handoff(*words, *value, *more).out for more in ((), ("--json",)))

    assert "  inputs.password: nothing → [redacted: password]\n" in text
    assert json.loads(form)["changes"] == [
        {"name": "inputs.password", "failed": None, "good": "[redacted: password]"}
    ]


def test_a_re_run_that_waited_in_another_process_is_told_the_value_again(handoff, folder):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    words = ("rerun", json.loads(run.out)["session_id"], "h1", *FLOW, "--mode", "live", "--json")
    value = ("--value", f"card number={CARD}")
    form = program(folder, *words, "--arm", "charge", *value).out
    waiting = json.loads(form)["runs"][0]["session_id"]
    act = ("--set", f"card={CARD}")  # the act itself is approved as it is shown
    approved = handoff("approve", waiting, *act)

    refused = handoff("resume", waiting, *FLOW)
    done = handoff("resume", waiting, *FLOW, *value)

    assert approved.status == 0
    assert "card number (h1 task" in refused.err
    assert done.status == 0
    assert set(lines(folder / "read.txt")) == {MESSAGE}
    assert lines(folder / "charged.txt") == [f"{CARD} 30"] * 2


def test_a_re_run_that_was_let_read_marks_goes_on_with_them(handoff, folder):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    words = ("rerun", json.loads(run.out)["session_id"], "h1", *FLOW, "--mode", "live", "--json")
    form = program(folder, *words, "--arm", "charge", "--leave-marks").out
    waiting = json.loads(form)["runs"][0]["session_id"]
    handoff("approve", waiting, "--no")

    assert handoff("resume", waiting, *FLOW).status == 0
    assert lines(folder / "charged.txt") == [f"{CARD} 30"]


def test_a_wrong_value_is_asked_for_again(folder, killed):
    status, shown = typed(folder, ["resume", killed, *FLOW], ["4111\n", f"{CARD}\n"])

    assert status == 0
    assert "What is given for card number is not what was left out in message" in shown
    assert lines(folder / "charged.txt") == [f"{CARD} 30"]


def test_where_the_redaction_rules_are_others_that_is_said_of_a_right_value(
    handoff, folder, killed
):
    text = TILL.replace("Tool, say", "Redaction, Tool, say").replace(
        'Flow("till", [', 'Flow("till", redaction=Redaction(patterns=False), agents=['
    )
    (folder / "till.py").write_text(text)

    refused = handoff("resume", killed, *FLOW, "--value", f"card number={CARD}")

    assert refused.status == 2
    assert refused.err == (
        "handoff: What is given for card number is not what was left out in message: written down "
        "it would not stand there as it does. Give the value as it was said, with all that belongs "
        "to it. The redaction rules differ from the recorded ones: by now they no longer leave "
        "out what has the form of a secret. As long as they do, a right value is refused too: put "
        "the recorded rules back into the flow, or leave the mark.\n"
    )
    assert lines(folder / "read.txt") == [MESSAGE]
    assert not is_written(folder)


def test_whoever_ran_it_is_shown_what_will_really_be_done_and_may_say_yes(folder):
    (folder / "till.py").write_text(TILL.replace("effect=Effect.WRITE", "effect=Effect.EXTERNAL"))

    status, shown = typed(folder, ["run", "till.py:flow", "--message", MESSAGE], ["y\n"])

    assert status == 0
    assert f"  card   {CARD}\n" in shown
    assert lines(folder / "charged.txt") == [f"{CARD} 30"]
    assert not is_written(folder)


def test_a_handoff_whose_process_was_killed_is_told_as_incomplete(handoff, killed):
    plan = handoff("rerun", killed, "h1", *FLOW, "--mode", "verify", "--plan")

    assert plan.out.startswith("clerk (h1) again, verify; recorded as incomplete\n")


def test_in_a_terminal_a_re_run_asks_for_what_its_request_leaves_out(handoff, folder):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    words = ["rerun", json.loads(run.out)["session_id"], "h1", *FLOW, "--mode", "what-if"]
    before = lines(folder / "read.txt")

    status, shown = typed(folder, words, ["4111\n", f"{CARD}\n"])

    assert status == 0
    assert shown.count("message: Charge order A-1 to [redacted: card number], please.\n") == 2
    assert "is not what was left out in message" in shown
    assert CARD not in shown
    assert lines(folder / "read.txt")[len(before) :] == [MESSAGE] * 3
    assert not is_written(folder)


def test_an_empty_line_runs_it_again_with_the_mark(handoff, folder):
    run = handoff("run", "till.py:flow", "--message", MESSAGE, "--json")
    words = ["rerun", json.loads(run.out)["session_id"], "h1", *FLOW, "--mode", "what-if"]

    status, _ = typed(folder, words, ["\n"])

    assert status == 0
    assert lines(folder / "read.txt")[-1] == MESSAGE.replace(CARD, "[redacted: card number]")


def test_of_two_values_each_is_put_where_it_stood(handoff, folder):
    other = "5500 0000 0000 0004"
    said = f"Charge order A-1 to {CARD}, not {other}."
    run = handoff("run", "till.py:flow", "--message", said, "--json")
    words = ["rerun", json.loads(run.out)["session_id"], "h1", *FLOW, "--mode", "what-if"]

    status, _ = typed(folder, words, [f"{CARD}\n", f"{other}\n"])

    assert status == 0
    assert lines(folder / "read.txt")[-1] == said
