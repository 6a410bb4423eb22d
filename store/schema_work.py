"""The tables of work in hand: batches, what people say, effects, and who goes on with what."""

import sqlite3


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
