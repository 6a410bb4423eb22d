"""Reading one session: its events, what was said, and where it came from."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from handoff_console.runtime.events import Event
from handoff_console.store.errors import SessionAmbiguous, SessionUnknown
from handoff_console.store.event_rows import read_events, statement

CANDIDATES_SHOWN = 5

MAX_SEQ = 2**32 - 1
"""The most events that a session may have."""


def session_key(db: sqlite3.Connection, session_id: str) -> int:
    """Return the number that stands for a session inside the store.

    Raises:
        SessionUnknown: No session has exactly this id.
    """
    row = db.execute(
        "select session from session_keys where session_id = ?", (session_id,)
    ).fetchone()
    if row is None:
        raise SessionUnknown(session_id)
    return int(row[0])


def resolve_session(db: sqlite3.Connection, asked: str) -> str:
    """Return the full id of the one session whose id is, begins with, or ends with `asked`.

    Raises:
        SessionUnknown: There is none, or `asked` is empty.
        SessionAmbiguous: There are several, and none of them is exactly that.
    """
    row = db.execute("select 1 from session_keys where session_id = ?", (asked,)).fetchone()
    if row is not None:
        return asked
    found = [
        str(row[0])
        for row in db.execute(
            "select session_id from session_keys where :asked <> '' and"
            " (substr(session_id, 1, length(:asked)) = :asked"
            " or substr(session_id, -length(:asked)) = :asked) order by session_id",
            {"asked": asked},
        )
    ]
    if not found:
        raise SessionUnknown(asked)
    if len(found) > 1:
        raise SessionAmbiguous(
            asked, found[:CANDIDATES_SHOWN], max(0, len(found) - CANDIDATES_SHOWN)
        )
    return found[0]


def load_events(
    db: sqlite3.Connection,
    session_id: str,
    *,
    after_seq: int = 0,
    until_seq: int | None = None,
    last: int | None = None,
    kinds: Collection[str] | None = None,
    handoff_id: str | None = None,
    or_below: str | None = None,
) -> list[Event]:
    """Return events of a session in order, each checked against what its kind requires.

    Args:
        db: The store.
        session_id: The full id.
        after_seq: Only what came after this event.
        until_seq: Only what came up to this event, itself included.
        last: Only so many at the end of what is left.
        kinds: Only events of these kinds.
        handoff_id: Only events of this handoff.
        or_below: Besides those of `kinds`, all events whose path begins like this.

    Raises:
        SessionUnknown: There is no such session. One without events gives an empty list.
        StoreDamaged: A row cannot be read; the text names the event.
    """
    session = session_key(db, session_id)
    sql = statement(handoff_id=handoff_id, kinds=kinds, last=last)
    values: dict[str, Any] = {
        "session": session,
        "after": after_seq,
        "until": min(until_seq, MAX_SEQ) if until_seq is not None else MAX_SEQ,
        "handoff": handoff_id,
        "last": last,
        "kinds": json.dumps(sorted(kinds or ())),
        "below": or_below,
    }
    return read_events(session_id, request_ids(db, session), lambda: db.execute(sql, values))


def is_closed(db: sqlite3.Connection, session_id: str) -> bool:
    """Say whether the last event of a session is its end.

    Raises:
        SessionUnknown: There is no such session.
    """
    return last_kind(db, session_id) == "session_closed"


def last_kind(db: sqlite3.Connection, session_id: str) -> str:
    """Return the kind of a session's newest event; empty when it has none.

    Raises:
        SessionUnknown: There is no such session.
    """
    session = session_key(db, session_id)
    row = db.execute(
        "select name from events join kinds using (kind) where event > ? << 32"
        " and event < (? + 1) << 32 order by event desc limit 1",
        (session, session),
    ).fetchone()
    return str(row[0]) if row else ""


def has_session(db: sqlite3.Connection, session: int) -> bool:
    """Say whether a session of this number is in the store."""
    row = db.execute("select 1 from session_keys where session = ?", (session,)).fetchone()
    return row is not None


def reference_count(db: sqlite3.Connection, session: int) -> int:
    """Return how many rows list the bodies of a session."""
    row = db.execute(
        "select count(*) from body_refs where ref >= ? and ref < ?",
        (session << 32, (session + 1) << 32),
    ).fetchone()
    return int(row[0])


def request_ids(db: sqlite3.Connection, session: int) -> dict[int | None, str | None]:
    """Return the ids that the column `request` of a session's events counts into, from 1.

    None stands for no request.
    """
    row = db.execute("select requests from session_keys where session = ?", (session,)).fetchone()
    return {None: None, **dict(enumerate(json.loads(row[0]), 1))}


def bodies_of(db: sqlite3.Connection, session: int) -> list[int]:
    """Return the bodies that a session names, each once, in the order it first named them."""
    rows = db.execute(
        "select bodies from body_refs where ref >= ? and ref < ? order by ref",
        (session << 32, (session + 1) << 32),
    )
    return list(dict.fromkeys(body for (bodies,) in rows for body in json.loads(bodies)))


def last_seq(db: sqlite3.Connection, session_id: str) -> int:
    """Return the number of a session's newest event; 0 when there is no such session."""
    row = db.execute(
        "select max(e.event) & 4294967295 from session_keys k join events e"
        " on e.event > k.session << 32 and e.event < (k.session + 1) << 32 where k.session_id = ?",
        (session_id,),
    ).fetchone()
    return int(row[0] or 0)


def source_of(db: sqlite3.Connection, session_id: str) -> str | None:
    """Return the file that a session was imported from; None for what was recorded here."""
    row = db.execute(
        "select imported_from from session_keys where session_id = ?", (session_id,)
    ).fetchone()
    return row[0] if row else None


def newest_event(db: sqlite3.Connection) -> int:
    """Return the key of the last event of the newest session; 0 for an empty store."""
    return int(db.execute("select ifnull(max(event), 0) from events").fetchone()[0])


def generation(db: sqlite3.Connection | sqlite3.Cursor) -> int:
    """Return how often something was deleted or rebuilt: caches of another generation are stale."""
    row = db.execute("select value from meta where name = 'generation'").fetchone()
    return int(row[0])


def last_deleted(db: sqlite3.Connection) -> int:
    """Return the highest number of a session that was deleted; 0 when none was."""
    row = db.execute("select value from meta where name = 'last_deleted'").fetchone()
    return int(row[0])


def digest_key(db: sqlite3.Connection) -> bytes:
    """Return the secret that this store's digests are made with."""
    row = db.execute("select value from meta where name = 'digest_key'").fetchone()
    return bytes(row[0])


def body(db: sqlite3.Connection, digest: str) -> Any:
    """Return what was said, as the JSON value it is.

    Raises:
        KeyError: The store does not hold it (any more).
    """
    text = body_text(db, digest)
    if text is None:
        raise KeyError(digest)
    return json.loads(text)


def bodies(db: sqlite3.Connection, digests: Iterable[str]) -> dict[str, Any]:
    """Return what was said by each of these digests; those that are gone are left out.

    In one go: a large session has thousands of requests, and each question costs more than it.
    """
    names = [name for name in map(_name, dict.fromkeys(digests)) if name is not None]
    found: dict[str, Any] = {}
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        rows = db.execute(
            f"select digest, content from bodies where digest in ({', '.join('?' * len(some))})",
            some,
        )
        found.update((bytes(digest).hex(), json.loads(content)) for digest, content in rows)
    return found


_AT_ONCE = 500
"""Far below the number of values that any SQLite takes in one statement."""


def body_text(db: sqlite3.Connection, digest: str) -> str | None:
    """Return what was said, as canonical JSON; None when the store does not hold it."""
    name = _name(digest)
    row = db.execute("select content from bodies where digest = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _name(digest: str) -> bytes | None:
    """Return a digest as the store keeps it; None for what is none, as a file may have it."""
    try:
        return bytes.fromhex(digest)
    except ValueError:
        return None


def session_ids(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the id of every session, in the order they came into the store."""
    for (session_id,) in db.execute("select session_id from session_keys order by session"):
        yield str(session_id)
