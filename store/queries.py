"""Questions about many sessions: one SQL statement a function, answered as a DataFrame.

The columns are there when no row is. Times are UTC timestamps, durations seconds. Rows come out of
SQL a page at a time, so that an inbox of 100,000 sessions costs what its page costs.
"""

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from handoff_console.runtime.contract import State
from handoff_console.store.errors import StoreError
from handoff_console.store.frames import frame_of, rows_of, with_times
from handoff_console.store.lineage import RERUNS_SQL
from handoff_console.store.session_filter import EXPERIMENT, IS_TRIAL_SQL, SessionFilter
from handoff_console.store.views import LINE_COLUMNS, LINES_SQL, OPEN_SESSIONS_SQL

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

AS_LISTED = SessionFilter()
"""All but re-runs, which stand under what they repeat, and trials of comparisons."""

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


def sessions(
    db: sqlite3.Connection,
    wanted: SessionFilter = AS_LISTED,
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

    frame = frame_of(db, *_page(wanted, order, limit, offset))
    for column in ("agents", "metadata"):
        frame[column] = pd.Series([json.loads(text) for text in frame[column]], dtype=object)
    for at, (session_id, outcome, verdict) in enumerate(
        zip(frame["session_id"], frame["outcome"], frame["verdict"], strict=True)
    ):
        if _is_unjudged(outcome, verdict):
            for column, value in _judged(db, session_id).items():
                frame.loc[at, column] = value
    return with_times(frame, "started_at", "last_seen_at")


def session_rows(
    db: sqlite3.Connection,
    wanted: SessionFilter = AS_LISTED,
    *,
    order: Order = "failed_first",
    limit: int | None = 50,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """Return what `sessions` returns as a dict a session, with None for what is missing."""
    sql, columns, values = _page(wanted, order, limit, offset)
    found = [dict(zip(columns, row, strict=True)) for row in rows_of(db, sql, values)]
    for row in found:
        row["agents"], row["metadata"] = json.loads(row["agents"]), json.loads(row["metadata"])
        for column in ("started_at", "last_seen_at"):
            row[column] = _moment(row[column])
        if _is_unjudged(row["outcome"], row["verdict"]):
            row.update(_judged(db, row["session_id"]))
    return found


def _is_unjudged(outcome: str, verdict: str) -> bool:
    return not verdict and outcome not in (State.RUNNING, State.WAITING, State.INTERRUPTED)


def _judged(db: sqlite3.Connection, session_id: str) -> dict[str, str | None]:
    """Judge a session that ended just now: the process that wrote it was killed, or still will."""
    from handoff_console.store.reader import body, load_events
    from handoff_console.store.summary import summarise

    try:
        found = summarise(load_events(db, session_id), partial(body, db))
    except StoreError:  # its page says what is wrong with it
        return {}
    return {
        "verdict": found.verdict,
        "problem_handoff_id": found.problem_handoff_id,
        "agent_at_fault": found.agent_at_fault,
    }


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


def session_count(db: sqlite3.Connection, wanted: SessionFilter = AS_LISTED) -> int:
    """Return how many sessions there are of this kind."""
    where, values = wanted.conditions()
    sql = f"""
        with {_OPEN} select (select count(*) from {_CLOSED} where {where})
                          + (select count(*) from open where {where})
    """
    return int(rows_of(db, sql, values)[0][0])


def outcome_counts(db: sqlite3.Connection, wanted: SessionFilter = AS_LISTED) -> "pd.DataFrame":
    """Return how many sessions have each outcome, the worst first. Columns: outcome, sessions."""
    import pandas as pd

    return pd.DataFrame(outcome_count_rows(db, wanted), columns=["outcome", "sessions"])


def outcome_count_rows(
    db: sqlite3.Connection, wanted: SessionFilter = AS_LISTED
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
    return rows_of(db, sql, values)


def facets(db: sqlite3.Connection) -> "pd.DataFrame":
    """Return what sessions can be filtered by, the most frequent first within each.

    Columns: facet (`flow`, `prompt_version`, `origin`, `agent` or `finding`), value, sessions.
    Re-runs count under the session they repeat; trials of comparisons are left out.
    """
    import pandas as pd

    return pd.DataFrame(facet_rows(db), columns=["facet", "value", "sessions"])


def facet_rows(db: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """Return what `facets` returns as (facet, value, sessions)."""
    sql = f"""
        with {_OPEN},
        alike as materialized (
            select flow, prompt_version, origin, agents, count(*) as sessions from ({LINES_SQL})
            where session not in (select session from folded) and not {IS_TRIAL_SQL}
            group by flow, prompt_version, origin, agents)
        select facet, value, sum(sessions) as sessions from (
            select 1 as place, 'flow' as facet, flow as value, sessions from alike
            union all select 2, 'prompt_version', prompt_version, sessions from alike
            union all select 3, 'origin', origin, sessions from alike
            union all select 4, 'agent', value, sessions from alike, json_each(agents)
            union all select 5, 'finding', code, count(distinct session) from findings
                where session not in (select session from folded union all select session
                    from session_summary where {IS_TRIAL_SQL}) group by code
        ) group by place, value order by place, sum(sessions) desc, value
    """
    return rows_of(db, sql, {})


def labels(db: sqlite3.Connection, *, most_values: int = 50) -> "pd.DataFrame":
    """Return the labels that sessions carry, by key, the most frequent value first.

    Keys with more than `most_values` different values (line numbers, ids) are left out. Of trials
    of comparisons only their experiment is given: by it they are found. Columns: key, value,
    sessions.
    """
    import pandas as pd

    found = label_rows(db, most_values=most_values)
    return pd.DataFrame(found, columns=["key", "value", "sessions"])


def label_rows(db: sqlite3.Connection, *, most_values: int = 50) -> list[tuple[str, str, int]]:
    """Return what `labels` returns as (key, value, sessions)."""
    sql = f"""
        with {_OPEN},
        label as materialized (
            select key, value, count(*) as sessions
            from (select metadata, {IS_TRIAL_SQL} as is_trial from ({LINES_SQL})
                  where session not in (select session from folded)), json_each(metadata)
            where not is_trial or key = '{EXPERIMENT}'
            group by key, value)
        select key, value, sessions from label
        where key in (select key from label group by key having count(*) <= :most_values
                      or key = '{EXPERIMENT}')
        order by key, sessions desc, value
    """
    return rows_of(db, sql, {"most_values": most_values})


def trial_count(db: sqlite3.Connection) -> int:
    """Return how many sessions are trials of comparisons, which lists leave out."""
    sql = f"""
        with {_OPEN} select (select count(*) from session_summary where {IS_TRIAL_SQL})
                          + (select count(*) from open where {IS_TRIAL_SQL})
    """
    return int(rows_of(db, sql, {})[0][0])
