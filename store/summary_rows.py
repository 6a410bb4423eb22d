"""Writing the derived rows of a session: its line in the inbox and its findings."""

import sqlite3

from handoff_console.runtime.canonical import canonical_text
from handoff_console.store.summary import Summary
from handoff_console.store.words import storable

_INSERT = f"insert into session_summary values ({', '.join('?' * 27)})"


def write_summary(db: sqlite3.Connection, session: int, summary: Summary, closed_seq: int) -> None:
    """Write a session's line and findings, in the caller's transaction; it must have none.

    Args:
        db: The store.
        session: Its number.
        summary: What to write.
        closed_seq: The last event that is taken into account.
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
            summary.origin,
            storable(summary.preview),
            storable(summary.verdict),
            summary.problem_handoff_id,
            summary.agent_at_fault and storable(summary.agent_at_fault),
            _integer(summary.turns),
            _integer(summary.handoffs),
            _integer(summary.refused),
            _integer(summary.depth),
            _integer(summary.hops),
            _integer(summary.tokens_used),
            _integer(summary.pool_tokens),
            round(summary.duration_seconds * 1e6),
            canonical_text(summary.agents),
            canonical_text(summary.metadata),
            closed_seq,
            summary.rules_version,
            storable(summary.rerun_of),
            storable(summary.rerun_handoff),
            storable(summary.rerun_mode),
        ),
    )
    if summary.findings:
        _write_findings(db, session, summary)


def _write_findings(db: sqlite3.Connection, session: int, summary: Summary) -> None:
    db.executemany(
        "insert into findings values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            )
            for number, finding in enumerate(summary.findings, 1)
        ],
    )


def _integer(number: int) -> int:
    """Return a number as near as a column can hold it; a file from elsewhere may say anything."""
    return max(-(2**63), min(number, 2**63 - 1))
