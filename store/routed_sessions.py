"""Which sessions can be judged by their routing, and what came along with their requests."""

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from handoff_console.store.session_filter import IS_TRIAL_SQL

FIRST_EVENTS = 8
"""A session's first message is among its first events."""

_TRAFFIC = f"rerun_of = '' and not {IS_TRIAL_SQL}"
"""What somebody really asked: no re-run, and no trial of a comparison."""


class RoutedSession(NamedTuple):
    """A closed session of real traffic: no re-run, and no trial of a comparison."""

    session_id: str
    last_seq: int


def routed_sessions(db: sqlite3.Connection) -> list[RoutedSession]:
    """Return the closed sessions, the oldest first; re-runs and trials are left out."""
    return [
        RoutedSession(*row)
        for row in db.execute(f"""
            select session_id, closed_seq from session_summary
            join session_keys using (session)
            where {_TRAFFIC} order by started_at_us, session
        """)
    ]


def session_labels(db: sqlite3.Connection, key: str) -> dict[str, str]:
    """Return what closed sessions have under a key of their metadata, by session id."""
    path = f"$.{json.dumps(key)}"
    return {
        str(session_id): str(value)
        for session_id, value in db.execute(
            """
            select session_id, json_extract(metadata, ?) as value from session_summary
            join session_keys using (session)
            where rerun_of = '' and value is not null
            """,
            (path,),
        )
    }


def label_keys(db: sqlite3.Connection) -> list[str]:
    """Return the keys of sessions' metadata whose values name an agent somewhere, by name."""
    return [
        str(key)
        for (key,) in db.execute(f"""
            with named as (
                select distinct value from session_summary, json_each(agents))
            select distinct each.key from session_summary, json_each(metadata) each
            where {_TRAFFIC} and metadata <> '{{}}' and each.value in (select value from named)
            order by 1
        """)
    ]


class FirstMessage(NamedTuple):
    """What a session began with."""

    session_id: str
    flow: str
    text: str
    """As it was recorded: redacted."""


def first_messages(
    db: sqlite3.Connection, flow: str = "", *, session_id: str = ""
) -> list[FirstMessage]:
    """Return what every closed session began with, the newest first, but re-runs and trials.

    Args:
        db: The store.
        flow: Only sessions of this flow; empty takes all.
        session_id: Only this session; empty takes all.
    """
    rows = db.execute(
        f"""
        select session_id, s.flow, e.payload ->> 'message', s.preview
        from session_summary s join session_keys using (session)
        join events e on e.event > s.session << 32 and e.event <= (s.session << 32) + :within
             and e.kind = (select kind from kinds where name = 'user_message_received')
        where {_TRAFFIC} and :flow in ('', s.flow) and :only in ('', session_id)
        order by s.started_at_us desc, s.session desc
        """,
        {"flow": flow, "only": session_id, "within": FIRST_EVENTS},
    ).fetchall()
    return [
        FirstMessage(session_id, flow_name, _said(db, digest) or preview)
        for session_id, flow_name, digest, preview in rows
    ]


def previews(db: sqlite3.Connection, session_ids: Sequence[str]) -> dict[str, str]:
    """Return the beginning of what each session began with; sessions that are gone are left out."""
    rows = db.execute(
        """
        select session_id, preview from session_summary join session_keys using (session)
        where session_id in (select value from json_each(?))
        """,
        (json.dumps(list(session_ids)),),
    )
    return {str(session_id): str(preview or "") for session_id, preview in rows}


def _said(db: sqlite3.Connection, digest: str) -> str:
    """Return the text of a message; empty when its body is gone, or no message."""
    row = db.execute("select content from bodies where digest = ?", (bytes.fromhex(digest),))
    found = row.fetchone()
    said = json.loads(found[0]) if found else None
    text = said.get("content") if isinstance(said, dict) else None
    return text if isinstance(text, str) else ""


def recorded_flows(db: sqlite3.Connection) -> list[str]:
    """Return the names of the flows that have closed sessions, but re-runs and trials, by name."""
    rows = db.execute(
        f"select distinct flow from session_summary where {_TRAFFIC} and flow <> '' order by 1"
    )
    return [str(flow) for (flow,) in rows]
