"""The tables of a store, as migrations: `MIGRATIONS[n]` takes a file from version n to n + 1.

Each function's docstring says what its tables are: the **truth** (events and the bodies they name),
**derived** from it and rebuildable at any time, an **inbox**, a **ledger** of a subject of its own,
or the **operator's** own notes. `docs/storage.md` has the same list for users.

A migration is plain SQL on the connection, so that recording a first session waits for no library;
one that reshapes a table may wrap the connection in `sqlite_utils.Database` for `transform`.
"""

import secrets
import sqlite3
import time
from collections.abc import Callable

from handoff_console.runtime.events import KINDS
from handoff_console.store.views import OPEN_SESSIONS_SQL, SESSIONS_SQL, handoffs_sql

APPLICATION_ID = 0x48414E44
"""`HAND`: tells a store from every other SQLite file."""

DIGEST_KEY_BYTES = 32


def m001_meta(db: sqlite3.Connection) -> None:
    """`meta`, truth about the store itself: secret digest key, time of creation, generation.

    The generation counts deletions and rebuilds: what was cached under another one is stale. Keys
    of sessions up to `last_deleted` are not given out again, so that a writer whose session was
    deleted cannot write into another one.
    """
    db.execute("create table meta (name text primary key, value any) strict, without rowid")
    db.executemany(
        "insert into meta values (?, ?)",
        [
            ("digest_key", secrets.token_bytes(DIGEST_KEY_BYTES)),
            ("created_at_us", time.time_ns() // 1_000),
            ("generation", 0),
            ("last_deleted", 0),
        ],
    )


def m002_events(db: sqlite3.Connection) -> None:
    """The truth: sessions' ids, and what happened in them.

    The key of an event is its session's number * 2^32 + seq, so that a session lies in one piece
    and grows at its end: measured beside `without rowid` with the key (session, seq) and an index
    by handoff, it writes half the pages. Ask for a session by the range of its keys.

    Times are whole microseconds. `kinds` and the requests of a session (a JSON list, which events
    count into from 1) hold texts that would otherwise stand in every row. `imported_from` is the
    file's name, null for what was recorded here.
    """
    db.execute("""
        create table session_keys (
            session integer primary key,
            session_id text not null unique,
            requests text not null default '[]',
            imported_from text,
            imported_at_us integer
        ) strict
    """)
    db.execute("create table kinds (kind integer primary key, name text not null unique) strict")
    db.executemany("insert into kinds (name) values (?)", [(name,) for name in KINDS])
    db.execute("""
        create table events (
            event integer primary key,
            session integer generated always as (event >> 32) virtual,
            seq integer generated always as (event & 4294967295) virtual,
            at_us integer not null,
            elapsed_us integer not null,
            turn integer not null,
            request integer,
            handoff_id text,
            parent_id text,
            path text,
            attempt integer not null,
            kind integer not null references kinds,
            version integer not null,
            payload text not null
        ) strict
    """)


def m003_bodies(db: sqlite3.Connection) -> None:
    """The truth: what was said, each text once, and which sessions it belongs to.

    A row of `body_refs` lists the bodies that one transaction of a session named first (its key is
    made like an event's). That is a tenth of the work of a row for each, and deleting, which has to
    look through all lists, is rare.
    """
    db.execute("""
        create table bodies (
            body integer primary key,
            digest blob not null unique,
            content text not null
        ) strict
    """)
    db.execute("""
        create table body_refs (
            ref integer primary key,
            session integer generated always as (ref >> 32) virtual,
            bodies text not null
        ) strict
    """)


def m004_summary(db: sqlite3.Connection) -> None:
    """Derived: a line for each closed session, its findings, and the words it can be found by.

    `severity` is the inbox's order: 0 for `error` to 4 for `ok`. `closed_seq` is the last event
    that the line and the words take into account. The full-text index keeps no text of its own.
    """
    db.execute("""
        create table session_summary (
            session integer primary key references session_keys,
            severity integer not null,
            started_at_us integer not null,
            outcome text not null,
            reason text not null,
            flow text not null,
            prompt_version text not null,
            origin text not null,
            preview text not null,
            verdict text not null,
            problem_handoff_id text,
            agent_at_fault text,
            turns integer not null,
            handoffs integer not null,
            refused integer not null,
            depth integer not null,
            hops integer not null,
            tokens_used integer not null,
            pool_tokens integer not null,
            duration_us integer not null,
            agents text not null,
            metadata text not null,
            closed_seq integer not null,
            rules_version integer not null
        ) strict
    """)
    db.execute("""
        create index summary_failed_first
        on session_summary (severity, started_at_us desc, session desc, outcome)
    """)
    db.execute("""
        create table findings (
            session integer not null references session_keys,
            number integer not null,
            code text not null,
            severity text not null,
            handoff_id text,
            agent text not null,
            turn integer not null,
            sentence text not null,
            advice text not null,
            evidence text not null,
            primary key (session, number)
        ) strict, without rowid
    """)
    db.execute("create index findings_by_code on findings (code, session)")
    db.execute("""
        create virtual table session_words using fts5 (
            message, answer, agents, notes,
            content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2"
        )
    """)


def m005_batches(db: sqlite3.Connection) -> None:
    """A ledger: which line of an input file became which session, so that a batch can go on."""
    db.execute("""
        create table batches (
            batch integer primary key,
            input_name text not null,
            fingerprint text not null unique,
            created_at_us integer not null,
            finished_at_us integer
        ) strict
    """)
    db.execute("""
        create table batch_items (
            batch integer not null references batches,
            line integer not null,
            session integer references session_keys,
            problem text not null default '',
            primary key (batch, line)
        ) strict, without rowid
    """)
    db.execute("create index batch_items_by_session on batch_items (session)")


def m006_commands(db: sqlite3.Connection) -> None:
    """An inbox: what screens and other processes ask the writer of a session to do."""
    db.execute("""
        create table commands (
            command integer primary key,
            session_id text not null,
            verb text not null,
            arguments text not null,
            created_at_us integer not null,
            done_at_us integer
        ) strict
    """)
    db.execute("create index open_commands on commands (session_id) where done_at_us is null")


def m007_handoffs_view(db: sqlite3.Connection) -> None:
    """Derived: one row per handoff, how it was asked for joined to how it ended.

    Refused and still open handoffs are there too. `outcome` is the result's status, or `refused`,
    `transferred`, `cancelled`, `running`.
    """
    db.execute(
        "create view handoffs as select keys.session_id, made.*"
        f" from ({handoffs_sql()}) made join session_keys keys using (session)"
    )


def m008_sessions_view(db: sqlite3.Connection) -> None:
    """Derived: one row per session, whether it has a line or not.

    `open_sessions` reads those without a line from their events: sessions that run, wait or were
    interrupted, and for half a second those that have just closed. It says `running` of all that
    are not closed; which of them are interrupted depends on their process and is judged by whoever
    reads it.
    """
    db.execute(f"create view open_sessions as {OPEN_SESSIONS_SQL}")
    db.execute(f"create view sessions as {SESSIONS_SQL}")


def m009_effects(db: sqlite3.Connection) -> None:
    """A ledger: acts on the world outside by their key, so that none is done twice.

    `state` is `begun`, `done` or `failed`; one that is begun and whose process is gone may or may
    not have happened. `result` is what came back, redacted, as canonical JSON.
    """
    db.execute("""
        create table effects (
            key text primary key,
            session_id text not null,
            state text not null check (state in ('begun', 'done', 'failed')),
            result text,
            begun_at_us integer not null,
            ended_at_us integer
        ) strict, without rowid
    """)
    db.execute("create index effects_by_session on effects (session_id)")


def m010_leases(db: sqlite3.Connection) -> None:
    """A ledger: which process goes on with a session now; a lease ends with its process."""
    db.execute("""
        create table leases (
            session_id text primary key,
            token text not null,
            host text not null,
            boot text not null,
            pid integer not null,
            process_started_us integer not null,
            taken_at_us integer not null
        ) strict, without rowid
    """)


def m011_command_subjects(db: sqlite3.Connection) -> None:
    """The inbox `commands` says what each is about and who sent it; one word a subject."""
    db.execute("alter table commands add column subject text")
    db.execute("alter table commands add column sent_by text not null default ''")
    db.execute("""
        create unique index one_command_a_subject
        on commands (session_id, verb, subject) where subject is not null
    """)


def m012_lineage(db: sqlite3.Connection) -> None:
    """Derived: a line says which session and handoff it repeats, and how; all empty for no re-run.

    The views have these columns too.
    """
    db.execute("drop view sessions")
    db.execute("drop view open_sessions")
    for column in ("rerun_of", "rerun_handoff", "rerun_mode"):
        db.execute(f"alter table session_summary add column {column} text not null default ''")
    db.execute("""
        update session_summary set (rerun_of, rerun_handoff, rerun_mode) = (
            select coalesce(payload ->> 'rerun_of', ''), coalesce(payload ->> 'rerun_handoff', ''),
                   coalesce(payload ->> 'rerun_mode', '')
            from events where event = (session_summary.session << 32) + 1)
        where origin in ('rerun', 'import')
    """)
    db.execute("create index reruns on session_summary (rerun_of, session) where rerun_of <> ''")
    db.execute(f"create view open_sessions as {OPEN_SESSIONS_SQL}")
    db.execute(f"create view sessions as {SESSIONS_SQL}")


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
)

VERSION = len(MIGRATIONS)
"""The schema that this program writes."""


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Take a store from `version` to `VERSION`, inside the caller's transaction."""
    for step in MIGRATIONS[version:]:
        step(db)
    db.execute(f"pragma application_id = {APPLICATION_ID}")
    db.execute(f"pragma user_version = {VERSION}")
