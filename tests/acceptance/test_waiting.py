"""Sessions that wait for a person or were interrupted, as a user deals with them."""

import json
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.command import program
from support.command import started as running
from support.mailboxes import MAIL, asked_long_ago, mailbox, sent
from support.terminals import typed
from support.tills import CARD

from handoff_console.console.commands.settling import Settled, settle

pytestmark = pytest.mark.acceptance

FLOW = ("--flow", "mail.py:flow")


@pytest.fixture(autouse=True)
def flow(folder: Path) -> Path:
    return mailbox(folder)


def started(handoff, message: str = "Write to bob.") -> str:
    """Run the flow until it waits, and return the session's id."""
    form = json.loads(handoff("run", "mail.py:flow", "--message", message, "--json").out)
    assert form["outcome"] == "waiting"
    return str(form["session_id"])


def test_without_a_terminal_it_waits_and_says_how_to_go_on(handoff, folder):
    done = handoff("run", "mail.py:flow", "--message", "Write to bob.")
    session = re.findall(r"session +(\S+)", done.out)[0]

    assert done.status == 0
    assert sent(folder) == []
    assert done.out.partition("\n\nclerk wants")[2].splitlines() == [
        " to use mail (external); this is what will be sent:",
        "  to  bob",
        f"  handoff approve {session} h1.1.0",
        f"  handoff approve {session} h1.1.0 --no",
        "",
        "then go on:",
        f"  handoff resume {session} --flow mail.py:flow",
    ]


def named(shown: str) -> list[str]:
    """Return the names of the arguments that were shown, from the top."""
    return re.findall(r"^  (\w+) {2,}\S", shown.partition("be sent:\n")[2] or shown, re.MULTILINE)


def test_what_will_be_sent_stands_in_the_order_in_which_the_tool_takes_it(handoff):
    waiting = handoff("run", "letters").out
    session = re.findall(r"session +(\S+)", waiting)[0]

    approved = handoff("approve", session, "--set", "subject=News")

    assert named(waiting)[:3] == ["to", "subject", "text"]
    assert named(approved.out) == ["to", "subject", "text"]
    assert named(handoff("show", session).out)[:3] == ["to", "subject", "text"]


def test_a_yes_then_resume_sends_exactly_what_was_shown_once(handoff, folder):
    session = started(handoff)

    approved = handoff("approve", session)
    before = sent(folder)
    resumed = handoff("resume", session, *FLOW)

    assert approved.out == (
        f"Yes to mail (h1.1.0):\n  to  bob\nhandoff resume {session} --flow mail.py:flow\n"
    )
    assert (before, sent(folder)) == ([], ["bob: Hello"])
    assert "Done: " in resumed.out
    assert handoff("resume", session, *FLOW).err == (
        f"handoff: Session '{session}' is closed, so there is nothing to go on with; `handoff "
        f"rerun {session} HANDOFF` runs a handoff of it again.\n"
    )
    assert sent(folder) == ["bob: Hello"]


def test_a_no_sends_nothing_and_the_agent_goes_on(handoff, folder):
    session = started(handoff)
    handoff("approve", session, "--no", "--note", "not today", "--by", "Ana")

    resumed = handoff("resume", session, *FLOW, "--json")

    assert sent(folder) == []
    assert "a person has to approve it (denied)" in json.loads(resumed.out)["answer"]
    events = json.loads(handoff("show", session, "--events", "--json").out)["events"]
    (decided,) = (e["payload"] for e in events if e["kind"] == "approval_decided")
    assert (decided["decided_by"], decided["note"]) == ("Ana", "not today")


def test_changed_arguments_are_what_is_sent_and_keep_their_kind(handoff, folder):
    session = started(handoff)
    approved = handoff("approve", session, "--set", "to=4812", "--set", 'text="Hi"')

    handoff("resume", session, *FLOW)

    assert "  to    4812\n" in approved.out
    assert sent(folder) == ["4812: Hi"]


def test_a_decision_counts_once(handoff):
    session = started(handoff)
    handoff("approve", session, "--no", "--by", "Ana")

    again = handoff("approve", session)

    assert (again.status, again.err) == (
        2,
        f"handoff: h1.1.0 of session '{session}' was dealt with before by Ana, and that counts; "
        f"`handoff show {session}` says how to go on.\n",
    )


def test_what_waits_stands_in_the_list_and_in_show_until_it_was_dealt_with(handoff):
    session = started(handoff)

    assert json.loads(handoff("list", "--json").out)[0]["outcome"] == "waiting"
    before = json.loads(handoff("show", session, "--json").out)["waiting_for"]
    handoff("approve", session)
    after = json.loads(handoff("show", session, "--json").out)["waiting_for"]
    handoff("resume", session, *FLOW)
    done = json.loads(handoff("show", session, "--json").out)["waiting_for"]

    assert before["approvals"][0] | {"expires_at": ""} == {
        "approval_id": "h1.1.0",
        "handoff_id": "h1",
        "agent": "clerk",
        "tool": "mail",
        "effect": "external",
        "arguments": {"to": "bob"},
        "expires_at": "",
        "said": None,
    }
    assert after["approvals"][0]["said"] is True
    assert done == {"approvals": [], "questions": [], "unknown_effects": []}


def test_nothing_comes_of_resuming_before_somebody_said_something(handoff, folder):
    session = started(handoff)
    done = handoff("resume", session, *FLOW)

    assert (done.status, done.err) == (
        2,
        f"handoff: Session '{session}' still waits for a person: mail (h1.1.0) needs a yes. Use "
        "`handoff approve` first.\n",
    )
    assert sent(folder) == []


def test_code_is_run_only_from_a_file_that_is_named(handoff, folder):
    session = started(handoff)
    handoff("approve", session)

    done = handoff("resume", session)

    assert (done.status, done.err) == (
        2,
        f"handoff: Session '{session}' ran the flow 'mail' of 'mail.py:flow'; name it as "
        "path/to/file.py:name (--flow in a shell) to run that code again, since none is run "
        "because a record says so.\n",
    )
    assert sent(folder) == []


def test_a_question_to_a_person_is_answered_and_passed_on(handoff):
    session = started(handoff, "I want the boss")
    shown = handoff("show", session)

    answered = handoff("answer", session, "Call me at noon.")
    resumed = handoff("resume", session, *FLOW)

    assert f"  handoff answer {session} TEXT\n" in shown.out
    assert answered.out == (f"Answered human (h2).\nhandoff resume {session} --flow mail.py:flow\n")
    assert "  Call me at noon.\n" in resumed.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["approve", "{}", "h9.1.0"],
            "has no act 'h9.1.0' that waits for a yes; there are: h1.1.0",
        ),
        (["approve", "{}", "--set", "to"], "'to' changes nothing; write --set NAME=VALUE."),
        (
            ["approve", "{}", "--no", "--set", "to=x"],
            "--set changes an act, and --no refuses it; give",
        ),
        (["answer", "{}", "hello"], "has no question that waits for an answer; `handoff show "),
        (["answer", "{}", " "], "The answer is empty; say something."),
        (["resume", "{}", "--happened", "h1.1.0"], "has no act 'h1.1.0' whose outcome is unknown"),
        (["resume", "nobody"], "There is no session 'nobody' in this store"),
        (["resume", "{}", "--flow", "mail.py:flow", "--fail-on", "x"], "There is no outcome 'x'"),
    ],
)
def test_what_cannot_be_said_is_one_sentence_and_changes_nothing(handoff, folder, words, sentence):
    session = started(handoff)
    done = handoff(*(word.replace("{}", session) for word in words))

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert json.loads(handoff("list", "--json").out)[0]["outcome"] == "waiting"


def test_nothing_can_be_said_to_a_session_that_is_closed(handoff):
    session = started(handoff)
    handoff("approve", session)
    handoff("resume", session, *FLOW)

    done = handoff("approve", session)

    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"handoff: Session {session!r} has no act that waits for a yes; `handoff show {session}` "
        "shows how it stands.\n"
    )


def test_a_value_that_was_left_out_of_the_record_is_asked_for(handoff, folder):
    words = ("run", "mail.py:flow", "--message", "Send the card number.", "--json")
    session = str(json.loads(program(folder, *words).out)["session_id"])

    refused = handoff("approve", session)
    shown = handoff("show", session).out
    handoff("approve", session, "--set", "text=card 4000 0000 0000 0002")
    handoff("resume", session, *FLOW, "--leave-marks")  # of what its clerk had written itself

    one_step = f"approve {session} h1.1.0 --value 'card number=VALUE' --flow mail.py:flow"
    assert f"  handoff {one_step}\n" in shown
    assert f"  handoff approve {session} h1.1.0 --no\n" in shown
    assert refused.err == (
        "handoff: The value of 'text' was left out of the record, so it cannot be sent as it was; "
        "say what was left out with --value 'card number=VALUE', which goes on at once, or send "
        "another value with --set text=VALUE.\n"
    )
    assert sent(folder) == ["bob: card 4000 0000 0000 0002"]
    files = b"".join(path.read_bytes() for path in folder.glob("handoff.db*"))
    assert b"4111 1111" not in files
    assert b"4000 0000" not in files


def test_a_flow_that_changed_is_announced_and_one_that_asks_otherwise_changes_nothing(
    handoff, folder
):
    session = started(handoff)
    handoff("approve", session)
    events = len(json.loads(handoff("show", session, "--events", "--json").out)["events"])
    other = MAIL.replace("Send a letter", "Post a letter").replace("Write letters.", "Else.")
    (folder / "other.py").write_text(other.replace("rpartition", "partition"))

    done = handoff("resume", session, "--flow", "other.py:flow")

    assert "the tool 'mail' of 'clerk' has another source" in done.err
    assert sent(folder) == ["bob: Hello"]
    assert len(json.loads(handoff("show", session, "--events", "--json").out)["events"]) > events


def test_an_act_that_nobody_knows_about_waits_for_the_operator(handoff, folder):
    died = program(folder, "run", "mail.py:flow", "--message", "note it", DIES="after")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))
    shown = handoff("show", session)

    refused = handoff("resume", session, *FLOW)
    after = handoff("resume", session, *FLOW, "--happened", 'h1.1.0="it is noted"')

    assert died.status == -signal.SIGKILL
    assert "nobody knows whether it happened:\n  text  this\n" in shown.out
    assert refused.err == (
        f"handoff: Session '{session}' began an act that may or may not have happened: h1.1.0 "
        "(note). Find out and say --happened PLACE or --not-happened PLACE, or "
        "--leave-unknown to go on without knowing.\n"
    )
    assert "it is noted" in after.out
    assert sent(folder) == ["noted this"]


@pytest.mark.parametrize(
    ("mode", "calls", "note"),
    [
        ("verify", "no model call", "It had no result yet when this was recorded: it ends where"),
        ("live", "1 model call,", "It had no result yet when this was recorded: it may ask for"),
        (
            "continue",
            "no model call as far as its record goes",
            "The record ends before the session does: from there on models and tools are",
        ),
    ],
)
def test_the_plan_of_what_was_cut_off_says_that_its_record_ends(handoff, folder, mode, calls, note):
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES="after")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))

    plan = handoff("rerun", session, "h1", *FLOW, "--mode", mode, "--plan").out

    assert f"\n  {calls}" in plan
    assert f"  {note}" in plan
    assert "not done again" not in plan  # nobody knows what came of it


def test_a_verification_of_what_was_cut_off_asks_for_more_and_not_for_something_else(
    handoff, folder
):
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES="after")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))

    done = handoff("rerun", session, "h1", *FLOW)

    assert done.status == 1
    assert "it asked for more than was recorded · 0 asked, 1 replayed" in done.out
    assert "first further question at t1 step 1, call 0\n" in done.out
    assert sent(folder) == ["noted this"]


@pytest.mark.parametrize(
    ("first", "other", "known"),
    [
        (
            ["--happened", "h1.1.0=done"],
            ["--happened", "h1.1.0"],
            "what came back, and it is something else",
        ),
        (["--happened", "h1.1.0"], ["--not-happened", "h1.1.0"], "that it happened"),
        (["--not-happened", "h1.1.0"], ["--happened", "h1.1.0"], "that it did not happen"),
    ],
)
def test_what_became_of_an_act_is_said_again_by_whoever_could_not_go_on(
    handoff, folder, first, other, known
):
    died = "before" if first[0] == "--not-happened" else "after"
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES=died)
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))

    settle(folder / "handoff.db", session, settled(first))
    contradicted = handoff("resume", session, *FLOW, *other)
    again = handoff("resume", session, *FLOW, *first)

    assert again.status == 0
    assert contradicted.err == (
        f"handoff: Of h1.1.0 it is known already {known}; `handoff resume` without it goes on "
        "with that.\n"
    )
    assert sent(folder) == ["noted this"]


def settled(words: list[str]) -> Settled:
    """Return what such a command line says of an act."""
    option, word = words
    place, _, result = word.partition("=")
    return Settled(place, option == "--happened", *filter(None, [result]))


def test_whoever_could_not_go_on_may_say_otherwise_what_became_of_an_act(handoff, folder):
    program(folder, "run", "mail.py:flow", "--message", f"note {CARD}", DIES="after")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))
    value = ("--value", f"card number={CARD}", "--json")

    no_flow = handoff("resume", session, "--happened", "h1.1.0")
    no_value = handoff("resume", session, *FLOW, "--happened", "h1.1.0")
    done = handoff("resume", session, *FLOW, "--happened", 'h1.1.0="it is number 7"', *value)

    assert (no_flow.status, no_value.status, done.status) == (2, 2, 0)
    assert "it is number 7" in json.loads(done.out)["answer"]
    assert sent(folder) == ["noted this"]


def test_what_came_back_has_to_be_json_where_it_begins_as_some(handoff, folder):
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES="after")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))

    refused = handoff("resume", session, *FLOW, "--happened", 'h1.1.0={"noted": tru')
    after = handoff("resume", session, *FLOW, "--happened", 'h1.1.0={"noted": true}')

    assert (refused.status, refused.out) == (2, "")
    assert refused.err == (
        'handoff: --happened h1.1.0 begins as JSON and is none: {"noted": tru; close it, or put a '
        'text in "quotation marks".\n'
    )
    assert after.status == 0
    assert sent(folder) == ["noted this"]


def test_what_did_not_happen_is_tried_again(handoff, folder):
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES="before")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))

    handoff("resume", session, *FLOW, "--not-happened", "h1.1.0")

    assert sent(folder) == ["noted this"]


def test_an_agent_can_be_left_to_go_on_without_knowing(handoff, folder):
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES="after")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))

    done = handoff("resume", session, *FLOW, "--leave-unknown", "--json")

    assert "nobody knows whether it happened" in json.loads(done.out)["answer"]
    assert sent(folder) == ["noted this"]


def test_an_interrupted_session_is_finished(handoff, folder):
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES="before")
    listed = json.loads(handoff("list", "--json").out)[0]
    # What the killed process had noted before it tried, without the record of it: it never tried.
    with closing(sqlite3.connect(folder / "handoff.db")) as db:
        last = db.execute("select max(event) from events").fetchone()[0]
        db.execute("delete from events where event = ?", (last,))
        db.commit()

    shown = handoff("show", listed["session_id"]).out
    why = handoff("why", listed["session_id"]).out
    done = handoff("resume", listed["session_id"], *FLOW)

    how = (
        f"To go on where it stopped:\n  handoff resume {listed['session_id']} --flow mail.py:flow\n"
    )
    assert shown.endswith(how)
    assert why.endswith(how)
    assert listed["outcome"] == "interrupted"
    assert done.status == 0
    assert sent(folder) == ["noted this"]


def test_a_session_that_runs_elsewhere_is_left_alone_unless_it_is_taken_over(handoff, folder):
    program(folder, "run", "mail.py:flow", "--message", "note it", DIES="before")
    (session,) = (line["session_id"] for line in json.loads(handoff("list", "--json").out))
    with closing(sqlite3.connect(folder / "handoff.db")) as db:
        db.execute(
            "update events set payload = json_set(payload, '$.host', 'elsewhere') where seq = 1"
        )
        db.commit()

    refused = handoff("resume", session, *FLOW)
    taken = handoff("resume", session, *FLOW, "--take-over", "--not-happened", "h1.1.0")

    assert "on 'elsewhere' (another machine) goes on with session" in refused.err
    assert taken.status == 0
    assert sent(folder) == ["noted this"]


def test_an_imported_session_goes_on_nowhere(handoff, folder):
    session = started(handoff)
    handoff("export", session, "-o", "one.jsonl")
    handoff("import", "one.jsonl", "--db", "other.db")

    done = handoff("resume", session, *FLOW, "--db", "other.db")

    assert "came from a file and goes on nowhere" in done.err


@pytest.mark.parametrize(
    ("line", "went_out"), [("y\n", True), ("Y\n", False), ("yes\n", False), ("\n", False)]
)
def test_somebody_at_a_terminal_is_asked_and_only_y_is_a_yes(folder, line, went_out):
    status, shown = typed(folder, ["run", "mail.py:flow", "--message", "Write to bob."], [line])

    assert status == 0
    assert (
        "clerk wants to use mail (external); this is what will be sent:\n  to  bob\n"
        "Send it? Only y is a yes. [y/N]" in shown
    )
    assert sent(folder) == (["bob: Hello"] if went_out else [])


@pytest.mark.parametrize("key", ["\x04", "\x03"])
def test_who_leaves_at_the_prompt_leaves_it_waiting(handoff, folder, key):
    left, _ = typed(folder, ["run", "mail.py:flow", "--message", "Write to bob."], [key])
    (listed,) = json.loads(handoff("list", "--json").out)
    status, _ = typed(folder, ["resume", listed["session_id"], *FLOW], ["y\n"])

    assert (left, listed["outcome"]) == (0, "waiting")
    assert (status, sent(folder)) == (0, ["bob: Hello"])


def test_a_question_of_an_agent_is_asked_at_a_terminal_and_is_the_result_elsewhere(handoff, folder):
    words = ["run", "mail.py:flow", "--message", "Ask whom."]
    elsewhere = json.loads(handoff(*words, "--json").out)

    _, shown = typed(folder, words, ["Write to eve.\n", "y\n"])

    assert elsewhere["outcome"] == "needs_input"
    assert "clerk (h1) asks:\n  To whom?\n" in shown
    assert sent(folder) == ["eve: Hello"]


def test_an_answer_can_be_given_later_from_elsewhere(handoff, folder):
    typed(folder, ["run", "mail.py:flow", "--message", "Ask whom."], ["\n"])
    (listed,) = json.loads(handoff("list", "--json").out)
    session = listed["session_id"]

    handoff("answer", session, "Write to eve.")
    waiting = handoff("resume", session, *FLOW)
    handoff("approve", session)
    handoff("resume", session, *FLOW)

    assert listed["outcome"] == "waiting"
    assert "  to  eve\n" in waiting.out
    assert sent(folder) == ["eve: Hello"]


def test_two_that_resume_at_once_send_once(handoff, folder):
    session = started(handoff)
    handoff("approve", session)
    racers = [running(folder, "resume", session, *FLOW) for _ in range(2)]
    ended = [racer.communicate(timeout=60) for racer in racers]

    assert sent(folder) == ["bob: Hello"]
    assert sorted(racer.returncode for racer in racers) == [0, 2]
    refused = next(err for _, err in ended if err)
    assert "goes on with session" in refused or "is closed" in refused


def test_what_will_be_sent_does_nothing_to_the_terminal_and_hides_nothing(handoff, folder):
    hostile = "Write to \x1b[2J\x1b]0;x\x07bob\u202e\x00"
    done = handoff("run", "mail.py:flow", "--message", hostile)

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", done.out)
    assert "  to  [U+001B][2J[U+001B]]0;x[U+0007]bob[U+202E][U+0000]\n" in done.out
    assert "(it has signs that cannot be shown; they stand as [U+…])" in done.out


def test_a_long_text_is_shown_in_full_with_every_space(handoff, folder):
    text = "word  " * 60
    (folder / "mail.py").write_text(
        MAIL.replace('use("mail", to=said[-1]', f'use("mail", text={text!r}, to=said[-1]')
    )
    done = handoff("run", "mail.py:flow", "--message", "Write to bob.")

    shown = re.search(r"  to    bob\n  text  (.*?)\n  handoff ", done.out, re.S)[1]
    assert shown.replace("\n        ", "").rstrip() == text.rstrip()
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_yes_that_comes_too_late_is_refused_and_what_goes_on_sends_nothing(handoff, folder):
    session = asked_long_ago(folder / "handoff.db")

    shown, late = handoff("show", session), handoff("approve", session)
    resumed = handoff("resume", session, *FLOW)

    assert shown.out.partition("\n\nclerk wants")[2].splitlines() == [
        " to use mail (external); this was to be sent:",
        "  to  bob",
        "  it is too late for a yes, which is a no",
        "",
        "then go on:",
        f"  handoff resume {session} --flow mail.py:flow",
    ]
    assert (late.status, late.err) == (
        2,
        "handoff: It is too late for a yes to h1.1.0, which makes it a no; `handoff show "
        f"{session}` says how to go on without it.\n",
    )
    assert "(expired)" in resumed.out
    assert sent(folder) == []


def test_what_nobody_decided_on_in_time_waits_for_nobody_anywhere(handoff, folder):
    session = asked_long_ago(folder / "handoff.db")
    said = "Nobody decided in time, which is a no; the session can go on with it."

    listed, shown, why = handoff("list"), handoff("show", session), handoff("why", session)

    assert [said in " ".join(done.out.split()) for done in (listed, shown, why)] == [True] * 3
    assert json.loads(handoff("list", "--json").out)[0]["verdict"] == said


def test_of_an_imported_session_it_is_not_said_that_it_can_go_on(handoff, folder):
    session = asked_long_ago(folder / "handoff.db")
    handoff("export", session, "-o", "one.jsonl")
    handoff("import", "one.jsonl", "--db", "other.db")

    told = [
        handoff(*words, "--db", "other.db").out for words in (("show", session), ("why", session))
    ]

    assert not any("can go on" in " ".join(one.split()) for one in told)
    (listed,) = json.loads(handoff("list", "--db", "other.db", "--json").out)
    assert "go on" not in listed["verdict"]


def test_an_imported_session_that_waited_is_incomplete_wherever_it_is_shown(handoff, folder):
    session = started(handoff)
    handoff("export", session, "-o", "one.jsonl")
    handoff("import", "one.jsonl", "--db", "other.db")
    said = "The record breaks off before the session ended."

    (listed,) = json.loads(handoff("list", "--db", "other.db", "--json").out)
    shown = json.loads(handoff("show", session, "--db", "other.db", "--json").out)
    why = handoff("why", session, "--db", "other.db").out
    page = handoff("show", session, "--db", "other.db").out

    assert (listed["outcome"], listed["verdict"]) == ("incomplete", said)
    assert (shown["outcome"], shown["verdict"]) == ("incomplete", said)
    assert [one["status"] for one in shown["handoffs"]] == ["incomplete"]
    assert said in why
    assert "incomplete" in page
    assert "wait" not in page


def test_what_was_refused_is_no_longer_said_to_be_sent(handoff):
    session = started(handoff)
    handoff("approve", session, "--no", "--by", "kim")

    shown = handoff("show", session).out.partition("\n\nclerk wants")[2]

    assert shown.startswith(
        " to use mail (external); this was to be sent:\n  to  bob\n  no, says kim\n"
    )
