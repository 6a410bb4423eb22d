"""Handoffs that the gate refused for what was asked, not for a loop or an empty pool.

Source: S3, "Mistake 1" (an allowlist in code); S0, step 3 (nested delegation by depth).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from handoff_console.runtime.events import Event, HandoffRejected
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.plain_text import as_name, listed, one_line

_TOLD_ELSEWHERE = frozenset({"cycle", "pool"})
"""Rules of the gate with findings of their own."""

_CODES = {"target": "target_not_allowed"}
_WHY = {
    "target": "whom it may not hand off to",
    "depth": "but no depth was left",
    "handoffs": "but the request had used up its handoffs",
    "workers": "but no more workers may be called",
    "request": "but the request was not valid",
    "trust": "which trusts it too little and checks nothing that comes in",
    "ingress": "which did not take the request",
}
_ADVICE = {
    "depth": "Raise depth of the flow if workers are meant to call others.",
    "handoffs": "Raise max_handoffs of the flow, or let fewer agents handle such a request.",
    "workers": "Raise max_workers of the flow, or ask for fewer workers.",
    "request": "Say in the edge's description which values have to go along.",
    "trust": "Give the target `ingress` checks, or take the edge out of the flow.",
    "ingress": "Say in the edge's description what the target takes.",
}


def code_of(rule: str) -> str:
    """Return the code of the finding about a rule of the gate."""
    return _CODES.get(rule, f"{one_line(rule, 30)}_refused")


CODES = frozenset(map(code_of, _WHY))
"""Of all that is found here."""


def handoff_refused(record: Record) -> Iterable[Finding]:
    """A handoff the gate refused: `target_not_allowed`, `depth_refused` and so on."""
    refused: dict[tuple[int, str, str, str], list[tuple[Event, HandoffRejected]]]
    refused = defaultdict(list)
    for event, rejected in record.of(HandoffRejected):
        node = record.node(event.handoff_id)
        if rejected.rule not in _TOLD_ELSEWHERE:
            source = node.source if node else ""
            refused[event.turn, source, rejected.target, rejected.rule].append((event, rejected))
    for (turn, source, target, rule), refusals in refused.items():
        yield _refused(record, turn, source, target, rule, refusals)


def _refused(
    record: Record,
    turn: int,
    source: str,
    target: str,
    rule: str,
    refusals: Sequence[tuple[Event, HandoffRejected]],
) -> Finding:
    event, rejected = refusals[0]
    node = record.node(event.handoff_id)
    asker = record.asker(node) if node else None
    who, whom = as_name(source) or "somebody", as_name(target)
    times = f" {len(refusals)} times" if len(refusals) > 1 else ""
    return Finding(
        code=code_of(rule),
        severity=record.severity_after(asker) if rule != "request" else _if_repeated(refusals),
        handoff_id=event.handoff_id,
        agent=source,
        turn=turn,
        evidence=tuple(Evidence(e.seq, one_line(r.reason, 160)) for e, r in refusals),
        sentence=f"{who} asked{times} for {whom}, {_WHY.get(rule, 'which was refused')}.",
        advice=_ADVICE.get(rule) or _who_may(who, whom, rejected.choices),
    )


def _who_may(who: str, whom: str, choices: tuple[str, ...]) -> str:
    may = listed(list(choices), limit=5)
    return f"{who} may hand off to {may}. Add an edge to {whom} if the route is intended."


def _if_repeated(refusals: Sequence[tuple[Event, HandoffRejected]]) -> Severity:
    """A request that was corrected after one refusal is only worth knowing."""
    return Severity.WARNING if len(refusals) > 1 else Severity.INFO
