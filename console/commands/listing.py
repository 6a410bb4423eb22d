"""Many sessions at once: filtered and paged in SQL."""

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.viewmodels.inbox import InboxRow, inbox_rows
from handoff_console.runtime.contract import State
from handoff_console.store import queries
from handoff_console.store.analysis.findings.verdict import TOO_LATE
from handoff_console.store.db import open_reader
from handoff_console.store.deadlines import is_too_late
from handoff_console.store.session_filter import SessionFilter

_AGO = re.compile(r"(\d{1,6})([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True)
class Page:
    """One page of the list."""

    rows: tuple[InboxRow, ...]
    sessions: Sequence[Mapping[str, Any]]
    """The same sessions as the store tells them."""
    total: int
    """All that match, on every page."""
    flows: tuple[str, ...] = ()
    """Where none matches, the flows that there are sessions of."""


def session_page(store_path: Path, wanted: SessionFilter, *, limit: int, offset: int = 0) -> Page:
    """Return the sessions that match, failed ones first, then the newest.

    Raises:
        OpenError: The store cannot be opened.
    """
    now = datetime.now(UTC).timestamp()
    with closing(open_reader(store_path)) as db:
        sessions = queries.session_rows(db, wanted, limit=limit, offset=offset)
        for row in sessions:
            if row["outcome"] == State.WAITING and is_too_late(db, row["session_id"], now=now):
                row["verdict"] = TOO_LATE
        is_all = len(sessions) < limit and not offset
        total = len(sessions) if is_all else queries.session_count(db, wanted)
        facets = () if total else queries.facet_rows(db)
    flows = tuple(value for facet, value, _ in facets if facet == "flow" and value)
    return Page(inbox_rows(sessions, now=now), sessions, total, flows)


def moment_since(text: str, now: datetime) -> datetime:
    """Return the moment that `2026-01-31`, `2026-01-31T12:00` or `90m`, `12h`, `7d` (ago) names.

    A time without a zone is UTC.

    Raises:
        CommandError: It is none of these.
    """
    before = _AGO.fullmatch(text.strip())
    try:
        if before is not None:
            return now - timedelta(**{_UNITS[before[2]]: int(before[1])})
        moment = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise CommandError(
            f"{text!r} is no point in time; write a date such as 2026-01-31, a time such as "
            "2026-01-31T12:00, or how long ago: 90m, 12h, 7d."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
