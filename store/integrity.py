"""Checking a store: is the file whole, and does it keep what the design promises?"""

import sqlite3
from collections.abc import Iterator

from handoff_console.runtime.canonical import digest as digest_of
from handoff_console.runtime.counting import count
from handoff_console.runtime.errors import EventError
from handoff_console.store import reader
from handoff_console.store.payloads import read_payload

PROBLEMS_SHOWN = 100
"""More than that are one problem: the store should be restored from a copy."""


def problems(db: sqlite3.Connection) -> list[str]:
    """Return what is wrong with a store, a sentence each; an empty list means that it is whole.

    Reads everything in it: about a second for 100,000 events.
    """
    found: list[str] = []
    for check in (_pages, _numbers, _payloads, _references, _bodies, _lines):
        try:
            for problem in check(db):
                found.append(problem)
                if len(found) >= PROBLEMS_SHOWN:
                    return found
        except sqlite3.DatabaseError as error:
            found.append(f"The file is damaged: {error}.")
            return found
    return found


def _pages(db: sqlite3.Connection) -> Iterator[str]:
    for (line,) in db.execute(f"pragma integrity_check({PROBLEMS_SHOWN})"):
        if line != "ok":
            yield f"The file is damaged: {line}."


def _numbers(db: sqlite3.Connection) -> Iterator[str]:
    rows = db.execute("""
        select ifnull(session_id, 'number ' || e.session), count(*), min(e.seq), max(e.seq),
               session_id is null
        from events e left join session_keys keys on keys.session = e.session
        group by e.session having session_id is null or min(e.seq) <> 1 or max(e.seq) <> count(*)
    """)
    for name, found, first, last, is_orphan in rows:
        if is_orphan:
            events = count(found, "event belongs", "events belong")
            yield f"{events} to session {name}, which is not there."
        else:
            yield (
                f"Session {name} has {count(found, 'event')} numbered from {first} to {last}; some "
                "are missing."
            )


def _payloads(db: sqlite3.Connection) -> Iterator[str]:
    rows = db.execute(
        "select e.session, e.seq, k.name, e.version, e.payload from events e"
        " join kinds k using (kind) order by event"
    )
    for session, seq, kind, version, payload in rows:
        try:
            read_payload(kind, version, payload)
        except EventError as error:
            yield f"Event {seq} of session number {session} cannot be read ({error})."


def _references(db: sqlite3.Connection) -> Iterator[str]:
    rows = db.execute("""
        select session_id, count(*) from body_refs refs, json_each(refs.bodies) named
        left join session_keys keys on keys.session = refs.session
        where not exists (select 1 from bodies where body = named.value) group by refs.session
    """)
    for session_id, found in rows:
        bodies = count(found, "body that is", "bodies that are")
        yield f"Session {session_id} names {bodies} not there."
    unnamed = db.execute("""
        select count(*) from bodies
        where body not in (select value from body_refs refs, json_each(refs.bodies))
    """).fetchone()[0]
    if unnamed:
        yield f"{count(unnamed, 'body belongs', 'bodies belong')} to no session."


def _bodies(db: sqlite3.Connection) -> Iterator[str]:
    """Of what was recorded here, the digest must fit the content; imports have other keys."""
    key = reader.digest_key(db)
    rows = db.execute("""
        select digest, content from bodies where body in (
            select value from body_refs refs join session_keys keys on keys.session = refs.session,
                   json_each(refs.bodies) where imported_from is null)
    """)
    changed = [
        digest.hex() for digest, content in rows if digest_of(content.encode(), key) != digest.hex()
    ]
    if changed:
        changes = count(len(changed), "body was changed", "bodies were changed")
        yield (f"{changes} after recording: content and digest differ; the first is {changed[0]}.")


def _lines(db: sqlite3.Connection) -> Iterator[str]:
    (orphans,) = db.execute(
        "select count(*) from session_summary where session not in"
        " (select session from session_keys)"
    ).fetchone()
    if orphans:
        lines = count(orphans, "line of the inbox belongs", "lines of the inbox belong")
        yield f"{lines} to no session; `handoff rebuild` mends that."
