"""`handoff export --to pytest`: a recorded handoff as a test that runs."""

import ast
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.command import environment
from support.mailboxes import MAIL, mailbox, sent
from support.shops import shop

from handoff_console.console.commands.pins import _literal, verify_pinned, zipped_pin

pytestmark = pytest.mark.acceptance


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder, capture_output=True, text=True, env=environment(), check=False, timeout=120,
    )  # fmt: skip


def recorded(handoff, *words: str) -> str:
    return str(json.loads(handoff("run", *words, "--json").out)["session_id"])


def test_the_test_of_a_samples_handoff_runs_and_passes(handoff, folder):
    session = recorded(handoff, "support")
    done = handoff("export", session, "--to", "pytest", "h2")
    (folder / "handoff.db").unlink()

    ran = run_pytest(folder)

    assert done.out == "pytest test_support_billing_h2.py\n"
    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout
    text = (folder / "test_support_billing_h2.py").read_text()
    assert "def test_billing_h2_comes_to_its_recorded_result():\n" in text
    assert '        "status": "ok",\n' in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_test_that_the_page_gives_runs_wherever_it_is_unpacked(handoff, folder):
    mailbox(folder)
    session = letter(handoff, folder)
    there = folder / "elsewhere"
    packed = zipped_pin(folder / "handoff.db", session, "h1", named="mail.py:flow")

    with zipfile.ZipFile(io.BytesIO(packed)) as file:
        assert sorted(file.namelist()) == [
            "test_mail_clerk_h1.jsonl",
            "test_mail_clerk_h1.py",
        ]
        file.extractall(there)
    before = sent(folder)
    ran = run_pytest(there)

    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout
    assert sent(folder) == before


@pytest.mark.parametrize("handoff_id", ["h1", "h2", "h3"])
def test_every_handoff_can_be_pinned(handoff, folder, handoff_id):
    session = recorded(handoff, "support")
    handoff("export", session, "--to", "pytest", handoff_id, "-o", "test_it.py")

    assert not verify_pinned("support", folder / "test_it.jsonl", handoff_id).explanation


def letter(handoff, folder) -> str:
    mailbox(folder)
    session = recorded(handoff, "mail.py:flow", "--message", "Write to bob.")
    handoff("approve", session)
    handoff("resume", session, "--flow", "mail.py:flow")
    return session


def test_a_flow_of_the_users_own_is_found_from_the_tests_place_and_acts_no_more(handoff, folder):
    session = letter(handoff, folder)
    (folder / "tests").mkdir()
    words = ("export", "--to", "pytest", session, "h1", "--flow", "mail.py:flow")
    handoff(*words, "-o", "tests/test_mail.py")

    ran = run_pytest(folder / "tests")

    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout
    assert sent(folder) == ["bob: Hello"]
    assert (
        'verify_pinned(str(HERE / "../mail.py") + ":flow", '
        in (folder / "tests/test_mail.py").read_text()
    )


def test_a_changed_tool_is_not_asked_and_one_that_takes_other_arguments_is_shown(handoff, folder):
    session = letter(handoff, folder)
    handoff("export", session, "--to", "pytest", "h1", "--flow", "mail.py:flow", "-o", "test_it.py")
    (folder / "mail.py").write_text(MAIL.replace('{"sent_to": to}', '{"posted_to": to}'))
    another_result = run_pytest(folder)
    (folder / "mail.py").write_text(MAIL.replace("def mail(to: str", "def mail(to: int"))

    other_arguments = run_pytest(folder)

    assert another_result.returncode == 0, another_result.stdout
    assert other_arguments.returncode == 1
    shown = other_arguments.stdout
    assert "At t1 step 2 the flow asks for something else than was recorded:" in shown
    assert '-{"sent_to":"bob"}' in shown
    assert "the arguments of 'mail' do not fit" in shown


def test_what_parts_is_explained(handoff, folder):
    session = recorded(handoff, "support")
    handoff("export", session, "-o", "one.jsonl")
    lines = (folder / "one.jsonl").read_text().splitlines()
    marked = [
        line.replace("Return the payments", "Give me the payments")
        if '"role":"user"' in line and "Return the payments" in line
        else line
        for line in lines
    ]
    assert marked != lines
    (folder / "one.jsonl").write_text("\n".join(marked) + "\n")

    came = verify_pinned("support", folder / "one.jsonl", "h1")

    assert came.result is None
    assert came.explanation.startswith("At t1/")
    assert "\n-user: Task: Give me the payments" in came.explanation
    assert "\n+user: Task: Return the payments" in came.explanation


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--to", "pytest"], "A test holds one handoff of one session"),
        (["--to", "pytest", "h1", "h2"], "A test holds one handoff of one session"),
        (["--to", "pytest", "h9"], "has no handoff 'h9'; it has: h1, h2, h3."),
        (["--to", "html"], "There is no form 'html'; there are: jsonl, pytest."),
        (["--flow", "x.py:y"], "--flow names what a test runs; it goes with --to pytest."),
    ],
)
def test_what_cannot_be_pinned_is_one_sentence_and_writes_nothing(handoff, folder, words, sentence):
    session = recorded(handoff, "support")
    before = {path.name for path in folder.iterdir()}
    done = handoff("export", session, *words)

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert {path.name for path in folder.iterdir()} - before <= {"handoff.db-shm", "handoff.db-wal"}


def test_a_test_that_is_there_is_not_written_over(handoff, folder):
    session = recorded(handoff, "support")
    handoff("export", session, "--to", "pytest", "h2")
    done = handoff("export", session, "--to", "pytest", "h2")

    assert (
        "test_support_billing_h2.py is there already; name another file with -o FILE." in done.err
    )


def test_a_handoff_that_still_waits_has_nothing_to_hold(handoff):
    session = recorded(handoff, "letters")

    assert "has no result yet" in handoff("export", session, "--to", "pytest", "h1").err


def test_jsonl_takes_sessions_before_and_after_the_form(handoff, folder):
    session = recorded(handoff, "support")

    assert handoff("export", "--to", "jsonl", session).out == handoff("export", session).out


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        None,
        {"a": [1, 2.5, True, None, "it's", 'so "called"', "line\nend", "\u202egnp", "'\""]},
        {"deep": {"list": [{"n": n, "text": "x" * 60} for n in range(3)]}},
    ],
)
def test_a_value_in_the_test_is_the_value_it_was(value):
    source = _literal(value)

    assert ast.literal_eval(source) == value
    assert source.isascii() or source.isprintable()


def test_a_pin_needs_no_key_of_the_model_that_had_answered(handoff, folder, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    shop(folder)
    form = json.loads(handoff("run", "shop.py:flow", "--message", "Why twice?", "--json").out)
    words = ("export", form["session_id"], "--to", "pytest", "h2", "--flow", "shop.py:flow")
    assert handoff(*words, "-o", "test_pin.py").status == 0
    shop(folder, ("model=billing", 'model="openai:gpt-4o"'))

    came = verify_pinned("shop.py:flow", folder / "test_pin.jsonl", "h2")

    assert (came.explanation, came.result["status"]) == ("", "ok")
