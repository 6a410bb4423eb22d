"""What the sink remembers of a session that is being recorded."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from handoff_console.runtime.events import Event, SessionClosed, payload_text
from handoff_console.store import reader
from handoff_console.store.bodies import References
from handoff_console.store.errors import WriteFailed
from handoff_console.store.words import storable

EVENTS_KEPT = 3_000
"""Of a session, in memory (about 2 MB); those of a longer one are read back when it closes."""

DIGESTS_REMEMBERED = 20_000
"""Of a session, so that a body said again costs nothing."""

BYTES_KEPT = 64 * 1024
"""Of the bodies of a session, in memory; the others are read back when they are needed."""


class OpenSession:
    """A session between its first event and its end."""

    __slots__ = (
        "batch_line",
        "closes",
        "continued",
        "digests",
        "events",
        "fresh_bodies",
        "kept_bodies",
        "kept_bytes",
        "key",
        "references",
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
        """It was in the store before this sink met it, and nothing has been added yet."""
        self.rows: list[tuple[Any, ...]] = []
        """Events that are not written yet: seq in place of their key."""
        self.events: list[Event] | None = []
        """All of them; None when they are too many, or when others wrote the first of them."""
        self.digests: set[str] = set()
        self.fresh_bodies: dict[str, bytes] = {}
        """Those that it names since the last commit."""
        self.references = 0
        """Rows that list its bodies."""
        self.kept_bodies: dict[str, bytes] = {}
        self.kept_bytes = 0
        self.requests: dict[str, int] = {}
        self.requests_changed = False
        self.batch_line: tuple[int, int] | None = None
        self.closes = False

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
            session.references = reader.reference_count(db, row[0])
        return session

    def add(self, event: Event, kind: int | str) -> None:
        """Take an event over as the row it will be."""
        _, seq, at, elapsed, turn, request, handoff_id, parent_id, path, attempt, payload = event
        self.rows.append(
            (
                seq,
                # `round` takes three times the instructions of `int`; what was imported may be
                # older than 1970.
                int(at * 1e6 + 0.5) if at > 0 else round(at * 1e6),
                int(elapsed * 1e6 + 0.5) if elapsed > 0 else round(elapsed * 1e6),
                turn,
                None if request is None else self.requests.get(request) or self._number(request),
                handoff_id,
                parent_id,
                path,
                attempt,
                kind,
                payload.version,
                payload_text(payload),
            )
        )
        self.closes = type(payload) is SessionClosed
        if self.events is not None:
            self.events.append(event)
            if len(self.events) > EVENTS_KEPT:
                self.events = None

    def add_body(self, digest: str, body: bytes) -> None:
        """Take a body over, unless this session has named it before, as far as it remembers."""
        if digest in self.digests:
            return
        if len(self.digests) >= DIGESTS_REMEMBERED:
            self.digests.clear()
        self.digests.add(digest)
        self.fresh_bodies[digest] = body
        if self.kept_bytes + len(body) <= BYTES_KEPT:
            self.kept_bytes += len(body)
            self.kept_bodies[digest] = body

    def number_kinds(self, kinds: Mapping[str, int]) -> None:
        """Put the numbers of kinds in place of names that had none when the event was taken."""
        self.rows = [(*row[:9], kinds.get(row[9], row[9]), *row[10:]) for row in self.rows]

    def fresh_references(self, key: int) -> References:
        """Return the row that lists the bodies named since the last commit."""
        return References((key << 32) + self.references, tuple(self.fresh_bodies))

    def written(self) -> None:
        """Forget what is in the store now."""
        if self.fresh_bodies:
            self.references += 1
            self.fresh_bodies.clear()
        self.rows.clear()
        self.requests_changed = self.continued = False
        self.batch_line = None

    def _number(self, request_id: str) -> int:
        number = self.requests[request_id] = len(self.requests) + 1
        self.requests_changed = True
        return number
