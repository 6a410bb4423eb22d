"""Which sessions are re-runs of which: found by what each one names, at any depth.

A re-run is listed under the session it repeats, as long as the store has that one.
"""

import sqlite3
from typing import TYPE_CHECKING, Any

from handoff_console.store import reader
from handoff_console.store.liveness import PROCESS_SQL, state_now
from handoff_console.store.views import OPEN_SESSIONS_SQL

if TYPE_CHECKING:
    import pandas as pd  # loaded by those who ask for a frame: it takes longer than the question

RERUNS_SQL = """
    reruns as materialized (
        select keys.session, keys.session_id, made.rerun_of
        from (select session, rerun_of from session_summary where rerun_of <> ''
              union all select session, rerun_of from open where rerun_of <> '') made
        join session_keys keys on keys.session = made.session),
    repeated (session_id) as (
        select session_id from session_keys
        where session_id in (select rerun_of from reruns)
        and session_id not in (
            select session_id from reruns
            where rerun_of in (select session_id from session_keys))
        union select reruns.session_id from repeated
        join reruns on reruns.rerun_of = repeated.session_id),
    folded as materialized (
        select session from reruns where rerun_of in (select session_id from repeated))
"""
"""Common table expressions, after one called `open` that holds the sessions without a line: all
re-runs, and those that are listed under another session. Two that name each other, as a file from
elsewhere may have them, are both listed."""

MAX_LEVELS = 1_000
"""A chain of re-runs of re-runs is followed so far; a file from elsewhere may bite its own tail."""

ATTEMPT_COLUMNS = (
    "session_id rerun_of rerun_handoff rerun_mode level outcome reason tokens_used pool_tokens"
    " duration_seconds started_at"
).split()


def attempt_rows(db: sqlite3.Connection, session_id: str) -> list[dict[str, Any]]:
    """Return a session's family: the session that all repeat, then the re-runs as they began.

    Keys: session_id, rerun_of, rerun_handoff, rerun_mode (empty for no re-run), level (0 for the
    first, 1 for what repeats it, 2 for what repeats that), outcome (as it is now), reason,
    tokens_used, pool_tokens, duration_seconds, started_at (seconds since 1970). Asked for a re-run,
    the answer is the same family.

    Raises:
        SessionUnknown: There is no such session.
    """
    first = origin_of(db, session_id)
    columns = """
        select member.session_id, rerun_of, rerun_handoff, rerun_mode, level, outcome, reason,
               tokens_used, pool_tokens, duration_us / 1e6 as duration_seconds,
               started_at_us / 1e6 as started_at, member.session, imported_from
    """
    sql = f"""
        with recursive open as materialized ({OPEN_SESSIONS_SQL}), {RERUNS_SQL},
        family (session_id, level) as (
            select :first, 0
            union select reruns.session_id, level + 1
            from family join reruns on reruns.rerun_of = family.session_id
            where level < {MAX_LEVELS}),
        member as materialized (
            select keys.session, keys.session_id, imported_from, min(level) as level
            from family join session_keys keys using (session_id) group by keys.session)
        select * from (
            {columns} from member join session_summary line on line.session = member.session
            union all {columns} from member join open line on line.session = member.session)
        order by level > 0, started_at, level, session
    """
    found = []
    for row in db.execute(sql, {"first": first}).fetchall():
        *values, session, imported_from = row
        attempt = dict(zip(ATTEMPT_COLUMNS, values, strict=True))
        process = db.execute(PROCESS_SQL, {"session": session}).fetchone()
        attempt["outcome"] = state_now(
            attempt["outcome"], process[0] if process else None, imported=imported_from is not None
        )
        found.append(attempt)
    return found


def attempts(db: sqlite3.Connection, session_id: str) -> "pd.DataFrame":
    """Return what `attempt_rows` returns as a DataFrame, with UTC timestamps."""
    import pandas as pd

    frame = pd.DataFrame(attempt_rows(db, session_id), columns=ATTEMPT_COLUMNS)
    frame["started_at"] = pd.to_datetime(frame["started_at"], unit="s", utc=True)
    return frame


def origin_of(db: sqlite3.Connection, session_id: str) -> str:
    """Return the session that a re-run repeats in the end; any other session itself.

    Where a session in between was deleted, it is the last one that is still there.

    Raises:
        SessionUnknown: There is no such session.
    """
    reader.session_key(db, session_id)
    seen = {session_id}
    while True:
        row = db.execute(
            "select started.payload ->> 'rerun_of' from session_keys keys join events started"
            " on started.event = (keys.session << 32) + 1 where keys.session_id = ?",
            (session_id,),
        ).fetchone()
        before = row[0] if row else None
        if not before or before in seen or not _is_there(db, before):
            return session_id
        session_id = before
        seen.add(session_id)


def _is_there(db: sqlite3.Connection, session_id: str) -> bool:
    row = db.execute("select 1 from session_keys where session_id = ?", (session_id,)).fetchone()
    return row is not None
