"""The tables that hold the truth: the store's own facts, events, and the bodies they name."""

import secrets
import sqlite3
import time

from handoff_console.runtime.events import KINDS

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
