"""`handoff --help`, mistakes on the command line, and mistakes of the program itself."""

import subprocess
import sys

import pytest

from handoff_console.console.cli.parser import VERBS

pytestmark = pytest.mark.acceptance


def test_help_opens_with_two_doors_and_lists_every_verb(handoff):
    done = handoff("--help")

    lines = done.out.splitlines()
    assert (
        lines[2].split()
        == "Show me handoff demo sample sessions, and the console open on them".split()
    )
    assert lines[3].startswith("  I have a trace   handoff import FILE")
    for verb in VERBS:
        assert f"\n  {verb.name} " in done.out
    assert max(map(len, lines)) <= 100
    assert done.status == 0


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_has_help_of_its_own(handoff, verb):
    done = handoff(verb, "--help")

    assert done.status == 0
    assert done.out.startswith(f"usage: handoff {verb}")
    assert ("--db FILE" in done.out) == (verb != "demo")  # which has a store of its own


def test_the_help_of_a_comparison_says_what_its_exit_status_means(handoff):
    said = " ".join(handoff("compare", "--help").out.split())

    assert said.endswith(
        "Exit status: 0 it may go out, 1 it may not, 3 cannot be told (with --strict), "
        "4 stopped before the end, 5 cases without a decision."
    )


def test_without_a_verb_there_is_the_overview_and_status_2(handoff):
    assert handoff() == (2, handoff("--help").out, "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["shwo"], "handoff: there is no verb 'shwo'; did you mean `handoff show`"),
        (["xyz"], "handoff: there is no verb 'xyz'; there are: demo, open,"),
        (["show"], "handoff show: the following arguments are required: SESSION"),
        (["list", "--colour"], "handoff list: there is no option '--colour' (see `handoff list --"),
        (["list", "--outcom=ok"], "no option '--outcom'; did you mean `--outcome` (see"),
        (
            ["run", "x", "--mesage", "a b"],
            "handoff run: there is no option '--mesage'; did you mean",
        ),
        (["demo", "--dv", "x.db"], "handoff demo: there is no option '--dv' (see `handoff demo"),
        (["list", "--dv", "x.db"], "no option '--dv'; did you mean `--db` (see `handoff list --"),
        (["--colour"], "handoff: there is no option '--colour'; a verb's own options stand behind"),
        (["--port=80", "open"], "handoff: there is no option '--port'; a verb's own options stand"),
        (["--outcome", "ok", "list"], "no option '--outcome'; a verb's own options stand behind"),
        (
            ["--versoin"],
            "there is no option '--versoin'; did you mean `--version` (see `handoff --",
        ),
        (
            ["run", "support", "--message", "Why", "was", "I", "charged?"],
            "handoff run: 'was I charged?' is more than it takes; a text of several words needs",
        ),
        (["list", "--limit", "x"], "argument --limit: 'x' is no whole number from 1 on"),
        (["run", "x", "--message", "a", "--input", "b"], "not allowed with argument --message"),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(handoff, words, sentence):
    done = handoff(*words)

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_a_mistake_of_the_program_is_one_sentence_that_names_where_the_details_are(
    handoff, folder, monkeypatch
):
    from handoff_console.console.cli import listing

    def broken(*_: object, **__: object) -> None:
        raise KeyError("\x1b[31mred")

    monkeypatch.setattr(listing, "session_page", broken)
    monkeypatch.setattr("tempfile.tempdir", str(folder))

    done = handoff("list")

    assert done.status == 2
    assert done.err.count("\n") == 1
    assert "this is a mistake of the program itself (KeyError: " in done.err
    assert "\x1b" not in done.err
    (details,) = folder.glob("handoff-*.txt")
    assert str(details) in done.err
    assert "Traceback" in details.read_text()
    monkeypatch.setenv("HANDOFF_DEBUG", "1")
    with pytest.raises(KeyError):
        handoff("list")


def test_a_missing_library_is_named_with_what_to_install(handoff, monkeypatch):
    from handoff_console.console.cli import listing

    def broken(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

    monkeypatch.setattr(listing, "session_page", broken)

    done = handoff("list")

    assert done.status == 2
    assert done.err == (
        "handoff: This command needs 'pandas', which is not installed; run `pip install "
        "handoff-console` without --no-deps.\n"
    )


def test_help_loads_nothing_slow():
    code = """
import sys
before = set(sys.modules)
from handoff_console.console.cli import main
main(["--help"])
slow = {"asyncio", "pandas", "pydantic", "sqlite3", "streamlit"}
print("loaded:", sorted(slow & (set(sys.modules) - before)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "loaded: []"
