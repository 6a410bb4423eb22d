"""In what two runs of one handoff differ, down to the message and the field."""

from collections.abc import Hashable, Iterator
from typing import Any

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.events import AgentActivated
from handoff_console.store.analysis.bodies import read
from handoff_console.store.analysis.common_runs import aligned
from handoff_console.store.analysis.differences import (
    ABSENT,
    Aspect,
    Difference,
    changed_fields,
)
from handoff_console.store.analysis.handoff_work import Entry, EntryKind, HandoffWork, Part


def work_differences(left: HandoffWork, right: HandoffWork) -> Iterator[Difference]:
    """Yield what differs between two runs of a handoff; how much they took is no difference.

    That is request, packet, prompt, offers, each message, reply and tool call, status and result.
    Where one side never began, or took its whole result from a recording, the other one has nothing
    to be compared with in between.
    """
    if left.request.fields and right.request.fields:
        yield from _fields(Aspect.REQUEST, left.request, right.request)
    else:
        yield from _fields(Aspect.REQUEST, left.wish, right.wish)
    both_began = left.has_begun and right.has_begun
    if both_began:
        yield from _fields(Aspect.PACKET, left.packet, right.packet)
    if both_began and not (left.is_replayed or right.is_replayed):
        yield from _agent(left, right)
        yield from _entries(left, right)
    yield from _status(left, right)
    if left.has_ended and right.has_ended:  # of a run that waits there is no result to miss
        yield from _fields(Aspect.RESULT, left.result, right.result)


def _fields(aspect: Aspect, left: Part, right: Part) -> Iterator[Difference]:
    for name, before, after in changed_fields(left.fields, right.fields):
        yield Difference(aspect, name, before, after, left.seq, right.seq)


def _agent(left: HandoffWork, right: HandoffWork) -> Iterator[Difference]:
    (left_seq, mine), (right_seq, theirs) = left.agent, right.agent
    if mine is None or theirs is None:  # it never began on one side: its status says so
        return
    if mine.prompt != theirs.prompt:
        before, after = _prompt(left, mine), _prompt(right, theirs)
        if before != after:
            yield Difference(Aspect.PROMPT, "prompt", before, after, left_seq, right_seq)
    if mine.model != theirs.model:
        yield Difference(Aspect.MODEL, "model", mine.model, theirs.model, left_seq, right_seq)
    if mine.tools != theirs.tools:
        for name, before, after in changed_fields(left.offers, right.offers):
            yield Difference(Aspect.OFFER, name, before, after, left_seq, right_seq)


def _prompt(work: HandoffWork, agent: AgentActivated) -> Any:
    return read(work.body, agent.prompt)


def _status(left: HandoffWork, right: HandoffWork) -> Iterator[Difference]:
    (left_seq, before), (right_seq, after) = left.status, right.status
    if before != after:
        yield Difference(
            Aspect.STATUS,
            "status",
            before,
            after,
            left.node.last_seq if left_seq is None else left_seq,
            right.node.last_seq if right_seq is None else right_seq,
        )


def _entries(left: HandoffWork, right: HandoffWork) -> Iterator[Difference]:
    read_the_same = left.contexts == right.contexts
    mine, theirs = (work.transcript(messages=not read_the_same) for work in (left, right))
    pairs = dict(aligned(mine, theirs, (_to_the_byte, _in_words, _of_kind)))
    taken = set(pairs.values())
    for place, entry in enumerate(mine):
        other = pairs.get(place)
        yield from _entry(entry, theirs[other] if other is not None else None)
    for place, entry in enumerate(theirs):
        if place not in taken:
            yield from _entry(None, entry)


def _to_the_byte(entry: Entry) -> Hashable:
    return entry.kind, entry.tool, entry.digests, entry.error


def _in_words(entry: Entry) -> Hashable:
    return entry.kind, entry.name, canonical_text(entry.content)


def _of_kind(entry: Entry) -> Hashable:
    return entry.kind, entry.name


def _entry(left: Entry | None, right: Entry | None) -> Iterator[Difference]:
    entry = left or right
    assert entry is not None
    if left and right and _to_the_byte(left) == _to_the_byte(right):
        return
    before = left.content if left else ABSENT
    after = right.content if right else ABSENT
    seqs = left.seq if left else None, right.seq if right else None
    if entry.kind is EntryKind.MESSAGE:
        if before != after:
            name = f"{entry.name or 'unknown'}, step {entry.step}"
            yield Difference(Aspect.MESSAGE, name, before, after, *seqs)
    elif entry.kind is EntryKind.REPLY:
        yield from _reply(f"step {entry.step}", before, after, seqs)
    else:
        yield from _tool(f"{entry.name}, step {entry.step}", before, after, seqs)


_Seqs = tuple[int | None, int | None]


def _reply(name: str, before: Any, after: Any, seqs: _Seqs) -> Iterator[Difference]:
    for part, note in (("text", ""), ("error", " error"), ("asks for", " asks for")):
        mine, theirs = _piece(before, part), _piece(after, part)
        if part == "asks for":
            # What is asked of whom shows in the calls themselves.
            mine, theirs = _names(mine), _names(theirs)
        is_said = bool({mine, theirs} - {"", ABSENT})
        if mine != theirs and is_said:
            yield Difference(Aspect.REPLY, f"{name}{note}", mine, theirs, *seqs)


def _tool(name: str, before: Any, after: Any, seqs: _Seqs) -> Iterator[Difference]:
    if ABSENT in (before, after):
        mine, theirs = _piece(before, "arguments"), _piece(after, "arguments")
        yield Difference(Aspect.TOOL_CALL, name, mine, theirs, *seqs)
        return
    arguments = f"{name} arguments"
    for part, mine, theirs in changed_fields(before["arguments"], after["arguments"], arguments):
        yield Difference(Aspect.TOOL_CALL, part, mine, theirs, *seqs)
    if before["error"] != after["error"]:
        yield Difference(
            Aspect.TOOL_RESULT, f"{name} error", before["error"], after["error"], *seqs
        )
    if before["result"] != after["result"]:
        yield Difference(Aspect.TOOL_RESULT, name, before["result"], after["result"], *seqs)


def _piece(content: Any, name: str) -> Any:
    return ABSENT if content is ABSENT else content[name]


def _names(asked: Any) -> Any:
    if asked is ABSENT:
        return ABSENT
    return ", ".join(str(name) for name, _ in asked)
