"""The one sentence about a session that is shown first, and the handoff to look at first."""

from collections.abc import Sequence
from dataclasses import dataclass

from handoff_console.runtime.contract import HUMAN, RUNTIME, HandoffKind, State, Status
from handoff_console.runtime.events import NO_MATCH, NO_RULE, InputRequested, ModelReplied
from handoff_console.runtime.frozen import quickly_made
from handoff_console.store.analysis.findings.at_work import at_work, may_have_acted
from handoff_console.store.analysis.findings.finding import Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name, ended, listed, one_line

_CAUSES_FIRST = (
    "ping_pong", "recursion_refused", "late_tool_result", "output_rejected_twice", "model_failed",
    "tool_denied", "target_not_allowed", "starved_pool", "limit_as_answer", "handoffs_refused",
    "depth_refused", "workers_refused", "limit_reached", "handoff_failed", "retry_of_not_found",
    "plan_step_missed", "asked_again", "tool_failed",
)  # fmt: skip
"""What explains other findings stands before what is explained by them."""

_SEVERITIES = tuple(Severity)


@quickly_made
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


def judge(record: Record, findings: Sequence[Finding], *, too_late: bool = False) -> Verdict:
    """Return the worst cause of a session's trouble, or how it came out when nothing is wrong.

    Args:
        record: The session.
        findings: What is wrong with it.
        too_late: It waits for decisions alone, and nobody gave them in time.
    """
    worst = min(findings, key=cause_order, default=None)
    if worst is not None and worst.severity is not Severity.INFO:
        return Verdict(worst.sentence, worst.handoff_id, worst.agent or None, worst.severity)
    nodes = record.tree.nodes
    if not nodes:
        return Verdict("Nothing has happened yet.", None, None, Severity.INFO)
    last = record.answer_of(max(node.turn for node in nodes)) or nodes[-1]
    outcome = record.tree.outcome
    if outcome in _WITHOUT_RESULT:
        return _unfinished(record, last, findings, too_late=too_late)
    sentence = _how_it_came_out(record, last, findings)
    if outcome in _FINE:
        return Verdict(sentence, last.handoff_id, None, Severity.INFO)
    return Verdict(sentence, last.handoff_id, last.agent, Severity.ERROR)


_WITHOUT_RESULT = frozenset(
    {State.RUNNING, State.WAITING, State.INTERRUPTED, State.CANCELLED, State.INCOMPLETE}
)
_FINE = frozenset({Status.OK, Status.NOT_FOUND, Status.NEEDS_INPUT})


TOO_LATE = "Nobody decided in time, which is a no; the session can go on with it."
"""What is said of a session that waits for decisions which come too late."""

BREAKS_OFF = "The record breaks off before the session ended."
"""What is said of an imported session without an end."""


def _unfinished(
    record: Record, last: HandoffNode, findings: Sequence[Finding], *, too_late: bool
) -> Verdict:
    """Say who is at work, who waits for what, or who was cut off: the deepest open handoff."""
    outcome = record.tree.outcome
    open_now = [node for node in record.tree.nodes if node.outcome == outcome]
    if not open_now and outcome in {State.RUNNING, State.INTERRUPTED}:
        return _between_turns(record, last, findings)
    node = max(open_now or [last], key=lambda node: (node.depth, node.last_seq))
    name = as_name(node.agent)
    if outcome is State.INCOMPLETE:
        return Verdict(BREAKS_OFF, node.handoff_id, None, Severity.WARNING)
    if outcome is State.WAITING:
        sentence = TOO_LATE if too_late else _what_is_waited_for(record, node)
        return Verdict(sentence, node.handoff_id, None, Severity.WARNING)
    if outcome in {State.INTERRUPTED, State.CANCELLED}:
        is_gone = outcome is State.INTERRUPTED
        how = "The process went away" if is_gone else "Cancelled"
        doubt = "; nobody knows whether it was done" if may_have_acted(record, node) else ""
        sentence = f"{how} while {name} {at_work(record, node, past=True)}{doubt}."
        severity = Severity.ERROR if is_gone else Severity.WARNING
        return Verdict(sentence, node.handoff_id, None, severity)
    return Verdict(f"{name} {at_work(record, node)}.", node.handoff_id, None, Severity.INFO)


def _what_is_waited_for(record: Record, node: HandoffNode) -> str:
    asked = [i for e, i in record.of(InputRequested) if e.handoff_id == node.handoff_id]
    question = f": {one_line(asked[-1].question, 120)}" if asked else " for a decision."
    who = "A person is asked" if node.agent == HUMAN else f"{as_name(node.agent)} waits"
    return f"{who}{question}"


def _did_not_know(record: Record, node: HandoffNode) -> str:
    """Return why an offline worker had no answer; empty when it had one."""
    said = [r.finish_reason for e, r in record.of(ModelReplied) if e.handoff_id == node.handoff_id]
    return _WITHOUT_ANSWER.get(said[-1], "") if said else ""


def _within(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


_WITHOUT_ANSWER = {
    NO_RULE: "no rule matches the message",
    NO_MATCH: "no description fits the message best",
}

_NOTHING_MORE = "; nothing stands out."


def _between_turns(record: Record, last: HandoffNode, findings: Sequence[Finding]) -> Verdict:
    """Say how the user was answered, and that the session has no end yet."""
    name = as_name(last.agent)
    if record.tree.outcome is State.INTERRUPTED:
        sentence = f"{name} had answered when the process went away."
    elif last.outcome is Status.NEEDS_INPUT:
        sentence = f"{_what_is_missing(record, last)} The session is open for it."
    else:
        came_out = _how_it_came_out(record, last, findings)
        well = came_out.removesuffix(_NOTHING_MORE)
        sentence = f"{well}; the session is" if well != came_out else f"{came_out} The session is"
        sentence += " open for another message."
    return Verdict(sentence, last.handoff_id, None, Severity.INFO)


def _how_it_came_out(record: Record, last: HandoffNode, findings: Sequence[Finding]) -> str:
    branches = _branches(record, last)
    names = dict.fromkeys(node.agent for node in _who_answered(record, last, branches))
    name = listed(list(names))
    called = sum(
        node.depth > 0
        and node.turn == last.turn
        and node.attempt == 1
        and node.via is HandoffKind.CALL
        for node in record.tree.nodes
    )
    ways = []
    if transfers := len(branches) or last.hop:
        ways.append(f"after {transfers:,} transfer{'s' if transfers > 1 else ''}")
    if called:
        ways.append(f"with {called:,} call{'s' if called > 1 else ''}")
    way = f" {' and '.join(ways)}" if ways else ""
    match last.outcome:
        case Status.OK:
            if why := _did_not_know(record, last):
                return f"{name} answered{way} that it does not know: {why}."
            failed = next((found for found in findings if found.code == "tool_failed"), None)
            if failed is not None:
                return f"{name} answered{way}, though {_within(failed.sentence)}"
            return f"{name} answered{way}{_NOTHING_MORE}"
        case Status.NOT_FOUND:
            return f"{name} found nothing{way}, and that is the answer."
        case Status.NEEDS_INPUT:
            return _what_is_missing(record, last)
        case _:
            return f"{name} ended with {last.outcome}{way}."


def _branches(record: Record, last: HandoffNode) -> list[HandoffNode]:
    """Return the transfers of a turn that went to several agents at once; none where none did."""
    place = (last.turn, last.depth, 1)
    passed_on = [
        node
        for node in record.tree.nodes
        if node.via is HandoffKind.TRANSFER
        and (node.turn, node.depth, node.attempt) == place
        and node.outcome is not State.REFUSED
        and node.source != RUNTIME
    ]
    return passed_on if any(node.fork_id for node in passed_on) else []


def _who_answered(
    record: Record, last: HandoffNode, branches: Sequence[HandoffNode]
) -> list[HandoffNode]:
    """Return the last of each branch where the runtime joined their answers, else the last one."""
    ends = [record.tree.last_of_chain(node.handoff_id) for node in branches if node.fork_id]
    return ends if any(end is last for end in ends) else [last]


def _what_is_missing(record: Record, last: HandoffNode) -> str:
    _, closed = record.closings[last.handoff_id]
    missing = one_line(closed.notes, 120)
    after = f": {ended(missing)}" if missing else " to go on."
    return f"{as_name(last.agent)} needs a value from the user{after}"
