"""What the sink remembers of a session that is being recorded."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    InputGiven,
    InputRequested,
    SessionClosed,
    UserMessageReceived,
    payload_text,
)
from handoff_console.store.errors import WriteFailed
from handoff_console.store.words import storable

EVENTS_KEPT = 2_000
"""Of a session, in memory; those of a longer one are read back when it closes."""

DIGESTS_REMEMBERED = 20_000
"""Of a session, so that a body said again costs nothing."""

_CHANGES_THE_LINE = frozenset(
    (UserMessageReceived, InputRequested, InputGiven, ApprovalRequested, ApprovalDecided)
)


class OpenSession:
    """A session between its first event and its end."""

    __slots__ = (
        "batch_line",
        "closes",
        "continued",
        "digests",
        "events",
        "key",
        "line_changed",
        "line_written_at",
        "requests",
        "requests_changed",
        "rows",
        "session_id",
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.key: int | None = None
        """Its number in the store; None before its first commit."""
        self.continued = False
        """It was in the store before this sink met it."""
        self.rows: list[tuple[Any, ...]] = []
        """Events that are not written yet, without the session's number."""
        self.events: list[Event] | None = []
        """All of them; None when they are too many, or when others wrote the first of them."""
        self.digests: set[str] = set()
        self.requests: dict[str, int] = {}
        self.requests_changed = False
        self.batch_line: tuple[int, int] | None = None
        self.closes = False
        self.line_changed = False
        self.line_written_at: float | None = None

    @classmethod
    def meet(cls, db: sqlite3.Connection, session_id: str) -> "OpenSession":
        """Return a new session, or one that goes on from what the store has.

        Raises:
            WriteFailed: The id holds characters that no store can hold.
        """
        if storable(session_id) != session_id or not session_id:
            raise WriteFailed(
                f"The session id {session_id!r} cannot be stored; use letters, digits and `-`."
            )
        session = cls(session_id)
        row = db.execute(
            "select session, requests from session_keys where session_id = ?", (session_id,)
        ).fetchone()
        if row is not None:
            session.key, session.continued, session.events = row[0], True, None
            session.requests = {name: place for place, name in enumerate(json.loads(row[1]), 1)}
        return session

    def add(self, event: Event, kind: int | str) -> None:
        """Take an event over as the row it will be."""
        payload = event.payload
        request = event.request_id
        self.rows.append(
            (
                event.seq,
                round(event.at * 1e6),
                round(event.elapsed_seconds * 1e6),
                event.turn,
                None if request is None else self.requests.get(request) or self._number(request),
                event.handoff_id,
                event.parent_id,
                event.path,
                event.attempt,
                kind,
                payload.version,
                payload_text(payload),
            )
        )
        made = type(payload)
        if made is SessionClosed:
            self.closes = True
        elif made in _CHANGES_THE_LINE:
            self.line_changed, self.closes = True, False
        if self.events is not None:
            self.events.append(event)
            if len(self.events) > EVENTS_KEPT:
                self.events = None

    def first_mention(self, digest: str) -> bool:
        """Say whether a body is new to this session, as far as is remembered."""
        if digest in self.digests:
            return False
        if len(self.digests) >= DIGESTS_REMEMBERED:
            self.digests.clear()
        self.digests.add(digest)
        return True

    def number_kinds(self, kinds: Mapping[str, int]) -> None:
        """Put the numbers of kinds in place of names that had none when the event was taken."""
        self.rows = [(*row[:9], kinds.get(row[9], row[9]), *row[10:]) for row in self.rows]

    def written(self) -> None:
        """Forget what is in the store now."""
        self.rows.clear()
        self.requests_changed = False
        self.batch_line = None
        self.line_changed = False

    def _number(self, request_id: str) -> int:
        number = self.requests[request_id] = len(self.requests) + 1
        self.requests_changed = True
        return number
