"""Sessions as JSON lines: complete, the same bytes for the same sessions, and readable by eye.

```
{"bodies":9,"events":20,"format":"handoff-console-sessions","sessions":1,"version":1}
{"bodies":9,"events":20,"session":"20260105-090000-3f9c1a2b"}
{"body":{"content":"Why was I charged twice?","role":"user"},"digest":"9f…"}
{"at":"2026-01-05T09:00:00.000000Z","attempt":1,"elapsed_seconds":0.0,"kind":"session_started", …}
```

The first line counts what follows, so that a file that was cut off is noticed. Then each session:
its own counts, its bodies, its events. A body that stood in the file before is named by its digest
alone. Export of an import is, byte for byte, the export it came from.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from handoff_console.runtime.canonical import canonical_text
from handoff_console.store import reader
from handoff_console.store.exchange.lines import iso_time
from handoff_console.store.progress import Progress

FORMAT = "handoff-console-sessions"
VERSION = 1

_ROWS = """
    select seq, at_us, elapsed_us, turn, request, handoff_id, parent_id, path, attempt, name,
           version, payload
    from events join kinds using (kind)
    where event > ? << 32 and event < (? + 1) << 32 order by event
"""


def export_lines(
    db: sqlite3.Connection, session_ids: Sequence[str], progress: Progress | None = None
) -> Iterator[str]:
    """Yield the lines of a file with these sessions, in this order, each with its line break.

    All of it is as it was at the first line, whatever is written meanwhile. Without sessions the
    file is its first line.

    Raises:
        SessionUnknown: One is not there; nothing was yielded.
    """
    db.execute("begin")
    try:
        sections = [_Section(db, session_id) for session_id in session_ids]
        yield _line(
            format=FORMAT,
            version=VERSION,
            sessions=len(sections),
            bodies=sum(len(section.bodies) for section in sections),
            events=sum(section.events for section in sections),
        )
        written: set[int] = set()
        for number, section in enumerate(sections, 1):
            yield from section.lines(db, written)
            if progress is not None:
                progress(number, len(sections))
    finally:
        db.execute("rollback")


class _Section:
    """What a file says about one session."""

    def __init__(self, db: sqlite3.Connection, session_id: str) -> None:
        self.session_id = session_id
        self.session = reader.session_key(db, session_id)
        self.requests = reader.request_ids(db, self.session)
        self.bodies = reader.bodies_of(db, self.session)
        self.events: int = db.execute(
            "select count(*) from events where event > ? << 32 and event < (? + 1) << 32",
            (self.session, self.session),
        ).fetchone()[0]

    def lines(self, db: sqlite3.Connection, written: set[int]) -> Iterator[str]:
        """Yield the session's lines; `written` holds the bodies that stood in the file before."""
        yield _line(session=self.session_id, bodies=len(self.bodies), events=self.events)
        for body in self.bodies:
            digest, content = db.execute(
                "select digest, content from bodies where body = ?", (body,)
            ).fetchone()
            if body in written:
                yield _line(digest=digest.hex())
            else:
                written.add(body)
                yield _line(digest=digest.hex(), body=json.loads(content))
        for row in db.execute(_ROWS, (self.session, self.session)):
            yield self._event(row)

    def _event(self, row: tuple[Any, ...]) -> str:
        seq, at_us, elapsed_us, turn, request, *names, attempt, kind, version, payload = row
        fields = {
            "seq": seq,
            "at": iso_time(at_us),
            "elapsed_seconds": elapsed_us / 1e6,
            "turn": turn,
            "attempt": attempt,
            "kind": kind,
            "version": version,
            "payload": json.loads(payload),
        }
        named = zip(("handoff_id", "parent_id", "path"), names, strict=True)
        fields |= {name: value for name, value in named if value is not None}
        if request is not None:
            fields["request_id"] = self.requests[request]
        return _line(**fields)


def _line(**fields: Any) -> str:
    return canonical_text(fields) + "\n"
