import re
import shlex
from pathlib import Path

from click.testing import CliRunner
from sqlite_utils import Database
from sqlite_utils.cli import cli

from handoff_console.runtime.events import KINDS
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store.schema import MIGRATIONS
from handoff_console.store.schema_events import DIGEST_KEY_BYTES

PAGE = Path(__file__).parents[3] / "docs" / "storage.md"
KINDS_OF_TABLE = {"truth", "derived", "inbox", "ledger", "operator's"}


def tables_of(db):
    named = Database(db).table_names()
    return {name for name in named if not name.startswith(("sqlite_", "session_words_"))}


def test_the_page_on_storage_names_every_table_and_says_what_it_is(db):
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w']+) \|", PAGE.read_text(), re.M))

    assert rows.keys() == tables_of(db)
    assert set(rows.values()) == KINDS_OF_TABLE


def test_the_page_on_storage_names_every_view(db):
    assert all(f"`{name}`" in PAGE.read_text() for name in Database(db).view_names())


def test_the_commands_of_sqlite_utils_on_the_page_show_what_is_in_a_store(path, monkeypatch):
    unpack(path)
    monkeypatch.chdir(path.parent)
    commands = re.findall("^sqlite-utils (.+)$", PAGE.read_text("utf-8"), re.M)

    shown = [CliRunner().invoke(cli, shlex.split(command)) for command in commands]

    assert [done.exit_code for done in shown] == [0, 0, 0, 0], [done.output for done in shown]
    row, outcomes, refused, tokens = (done.output for done in shown)
    assert '"handoff_id": "h1"' in row
    assert re.search(r"^limit_reached +1$", outcomes, re.M)
    assert re.search("^shipping +warranty +the damage was not noted", refused, re.M)
    assert tokens.startswith("target,tokens\n")


def test_every_migration_says_what_its_tables_are():
    said = [str(step.__doc__).lower() for step in MIGRATIONS]

    assert [step.__name__[:4] for step in MIGRATIONS] == [
        f"m{n:03}" for n in range(1, len(said) + 1)
    ]
    assert all(any(kind in text for kind in KINDS_OF_TABLE) for text in said)


def test_tables_take_only_what_their_columns_say(db):
    loose = [
        table.name
        for table in Database(db).tables
        if table.name in tables_of(db) and "strict" not in table.schema.lower().rpartition(")")[2]
    ]

    assert loose == ["session_words"]


def test_a_new_store_knows_every_kind_of_event(db):
    assert {row[0] for row in db.execute("select name from kinds")} == KINDS.keys()


def test_a_new_store_knows_itself(db):
    meta = dict(db.execute("select name, value from meta"))

    assert meta.keys() == {"digest_key", "created_at_us", "generation", "last_deleted"}
    assert len(meta["digest_key"]) == DIGEST_KEY_BYTES
    assert meta["created_at_us"] > 1_700_000_000_000_000
