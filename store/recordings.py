"""A recorded session as the runtime takes it, to go on with it or to run a part of it again."""

import dataclasses
import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from handoff_console.runtime.canonical import canonical, digest
from handoff_console.runtime.events import Event, Payload, Recording, hop_of
from handoff_console.store import reader
from handoff_console.store.errors import StoreDamaged

_NODE_FIELDS = {"previous", "messages"}
"""Of a context, the one kind of body that names others."""


_AROUND = (
    "session_started", "user_message_received", "agent_activated", "state_set",
    "handoff_requested", "handoff_opened",
)  # fmt: skip
"""Kinds of which a handoff that is run again alone needs all, wherever they happened."""


def recording_of(
    db: sqlite3.Connection, session_id: str, handoff_id: str | None = None
) -> Recording:
    """Return a session of a store, with digests as this store makes them.

    An imported session has digests of the store it came from, with that one's secret key: what is
    asked now would never be what was recorded. So they are made again, from the bodies.

    Args:
        db: The store; it has to stay open as long as the recording is used.
        session_id: The full id.
        handoff_id: Only what is needed to run this handoff again alone: of a session of a thousand
            handoffs that is a tenth of the work. One that is not there needs the whole session.

    Raises:
        SessionUnknown: There is no such session.
        StoreDamaged: An event cannot be read. A body that is missing raises it when it is needed.
    """
    below = _path_of(db, session_id, handoff_id) if handoff_id else None
    kinds = _AROUND if below else None
    events = reader.load_events(db, session_id, kinds=kinds, or_below=below)
    if not is_imported(db, session_id):
        return Recording(session_id, events, _Bodies(db, session_id))
    keyed = _Rekeyed(_Bodies(db, session_id), reader.digest_key(db))
    return Recording(session_id, keyed.events(events), keyed, is_foreign=True)


def _path_of(db: sqlite3.Connection, session_id: str, handoff_id: str) -> str | None:
    """Return how the paths begin of a handoff, of what is below it, and of what continues it."""
    session = reader.session_key(db, session_id)
    row = db.execute(
        "select path from events where event > ? << 32 and event < (? + 1) << 32"
        " and handoff_id = ? limit 1",
        (session, session, handoff_id),
    ).fetchone()
    if row is None or not row[0]:
        return None
    base, hop = hop_of(row[0])
    return f"{base}~" if hop and base != row[0] else str(row[0])


def is_imported(db: sqlite3.Connection, session_id: str) -> bool:
    """Say whether a session came from a file.

    Raises:
        SessionUnknown: There is no such session.
    """
    session = reader.session_key(db, session_id)
    row = db.execute(
        "select imported_from is not null from session_keys where session = ?", (session,)
    ).fetchone()
    return bool(row[0])


class _Bodies:
    """Looks bodies up, each once."""

    def __init__(self, db: sqlite3.Connection, session_id: str) -> None:
        self._db, self._session_id = db, session_id
        self._texts: dict[str, str] = {}

    def __call__(self, name: str) -> Any:
        text = self._texts.get(name)
        if text is None:
            text = reader.body_text(self._db, name)
            if text is None:
                raise StoreDamaged(
                    f"What session {self._session_id!r} said is not all there (the body {name} is "
                    "missing); `handoff doctor` shows what else is damaged."
                )
            self._texts[name] = text
        return json.loads(text)


class _Rekeyed:
    """The bodies of another store under the digests that this one would give them."""

    def __init__(self, bodies: _Bodies, key: bytes) -> None:
        self._bodies, self._key = bodies, key
        self._names: dict[str, str] = {}
        """New digests by old ones."""
        self._values: dict[str, Any] = {}
        """By new digest."""

    def __call__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        return self._bodies(name)

    def events(self, events: Iterable[Event]) -> list[Event]:
        """Return the events with the digests of this store."""
        return [event._replace(payload=self._payload(event.payload)) for event in events]

    def _payload(self, payload: Payload) -> Payload:
        changed: dict[str, Any] = {}
        for field in payload.digests:
            value = getattr(payload, field)
            if isinstance(value, str):
                changed[field] = self._name(value)
        return dataclasses.replace(payload, **changed) if changed else payload  # type: ignore[type-var]

    def _name(self, old: str) -> str:
        """Return the digest of a body here; of one that is not a body, or not there, itself."""
        if old not in self._names:
            for node in self._chain(old):
                self._names[node] = self._added(node)
        return self._names[old]

    def _chain(self, old: str) -> Sequence[str]:
        """Return a context and those before it that have no name yet, the oldest first."""
        chain: list[str] = []
        at: Any = old
        while isinstance(at, str) and at not in self._names and at not in chain:
            chain.append(at)
            value = self._value(at)
            at = value["previous"] if _is_node(value) else None
        return chain[::-1]

    def _added(self, old: str) -> str:
        value = self._value(old)
        if value is None:
            return old
        if _is_node(value):
            value = {
                "previous": self._names.get(value["previous"], value["previous"]),
                "messages": [self._name(message) for message in value["messages"]],
            }
        name = digest(canonical(value), self._key)
        self._values[name] = value
        return name

    def _value(self, old: str) -> Any:
        try:
            return self._bodies(old)
        except StoreDamaged:
            return None


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == _NODE_FIELDS


def kept_digests(db: sqlite3.Connection, session_id: str) -> set[str]:
    """Return the digests of all that a session said, as far as the store holds it.

    Raises:
        SessionUnknown: There is no such session.
    """
    bodies = reader.bodies_of(db, reader.session_key(db, session_id))
    rows = db.execute(
        "select digest from bodies where body in (select value from json_each(?))",
        (json.dumps(bodies),),
    )
    return {digest.hex() for (digest,) in rows}
