"""Numbers what happens, redacts it, and hands it to the sink."""

import dataclasses
import json
import secrets
from collections import defaultdict, deque
from collections.abc import MutableMapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from handoff_console.runtime.canonical import DIGEST_BYTES, canonical_text, digest
from handoff_console.runtime.clock import Clock
from handoff_console.runtime.events import Event, EventSink, Payload
from handoff_console.runtime.flow import Fixed
from handoff_console.runtime.redaction import Redaction

_NEVER_AGAIN = frozenset(
    {"session_suspended", "session_resumed", "first_token_received", "tool_returned_late"}
)
"""Kinds that a run over recorded answers does not come to: one that it records is a new one."""

UNSURE = ""
"""Of bodies that are the same once they are redacted: which of them one was, nobody knows."""

_KEY_OF_THIS_PROCESS = secrets.token_bytes(DIGEST_BYTES)
"""For digests of what is redacted, where a sink has no key: without one they could be reversed."""

_Place = tuple[str, str | None, int, int, int]
"""An event's kind, path, attempt, and the step and call it is about, where it says."""


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
    """Of what is written: estimates made from it are the same when the session is resumed."""


class Timeline:
    """Seconds since the session started. While a recording is played, they are as recorded."""

    def __init__(self, clock: Clock) -> None:
        self._now = clock.elapsed
        self._started = clock.elapsed()
        self._played: float | None = None

    def elapsed(self) -> float:
        """Return the seconds since the session started, or where the recording is."""
        if self._played is not None:
            return self._played
        return self._now() - self._started

    def play_to(self, elapsed_seconds: float) -> None:
        """Stand at a recorded moment; never goes back."""
        self._played = max(
            self.elapsed() if self._played is None else self._played, elapsed_seconds
        )

    @property
    def is_played(self) -> bool:
        """Whether it stands at a recorded moment."""
        return self._played is not None

    def skip(self, seconds: float) -> None:
        """Take a recorded duration as passed while time runs."""
        self._started -= seconds

    def run_from_here(self) -> None:
        """Go on from the recorded moment at the pace of the clock; a wait in between counts not."""
        if self._played is not None:
            self._started = self._now() - self._played
            self._played = None


class Recorder:
    """The one way by which a session's facts leave the runtime.

    Nothing passes it unredacted: bodies as a whole, of events the fields that hold free text.
    """

    def __init__(
        self,
        sink: EventSink,
        session_id: str,
        clock: Clock,
        redaction: Redaction,
        recorded: Sequence[Event] = (),
        originals: MutableMapping[str, str] | None = None,
    ) -> None:
        self._originals = originals
        self.session_id = session_id
        self.redaction = redaction
        self.timeline = Timeline(clock)
        self._clock = clock
        self._sink = sink
        self._key = sink.digest_key
        self._started_at = clock.now()
        self._seq = recorded[-1].seq if recorded else 0
        self._fixed: dict[Fixed, str] = {}
        """Parts of the flow that were kept, and as what."""
        self._recorded: dict[_Place, deque[float]] = defaultdict(deque)
        for event in recorded:
            if event.kind in _NEVER_AGAIN:
                continue
            place = _place(event.payload, event.path, event.attempt)
            self._recorded[place].append(event.elapsed_seconds)
        if recorded:
            self.timeline.play_to(0.0)

    def emit(self, scope: Scope, payload: Payload) -> None:
        """Record one thing that happened.

        What the session has recorded already is not recorded again: the same engine runs over the
        same answers, so each handoff comes to the same events, and they are counted off.
        """
        if self._recorded and self._is_recorded(payload, scope):
            return
        if payload.free_text and (texts := payload.texts()):
            payload = self._redacted(payload, texts)
        self._seq += 1
        # Whole microseconds; `round` takes 900 instructions, `int` 300 (measured).
        elapsed = int(self.timeline.elapsed() * 1e6 + 0.5) / 1e6
        # The time of day follows from the steady clock: nothing jumps when the clock is set.
        at = int((self._started_at + elapsed) * 1e6 + 0.5) / 1e6
        self._sink.append(_event((self.session_id, self._seq, at, elapsed, *scope, payload)))

    def keep(self, value: Any) -> Kept:
        """Keep a JSON value as a body; the same value is kept once."""
        return self.keep_text(canonical_text(value))

    def keep_text(self, text: str) -> Kept:
        """Keep a body whose canonical text is known already."""
        whole = ""
        if self.redaction.may_hold(text):
            whole, text = text, self._cleaned(text)
        body = text.encode()
        name = digest(body, self._key)
        self._sink.keep(name, body, self.session_id)
        if whole and self._originals is not None and whole != text:
            same = self._originals.setdefault(name, whole) == whole
            self._originals[name] = whole if same else UNSURE
        return _kept((name, len(body)))

    def keep_fixed(self, part: Fixed) -> str:
        """Keep a part of the flow, which is redacted already; return its digest."""
        name = self._fixed.get(part)
        if name is None:
            name = self._fixed[part] = part.digest(self._key)
            self._sink.keep(name, part.body, self.session_id)
        return name

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

    def secret_hash_of(self, value: Any) -> str:
        """Return what tells a value from others that look like it once they are redacted.

        A digest of all of it, keyed even where the sink has no key; empty where nothing is removed.
        """
        text = canonical_text(value)
        if not self.redaction.may_hold(text) or self._cleaned(text) == text:
            return ""
        return digest(text.encode(), self._key or _KEY_OF_THIS_PROCESS)

    def commit(self, *, synced: bool = False) -> None:
        """Make all of it durable. Called before anything is waited for."""
        self._sink.commit(synced=synced)

    def elapsed(self) -> float:
        """Return the seconds since the session started, rounded to microseconds."""
        return int(self.timeline.elapsed() * 1e6 + 0.5) / 1e6

    def go_live(self) -> None:
        """Go on beyond the recording: time runs again, and the time of day is today's."""
        self.timeline.run_from_here()
        self._started_at = self._clock.now() - self.timeline.elapsed()

    def _is_recorded(self, payload: Payload, scope: Scope) -> bool:
        moments = self._recorded.get(_place(payload, scope.path, scope.attempt))
        if not moments:
            return False
        self.timeline.play_to(moments.popleft())
        return True

    def _cleaned(self, text: str) -> str:
        # Read back from its JSON: inside a model or a set nothing would be found.
        return canonical_text(self.redaction.clean(json.loads(text)))

    def _redacted(self, payload: Payload, texts: list[Any]) -> Payload:
        text = "\n".join([text if type(text) is str else canonical_text(text) for text in texts])
        if not self.redaction.may_hold(text):
            return payload
        cleaned = {}
        for name in payload.free_text:
            value = getattr(payload, name)
            clean = self.redaction.clean(value)
            cleaned[name] = tuple(clean) if isinstance(value, tuple) else clean
        return dataclasses.replace(payload, **cleaned)  # type: ignore[type-var]


def _place(payload: Payload, path: str | None, attempt: int) -> _Place:
    step, index = getattr(payload, "step", 0), getattr(payload, "index", 0)
    return (payload.kind, path, attempt, step, index)


_event = partial(tuple.__new__, Event)
"""Make an event of its parts in order; `Event(…)` calls this from Python, which costs its half."""
_kept = partial(tuple.__new__, Kept)
