"""The differences between two attempts of a handoff, as single changes that can be tried."""

import difflib
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from handoff_console.runtime.contract import Limits, Packet, tool_value
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.events import AgentActivated, Recording
from handoff_console.runtime.models import as_model
from handoff_console.runtime.recorded import RecordedAgain, find_handoff
from handoff_console.runtime.tape import RecordedResult, Tape
from handoff_console.runtime.taping import read_tape

_PIECE = re.compile(r"\s*[^.!?\n]*(?:[.!?]+|\n|$)")
"""A sentence or a line of a prompt, with the white space before it."""


MOST_PIECES = 12
"""Of a passage that was rewritten; a longer one is tried as a whole."""


class Attempt(NamedTuple):
    """One run of a handoff, in the session that has it."""

    recording: Recording
    handoff_id: str


class Hunk(NamedTuple):
    """Some pieces of a prompt, and what stands there instead."""

    base: tuple[str, ...]
    """The whole prompt, in pieces."""
    start: int
    end: int
    """The first piece that stays again."""
    pieces: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Change:
    """One difference between a failed attempt and a good one, made in the failed one."""

    name: str
    """`inputs.customer`, `limits.max_steps`, `prompt, part 2`, `result of look, step 1`."""
    before: Any
    """What the failed attempt has; None when it has none. So is the next, of the good one."""
    after: Any
    edits: Edits = field(default_factory=Edits)
    """What brings it about; of a piece of the prompt, nothing."""
    hunk: Hunk | None = None


class Changes(NamedTuple):
    """All differences between two attempts."""

    changes: tuple[Change, ...]
    untried: tuple[str, ...]
    """Differences that a re-run cannot make, by name."""


def changes_between(failed: Attempt, good: Attempt) -> Changes:
    """Return what can be changed about a failed handoff to make it more like a good one.

    A tool result is a difference only where the same call got another answer: of another call it is
    a consequence.

    Args:
        failed: The attempt that is to be changed.
        good: The one that it is to become like.

    Raises:
        RequestError: One of the handoffs is not there, or never began.
    """
    mine, theirs = find_handoff(*failed), find_handoff(*good)
    here, there = _activated(failed), _activated(good)
    found = [*_request(mine, theirs), *_facts(mine, theirs)]
    untried = []
    if mine.packet and theirs.packet:
        found += _packet(mine, theirs)
    elif mine.packet or theirs.packet:
        untried.append("packet")
    if here and there:
        before, after = failed.recording.body(here.prompt), good.recording.body(there.prompt)
        found += prompt_changes(str(before), str(after))
        if here.model != there.model:
            if _can_be_named(there.model):
                found.append(Change("model", here.model, there.model, Edits(model=there.model)))
            else:
                untried.append("model")
    tapes = read_tape(failed.recording), read_tape(good.recording)
    found += _tool_results(tapes[0], mine, tapes[1], theirs)
    return Changes(tuple(found), tuple(untried))


def edits_of(changes: Iterable[Change]) -> Edits:
    """Return several changes as the edits of one re-run; of two that contradict, the later one."""
    together: dict[str, Any] = {}
    hunks: list[Hunk] = []
    for change in changes:
        if change.hunk is not None:
            hunks.append(change.hunk)
        for item in fields(Edits):
            value = getattr(change.edits, item.name)
            if isinstance(value, Mapping):
                together[item.name] = {**together.get(item.name, {}), **value}
            elif item.name == "without_inputs":
                together[item.name] = (*together.get(item.name, ()), *value)
            elif value not in (None, ()):
                together[item.name] = value
    if hunks:
        together["prompt"] = _patched(hunks)
    return Edits(**together)


def _patched(hunks: list[Hunk]) -> str:
    pieces = list(hunks[0].base)
    for hunk in sorted(hunks, key=lambda hunk: hunk.start)[::-1]:  # of one place, the last first
        pieces[hunk.start : hunk.end] = hunk.pieces
    return "".join(pieces)


def _request(mine: RecordedAgain, theirs: RecordedAgain) -> Iterator[Change]:
    before, after = mine.request, theirs.request
    if before.task != after.task:
        yield Change("task", before.task, after.task, Edits(task=after.task))
    yield from _inputs("inputs", before.inputs, after.inputs)
    if before.allowed_tools != after.allowed_tools:
        edits = Edits(allowed_tools=after.allowed_tools)
        yield Change("allowed_tools", before.allowed_tools, after.allowed_tools, edits)
    for name in Limits.model_fields:
        old, new = getattr(before.limits, name), getattr(after.limits, name)
        if old != new:
            yield Change(f"limits.{name}", old, new, Edits(limits={name: new}))
    if before.output_schema != after.output_schema:
        edits = Edits(output_schema=after.output_schema)
        yield Change("output_schema", before.output_schema, after.output_schema, edits)


def _facts(mine: RecordedAgain, theirs: RecordedAgain) -> Iterator[Change]:
    """Yield what differs in the packets' facts alone; what is an input too is changed with that."""
    if mine.packet is None or theirs.packet is None:
        return
    elsewhere = mine.request.inputs.keys() | theirs.request.inputs.keys()
    elsewhere |= mine.packet.claimed.keys() | theirs.packet.claimed.keys()
    for change in _inputs("facts", mine.packet.facts, theirs.packet.facts):
        if change.name.partition(".")[2] not in elsewhere:
            yield change


def _inputs(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for key in sorted(before.keys() | after.keys()):
        name = f"{kind}.{key}"
        if key not in after:
            yield Change(name, before[key], None, Edits(without_inputs=(key,)))
        elif key not in before or before[key] != after[key]:
            yield Change(name, before.get(key), after[key], Edits(inputs={key: after[key]}))


def _packet(mine: RecordedAgain, theirs: RecordedAgain) -> Iterator[Change]:
    """Yield what differs in the packets beside their facts."""
    before, after = mine.packet, theirs.packet
    assert before is not None
    assert after is not None
    for name in ("goal", "summary"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield Change(f"packet.{name}", old, new, Edits(**{name: new}))
    for key in sorted(before.claimed.keys() | after.claimed.keys()):
        if mine.request.inputs.get(key) == theirs.request.inputs.get(key):
            yield from _claim(key, before, after)


def _claim(key: str, before: Packet, after: Packet) -> Iterator[Change]:
    """Yield what is claimed otherwise; what is another input is changed with that."""
    name, old = f"packet.claimed.{key}", before.claimed.get(key)
    if key in after.claimed:
        new = after.claimed[key]
        if key not in before.claimed or old != new:
            yield Change(name, old, new, Edits(claimed={key: new}))
    elif key in after.facts:  # confirmed there
        edits = Edits(without_inputs=(key,), inputs={key: after.facts[key]})
        yield Change(name, old, None, edits)
    else:
        yield Change(name, old, None, Edits(without_inputs=(key,)))


def _activated(attempt: Attempt) -> AgentActivated | None:
    for event in attempt.recording.events:
        if event.handoff_id == attempt.handoff_id and isinstance(event.payload, AgentActivated):
            return event.payload
    return None


def prompt_changes(before: str, after: str) -> Iterator[Change]:
    """Yield what turns one prompt into another, part by part; together they give it exactly."""
    for number, hunk in enumerate(_hunks(before, after), 1):
        old, new = "".join(hunk.base[hunk.start : hunk.end]), "".join(hunk.pieces)
        yield Change(f"prompt, part {number}", old, new, hunk=hunk)


def _hunks(before: str, after: str) -> Iterator[Hunk]:
    """Yield what turns one prompt into another: each sentence of its own, one by one."""
    mine, theirs = (tuple(filter(None, _PIECE.findall(text))) for text in (before, after))
    matcher = difflib.SequenceMatcher(None, mine, theirs, autojunk=False)
    for what, start, end, other_start, other_end in matcher.get_opcodes():
        if what == "replace":
            yield from _replaced(mine, start, end, theirs[other_start:other_end])
        elif what == "delete":
            yield from (Hunk(mine, place, place + 1, ()) for place in range(start, end))
        elif what == "insert":
            yield from (
                Hunk(mine, start, start, (piece,)) for piece in theirs[other_start:other_end]
            )


def _replaced(
    mine: tuple[str, ...], start: int, end: int, pieces: tuple[str, ...]
) -> Iterator[Hunk]:
    """Yield what puts some pieces in the place of others.

    As many pieces take each other's place; otherwise each is left out or added by itself. A longer
    passage stays one change: too many parts would take too many re-runs.
    """
    if end - start + len(pieces) > MOST_PIECES:
        yield Hunk(mine, start, end, pieces)
    elif end - start == len(pieces):
        yield from (
            Hunk(mine, place, place + 1, (piece,)) for place, piece in enumerate(pieces, start)
        )
    else:
        yield from (Hunk(mine, place, place + 1, ()) for place in range(start, end))
        yield from (Hunk(mine, end, end, (piece,)) for piece in pieces)


def _can_be_named(model: str) -> bool:
    """Say whether a model can be made from its name alone."""
    try:
        as_model(model, "", "")
    except HandoffConsoleError:
        return False
    return True


def _tool_results(
    here: Tape, mine: RecordedAgain, there: Tape, theirs: RecordedAgain
) -> Iterator[Change]:
    answers: dict[tuple[str, str], deque[RecordedResult]] = defaultdict(deque)
    for _, result in _results(there, theirs):
        answers[str(result.message.get("name")), result.arguments].append(result)
    for (step, index), result in _results(here, mine):
        tool = str(result.message.get("name"))
        same_call = answers.get((tool, result.arguments))
        if not same_call:
            continue
        other = same_call.popleft()
        if other.message["content"] != result.message["content"]:
            value = tool_value(other.message)
            yield Change(
                f"result of {tool}, step {step}",
                tool_value(result.message),
                value,
                Edits(tool_results={f"{step}.{index}": value}),
            )


def _results(
    tape: Tape, handoff: RecordedAgain
) -> Iterator[tuple[tuple[int, int], RecordedResult]]:
    """Yield the results of a handoff's own tools, in order, each with its step and call."""
    where = handoff.event.path, handoff.event.attempt
    for (path, attempt, step, index), result in sorted(
        tape.results.items(), key=lambda item: item[0][2:]
    ):
        if (path, attempt) == where:
            yield (step, index), result
