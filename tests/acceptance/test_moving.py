"""`handoff export`, `import`, `delete`, `rebuild` and `doctor`: what keeps a store in order."""

import io
import json
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from weakref import WeakSet

import pytest
from support.command import program
from support.damaged import damage_events
from support.recorded import FAILED, HEALTHY, double_charge, record, refund_policy

from handoff_console.console.cli import progress
from handoff_console.console.commands.moving import read_file

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
    (listed,) = json.loads(handoff("list", "--json", "--db", "other.db").out)
    shown = json.loads(handoff("show", FAILED, "--json", "--db", "other.db").out)
    assert (listed["origin"], shown["origin"]) == ("import", "import")


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


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "total"),
    [
        (("import", "two.jsonl", "--db", "other.db"), 2),
        (("import", "two.jsonl", "--dry-run"), 2),
        (("export", "--all", "-o", "again.jsonl"), 2),
        (("rebuild",), 2),
    ],
)
def test_how_many_sessions_are_done_is_told_on_standard_error(handoff, monkeypatch, words, total):
    handoff("export", "--all", "-o", "two.jsonl")
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)

    done = handoff(*words)

    assert done.status == 0
    assert f"{total} of {total} sessions (100 %)\n" in done.err
    assert " %)" not in done.out


@pytest.mark.usefixtures("store")
def test_a_dry_run_holds_one_session_at_a_time(handoff, folder):
    handoff("export", "--all", "-o", "two.jsonl")
    alive = WeakSet()

    for one in read_file(folder / "two.jsonl"):
        alive.add(one)
        assert one.events
        assert len(alive) == 1


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
def test_a_store_is_no_file_of_sessions_and_its_sessions_can_be_taken_along(handoff, folder):
    (folder / "my store.db").write_bytes((folder / "handoff.db").read_bytes())

    refused = [handoff("import", "my store.db", *more) for more in ([], ["--dry-run"])]

    assert [(done.status, done.out) for done in refused] == [(2, ""), (2, "")]
    assert {done.err for done in refused} == {
        "handoff: my store.db: this is a store (a SQLite file), and not a file of sessions; look "
        "into it with `handoff list --db 'my store.db'`, or write its sessions to a file that can "
        "be imported: `handoff export --all --db 'my store.db' -o FILE`.\n"
    }
    assert handoff("export", "--all", "--db", "my store.db", "-o", "all.jsonl").status == 0
    assert handoff("import", "all.jsonl").status == 0


@pytest.mark.usefixtures("store")
def test_a_file_that_was_cut_off_is_refused_and_nothing_half_is_kept(handoff, folder):
    handoff("export", FAILED, "-o", "one.jsonl")
    lines = (folder / "one.jsonl").read_text().splitlines(keepends=True)
    (folder / "cut.jsonl").write_text("".join(lines[:-3]))

    done = handoff("import", "cut.jsonl", "--db", "other.db")

    assert done.status == 2
    assert "cut.jsonl" in done.err
    assert not (folder / "other.db").exists()


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


def test_old_sessions_are_pruned_and_young_or_waiting_ones_stay(handoff, folder, store):
    handoff("run", "letters")  # now, and it waits
    handoff("run", "frontdesk", "--message", "I need a refund")  # now
    young = [line["session_id"] for line in json.loads(handoff("list", "--json").out)][:]

    asked = handoff("prune", "--before", "1h")
    assert asked.status == 2
    assert "2 sessions would be deleted for good, and nobody is there to say yes" in asked.err
    done = handoff("prune", "--before", "1h", "--yes")
    left = [line["session_id"] for line in json.loads(handoff("list", "--json").out)]

    assert done.out == "Deleted 2 sessions and everything that only they said.\n"
    assert sorted(left) == sorted(set(young) - {FAILED, HEALTHY})
    nothing = handoff("prune", "--before", "1h", "--yes")
    assert nothing.out == "No session is that old; nothing was deleted.\n"
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    rest = handoff("prune", "--before", later, "--yes")
    assert rest.err == "1 session of that time still runs or waits, and stays.\n"
    assert rest.out == "Deleted 1 session and everything that only they said.\n"


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
    damage_events(store)

    done = handoff("doctor")

    assert done.status == 1
    assert "The file is damaged" in " ".join(done.out.split())


@pytest.mark.parametrize("verb", [["list"], ["why", "--all"], ["export", "--all"]], ids=" ".join)
def test_a_file_that_is_damaged_in_its_middle_is_called_damaged(handoff, store, verb):
    damage_events(store)

    done = handoff(*verb)

    assert done.status == 2
    assert f"handoff: {store} is damaged (database disk image is malformed); " in done.err
    assert done.err.count("\n") == 1


def test_the_doctor_tells_of_a_store_that_is_not_there_yet(handoff, folder):
    done = handoff("doctor")

    assert "One is made with the first session." in " ".join(done.out.split())
    assert list(folder.iterdir()) == []
