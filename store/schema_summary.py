"""What is derived from events, and can be made again: lines, findings, words, and views."""

import sqlite3

from handoff_console.store.views import OPEN_SESSIONS_SQL, SESSIONS_SQL, handoffs_sql


def m004_summary(db: sqlite3.Connection) -> None:
    """Derived: a line for each closed session, its findings, and the words it can be found by.

    `severity` is the inbox's order: 0 for `error` to 4 for `ok`. `closed_seq` is the last event
    that the line and the words take into account. The full-text index keeps no text of its own.
    """
    _create_lines(db)
    _create_findings(db)
    db.execute("""
        create virtual table session_words using fts5 (
            message, answer, agents, notes,
            content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2"
        )
    """)


def _create_lines(db: sqlite3.Connection) -> None:
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


def _create_findings(db: sqlite3.Connection) -> None:
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


def m007_handoffs_view(db: sqlite3.Connection) -> None:
    """Derived: one row per handoff, how it was asked for joined to how it ended.

    Refused and still open handoffs are there too. `outcome` is the result's status, or `refused`,
    `transferred`, `cancelled`, `asked for`, `waiting`, `running`.
    """
    _create_handoffs_view(db)


def m008_sessions_view(db: sqlite3.Connection) -> None:
    """Derived: one row per session, whether it has a line or not.

    `open_sessions` reads those without a line from their events: sessions that run, wait or were
    interrupted, and for half a second those that have just closed. It says `running` of all that
    are not closed; which of them are interrupted depends on their process and is judged by whoever
    reads it.
    """
    db.execute(f"create view open_sessions as {OPEN_SESSIONS_SQL}")
    db.execute(f"create view sessions as {SESSIONS_SQL}")


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


def m014_handoff_states(db: sqlite3.Connection) -> None:
    """Derived: what was only asked for, or waits for a person, no longer counts as running."""
    db.execute("drop view handoffs")
    _create_handoffs_view(db)


def _create_handoffs_view(db: sqlite3.Connection) -> None:
    db.execute(
        "create view handoffs as select keys.session_id, made.*"
        f" from ({handoffs_sql()}) made join session_keys keys using (session)"
    )
