"""`handoff run --input`: many requests, nothing lost and nothing done twice, whatever stops it."""

import json
import os
import pty
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.command import PROGRAM, environment, program, started

pytestmark = pytest.mark.acceptance

FLOW = """
import asyncio
from pathlib import Path
from handoff_console.runtime import Agent, Flow, say

async def echo(call):
    # Somebody watches how far it came, and holds it where they want it.
    Path("reached").write_text(call.text)
    while Path(f"hold {call.text}").exists():
        await asyncio.sleep(0.005)
    return say(f"heard {call.text}")

flow = Flow("echo", [Agent("echo", model=echo)])
"""

WRITES = """
from handoff_console.runtime import Agent, Effect, Flow, Tool, use

def refund(amount: float) -> str:
    return "refunded"

tool = Tool(refund, description="Refund money.", effect=Effect.WRITE, approval=True)
worker = Agent("worker", may_write=True, tools=[tool], model=lambda call: use("refund", amount=1.0))
flow = Flow("writes", [worker])
"""


@pytest.fixture
def echo(folder: Path) -> Path:
    """Make a flow that can be held at a request, and an input of 30 requests."""
    (folder / "flow.py").write_text(FLOW)
    (folder / "asked.txt").write_text("".join(f"request {n}\n" for n in range(30)))
    return folder


def sessions(store: Path) -> list[tuple[str, str]]:
    """Return message and outcome of every session of a store, in order of the messages."""
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("select preview, outcome from sessions")
        return sorted(rows, key=lambda row: (int(row[0].rpartition(" ")[2]), row[1]))


@pytest.fixture
def held(echo: Path) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Return a function that starts a batch, and waits until it stands still at a request."""
    processes = []

    def start(at: str) -> "subprocess.Popen[str]":
        (echo / f"hold {at}").touch()
        process = started(echo, "run", "flow.py:flow", "--input", "asked.txt")
        processes.append(process)
        give_up = time.monotonic() + 60
        reached = echo / "reached"
        while not (reached.exists() and reached.read_text() == at):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < give_up
            time.sleep(0.01)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_every_line_becomes_a_session_and_the_end_is_told(handoff, echo):
    done = handoff("run", "flow.py:flow", "--input", "asked.txt")

    assert done.status == 0
    assert done.out.startswith("30 of 30 requests done now, in ")
    assert "✓ ok" in done.out
    assert sessions(echo / "handoff.db") == [(f"request {n}", "ok") for n in range(30)]


def test_the_same_command_again_does_nothing_twice(handoff, echo):
    handoff("run", "flow.py:flow", "--input", "asked.txt")
    again = handoff("run", "flow.py:flow", "--input", "asked.txt")

    assert again.status == 0
    assert again.out.startswith("All 30 requests of ")
    assert len(sessions(echo / "handoff.db")) == 30


def test_again_runs_everything_once_more_and_goes_on_where_that_stopped(handoff, echo):
    words = ("run", "flow.py:flow", "--input", "asked.txt")
    handoff(*words)

    again = json.loads(handoff(*words, "--again", "--json").out)
    assert (again["done_before"], again["done"]) == (0, 30)
    assert len(sessions(echo / "handoff.db")) == 60
    assert json.loads(handoff(*words, "--json").out)["done_before"] == 30


def test_a_limit_takes_the_first_requests_and_a_larger_one_goes_on(handoff, echo):
    words = ("run", "flow.py:flow", "--input", "asked.txt", "--json", "--limit")

    first, second = (json.loads(handoff(*words, number).out) for number in ("10", "25"))

    assert (first["requests"], first["done_before"], first["done"]) == (10, 0, 10)
    assert (second["requests"], second["done_before"], second["done"]) == (25, 10, 25)
    assert len(sessions(echo / "handoff.db")) == 25


def test_labels_stay_with_their_session(handoff, echo):
    (echo / "asked.csv").write_text("text,label,id\nrequest 1,greeting,7\n")

    handoff("run", "flow.py:flow", "--input", "asked.csv")

    with closing(sqlite3.connect(echo / "handoff.db")) as db:
        ((metadata,),) = db.execute("select metadata from sessions").fetchall()
    assert json.loads(metadata) == {"id": "7", "label": "greeting"}
    assert len(json.loads(handoff("list", "--json", "--label", "label=greeting").out)) == 1
    assert json.loads(handoff("list", "--json", "--label", "label=other").out) == []


THREE = '{"text": "request 1"}\n{"txt": 2}\n{"text": "request 3"}\n'


def test_a_bad_line_is_named_by_its_number_before_anything_is_run(handoff, echo):
    (echo / "asked.jsonl").write_text(THREE + "{\n7\n")

    done = handoff("run", "flow.py:flow", "--input", "asked.jsonl")

    assert done.status == 2
    assert done.err.endswith(
        "asked.jsonl, line 2: it has none of the keys 'text', 'input' or 'message'; nothing was "
        "run. Correct it and 2 other lines and run the same command again, or leave bad lines out "
        "with `--on-bad-line skip`.\n"
    )
    assert not (echo / "handoff.db").exists()


def test_a_bad_line_behind_the_limit_is_no_matter(handoff, echo):
    (echo / "asked.jsonl").write_text(THREE)

    assert handoff("run", "flow.py:flow", "--input", "asked.jsonl", "--limit", "1").status == 0


def test_a_bad_line_is_skipped_as_asked_and_is_not_counted_as_done(handoff, echo):
    (echo / "asked.jsonl").write_text(THREE)
    words = ("run", "flow.py:flow", "--input", "asked.jsonl", "--on-bad-line", "skip")

    done = handoff(*words)

    assert done.status == 0
    assert done.out.startswith("2 of 3 requests done now, in ")
    assert "1 line skipped:\n  line 2: it has none of the keys" in done.out
    assert sessions(echo / "handoff.db") == [("request 1", "ok"), ("request 3", "ok")]
    again, form = handoff(*words), json.loads(handoff(*words, "--json").out)
    assert again.out.startswith("2 requests of ")
    assert "were done before" in again.out
    assert "1 line skipped:\n  line 2: it has none of the keys" in again.out
    counted = [form[name] for name in ("requests", "done", "done_before", "left")]
    assert (counted, len(form["skipped"])) == ([3, 2, 2, 0], 1)
    assert (form["outcomes"], "unknown" in again.out) == ({"ok": 2}, False)


def test_an_input_of_which_no_line_can_be_read_is_no_success(handoff, echo):
    (echo / "asked.jsonl").write_text("{}\n[]\n")
    words = ("run", "flow.py:flow", "--input", "asked.jsonl", "--on-bad-line", "skip")

    first, again = handoff(*words), handoff(*words)

    assert (first.status, again.status) == (2, 2)
    for done in (first, again):
        assert done.out.startswith(
            "No request was run: no line of asked.jsonl can be read as one.\n2 lines skipped:\n"
            "  line 1: it has none of the keys"
        )
    assert handoff(*words, "--json").status == 2


def test_a_line_whose_interrupted_session_was_deleted_is_run_and_one_that_was_done_is_not(
    handoff, echo, held
):
    process = held("request 2")
    process.kill()
    process.communicate()
    (echo / "hold request 2").unlink()
    unfinished = json.loads(handoff("list", "--json", "--outcome", "interrupted").out)
    finished = json.loads(handoff("list", "--json", "--search", "request 1").out)

    handoff("delete", "--yes", unfinished[0]["session_id"], finished[0]["session_id"])
    handoff("run", "flow.py:flow", "--input", "asked.txt", "--limit", "4")

    assert sessions(echo / "handoff.db") == [(f"request {n}", "ok") for n in (0, 2, 3)]


def test_a_changed_input_is_a_new_batch_and_says_so(handoff, echo):
    handoff("run", "flow.py:flow", "--input", "asked.txt", "--limit", "5")
    (echo / "asked.txt").write_text("request 1\nrequest 100\n")

    done = handoff("run", "flow.py:flow", "--input", "asked.txt")

    assert "the input has changed since an earlier batch of it was left unfinished" in done.err
    assert "2 of 2 requests done now" in done.out


def test_a_changed_flow_is_a_new_batch_and_says_so(handoff, echo):
    words = ("run", "flow.py:flow", "--input", "asked.txt", "--limit", "5")
    handoff(*words)
    (echo / "flow.py").write_text(FLOW.replace('Agent("echo",', 'Agent("echo", "Other prompt.",'))

    done = handoff(*words)

    assert "the flow has changed since an earlier batch" in done.err
    assert done.out.startswith("5 of 5 requests done now")


def test_other_options_are_another_batch(handoff, echo):
    words = ("run", "flow.py:flow", "--input", "asked.txt", "--limit", "5")
    handoff(*words)

    done = handoff(*words, "--pool", "20000")

    assert "the options have changed since an earlier batch" in done.err
    assert len(sessions(echo / "handoff.db")) == 10


def test_a_killed_batch_goes_on_and_every_request_is_answered_once(handoff, echo, held):
    process = held("request 12")
    process.kill()
    process.communicate()
    (echo / "hold request 12").unlink()

    assert sessions(echo / "handoff.db")[:13] == [
        *((f"request {n}", "ok") for n in range(12)),
        ("request 12", "running"),
    ]
    done = handoff("run", "flow.py:flow", "--input", "asked.txt", "--json")

    form = json.loads(done.out)
    assert (form["done_before"], form["done"]) == (12, 30)
    after = sessions(echo / "handoff.db")
    assert [row for row in after if row[1] == "ok"] == [(f"request {n}", "ok") for n in range(30)]
    assert [row for row in after if row[1] != "ok"] == [("request 12", "running")]
    assert "interrupted" in handoff("list", "--outcome", "interrupted").out


def test_ctrl_c_finishes_the_session_that_runs_and_says_how_to_go_on(handoff, echo, held):
    process = held("request 7")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert process.stderr.readline() == "\n"
    assert process.stderr.readline().startswith("Stopping after the session that runs now")
    (echo / "hold request 7").unlink()
    out, err = process.communicate()

    assert process.returncode == 130
    assert out.startswith("8 of 30 requests done now")
    assert "Stopped with 22 requests left; nothing is lost. To go on:" in err
    assert "  handoff run flow.py:flow --input asked.txt\n" in err
    assert sessions(echo / "handoff.db") == [(f"request {n}", "ok") for n in range(8)]

    done = handoff("run", "flow.py:flow", "--input", "asked.txt")
    assert done.err.startswith("Going on after 8 of 30.\n")
    assert sessions(echo / "handoff.db") == [(f"request {n}", "ok") for n in range(30)]


def test_a_second_ctrl_c_cancels_the_session_and_it_is_run_again_later(handoff, echo, held):
    process = held("request 7")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    process.stderr.readline()
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate()

    assert process.returncode == 130
    assert sessions(echo / "handoff.db")[-1] == ("request 7", "cancelled")
    (echo / "hold request 7").unlink()
    handoff("run", "flow.py:flow", "--input", "asked.txt")
    assert sessions(echo / "handoff.db")[7:9] == [("request 7", "cancelled"), ("request 7", "ok")]


def test_ctrl_c_cancels_a_single_session_and_keeps_its_record(handoff, echo):
    (echo / "hold alone").touch()
    process = started(echo, "run", "flow.py:flow", "--message", "alone")
    while not (echo / "reached").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, "")
    assert err == (
        "Cancelled; what was done until then is recorded: handoff list --outcome cancelled\n"
    )
    assert "alone" in handoff("list", "--outcome", "cancelled").out


def test_ctrl_c_at_a_re_run_says_how_its_record_is_found(handoff, echo):
    session = json.loads(handoff("run", "flow.py:flow", "--message", "alone", "--json").out)
    (echo / "reached").unlink()
    (echo / "hold alone").touch()
    again = ("rerun", session["session_id"], "h1", "--flow", "flow.py:flow", "--mode", "what-if")
    process = started(echo, *again)
    while not (echo / "reached").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err.endswith("recorded: handoff list --reruns --outcome cancelled\n")
    found = json.loads(handoff("list", "--reruns", "--outcome", "cancelled", "--json").out)
    assert [one["rerun_of"] for one in found] == [session["session_id"]]


def test_two_processes_do_not_share_a_batch(handoff, echo, held):
    process = held("request 3")

    done = handoff("run", "flow.py:flow", "--input", "asked.txt")

    assert done.status == 2
    assert f"Process {process.pid} works on this batch now, in session " in done.err


def test_progress_is_told_on_a_terminal_with_rate_and_time_left(echo):
    (echo / "asked.txt").write_text("".join(f"request {n}\n" for n in range(400)))
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "run", "flow.py:flow", "--input", "asked.txt"],
        cwd=echo, stdout=subprocess.PIPE, stderr=slave, env=environment(),
    )  # fmt: skip
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    process.communicate()
    os.close(master)

    text = shown.decode()
    assert "\r0 of 400 (0 %)" in text
    assert " a second · " in text
    assert " left" in text


def test_a_session_that_waits_for_a_person_is_not_run_again(handoff, echo):
    (echo / "writes.py").write_text(WRITES)
    words = ("run", "writes.py:flow", "--input", "asked.txt", "--limit", "2", "--json")

    first, second = (json.loads(handoff(*words).out) for _ in range(2))

    assert first["outcomes"] == second["outcomes"] == {"waiting": 2}
    assert (second["done_before"], second["done"]) == (2, 2)
    assert handoff(*words, "--fail-on", "waiting").status == 1


def test_an_outcome_of_any_session_can_be_made_the_exit_status(handoff, echo):
    words = ("run", "flow.py:flow", "--input", "asked.txt", "--limit", "2", "--fail-on")

    assert handoff(*words, "error").status == 0
    assert handoff(*words, "ok").status == 1


def test_an_input_without_requests_is_refused_and_makes_no_store(handoff, echo):
    (echo / "empty.txt").write_text("\n \n")

    done = handoff("run", "flow.py:flow", "--input", "empty.txt")

    assert done.status == 2
    assert done.err.endswith("empty.txt: it has no request; write one a line.\n")
    assert not (echo / "handoff.db").exists()


def test_requests_come_from_standard_input_as_well(echo):
    done = program(echo, "run", "flow.py:flow", "--input", "-", "--json", stdin="request 1\n")

    assert json.loads(done.out)["done"] == 1
