"""What a record does not hold: values that were left out of it as it was written.

Whoever goes on from a record reads a mark in their place. `filling` says them again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from handoff_console.runtime.events import (
    ApprovalDecided,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRequested,
    InputGiven,
    ModelReplied,
    Recording,
    SessionStarted,
    StateSet,
    ToolCalled,
    ToolReturned,
    UserMessageReceived,
)
from handoff_console.runtime.recorded import recorded_result
from handoff_console.runtime.redaction import MARK, has_mark
from handoff_console.runtime.taping import read_tape

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
    repeats: bool = False
    """Whoever said it had been told a value of that name: a model, or a tool that was called with
    one. Mostly they say it again."""


class Source(NamedTuple):
    """A body that held, when it was said, what its record has a mark for."""

    place: str
    digest: str
    handoff_id: str | None
    keys: tuple[str, ...] = ()
    """The parts that were sent as they were said, where not all of it was."""
    heard: str = ""
    """Of a tool, the digest of what it was called with."""
    is_model: bool = False
    """A model said it, who knows only what it was told."""


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
    for source in _told(recording):
        if source.digest not in found and is_read(source.handoff_id):
            found[source.digest] = gaps_of(recording, source)
    return [gap for one in found.values() for gap in one]


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


def _told(recording: Recording) -> Iterator[Source]:
    """Yield what the session was told from outside.

    A handoff that is run again alone reads its request, and not what the user said.
    """
    started = recording.events[0].payload if recording.events else None
    if not isinstance(started, SessionStarted) or started.rerun_mode in ("", "continue"):
        yield from sources(recording)
        return
    requests = (e for e in recording.events if isinstance(e.payload, HandoffRequested))
    first = next(requests, None)
    if first:
        yield from (one for one in derived(recording) if one.handoff_id == first.handoff_id)
    yield from (one for one in sources(recording) if one.handoff_id)


def sources(recording: Recording) -> Iterator[Source]:
    """Yield everything that was said to the session as it was: what its record derives from."""
    turn, typed = 0, False
    called: dict[tuple[str | None, int, int], str] = {}
    for event in recording.events:
        match event.payload:
            case ToolCalled() as asked_for:
                called[event.handoff_id, asked_for.step, asked_for.index] = asked_for.arguments
            case ToolReturned() as back:
                heard = called.get((event.handoff_id, back.step, back.index), "")
                place = f"{event.handoff_id} call {back.step}.{back.index}"
                yield Source(place, back.result, event.handoff_id, heard=heard)
            case ModelReplied() as reply if reply.reply:
                place = f"{event.handoff_id} step {reply.step}"
                yield Source(place, reply.reply, event.handoff_id, is_model=True)
            case UserMessageReceived() as said:
                turn, typed = event.turn, said.typed
                if not typed:  # what a typed request says stands in the request
                    yield Source(message_place(turn), said.message, None)
            case HandoffRequested() as asked if typed and asked.request:
                typed = False
                yield Source(message_place(turn), asked.request, None)
            case StateSet() as fact if not turn:
                yield Source("state", fact.value, None)
            case _:
                yield from _of_handoff(event)


def derived(recording: Recording) -> Iterator[Source]:
    """Yield what was made of it for a handoff: its request, and the packet that came along."""
    for event in recording.events:
        name = event.handoff_id
        match event.payload:
            case HandoffRequested() as asked if asked.request:
                yield Source(f"{name} task", asked.request, name, ("task",))
            case HandoffOpened() as opened if opened.packet:
                yield Source(f"{name} packet", opened.packet, name, ("goal", "summary"))
            case _:
                pass


def _of_handoff(event: Event) -> Iterator[Source]:
    digest, what = "", ""
    match event.payload:
        case InputGiven() as given:
            digest, what = given.answer, "answer"
        case ApprovalDecided() as decided:
            digest, what = decided.approved_arguments or "", "decision"
        case _:
            pass
    if digest:
        yield Source(f"{event.handoff_id} {what}", digest, event.handoff_id)


def message_place(turn: int) -> str:
    """Return the place of what the user said in a turn."""
    return "message" if turn == 1 else f"message {turn}"


def said_in(recording: Recording, source: Source) -> Any:
    """Return what was said in a source, as it is recorded."""
    body = recording.body(source.digest)
    return {key: body[key] for key in source.keys if key in body} if source.keys else body


def gaps_of(recording: Recording, source: Source) -> list[Gap]:
    """Return what was left out of a source, a gap for each name."""
    found = gaps_in(source.place, said_in(recording, source))
    if not found or not (source.is_model or source.heard):
        return found
    heard = Counter[str]()
    if source.heard:
        asked_with = gaps_in(source.place, recording.body(source.heard))
        heard.update({gap.name: gap.marks for gap in asked_with})
    return [gap._replace(repeats=source.is_model or gap.marks <= heard[gap.name]) for gap in found]


def gaps_in(place: str, body: Any) -> list[Gap]:
    """Return what was left out of one thing that was said, a gap for each name."""
    found: dict[str, Gap] = {}
    for text in _texts(body):
        for mark in MARK.finditer(text):
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
