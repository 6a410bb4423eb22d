"""Numbers what happens, redacts it, and hands it to the sink."""

import dataclasses
import json
from typing import Any, NamedTuple

from handoff_console.runtime.canonical import canonical_text, digest
from handoff_console.runtime.clock import Clock
from handoff_console.runtime.events import Event, EventSink, Payload
from handoff_console.runtime.redaction import Redaction

_HARMLESS_LENGTH = 6
"""`cvv=123` has 7: the names of agents and tools are mostly shorter, and are not searched."""


class Scope(NamedTuple):
    """What an event is about: the envelope without its number and its time."""

    turn: int = 0
    request_id: str | None = None
    handoff_id: str | None = None
    parent_id: str | None = None
    path: str | None = None
    attempt: int = 1


class Kept(NamedTuple):
    """A body that was handed to the sink."""

    digest: str
    size_bytes: int
    """Of what was said, before redaction."""


class Recorder:
    """The one way by which a session's facts leave the runtime.

    Nothing passes it unredacted: bodies as a whole, of events the fields that hold free text.
    """

    def __init__(
        self, sink: EventSink, session_id: str, clock: Clock, redaction: Redaction
    ) -> None:
        self.session_id = session_id
        self.clock = clock
        self.redaction = redaction
        self._sink = sink
        self._key = sink.digest_key
        self._started = clock.elapsed()
        self._started_at = clock.now()
        self._seq = 0

    def emit(self, scope: Scope, payload: Payload) -> Event:
        """Record one thing that happened."""
        if payload.free_text:
            payload = self._redacted(payload)
        self._seq += 1
        elapsed = self.clock.elapsed() - self._started
        # The time of day follows from the steady clock: nothing jumps when the clock is set.
        at = round(self._started_at + elapsed, 6)
        happened = Event(self.session_id, self._seq, at, round(elapsed, 6), *scope, payload)
        self._sink.append(happened)
        return happened

    def keep(self, value: Any) -> Kept:
        """Keep a JSON value as a body; the same value is kept once."""
        return self.keep_text(canonical_text(value))

    def keep_text(self, text: str) -> Kept:
        """Keep a body whose canonical text is known already."""
        body = text.encode()
        size = len(body)
        if self.redaction.may_hold(text):
            body = self._cleaned(text).encode()
        name = digest(body, self._key)
        self._sink.keep(name, body, self.session_id)
        return Kept(name, size)

    def keep_clean(self, body: bytes) -> str:
        """Keep a body that holds nothing anybody said: digests, or what was redacted before."""
        name = digest(body, self._key)
        self._sink.keep(name, body, self.session_id)
        return name

    def hash_of(self, value: Any) -> str:
        """Return a value's keyed digest without keeping the value."""
        text = canonical_text(value)
        if self.redaction.may_hold(text):
            text = self._cleaned(text)
        return digest(text.encode(), self._key)

    def commit(self, *, synced: bool = False) -> None:
        """Make all of it durable. Called before anything is waited for."""
        self._sink.commit(synced=synced)

    def elapsed(self) -> float:
        """Return the seconds since the session started."""
        return round(self.clock.elapsed() - self._started, 6)

    def _cleaned(self, text: str) -> str:
        # Read back from its JSON: inside a model or a set nothing would be found.
        return canonical_text(self.redaction.clean(json.loads(text)))

    def _redacted(self, payload: Payload) -> Payload:
        texts = []
        for name in payload.free_text:
            value = getattr(payload, name)
            if value and (type(value) is not str or len(value) > _HARMLESS_LENGTH):
                texts.append(value if isinstance(value, str) else canonical_text(value))
        if not texts or not self.redaction.may_hold("\n".join(texts)):
            return payload
        cleaned = {}
        for name in payload.free_text:
            value = getattr(payload, name)
            clean = self.redaction.clean(value)
            cleaned[name] = tuple(clean) if isinstance(value, tuple) else clean
        return dataclasses.replace(payload, **cleaned)  # type: ignore[type-var]
