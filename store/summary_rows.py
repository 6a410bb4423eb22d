"""Writing the derived rows of a session: its line in the inbox and its findings."""

import sqlite3

from handoff_console.runtime.canonical import canonical_text
from handoff_console.store.summary import Summary
from handoff_console.store.words import storable

_INSERT = f"""
    insert or replace into session_summary values ({", ".join("?" * 24)})
"""


def write_summary(
    db: sqlite3.Connection | sqlite3.Cursor,
    session: int,
    summary: Summary,
    *,
    imported: bool = False,
) -> None:
    """Put a session's line and findings in place of those it has, in the caller's transaction.

    Its words must not be in the index; a closed session is marked as waiting to be indexed.
    """
    db.execute(
        _INSERT,
        (
            session,
            summary.severity,
            round(summary.started_at * 1e6),
            summary.outcome,
            summary.reason,
            storable(summary.flow),
            storable(summary.prompt_version),
            "import" if imported else summary.origin,
            storable(summary.preview),
            storable(summary.verdict),
            summary.problem_handoff_id,
            summary.agent_at_fault and storable(summary.agent_at_fault),
            summary.turns,
            summary.handoffs,
            summary.refused,
            summary.depth,
            summary.hops,
            summary.tokens_used,
            summary.pool_tokens,
            round(summary.duration_seconds * 1e6),
            canonical_text(summary.agents),
            canonical_text(summary.metadata),
            summary.rules_version,
            None if summary.is_closed else 0,
        ),
    )
    if summary.is_closed:
        _write_findings(db, session, summary)


def _write_findings(
    db: sqlite3.Connection | sqlite3.Cursor, session: int, summary: Summary
) -> None:
    db.execute("delete from findings where session = ?", (session,))
    db.executemany(
        "insert into findings values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                session,
                number,
                finding.code,
                finding.severity.value,
                finding.handoff_id,
                storable(finding.agent),
                finding.turn,
                storable(finding.sentence),
                storable(finding.advice),
                canonical_text([[item.seq, item.reason] for item in finding.evidence]),
                summary.rules_version,
            )
            for number, finding in enumerate(summary.findings, 1)
        ],
    )
