"""The tables of a store, as migrations: `MIGRATIONS[n]` takes a file from version n to n + 1.

Each function's docstring says what its tables are: the **truth** (events and the bodies they name),
**derived** from it and rebuildable at any time, an **inbox**, a **ledger** of a subject of its own,
or the **operator's** own notes. `docs/storage.md` has the same list for users.

A migration is plain SQL on the connection, so that recording a first session waits for no library;
one that reshapes a table may wrap the connection in `sqlite_utils.Database` for `transform`.
"""

import sqlite3
from collections.abc import Callable

from handoff_console.store.schema_events import m001_meta, m002_events, m003_bodies
from handoff_console.store.schema_experiments import m013_experiments
from handoff_console.store.schema_summary import (
    m004_summary,
    m007_handoffs_view,
    m008_sessions_view,
    m012_lineage,
    m014_handoff_states,
)
from handoff_console.store.schema_work import (
    m005_batches,
    m006_commands,
    m009_effects,
    m010_leases,
    m011_command_subjects,
)

APPLICATION_ID = 0x48414E44
"""`HAND`: tells a store from every other SQLite file."""

MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_meta,
    m002_events,
    m003_bodies,
    m004_summary,
    m005_batches,
    m006_commands,
    m007_handoffs_view,
    m008_sessions_view,
    m009_effects,
    m010_leases,
    m011_command_subjects,
    m012_lineage,
    m013_experiments,
    m014_handoff_states,
)

VERSION = len(MIGRATIONS)
"""The schema that this program writes."""


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Take a store from `version` to `VERSION`, inside the caller's transaction."""
    for step in MIGRATIONS[version:]:
        step(db)
    db.execute(f"pragma application_id = {APPLICATION_ID}")
    db.execute(f"pragma user_version = {VERSION}")
