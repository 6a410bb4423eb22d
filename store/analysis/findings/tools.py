"""Tools that were refused, and tools that came back too late.

Source: S0, step 3; S2, "Zombie tool results".
"""

from collections import defaultdict
from collections.abc import Iterable

from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import (
    ApprovalDecided,
    Event,
    ToolDenied,
    ToolReturned,
    ToolReturnedLate,
)
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import FAILED, Record
from handoff_console.store.analysis.plain_text import as_name, ended, listed, one_line

_WHY = {
    "not_allowed": "which it may not use here",
    "unknown": "which does not exist",
    "arguments": "with arguments that do not fit",
    "approval": "which nobody approved",
    "redacted": "with a value that the record does not hold",
    "outcome_unknown": "an act that was begun before and may have happened",
}

_SAID_NO = "denied"
_WHY_NOT = {
    _SAID_NO: "and a person said no",
    "expired": "which nobody approved in time",
    "stale": "which was approved as something else than it asked for by then",
    "invalid": "which was approved with arguments that do not fit",
}
"""Of `approval`, by the reason of the decision."""


def tool_denied(record: Record) -> Iterable[Finding]:
    """A tool call that the runtime refused; an error when it is what the handoff failed on."""
    denied: dict[tuple[str | None, str, str, str], list[tuple[Event, ToolDenied]]]
    denied = defaultdict(list)
    decisions = _decisions(record)
    for event, denial in record.of(ToolDenied):
        decided = decisions.get(_place(event, denial)) if denial.rule == "approval" else None
        said = decided[1].reason if decided else ""
        denied[event.handoff_id, denial.tool, denial.rule, said].append((event, denial))
    for (handoff_id, tool, rule, said), denials in denied.items():
        agent, name = record.agent(handoff_id), one_line(tool, 60)
        times = f" {len(denials)} times" if len(denials) > 1 else ""
        yield Finding(
            code="tool_denied",
            severity=_severity(record, handoff_id, rule, denials),
            handoff_id=handoff_id,
            agent=agent,
            turn=denials[0][0].turn,
            evidence=tuple(_shown(e, d, decisions) for e, d in denials),
            sentence=(
                f"{as_name(agent)} called the tool {name}{times}, "
                f"{_WHY_NOT.get(said) or _WHY.get(rule, 'which was refused')}."
            ),
            advice=_advice(said or rule, as_name(agent), name, denials[0][1].allowed),
        )


def tool_failed(record: Record) -> Iterable[Finding]:
    """A tool whose own code failed; only worth knowing when its agent did without."""
    failed: dict[tuple[str | None, str, str], list[tuple[Event, ToolReturned]]] = defaultdict(list)
    for event, back in record.of(ToolReturned):
        if back.raised_at:
            failed[event.handoff_id, back.tool, back.raised_at].append((event, back))
    for (handoff_id, tool, raised_at), returned in failed.items():
        agent, node = record.agent(handoff_id), record.node(handoff_id)
        times = f" {len(returned)} times" if len(returned) > 1 else ""
        where, error = one_line(raised_at, 60), one_line(returned[-1][1].error, 120)
        has_failed = node is not None and node.outcome in FAILED
        yield Finding(
            code="tool_failed",
            severity=Severity.WARNING if has_failed else Severity.INFO,
            handoff_id=handoff_id,
            agent=agent,
            turn=returned[0][0].turn,
            evidence=tuple(Evidence(e.seq, one_line(r.error, 160)) for e, r in returned),
            sentence=(
                f"The tool {one_line(tool, 60)} of {as_name(agent)} failed{times} at {where}: "
                f"{ended(error)}"
            ),
            advice=(
                "Correct it there; if it meant to say so to the model, let it raise ToolError."
            ),
        )


def late_tool_result(record: Record) -> Iterable[Finding]:
    """A tool that came back after it had been given up; what it did to the world is done."""
    for event, late in record.of(ToolReturnedLate):
        writes = late.effect is not Effect.READ
        agent, name = record.agent(event.handoff_id), one_line(late.tool, 60)
        after = "its effect took place and nobody knew" if writes else "nobody read its result"
        yield Finding(
            code="late_tool_result",
            severity=Severity.ERROR if writes else Severity.INFO,
            handoff_id=event.handoff_id,
            agent=agent,
            turn=event.turn,
            evidence=(Evidence(event.seq, f"{late.late_by_seconds:g} s after the deadline"),),
            sentence=(
                f"The tool {name} of {as_name(agent)} came back {late.late_by_seconds:g} s "
                f"after it had been given up; {after}."
            ),
            advice=(
                f"Check by hand what {name} did, and give it a deadline it can keep."
                if writes
                else f"Make {name} faster, or raise the deadline of {as_name(agent)}."
            ),
        )


_Decisions = dict[tuple[str, str], tuple[Event, ApprovalDecided]]


def _decisions(record: Record) -> _Decisions:
    """Return what was decided about acts, by handoff and approval."""
    return {(e.handoff_id or "", d.approval_id): (e, d) for e, d in record.of(ApprovalDecided)}


def _place(event: Event, denial: ToolDenied) -> tuple[str, str]:
    handoff_id = event.handoff_id or ""
    return handoff_id, f"{handoff_id}.{denial.step}.{denial.index}"


def _shown(event: Event, denial: ToolDenied, decisions: _Decisions) -> Evidence:
    """Return the event that shows a refusal: a person's no, with who said it and why, if it is."""
    decided = decisions.get(_place(event, denial)) if denial.rule == "approval" else None
    if decided is None or decided[1].reason != _SAID_NO:
        return Evidence(event.seq, one_line(denial.reason, 160))
    at, no = decided
    who = f"{as_name(no.decided_by)} said no" if no.decided_by else "a person said no"
    return Evidence(at.seq, one_line(f"{who}: {no.note}" if no.note else f"{who}.", 160))


def _severity(
    record: Record,
    handoff_id: str | None,
    rule: str,
    denials: list[tuple[Event, ToolDenied]],
) -> Severity:
    if rule == "approval":  # a person's no is an answer, not a fault
        return Severity.INFO
    node = record.node(handoff_id)
    if node is not None and node.outcome in FAILED:
        to_the_end = denials[-1][1].step >= node.steps_used - 1
        if len(denials) > 1 or to_the_end:
            return Severity.ERROR
    return Severity.INFO if rule == "arguments" else Severity.WARNING


def _advice(rule: str, agent: str, tool: str, allowed: tuple[str, ...]) -> str:
    if rule == "arguments":
        return f"Describe the arguments of {tool} better, or check what {agent} was given."
    if rule == "outcome_unknown":
        return f"Find out whether {tool} did its work before: nothing tries it again by itself."
    if rule == "redacted":
        return f"Approve {tool} with the value filled in, or run the handoff again with it."
    if rule == _SAID_NO:
        return "Nothing, if that no was meant: the agent was told, and went on without."
    if rule in {"approval", *_WHY_NOT}:
        return f"If {tool} should run, ask for it again and approve it in time."
    may = listed(list(allowed), limit=5) if allowed else "no tool"
    given = f"Give it {tool}" if rule == "unknown" else f"Allow {tool} on the edge that leads there"
    return (
        f"{agent} may use {may}. {given} if it is meant to have it; otherwise take it out of its "
        "prompt."
    )
