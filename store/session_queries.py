"""Questions about one session, answered as a DataFrame: its handoffs, its findings.

The columns are there when no row is. Times are UTC timestamps, durations seconds.
"""

import json
import sqlite3
from typing import TYPE_CHECKING

from handoff_console.store.frames import frame_of, with_times
from handoff_console.store.liveness import PROCESS_SQL
from handoff_console.store.reader import session_key
from handoff_console.store.views import handoffs_sql

if TYPE_CHECKING:
    import pandas as pd  # loaded by those who ask for a frame: it takes longer than the question

_HANDOFF_COLUMNS = (
    "handoff_id parent_id path attempt turn source target via reason outcome ended_by limit_reason"
    " refused_by depth hop grant_tokens steps_used tokens_used cost duration_seconds continues"
    " follows transferred_to inputs_hash seq opened_seq closed_seq at"
).split()


def handoffs(db: sqlite3.Connection, session_id: str) -> "pd.DataFrame":
    """Return one row per handoff of a session, in the order they were asked for.

    Columns: handoff_id, parent_id (None at the root), path, attempt, turn, source, target, via,
    reason, outcome (a status, or the state that the tree shows while it has none),
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
            select state_now(
                       ifnull((select iif(payload ->> 'cancelled', 'cancelled', 'incomplete')
                               from events join kinds using (kind)
                               where event = (select max(event) from events where {inside})
                               and name = 'session_closed'), 'running'),
                       ({PROCESS_SQL}),
                       (select imported_from from session_keys where session = :session)) as state)
        select handoff_id, parent_id, path, attempt, turn, source, target, via, reason,
               case when outcome = 'waiting' and now.state = 'interrupted' then outcome
                    when outcome in ('asked for', 'waiting', 'running') and now.state <> 'running'
                        then now.state else outcome end as outcome,
               ended_by, limit_reason, refused_by, depth, hop, grant_tokens, steps_used,
               tokens_used, cost, duration_seconds, continues, follows, transferred_to, inputs_hash,
               seq, opened_seq, closed_seq, at_us as at
        from ({handoffs_sql(inside)}), now order by seq
    """
    return with_times(frame_of(db, sql, _HANDOFF_COLUMNS, {"session": session}), "at")


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
    frame = frame_of(db, sql, columns, {"session": session})
    frame["evidence"] = pd.Series([json.loads(text) for text in frame["evidence"]], dtype=object)
    return frame
