"""Questions about many sessions: one SQL statement a function, answered as a DataFrame.

The columns are there when no row is. Times are UTC timestamps, durations seconds. Rows come out of
SQL a page at a time, so that an inbox of 100,000 sessions costs what its page costs.
"""

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from handoff_console.store.lineage import RERUNS_SQL
from handoff_console.store.liveness import PROCESS_SQL, state_now
from handoff_console.store.reader import session_key
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.views import LINE_COLUMNS, LINES_SQL, OPEN_SESSIONS_SQL, handoffs_sql

if TYPE_CHECKING:
    import pandas as pd  # loaded by those who ask for a frame: it takes longer than the question

Order = Literal["failed_first", "newest", "oldest", "longest", "most_tokens"]

_ORDERS: Mapping[Order, str] = {
    "failed_first": "severity, started_at_us desc, session desc",
    "newest": "started_at_us desc, session desc",
    "oldest": "started_at_us, session",
    "longest": "duration_us desc, session desc",
    "most_tokens": "tokens_used desc, session desc",
}

EVERY_SESSION = SessionFilter()

# The few that are not closed are read from events; what became of them depends on their process.
_OPEN = f"""
    open as materialized (
        select line.*, state_now(
                   outcome, process, (select imported_from from session_keys keys
                                      where keys.session = line.session)) as state
        from ({OPEN_SESSIONS_SQL}) line),
    {RERUNS_SQL}
"""
_CLOSED = "(select *, outcome as state from session_summary)"
_LINE = ", ".join(f"iif(closed.session is null, open.{c}, closed.{c}) as {c}" for c in LINE_COLUMNS)

_SESSION_COLUMNS = (
    "session_id outcome reason flow prompt_version origin source message verdict problem_handoff_id"
    " agent_at_fault turns handoffs refused depth hops tokens_used pool_tokens started_at"
    " duration_seconds last_seen_at last_seq agents metadata rerun_of rerun_handoff rerun_mode"
    " reruns"
).split()

_HANDOFF_COLUMNS = (
    "handoff_id parent_id path attempt turn source target via reason outcome ended_by limit_reason"
    " refused_by depth hop grant_tokens steps_used tokens_used cost duration_seconds continues"
    " follows transferred_to inputs_hash seq opened_seq closed_seq at"
).split()


def sessions(
    db: sqlite3.Connection,
    wanted: SessionFilter = EVERY_SESSION,
    *,
    order: Order = "failed_first",
    limit: int | None = 50,
    offset: int = 0,
) -> "pd.DataFrame":
    """Return one row per session, a page of them; by default failed ones first, then the newest.

    Columns: session_id, outcome (as it is now), reason (which limit), flow, prompt_version, origin,
    source (the file an import came from, else None), message (how the first one begins), verdict,
    problem_handoff_id, agent_at_fault, turns, handoffs, refused, depth, hops, tokens_used,
    pool_tokens, started_at, duration_seconds, last_seen_at, last_seq, agents (list), metadata
    (dict), rerun_of, rerun_handoff, rerun_mode (empty for no re-run), reruns (how many repeat it,
    or one of those; they have no rows of their own unless asked for). The verdict is empty for a
    session that is not closed.
    """
    import pandas as pd

    frame = _frame(db, *_page(wanted, order, limit, offset))
    for column in ("agents", "metadata"):
        frame[column] = pd.Series([json.loads(text) for text in frame[column]], dtype=object)
    return _with_times(frame, "started_at", "last_seen_at")


def session_rows(
    db: sqlite3.Connection,
    wanted: SessionFilter = EVERY_SESSION,
    *,
    order: Order = "failed_first",
    limit: int | None = 50,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """Return what `sessions` returns as a dict a session, with None for what is missing."""
    sql, columns, values = _page(wanted, order, limit, offset)
    found = [dict(zip(columns, row, strict=True)) for row in _rows(db, sql, values)]
    for row in found:
        row["agents"], row["metadata"] = json.loads(row["agents"]), json.loads(row["metadata"])
        for column in ("started_at", "last_seen_at"):
            row[column] = _moment(row[column])
    return found


def _page(
    wanted: SessionFilter, order: Order, limit: int | None, offset: int
) -> tuple[str, list[str], dict[str, Any]]:
    where, values = wanted.conditions()
    # Only what is sorted by: an index has that, so that rows before the page are never read.
    sorted_by = _ORDERS[order].replace(" desc", "")
    sql = f"""
        with recursive {_OPEN},
        page as materialized (
            select {sorted_by} from {_CLOSED} where {where}
            union all select {sorted_by} from open where {where}
            order by {_ORDERS[order]} limit :limit offset :offset),
        family (first, session_id) as (
            select keys.session_id, keys.session_id from page
            join session_keys keys on keys.session = page.session
            union select first, reruns.session_id
            from family join reruns on reruns.rerun_of = family.session_id),
        line as (
            select ifnull(open.state, closed.outcome) as state, {_LINE}
            from page
            left join session_summary closed on closed.session = page.session
            left join open on open.session = page.session)
        select keys.session_id, state as outcome, reason, flow, prompt_version, origin,
               keys.imported_from as source, preview as message, verdict, problem_handoff_id,
               agent_at_fault, line.turns, handoffs, refused, depth, hops, tokens_used, pool_tokens,
               started_at_us as started_at, duration_us / 1e6 as duration_seconds,
               last.at_us as last_seen_at, last.seq as last_seq, agents, metadata,
               rerun_of, rerun_handoff, rerun_mode,
               (select count(*) - 1 from family where first = keys.session_id) as reruns
        from line
        join session_keys keys on keys.session = line.session
        left join events last on last.event = (
            select max(event) from events
            where event > line.session << 32 and event < (line.session + 1) << 32)
        order by {_ORDERS[order].replace("session", "line.session")}
    """
    page = {"limit": -1 if limit is None else limit, "offset": offset}
    return sql, _SESSION_COLUMNS, values | page


def _moment(at_us: int | None) -> datetime | None:
    return (
        None if at_us is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)
    )


def session_count(db: sqlite3.Connection, wanted: SessionFilter = EVERY_SESSION) -> int:
    """Return how many sessions there are of this kind."""
    where, values = wanted.conditions()
    _teach(db)
    sql = f"""
        with {_OPEN} select (select count(*) from {_CLOSED} where {where})
                          + (select count(*) from open where {where})
    """
    return int(db.execute(sql, values).fetchone()[0])


def outcome_counts(db: sqlite3.Connection, wanted: SessionFilter = EVERY_SESSION) -> "pd.DataFrame":
    """Return how many sessions have each outcome, the worst first. Columns: outcome, sessions."""
    import pandas as pd

    return pd.DataFrame(outcome_count_rows(db, wanted), columns=["outcome", "sessions"])


def outcome_count_rows(
    db: sqlite3.Connection, wanted: SessionFilter = EVERY_SESSION
) -> list[tuple[str, int]]:
    """Return what `outcome_counts` returns as pairs."""
    where, values = wanted.conditions()
    sql = f"""
        with {_OPEN}
        select state as outcome, count(*) as sessions from (
            select state, severity from {_CLOSED} where {where}
            union all select state, severity from open where {where})
        group by state order by min(severity), count(*) desc, state
    """
    return _rows(db, sql, values)


def facets(db: sqlite3.Connection) -> "pd.DataFrame":
    """Return what sessions can be filtered by, the most frequent first within each.

    Columns: facet (`flow`, `prompt_version`, `origin`, `agent` or `finding`), value, sessions.
    Re-runs count under the session they repeat.
    """
    import pandas as pd

    return pd.DataFrame(facet_rows(db), columns=["facet", "value", "sessions"])


def facet_rows(db: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """Return what `facets` returns as (facet, value, sessions)."""
    sql = f"""
        with {_OPEN},
        alike as materialized (
            select flow, prompt_version, origin, agents, count(*) as sessions from ({LINES_SQL})
            where session not in (select session from folded)
            group by flow, prompt_version, origin, agents)
        select facet, value, sum(sessions) as sessions from (
            select 1 as place, 'flow' as facet, flow as value, sessions from alike
            union all select 2, 'prompt_version', prompt_version, sessions from alike
            union all select 3, 'origin', origin, sessions from alike
            union all select 4, 'agent', value, sessions from alike, json_each(agents)
            union all select 5, 'finding', code, count(distinct session) from findings
                where session not in (select session from folded) group by code
        ) group by place, value order by place, sum(sessions) desc, value
    """
    return _rows(db, sql, {})


def labels(db: sqlite3.Connection, *, most_values: int = 50) -> "pd.DataFrame":
    """Return the labels that sessions carry, by key, the most frequent value first.

    Keys with more than `most_values` different values (line numbers, ids) are left out. Columns:
    key, value, sessions.
    """
    sql = f"""
        with {_OPEN},
        label as materialized (
            select key, value, count(*) as sessions
            from (select metadata from ({LINES_SQL})
                  where session not in (select session from folded)), json_each(metadata)
            group by key, value)
        select key, value, sessions from label
        where key in (select key from label group by key having count(*) <= :most_values)
        order by key, sessions desc, value
    """
    return _frame(db, sql, ["key", "value", "sessions"], {"most_values": most_values})


def handoffs(db: sqlite3.Connection, session_id: str) -> "pd.DataFrame":
    """Return one row per handoff of a session, in the order they were asked for.

    Columns: handoff_id, parent_id (None at the root), path, attempt, turn, source, target, via,
    reason, outcome (a status, or `refused`, `transferred`, `cancelled`, `running`, `interrupted`),
    ended_by, limit_reason, refused_by, depth, hop, grant_tokens, steps_used, tokens_used, cost,
    duration_seconds, continues, follows, transferred_to, inputs_hash, seq, opened_seq, closed_seq,
    at. What does not apply is missing.

    Raises:
        SessionUnknown: There is no such session.
    """
    session = session_key(db, session_id)
    inside = "event > :session << 32 and event < (:session + 1) << 32"
    sql = f"""
        with now as materialized (
            select state_now('running', ({PROCESS_SQL}),
                             (select imported_from from session_keys where session = :session))
            as state)
        select handoff_id, parent_id, path, attempt, turn, source, target, via, reason,
               iif(outcome = 'running', now.state, outcome) as outcome,
               ended_by, limit_reason, refused_by, depth, hop, grant_tokens, steps_used,
               tokens_used, cost, duration_seconds, continues, follows, transferred_to, inputs_hash,
               seq, opened_seq, closed_seq, at_us as at
        from ({handoffs_sql(inside)}), now order by seq
    """
    return _with_times(_frame(db, sql, _HANDOFF_COLUMNS, {"session": session}), "at")


def findings(db: sqlite3.Connection, session_id: str | None = None) -> "pd.DataFrame":
    """Return the findings of a session, or of all, in the order the rules found them.

    Columns: session_id, code, severity, handoff_id, agent, turn, sentence, advice, evidence (a list
    of [seq, reason]). A session that is not closed has none yet.

    Raises:
        SessionUnknown: There is no such session.
    """
    import pandas as pd

    session = None if session_id is None else session_key(db, session_id)
    columns = "session_id code severity handoff_id agent turn sentence advice evidence".split()
    sql = f"""
        select {", ".join(columns)} from findings join session_keys using (session)
        where :session is null or session = :session order by session, number
    """
    frame = _frame(db, sql, columns, {"session": session})
    frame["evidence"] = pd.Series([json.loads(text) for text in frame["evidence"]], dtype=object)
    return frame


def _frame(
    db: sqlite3.Connection, sql: str, columns: list[str], values: Mapping[str, Any]
) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(_rows(db, sql, values), columns=columns)


def _rows(db: sqlite3.Connection, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    _teach(db)
    try:
        return db.execute(sql, values).fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
        # Half a character, which JSON may hold and UTF-8 may not.
        db.text_factory = _readable
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.text_factory = str


def _readable(text: bytes) -> str:
    return text.decode(errors="replace")


def _teach(db: sqlite3.Connection) -> None:
    known: dict[tuple[str, str], str] = {}

    def judged(outcome: str, started: str | None, imported_from: str | None) -> str:
        key = outcome, started or ""
        if key not in known:
            known[key] = state_now(outcome, started, imported=imported_from is not None)
        return known[key]

    db.create_function("state_now", 3, judged)


def _with_times(frame: "pd.DataFrame", *columns: str) -> "pd.DataFrame":
    import pandas as pd

    for column in columns:
        frame[column] = pd.to_datetime(frame[column].astype("Int64"), unit="us", utc=True)
    return frame
