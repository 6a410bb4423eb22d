"""Tools that were refused, and tools that came back too late.

Source: S0, step 3; S2, "Zombie tool results".
"""

from collections import defaultdict
from collections.abc import Iterable

from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import Event, ToolDenied, ToolReturnedLate
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import FAILED, Record
from handoff_console.store.analysis.plain_text import as_name, listed, one_line

_WHY = {
    "not_allowed": "which it may not use here",
    "unknown": "which does not exist",
    "arguments": "with arguments that do not fit",
    "approval": "which nobody approved",
    "outcome_unknown": "an act that was begun before and may have happened",
}


def tool_denied(record: Record) -> Iterable[Finding]:
    """A tool call that the runtime refused; an error when it is what the handoff failed on."""
    denied: dict[tuple[str | None, str, str], list[tuple[Event, ToolDenied]]] = defaultdict(list)
    for event, denial in record.of(ToolDenied):
        denied[event.handoff_id, denial.tool, denial.rule].append((event, denial))
    for (handoff_id, tool, rule), denials in denied.items():
        agent, name = record.agent(handoff_id), one_line(tool, 60)
        times = f" {len(denials)} times" if len(denials) > 1 else ""
        yield Finding(
            code="tool_denied",
            severity=_severity(record, handoff_id, rule, denials),
            handoff_id=handoff_id,
            agent=agent,
            turn=denials[0][0].turn,
            evidence=tuple(Evidence(e.seq, one_line(d.reason, 160)) for e, d in denials),
            sentence=(
                f"{as_name(agent)} called the tool {name}{times}, "
                f"{_WHY.get(rule, 'which was refused')}."
            ),
            advice=_advice(rule, as_name(agent), name, denials[0][1].allowed),
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
    if rule == "approval":
        return f"If {tool} should run, ask for it again and approve it in time."
    may = listed(list(allowed), limit=5) if allowed else "no tool"
    return (
        f"{agent} may use {may}. Allow {tool} on the edge that leads there if it is meant to have "
        "it; otherwise take it out of its prompt."
    )
