"""The tables of experiments: what was compared, what came of it, and what people say is right."""

import sqlite3


def m013_experiments(db: sqlite3.Connection) -> None:
    """Ledgers of comparing prompt versions, and labels, which are the operator's own.

    A trial is known by its content (`trial_key`: the request, all that the router reads, its model,
    which repetition), so that any experiment that needs it again refers to it. `state` is `started`
    while it runs, or when its process was killed; `done`; or `error`, which is never done. What was
    read to run it (`prompt_versions`, `datasets`) is kept as it was, by its digest.
    """
    _create_what_was_read(db)
    _create_what_ran(db)
    _create_what_people_say(db)


def _create_what_was_read(db: sqlite3.Connection) -> None:
    db.execute("""
        create table prompt_versions (
            version_hash text primary key,
            routing_hash text not null,
            content text not null,
            first_seen_at_us integer not null
        ) strict, without rowid
    """)
    db.execute("""
        create table datasets (
            digest text primary key,
            name text not null,
            content text not null
        ) strict, without rowid
    """)


def _create_what_ran(db: sqlite3.Connection) -> None:
    db.execute("""
        create table trials (
            trial_key text primary key,
            state text not null check (state in ('started', 'done', 'error')),
            reserved_tokens integer not null,
            outcome text,
            started_at_us integer not null,
            ended_at_us integer
        ) strict, without rowid
    """)
    db.execute("""
        create table experiments (
            experiment integer primary key,
            experiment_id text not null unique,
            flow text not null,
            flow_source text not null,
            dataset text not null references datasets,
            dataset_path text not null,
            mode text not null,
            trials_each integer not null,
            versions text not null,
            settings text not null,
            command text not null,
            created_at_us integer not null,
            finished_at_us integer
        ) strict
    """)
    db.execute("""
        create table experiment_trials (
            experiment integer not null references experiments,
            version integer not null,
            place integer not null,
            number integer not null,
            trial_key text not null,
            reused integer not null,
            primary key (experiment, version, place, number)
        ) strict, without rowid
    """)


def _create_what_people_say(db: sqlite3.Connection) -> None:
    db.execute("""
        create table baselines (
            flow text not null,
            dataset text not null,
            experiment_id text not null,
            label text not null,
            set_at_us integer not null,
            primary key (flow, dataset)
        ) strict, without rowid
    """)
    db.execute("""
        create table labels (
            session_id text not null,
            labeller text not null,
            label text not null,
            labelled_at_us integer not null,
            primary key (session_id, labeller)
        ) strict, without rowid
    """)
