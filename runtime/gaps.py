"""What a record does not hold: values that were left out of it, and how somebody says them again.

A value is redacted before it is written, so whoever goes on from a record reads a mark in its
place. What was really said is known again once a person says the value: it is put where the mark
stands, and counts only if leaving it out once more gives the record to the byte. Nothing of it is
written.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.errors import RequestError, choices
from handoff_console.runtime.events import (
    ApprovalDecided,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRequested,
    InputGiven,
    ModelReplied,
    Recording,
    StateSet,
    ToolReturned,
    UserMessageReceived,
)
from handoff_console.runtime.recorded import recorded_result
from handoff_console.runtime.redaction import Redaction, has_mark
from handoff_console.runtime.taping import read_tape

_MARK = re.compile(r"\[redacted: ([^\[\]\n]{1,200})\]")
_AROUND = 60
"""Characters of an excerpt before and after a mark."""


class Gap(NamedTuple):
    """A value that was left out of one thing that somebody said."""

    place: str
    """Where: `message`, `message 2`, `h2 step 1`, `h2 call 1.0`, `h2 answer`, `h2 decision`,
    `state`."""
    name: str
    """What the mark says of it: `card number`."""
    marks: int
    """How often that mark stands there."""
    excerpt: str
    """What stands around the first."""


class _Source(NamedTuple):
    """A body that held, when it was said, what its record has a mark for."""

    place: str
    digest: str
    handoff_id: str | None


def mark_of(name: str) -> str:
    """Return the mark that stands for a value that was left out."""
    return f"[redacted: {name}]"


def gaps(recording: Recording, *, says_more: bool = False) -> list[Gap]:
    """Return what is missing of whatever may still be read, if the session goes on; in order.

    A handoff that is over, and handed on nothing of it, is of no concern any more.

    Args:
        recording: The session so far.
        says_more: The user will say more after its last turn.
    """
    if not says_more and _is_over(recording):
        return []
    is_read = _still_read(recording)
    found: dict[str, list[Gap]] = {}
    for source in _sources(recording):
        if source.digest not in found and is_read(source.handoff_id):
            found[source.digest] = _gaps_in(source.place, recording.body(source.digest))
    return [gap for one in found.values() for gap in one]


def filled(
    recording: Recording, values: Mapping[str, Sequence[str]], redaction: Redaction
) -> Recording:
    """Return a recording that says what was said, with the values in the place of their marks.

    Only what was redacted as it was written: what the gate removed on its way to a worker, that
    worker has never read.

    Args:
        recording: The session.
        values: By the mark's name, for all places, or by `NAME in PLACE`. Several values of a name
            go to the marks of a text in order; one goes to all of them.
        redaction: The rules it was recorded with.

    Raises:
        RequestError: There is no such mark, or the value is not what was left out there.
    """
    bodies, known = dict[str, str](), dict[str, None]()
    for source in _sources(recording):
        body = recording.body(source.digest)
        names = [gap.name for gap in _gaps_in(source.place, body)]
        known |= dict.fromkeys((*names, *(f"{name} in {source.place}" for name in names)))
        if names and source.digest not in bodies:
            bodies[source.digest] = _Filling(source.place, values, redaction).text(body)
    for source, keys in _derived(recording):
        body = recording.body(source.digest)
        part = {key: body[key] for key in keys if key in body}
        names = [gap.name for gap in _gaps_in(source.place, part)]
        known |= dict.fromkeys(names)
        if names and source.digest not in bodies:
            text = _Filling(source.place, values, redaction).text(part)
            bodies[source.digest] = canonical_text({**body, **json.loads(text)})
    for name in values:
        if name not in known:
            raise RequestError(
                f"No value {name!r} was left out of session {recording.session_id!r}; left out "
                f"were: {choices(known, 'none')}."
            )
    return with_bodies(recording, bodies)


def with_bodies(recording: Recording, texts: Mapping[str, str]) -> Recording:
    """Return a recording of which some bodies are known as they were before they were redacted.

    Args:
        recording: The session.
        texts: Their JSON, by the digest of what was written; an empty one is not known.
    """

    def body(digest: str) -> Any:
        text = texts.get(digest)
        return json.loads(text) if text else recording.body(digest)

    return replace(recording, body=body) if texts else recording


def _is_over(recording: Recording) -> bool:
    """Say whether nothing is left to do but to close the session."""
    tape = read_tape(recording)
    turn = f"t{len(tape.messages)}"
    return recorded_result(recording, tape, turn, 1) is not None


def _still_read(recording: Recording) -> Callable[[str | None], bool]:
    """Return what says whether something a handoff was told may be read after the record's end."""
    closed = {e.handoff_id for e in recording.events if isinstance(e.payload, HandoffClosed)}
    handed_on: set[str | None] = set()
    for event in recording.events:
        match event.payload:
            case HandoffRequested() as asked if event.handoff_id not in closed:
                if asked.request and has_mark(recording.body(asked.request)):
                    return lambda _: True  # from whom it has that, only its text says
            case HandoffClosed() as ended if ended.result and has_mark(
                recording.body(ended.result)
            ):
                handed_on.add(event.handoff_id)
            case StateSet() as fact if has_mark(recording.body(fact.value)):
                handed_on.add(event.handoff_id)
            case _:
                pass
    return lambda handoff_id: handoff_id not in closed or handoff_id in handed_on


def _sources(recording: Recording) -> Iterator[_Source]:
    """Yield everything that was said to the session as it was: what its record derives from."""
    turn, typed = 0, False
    for event in recording.events:
        match event.payload:
            case UserMessageReceived() as said:
                turn, typed = event.turn, said.typed
                if not typed:  # what a typed request says stands in the request
                    yield _Source(_message(turn), said.message, None)
            case HandoffRequested() as asked if typed and asked.request:
                typed = False
                yield _Source(_message(turn), asked.request, None)
            case StateSet() as fact if not turn:
                yield _Source("state", fact.value, None)
            case _:
                yield from _of_handoff(event)


def _derived(recording: Recording) -> Iterator[tuple[_Source, Sequence[str]]]:
    """Yield what was made of it for a handoff, and which parts were sent as they were said."""
    for event in recording.events:
        match event.payload:
            case HandoffRequested() as asked if asked.request:
                yield (
                    _Source(f"{event.handoff_id} task", asked.request, event.handoff_id),
                    ("task",),
                )
            case HandoffOpened() as opened if opened.packet:
                place = f"{event.handoff_id} packet"
                yield _Source(place, opened.packet, event.handoff_id), ("goal", "summary")
            case _:
                pass


def _of_handoff(event: Event) -> Iterator[_Source]:
    digest, what = "", ""
    match event.payload:
        case ModelReplied() as reply:
            digest, what = reply.reply or "", f"step {reply.step}"
        case ToolReturned() as back:
            digest, what = back.result, f"call {back.step}.{back.index}"
        case InputGiven() as given:
            digest, what = given.answer, "answer"
        case ApprovalDecided() as decided:
            digest, what = decided.approved_arguments or "", "decision"
        case _:
            pass
    if digest:
        yield _Source(f"{event.handoff_id} {what}", digest, event.handoff_id)


def _message(turn: int) -> str:
    return "message" if turn == 1 else f"message {turn}"


def _gaps_in(place: str, body: Any) -> list[Gap]:
    found: dict[str, Gap] = {}
    for text in _texts(body):
        for mark in _MARK.finditer(text):
            name = mark[1]
            around = text[max(mark.start() - _AROUND, 0) : mark.end() + _AROUND]
            before = found.get(name)
            found[name] = (
                before._replace(marks=before.marks + 1) if before else Gap(place, name, 1, around)
            )
    return list(found.values())


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, names included, in the order of its canonical form."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield key
            yield from _texts(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


class _Filling:
    """Puts values into one body."""

    def __init__(
        self, place: str, values: Mapping[str, Sequence[str]], redaction: Redaction
    ) -> None:
        self._place, self._values, self._redaction = place, values, redaction
        self._left: dict[str, list[str]] = {}
        """Values that are still to be put in, by name."""

    def text(self, body: Any) -> str:
        """Return the body's JSON with the values in it.

        Raises:
            RequestError: They are not what was left out of it.
        """
        for gap in _gaps_in(self._place, body):
            given = self._values.get(f"{gap.name} in {self._place}") or self._values.get(gap.name)
            if given and len(given) not in (1, gap.marks):
                raise RequestError(
                    f"{gap.name!r} was left out {gap.marks} times in {self._place}, and "
                    f"{len(given)} values are given for it; give one for all, or {gap.marks}."
                )
            if given:
                self._left[gap.name] = list(given) * (gap.marks if len(given) == 1 else 1)
        whole = self._filled(body)
        if canonical_text(self._redaction.clean(json.loads(canonical_text(whole)))) != (
            canonical_text(body)
        ):
            names = choices(self._given_names(body))
            raise RequestError(
                f"What is given for {names} is not what was left out in {self._place}: written "
                "down it would not stand there as it does. Give the value as it was said, with "
                "all that belongs to it."
            )
        return canonical_text(whole)

    def _given_names(self, body: Any) -> list[str]:
        return [gap.name for gap in _gaps_in(self._place, body) if gap.name in self._left]

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return _MARK.sub(self._value_of, value)
        if isinstance(value, Mapping):
            return {self._filled(key): self._filled(value[key]) for key in sorted(value)}
        if isinstance(value, list | tuple):
            return [self._filled(item) for item in value]
        return value

    def _value_of(self, mark: re.Match[str]) -> str:
        left = self._left.get(mark[1])
        return left.pop(0) if left else mark[0]
