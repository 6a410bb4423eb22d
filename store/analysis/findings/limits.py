"""Handoffs that were stopped, and what became of the incomplete results they brought back.

Source: S0, step 2 (limit_reached is presented as incomplete) and step 3.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from handoff_console.runtime.contract import Status
from handoff_console.runtime.counting import count
from handoff_console.store.analysis.bodies import read_fields
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.longest_wait import Wait, longest_wait
from handoff_console.store.analysis.findings.record import FAILED, Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name, one_line

_SAYS_SO = re.compile(
    r"\b(in-?complete|partial(ly)?|unfinished|interim|preliminary|cut short|so far|limit_reached"
    r"|(step|token|time|call) (cap|limit)|ran out|out of (time|steps|tokens|budget)"
    r"|stopped (early|before|at)|not (yet )?(complete|finished|all|everything)"
    r"|(could not|couldn[’']t|cannot|can[’']t|unable to) (be )?(\w+ )?"
    r"(finish|complete|check|verif|confirm|read|look)\w*"
    r"|(may|might|could) be missing|remain(s|ing)? (open|unchecked))\b",
    re.IGNORECASE,
)
"""How an answer says that it is not the whole answer. Wide on purpose: an alarm that is false costs
more trust than one that is missing."""

_STOPPED = {
    "steps": "hit its step limit",
    "tokens": "hit its token limit",
    "deadline": "ran out of time",
    "cost": "hit the cost limit",
    "pool": "found too few tokens in the pool",
    "cycle": "was stopped in a loop",
    "handoffs": "hit the limit of handoffs",
    "repeats": "was stopped asking for what had been refused",
}
_RAISE = {
    "steps": "max_steps",
    "tokens": "max_tokens",
    "deadline": "deadline_seconds",
    "cost": "max_cost",
}
_TOLD_ELSEWHERE = frozenset({"pool", "cycle", "repeats"})
"""Limits with a rule of their own."""


def limit_reached(record: Record) -> Iterable[Finding]:
    """A handoff that was stopped, where its incomplete result was not taken for a whole one."""
    for node in _stopped(record):
        if node.limit in _TOLD_ELSEWHERE or _swallowed_by(record, node) is not None:
            continue
        good = record.made_good_by(node)
        severity, after = _what_followed(record, node, good)
        yield Finding(
            code="limit_reached",
            severity=severity,
            handoff_id=node.handoff_id,
            agent=node.agent,
            turn=node.turn,
            evidence=_evidence(record, node),
            sentence=f"{_what_happened(record, node)}{after}.",
            advice=_advice(record, node),
        )


def limit_as_answer(record: Record) -> Iterable[Finding]:
    """A stopped handoff's result in an answer that does not say it is incomplete."""
    for node in _stopped(record):
        answerer = _swallowed_by(record, node)
        if answerer is None:
            continue
        event, _ = record.closings[answerer.handoff_id]
        name = as_name(answerer.agent)
        told = Evidence(event.seq, f"{name} answered and did not say that anything is missing")
        yield Finding(
            code="limit_as_answer",
            severity=Severity.ERROR,
            handoff_id=node.handoff_id,
            agent=node.agent,
            turn=node.turn,
            evidence=(*_evidence(record, node), told),
            sentence=(
                f"{_what_happened(record, node)}, and {name} gave its incomplete result as the "
                "answer."
            ),
            advice=(
                f"Tell {name} to say what is missing when a result is limit_reached. "
                f"{_advice(record, node)}"
            ),
        )


def says_incomplete(value: Any) -> bool:
    """Say whether an answer admits, in a text or under a key, that it is not the whole answer."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if _SAYS_SO.search(item):
                return True
        elif isinstance(item, Mapping):
            if any(_SAYS_SO.search(str(key)) for key, held in item.items() if held):
                return True
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)
    return False


def _stopped(record: Record) -> Iterable[HandoffNode]:
    return (
        node
        for node in record.tree.nodes
        if node.outcome is Status.LIMIT_REACHED and node.handoff_id in record.closings
    )


def _swallowed_by(record: Record, node: HandoffNode) -> HandoffNode | None:
    """Return who answered `ok` with this result and did not say so; None when nobody did.

    Without the answer's body nobody is accused.
    """
    answerer = record.waiting_for(node)
    if answerer is None or answerer.outcome is not Status.OK:
        return None
    if record.made_good_by(node) is not None:
        return None
    _, closed = record.closings[answerer.handoff_id]
    result = read_fields(record.body, closed.result)
    said = [result.get("data"), result.get("notes")] if result else [closed.notes]
    if not result and not closed.notes:
        return None
    return None if says_incomplete(said) else answerer


def _what_followed(
    record: Record, node: HandoffNode, good: HandoffNode | None
) -> tuple[Severity, str]:
    if good is not None:
        return Severity.INFO, f"; {good.handoff_id} made up for it"
    answerer = record.waiting_for(node)
    if answerer is None:
        return Severity.ERROR, ", so the request has no complete answer"
    name = as_name(answerer.agent)
    if answerer.outcome in FAILED:
        return Severity.ERROR, f", and {name} could not finish without it"
    if answerer.outcome is Status.OK:
        return Severity.WARNING, f"; {name} answered with what there was"
    return Severity.WARNING, ""


def _what_happened(record: Record, node: HandoffNode) -> str:
    stopped = _STOPPED.get(node.limit, "was stopped by a limit")
    after = f" after {node.steps_used} of {count(node.max_steps, 'step')}" if node.max_steps else ""
    _, closed = record.closings[node.handoff_id]
    if closed.replayed:  # it took no step of its own
        after = " when that was recorded"
    waited = _waited(record, node)
    mostly = ""
    if waited:
        mostly = f" ({waited.of} took {waited.seconds:,.1f} s of {closed.duration_seconds:,.1f} s)"
    return f"{as_name(node.agent)} {stopped}{after}{mostly}"


def _waited(record: Record, node: HandoffNode) -> Wait | None:
    return longest_wait(record, node) if node.limit == "deadline" else None


def _evidence(record: Record, node: HandoffNode) -> tuple[Evidence, ...]:
    event, closed = record.closings[node.handoff_id]
    notes, waited = one_line(closed.notes, 120), _waited(record, node)
    stopped = Evidence(event.seq, f"limit_reached ({node.limit}){': ' if notes else ''}{notes}")
    if waited is None:
        return (stopped,)
    return (Evidence(waited.seq, f"{waited.of} took {waited.seconds:,.1f} s"), stopped)


def _advice(record: Record, node: HandoffNode) -> str:
    name = as_name(node.agent)
    if node.limit == "handoffs":
        return "Raise max_handoffs of the flow, or let fewer agents handle such a request."
    waited = _waited(record, node)
    if waited and waited.name:
        return f"Find out what {waited.name} waited for; make it faster, or raise deadline_seconds."
    setting = _RAISE.get(node.limit, "its limit")
    return f"Look at what {name} did in each step; give it a smaller task, or raise {setting}."
