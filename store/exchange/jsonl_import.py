"""Sessions from JSON lines into a store: each of them whole, or not at all.

Every line is checked before anything of its session is written; the first one that is wrong stops
the import and is named. Sessions before it are in the store then.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.counting import count
from handoff_console.runtime.errors import EventError
from handoff_console.runtime.events import load_payload
from handoff_console.store.errors import ImportRefused
from handoff_console.store.exchange.incoming import IncomingEvent, IncomingSession, put_in
from handoff_console.store.exchange.jsonl import FORMAT, VERSION
from handoff_console.store.exchange.lines import Line, LineReader
from handoff_console.store.progress import Progress

MAX_SESSION_BYTES = 512 * 2**20
"""A larger session is refused: it is held in memory until it is complete."""

_HEADER_FIELDS = frozenset({"format", "version", "sessions", "bodies", "events"})
_SESSION_FIELDS = frozenset({"session", "bodies", "events"})
_BODY_FIELDS = frozenset({"body", "digest"})
_EVENT_FIELDS = frozenset(
    "seq at elapsed_seconds turn request_id handoff_id parent_id path attempt kind version"
    " payload".split()
)


class Imported(NamedTuple):
    """What an import did."""

    new: tuple[str, ...]
    """Ids of sessions that were put into the store."""
    unchanged: tuple[str, ...]
    """Ids of sessions that the store had already, with the same content."""


def import_sessions(
    db: sqlite3.Connection, file: BinaryIO, *, source: str, progress: Progress | None = None
) -> Imported:
    """Put the sessions of a JSON lines file into a store.

    Importing the same again changes nothing. What a file says of processes is not believed: a
    session that is not closed is `incomplete`, never `running`.

    Args:
        db: A store opened for writing.
        file: The file, opened for reading bytes; it is read once, from where it stands.
        source: The file's name, for errors and for the inbox.
        progress: Is told how many of how many sessions are done.

    Raises:
        ImportRefused: A line is wrong, or the file was cut off.
        WriteFailed: The store did not take a session.
    """
    reader = LineReader(file, source)
    lines = iter(reader)
    expected = _header(reader, next(lines, None))
    seen: set[str] = set()
    new: list[str] = []
    unchanged: list[str] = []
    for number in range(expected):
        session = _session(reader, lines, seen)
        (new if put_in(db, session, source) else unchanged).append(session.session_id)
        if progress is not None:
            progress(number + 1, expected)
    if next(lines, None) is not None:
        raise reader.refuse(f"the file goes on after its {count(expected, 'session')}.")
    return Imported(tuple(new), tuple(unchanged))


def check_first_session(file: BinaryIO, *, source: str) -> None:
    """Read a file up to the end of its first session, so that no store is made for a bad one.

    Raises:
        ImportRefused: A line is wrong, or the file was cut off.
    """
    reader = LineReader(file, source)
    lines = iter(reader)
    if _header(reader, next(lines, None)):
        _session(reader, lines, set())


def _header(reader: LineReader, line: Line | None) -> int:
    """Return how many sessions the file says it has."""
    if line is None:
        raise ImportRefused(reader.source, None, "the file is empty.")
    if line.fields.get("format") != FORMAT:
        raise reader.refuse(
            "this is not a file of recorded sessions; `handoff export SESSION --to jsonl` makes "
            "one."
        )
    version = reader.count(line, "version", least=1)
    if version > VERSION:
        raise reader.refuse(
            f"the file has format version {version}, and this program reads up to {VERSION}; "
            "install a newer handoff-console."
        )
    reader.only(line, _HEADER_FIELDS)
    return reader.count(line, "sessions")


def _session(reader: LineReader, lines: Iterator[Line], seen: set[str]) -> IncomingSession:
    """Read one session; `seen` holds the digests of bodies that stood in the file before."""
    budget = _Budget(reader)
    first = budget.take(lines)
    reader.only(first, _SESSION_FIELDS)
    session = IncomingSession(reader.name(first, "session"))
    bodies, events = reader.count(first, "bodies"), reader.count(first, "events", least=1)
    for _ in range(bodies):
        _take_body(reader, budget.take(lines), session, seen)
    for seq in range(1, events + 1):
        session.events.append(_event(reader, budget.take(lines), seq))
    return session


class _Budget:
    """Lines of one session: there have to be enough of them, and not endlessly much in them."""

    def __init__(self, reader: LineReader) -> None:
        self._reader, self._left_bytes = reader, MAX_SESSION_BYTES

    def take(self, lines: Iterator[Line]) -> Line:
        line = next(lines, None)
        if line is None:
            raise self._reader.refuse(
                "the file ends here, before what its first line announces; it was cut off. "
                "Export it again."
            )
        self._left_bytes -= line.size_bytes
        if self._left_bytes < 0:
            raise self._reader.refuse(
                f"a session of more than {MAX_SESSION_BYTES // 2**20} MB is refused."
            )
        return line


def _take_body(reader: LineReader, line: Line, session: IncomingSession, seen: set[str]) -> None:
    reader.only(line, _BODY_FIELDS)
    digest = reader.digest(line)
    if digest in session.digests:
        raise reader.refuse("this body stood in the session before.")
    if "body" in line.fields:
        session.contents[digest] = _canonical(reader, line.fields["body"]).encode()
        seen.add(digest)
    elif digest not in seen:
        raise reader.refuse("this body is named, but stood nowhere before.")
    session.digests[digest] = None


def _event(reader: LineReader, line: Line, seq: int) -> IncomingEvent:
    reader.only(line, _EVENT_FIELDS)
    found = reader.count(line, "seq")
    if found != seq:
        raise reader.refuse(f"event {seq} is expected here, and this is event {found}.")
    kind, version = reader.name(line, "kind"), reader.count(line, "version")
    fields = reader.field(line, "payload", dict)
    try:
        load_payload(kind, version, fields)
    except EventError as error:
        raise reader.refuse(str(error)) from error
    return IncomingEvent(
        seq=seq,
        at_us=reader.time_us(line, "at"),
        elapsed_us=reader.duration_us(line, "elapsed_seconds"),
        turn=reader.count(line, "turn"),
        request_id=reader.optional_name(line, "request_id"),
        handoff_id=reader.optional_name(line, "handoff_id"),
        parent_id=reader.optional_name(line, "parent_id"),
        path=reader.optional_name(line, "path"),
        attempt=reader.count(line, "attempt", least=1),
        kind=kind,
        version=version,
        payload=_canonical(reader, fields),
    )


def _canonical(reader: LineReader, value: Any) -> str:
    try:
        return canonical_text(value)
    except RecursionError as error:
        raise reader.refuse("the values are nested too deeply; no session has that.") from error
