"""`handoff export`, `import`, `delete`, `rebuild` and `doctor`: what keeps a store in order."""

import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.command import program
from support.recorded import FAILED, HEALTHY, double_charge, record, refund_policy

pytestmark = pytest.mark.acceptance


@pytest.fixture
def store(folder: Path) -> Path:
    """Make a store with a failed and a healthy session."""
    return record(folder / "handoff.db", [(FAILED, double_charge()), (HEALTHY, refund_policy())])


@pytest.mark.usefixtures("store")
def test_an_export_of_an_import_is_the_export_it_came_from(handoff, folder):
    handoff("export", "--all", "-o", "one.jsonl")

    imported = handoff("import", "one.jsonl", "--db", "other.db")
    handoff("export", "--all", "-o", "two.jsonl", "--db", "other.db")

    assert imported.out == "one.jsonl: 2 new sessions\nhandoff open --db other.db\n"
    assert (folder / "one.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()
    assert (folder / "one.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("store")
def test_an_import_shows_the_file_it_came_from_and_is_explained_alike(handoff):
    handoff("export", FAILED, "-o", "one.jsonl")
    handoff("import", "one.jsonl", "--db", "other.db")

    here, there = (
        json.loads(handoff("why", FAILED, "--json", "--db", name).out)
        for name in ("handoff.db", "other.db")
    )

    assert (here.pop("source"), there.pop("source")) == (None, "one.jsonl")
    assert here == there


@pytest.mark.usefixtures("store")
def test_an_export_goes_to_standard_output_in_utf8_whatever_the_locale(folder):
    done = program(folder, "export", HEALTHY, FAILED, HEALTHY, PYTHONIOENCODING="utf-8")

    header, *_ = done.out.splitlines()
    assert json.loads(header)["sessions"] == 2


@pytest.mark.usefixtures("store")
def test_importing_the_same_again_changes_nothing(handoff):
    handoff("export", "--all", "-o", "one.jsonl")

    done = handoff("import", "one.jsonl", "--json")

    assert json.loads(done.out) == [
        {"file": "one.jsonl", "new": [], "unchanged": [FAILED, HEALTHY]}
    ]


@pytest.mark.usefixtures("store")
def test_a_dry_run_says_what_a_file_holds_and_makes_no_store(handoff, folder):
    handoff("export", FAILED, "-o", "one.jsonl")

    done = handoff("import", "one.jsonl", "--dry-run", "--db", "other.db")
    form = json.loads(handoff("import", "one.jsonl", "--dry-run", "--json").out)

    assert done.out.startswith("one.jsonl: 1 session, 1 transfer, 2 calls, 1 refusal, ")
    assert FAILED in done.out
    assert not (folder / "other.db").exists()
    assert form["handoffs"] == [
        {"from": "triage", "to": "supervisor", "evidence": "event", "confidence": "high"}
    ]
    assert form["delegations"] == [
        {"from": "supervisor", "to": "billing"}, {"from": "billing", "to": "ledger"},
    ]  # fmt: skip
    assert form["refused"] == [{"from": "billing", "to": "ledger"}]
    assert (form["sessions"], form["status"]) == (1, "ok")
    assert form["agents"] == ["billing", "ledger", "supervisor", "triage"]
    assert {"agent": "billing", "tool": "list_payments", "ok": True} in form["tool_calls"]
    assert form["tokens"]["input"] > 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("hello\n", "handoff: bad.jsonl, line 1: this is not JSON"),
        ('{"text": "a request, not a session"}\n', "handoff: bad.jsonl, line 1: "),
        ("", "handoff: bad.jsonl"),
    ],
)
def test_a_file_of_another_form_is_refused_by_its_line(handoff, folder, content, sentence):
    (folder / "bad.jsonl").write_text(content)

    done = handoff("import", "bad.jsonl")

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(sentence)
    assert done.err.count("\n") == 1
    assert not (folder / "handoff.db").exists()


@pytest.mark.usefixtures("store")
def test_a_file_that_was_cut_off_is_refused_and_nothing_half_is_kept(handoff, folder):
    handoff("export", FAILED, "-o", "one.jsonl")
    lines = (folder / "one.jsonl").read_text().splitlines(keepends=True)
    (folder / "cut.jsonl").write_text("".join(lines[:-3]))

    done = handoff("import", "cut.jsonl", "--db", "other.db")

    assert done.status == 2
    assert "cut.jsonl" in done.err
    assert handoff("list", "--json", "--db", "other.db").out == "[]\n"


def test_a_missing_file_is_refused_before_a_store_is_made(handoff, folder):
    done = handoff("import", "nowhere.jsonl")

    assert done == (2, "", "handoff: nowhere.jsonl: there is no such file; check the path.\n")
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Which sessions to export is not clear; name them, or say --all."),
        ([FAILED, "--all"], "Which sessions to export is not clear"),
        (["nobody"], "There is no session 'nobody'"),
        ([FAILED, "-o", "nowhere/one.jsonl"], "nowhere/one.jsonl cannot be written"),
    ],
)
def test_an_export_that_cannot_be_made_leaves_no_file(handoff, folder, words, sentence):
    done = handoff("export", *words)

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert [path.name for path in folder.iterdir() if not path.name.startswith("handoff.db")] == []


@pytest.mark.usefixtures("store")
def test_a_failed_export_leaves_the_file_that_was_there_as_it_was(handoff, folder):
    (folder / "one.jsonl").write_text("precious")

    handoff("export", "nobody", "-o", "one.jsonl")

    assert (folder / "one.jsonl").read_text() == "precious"


@pytest.mark.usefixtures("store")
def test_a_deleted_session_is_gone_from_the_file(handoff, folder):
    def content() -> bytes:
        return b"".join(path.read_bytes() for path in folder.glob("handoff.db*"))

    assert b"charged twice" in content()

    done = handoff("delete", "failed", "--yes")

    assert done.out == "Deleted 1 session and everything that only they said.\n"
    assert [item["session_id"] for item in json.loads(handoff("list", "--json").out)] == [HEALTHY]
    assert b"charged twice" not in content()


@pytest.mark.usefixtures("store")
def test_without_a_person_to_ask_nothing_is_deleted(folder):
    done = program(folder, "delete", FAILED, HEALTHY)

    assert done.status == 2
    assert done.err == (
        "handoff: 2 sessions would be deleted for good, and nobody is there to say yes; confirm "
        "with --yes.\n"
    )
    assert len(json.loads(program(folder, "list", "--json").out)) == 2


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("said", "status", "left"), [("y\n", 0, 1), ("n\n", 1, 2), ("", 1, 2)])
def test_a_person_is_asked_before_anything_is_deleted(handoff, monkeypatch, said, status, left):
    answer = io.StringIO(said)
    monkeypatch.setattr(answer, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", answer)

    done = handoff("delete", FAILED)

    assert done.status == status
    assert done.err.startswith(f"  {FAILED}  Why was I charged twice last month?\nDelete 1 session")
    assert len(json.loads(handoff("list", "--json").out)) == left


def test_a_deletion_with_one_unknown_session_deletes_none(handoff, store):
    assert handoff("delete", FAILED, "nobody", "--yes").status == 2
    assert len(json.loads(handoff("list", "--json").out)) == 2


def test_what_is_derived_can_be_lost_and_made_again(handoff, store):
    before = handoff("list", "--json").out
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("delete from session_summary")
        db.execute("delete from findings")

    done = handoff("rebuild")

    assert done.out.startswith("Made the lines, findings and index of 2 sessions again in ")
    assert handoff("list", "--json").out == before


def test_the_doctor_looks_at_everything(handoff):
    handoff("run", "support")

    done = handoff("doctor")
    form = json.loads(handoff("doctor", "--json").out)

    names = [check["name"] for check in form]
    assert names[:2] == ["python", "sqlite"]
    assert {"pydantic", "streamlit", "pandas"} < set(names)
    assert names[-5:] == ["browser", "port", "samples", "store", "integrity"]
    assert "✓ integrity      The file is whole, and all in it can be read." in done.out
    assert done.status == 0


def test_the_doctor_says_what_fails_and_what_to_do(handoff, folder):
    (folder / "text.db").write_text("hello")

    done = handoff("doctor", "--db", "text.db")

    assert done.status == 1
    assert "✕ store" in done.out
    assert "is not a store" in " ".join(done.out.split())
    assert " failed.\n" in done.out


@pytest.mark.parametrize("verb", [["list"], ["run", "frontdesk"], ["doctor"]], ids=" ".join)
def test_a_file_that_is_damaged_from_its_first_page_on_is_called_damaged(handoff, store, verb):
    with closing(sqlite3.connect(store)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    content = bytearray(store.read_bytes())
    content[200:4096] = b"\x81" * 3896
    store.write_bytes(content)

    done = handoff(*verb)

    assert done.status == (1 if verb == ["doctor"] else 2)
    assert "is damaged, so that nothing in it can be read" in " ".join(
        (done.out + done.err).split()
    )
    assert store.read_bytes() == content


def test_the_doctor_finds_a_damaged_file(handoff, store):
    with closing(sqlite3.connect(store)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
        (page,) = db.execute("select rootpage from sqlite_schema where name = 'events'").fetchone()
        (size,) = db.execute("pragma page_size").fetchone()
    content = bytearray(store.read_bytes())
    content[(page - 1) * size + 8 : page * size] = b"\xff" * (size - 8)
    store.write_bytes(content)

    done = handoff("doctor")

    assert done.status == 1
    assert "The file is damaged" in " ".join(done.out.split())


def test_the_doctor_tells_of_a_store_that_is_not_there_yet(handoff, folder):
    done = handoff("doctor")

    assert "One is made with the first session." in " ".join(done.out.split())
    assert list(folder.iterdir()) == []
