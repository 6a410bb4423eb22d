"""Questions for what the one who asks had been told.

Source: S2 "Context and State Management During the Handoff", S3 "Context loss".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from handoff_console.runtime.contract import Status
from handoff_console.runtime.events import (
    Event,
    HandoffOpened,
    HandoffRequested,
    InputRequested,
)
from handoff_console.store.analysis.bodies import filled, read_fields
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name, listed, one_line

_GENERAL = frozenset({"id", "number", "no", "code", "name", "key", "value", "text"})
"""Words that say of a key's value what it looks like, not what it is."""
_TAIL = r"(?:\s+(?:id|number|no|code|name))?"


def asked_again(record: Record) -> Iterable[Finding]:
    """An agent that asks for a fact of its own packet, or for a value of its own request."""
    for opening, opened in record.of(HandoffOpened):
        node = record.node(opening.handoff_id)
        if node is None or (opened.packet is None and node.depth == 0):
            continue
        questions = dict(_questions(record, node))
        if not questions:
            continue
        asked = {
            name: [seq for seq, text in questions.items() if _asks_for(name, text)]
            for name in _told(record, node, opened)
        }
        names = sorted(name for name, found in asked.items() if found)
        if names:
            seqs = sorted({seq for name in names for seq in asked[name]})
            yield _finding(node, opening, names, [(seq, questions[seq]) for seq in seqs])


def _finding(
    node: HandoffNode, opening: Event, names: list[str], questions: Sequence[tuple[int, str]]
) -> Finding:
    who = as_name(node.agent)
    times = f" {len(questions)} times" if len(questions) > 1 else ""
    return Finding(
        code="asked_again",
        severity=Severity.WARNING,
        handoff_id=node.handoff_id,
        agent=node.agent,
        turn=node.turn,
        evidence=(
            Evidence(opening.seq, f"it was told {listed(names)}"),
            *(Evidence(seq, one_line(text, 160)) for seq, text in questions),
        ),
        sentence=f"{who} asked{times} for {listed(names)}, which it had been told.",
        advice=f"Tell {who} to look into what it was handed before it asks.",
    )


def _questions(record: Record, node: HandoffNode) -> Iterable[tuple[int, str]]:
    """Yield what a handoff asked, each with its event: while it worked, or as its answer."""
    for event, requested in record.of(InputRequested):
        if event.handoff_id == node.handoff_id:
            yield event.seq, requested.question
    if node.handoff_id not in record.closings:
        return
    event, closed = record.closings[node.handoff_id]
    if closed.status is Status.NEEDS_INPUT:
        yield event.seq, closed.notes
    elif closed.status is Status.OK and record.answer_of(node.turn) is node:
        said = _said(read_fields(record.body, closed.result))
        if "?" in said:
            yield event.seq, said


def _said(result: Mapping[str, Any]) -> str:
    """Return what the user is shown of a result, whatever stack it came from."""
    values, notes = result.get("data"), result.get("notes")
    text = values.get("text") if isinstance(values, Mapping) else None
    return next((said for said in (text, notes) if said and isinstance(said, str)), "")


def _told(record: Record, node: HandoffNode, opened: HandoffOpened) -> list[str]:
    """Return the names of what a handoff was told and that has a value."""
    requests = (
        p.request for e, p in record.of(HandoffRequested) if e.handoff_id == node.handoff_id
    )
    facts = read_fields(record.body, opened.packet).get("facts")
    inputs = read_fields(record.body, next(requests, None)).get("inputs")
    return [*filled(facts), *filled(inputs)]


def _asks_for(key: str, text: str) -> bool:
    """Say whether a text asks for what a key stands for: `Which order is it?` for `order_id`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).replace("_", " ").lower().split()
    while len(words) > 1 and words[-1] in _GENERAL:
        words.pop()
    noun = r"\s+".join(map(re.escape, words))
    asked = (
        rf"\b(?:which|what)\s+{noun}{_TAIL}\s+(?:is|are|was|were|do|does|did|have)\b[^.?]*\?"
        rf"|\bwhat(?:\s+is|'s|’s)\s+(?:your|the)\s+{noun}{_TAIL}\s*\?"
        rf"|\b(?:tell|send|give)(?:\s+me|\s+us)?\s+(?:your|the)\s+{noun}{_TAIL}\b"
    )
    return re.search(asked, text[:4_000], re.IGNORECASE) is not None
