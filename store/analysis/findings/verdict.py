"""The one sentence about a session that is shown first, and the handoff to look at first."""

from collections.abc import Sequence
from dataclasses import dataclass

from handoff_console.runtime.agents import HUMAN
from handoff_console.runtime.contract import HandoffKind, State, Status
from handoff_console.runtime.events import InputRequested
from handoff_console.store.analysis.findings.finding import Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name, ended, one_line

_CAUSES_FIRST = (
    "ping_pong", "recursion_refused", "late_tool_result", "output_rejected_twice", "model_failed",
    "tool_denied", "target_not_allowed", "starved_pool", "limit_as_answer", "handoffs_refused",
    "depth_refused", "workers_refused", "limit_reached", "handoff_failed", "retry_of_not_found",
    "asked_again",
)  # fmt: skip
"""What explains other findings stands before what is explained by them."""

_SEVERITIES = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of a session first."""

    sentence: str
    handoff_id: str | None
    """The handoff to select first: of the cause, not of the last symptom; None without handoffs."""
    agent: str | None
    """Whose doing it was; None when nothing is wrong."""
    severity: Severity
    """Of the finding that it rests on; `info` when nothing is wrong."""


def cause_order(finding: Finding) -> tuple[int, int, int]:
    """Return what findings are sorted by: the worst first, causes before what follows from them."""
    rank = (
        _CAUSES_FIRST.index(finding.code) if finding.code in _CAUSES_FIRST else len(_CAUSES_FIRST)
    )
    return _SEVERITIES.index(finding.severity), rank, finding.evidence[0].seq


def judge(record: Record, findings: Sequence[Finding]) -> Verdict:
    """Return the worst cause of a session's trouble, or how it came out when nothing is wrong."""
    worst = min(findings, key=cause_order, default=None)
    if worst is not None and worst.severity is not Severity.INFO:
        return Verdict(worst.sentence, worst.handoff_id, worst.agent or None, worst.severity)
    nodes = record.tree.nodes
    if not nodes:
        return Verdict("Nothing has happened yet.", None, None, Severity.INFO)
    last = record.answer_of(max(node.turn for node in nodes)) or nodes[-1]
    outcome = record.tree.outcome
    if outcome in {State.RUNNING, State.WAITING, State.INTERRUPTED, State.CANCELLED}:
        return _unfinished(record, last)
    sentence = _how_it_came_out(record, last)
    if outcome in _FINE:
        return Verdict(sentence, last.handoff_id, None, Severity.INFO)
    return Verdict(sentence, last.handoff_id, last.agent, Severity.ERROR)


_FINE = frozenset({Status.OK, Status.NOT_FOUND, Status.NEEDS_INPUT})


def _unfinished(record: Record, last: HandoffNode) -> Verdict:
    """Say who is at work, who waits for what, or who was cut off: the deepest open handoff."""
    outcome = record.tree.outcome
    open_now = [node for node in record.tree.nodes if node.outcome == outcome] or [last]
    node = max(open_now, key=lambda node: (node.depth, node.last_seq))
    name = as_name(node.agent)
    step = f" in step {node.steps_used}" if node.steps_used else ""
    if outcome is State.WAITING:
        asked = [i for e, i in record.of(InputRequested) if e.handoff_id == node.handoff_id]
        question = f": {one_line(asked[-1].question, 120)}" if asked else " for a decision."
        who = "A person is asked" if node.agent == HUMAN else f"{name} waits"
        return Verdict(f"{who}{question}", node.handoff_id, None, Severity.WARNING)
    if outcome is State.INTERRUPTED:
        sentence = f"The process went away while {name} was at work{step}."
        return Verdict(sentence, node.handoff_id, None, Severity.ERROR)
    if outcome is State.CANCELLED:
        sentence = f"Cancelled while {name} was at work{step}."
        return Verdict(sentence, node.handoff_id, None, Severity.WARNING)
    return Verdict(f"{name} is at work{step}.", node.handoff_id, None, Severity.INFO)


def _how_it_came_out(record: Record, last: HandoffNode) -> str:
    name = as_name(last.agent)
    called = sum(
        node.depth > 0
        and node.turn == last.turn
        and node.attempt == 1
        and node.via is HandoffKind.CALL
        for node in record.tree.nodes
    )
    ways = []
    if last.hop:
        ways.append(f"after {last.hop} transfer{'s' if last.hop > 1 else ''}")
    if called:
        ways.append(f"with {called} call{'s' if called > 1 else ''}")
    way = f" {' and '.join(ways)}" if ways else ""
    match last.outcome:
        case Status.OK:
            return f"{name} answered{way}; nothing stands out."
        case Status.NOT_FOUND:
            return f"{name} found nothing{way}, and that is the answer."
        case Status.NEEDS_INPUT:
            _, closed = record.closings[last.handoff_id]
            missing = one_line(closed.notes, 120)
            after = f": {ended(missing)}" if missing else " to go on."
            return f"{name} needs a value from the user{after}"
        case _:
            return f"{name} ended with {last.outcome}{way}."
