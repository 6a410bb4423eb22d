"""One session in one line, as the inbox shows it: derived from its events, rebuildable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handoff_console.runtime.contract import State, Status
from handoff_console.runtime.events import (
    AgentActivated,
    ApprovalDecided,
    ApprovalRequested,
    BudgetCharged,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRejected,
    InputGiven,
    InputRequested,
    Payload,
    SessionClosed,
    SessionStarted,
    UserMessageReceived,
)
from handoff_console.runtime.frozen import quickly_made
from handoff_console.store.analysis.findings import RULES_VERSION, Finding, Severity, judgement
from handoff_console.store.analysis.findings.verdict import BREAKS_OFF

SEVERITY: dict[str, int] = {
    Status.ERROR: 0,
    Status.LIMIT_REACHED: 1,
    Status.NOT_FOUND: 3,
    Status.OK: 4,
}
"""The inbox's order, worst first; every other outcome asks for somebody's attention: 2."""

OTHER_SEVERITY = 2


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the inbox says about a session."""

    outcome: str
    """A `Status`, or a `State` where there is no result. `running` says nothing of its process."""
    severity: int
    """Of the worst of its requests: 0 for `error` to 4 for `ok`. With a finding that is an error at
    most 2: an answer that cannot be trusted is no success."""
    reason: str
    """For `limit_reached`, which limit."""
    is_closed: bool
    """The session came to its end, or is not expected to go on."""
    flow: str
    prompt_version: str
    origin: str
    """`run`, `sample`, `batch`, `rerun` or `import`."""
    rerun_of: str
    """The session that this one repeats a part of; empty for no re-run. So are the next two."""
    rerun_handoff: str
    rerun_mode: str
    preview: str
    """How the first message begins."""
    verdict: str
    """One sentence: what went wrong, or that nothing did; empty until the session is closed."""
    problem_handoff_id: str | None
    """The handoff to look at first."""
    agent_at_fault: str | None
    turns: int
    handoffs: int
    """Those that opened, the root of each request included."""
    refused: int
    depth: int
    """How many calls deep it went."""
    hops: int
    """The most transfers that one request made."""
    tokens_used: int
    """Input plus output, of all requests."""
    pool_tokens: int
    """The pools of all requests together."""
    started_at: float
    """Seconds since 1970 (UTC)."""
    duration_seconds: float
    agents: tuple[str, ...]
    """Everybody who acted, in the order of their first act."""
    metadata: dict[str, str]
    """What the caller knew: labels, ids of their own."""
    findings: tuple[Finding, ...] = ()
    rules_version: int = RULES_VERSION


def summarise(events: Sequence[Event], body: Callable[[str], Any] | None = None) -> Summary:
    """Return what the inbox says about a session. One that is not closed has no verdict yet.

    Args:
        events: All events of the session, in order; at least one.
        body: Gives what was said by its digest; a few rules look closer with it.
    """
    seen = _Seen()
    for event in events:
        handle = _HANDLERS.get(type(event.payload))
        if handle is not None:
            handle(seen, event.payload, event)
    found: tuple[Finding, ...] = ()
    severities = [SEVERITY.get(seen.outcome, OTHER_SEVERITY), *seen.by_turn.values()]
    sentence, handoff_id, agent = "", None, None
    if seen.is_closed:
        judged = judgement(events, body, tasks=False)
        found, first = judged.findings, judged.verdict
        sentence, handoff_id, agent = first.sentence, first.handoff_id, first.agent
        if any(finding.severity is Severity.ERROR for finding in found):
            severities.append(OTHER_SEVERITY)
    return Summary(
        outcome=seen.outcome,
        severity=min(severities),
        reason=seen.reason,
        is_closed=seen.is_closed,
        flow=seen.flow,
        prompt_version=seen.prompt_version,
        origin=seen.origin,
        rerun_of=seen.rerun_of,
        rerun_handoff=seen.rerun_handoff,
        rerun_mode=seen.rerun_mode,
        preview=seen.preview,
        verdict=sentence,
        problem_handoff_id=handoff_id,
        agent_at_fault=agent,
        turns=seen.turns,
        handoffs=seen.handoffs,
        refused=seen.refused,
        depth=seen.depth,
        hops=seen.hops,
        tokens_used=seen.tokens_used,
        pool_tokens=seen.pool_tokens,
        started_at=events[0].at,
        duration_seconds=events[-1].elapsed_seconds,
        agents=tuple(seen.agents),
        metadata=seen.metadata,
        findings=found,
    )


def as_imported(summary: Summary) -> Summary:
    """Return the summary of a session that came from a file: what is not closed never will be."""
    if summary.is_closed:
        return replace(summary, origin="import")
    return replace(
        summary,
        origin="import",
        outcome=State.INCOMPLETE.value,
        is_closed=True,
        verdict=BREAKS_OFF,
    )


@dataclass(slots=True)
class _Seen:
    """What the events so far add up to."""

    flow: str = ""
    prompt_version: str = ""
    origin: str = ""
    rerun_of: str = ""
    rerun_handoff: str = ""
    rerun_mode: str = ""
    preview: str = ""
    reason: str = ""
    outcome: str = State.RUNNING.value
    is_closed: bool = False
    turns: int = 0
    handoffs: int = 0
    refused: int = 0
    depth: int = 0
    hops: int = 0
    tokens_used: int = 0
    pool_tokens: int = 0
    waiting_for: int = 0
    by_turn: dict[int, int] = field(default_factory=dict)
    agents: dict[str, None] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)

    def started(self, payload: SessionStarted, _event: Event) -> None:
        self.flow, self.prompt_version = payload.flow, payload.prompt_version
        self.origin, self.metadata = payload.origin, payload.metadata
        self.rerun_of, self.rerun_handoff = payload.rerun_of, payload.rerun_handoff
        self.rerun_mode = payload.rerun_mode

    def asked(self, payload: UserMessageReceived, _event: Event) -> None:
        self.preview = self.preview or payload.preview
        self.turns += 1
        self.pool_tokens += payload.pool_tokens
        self.is_closed, self.outcome, self.waiting_for = False, State.RUNNING.value, 0

    def activated(self, payload: AgentActivated, _event: Event) -> None:
        self.agents.setdefault(payload.agent)

    def opened(self, payload: HandoffOpened, _event: Event) -> None:
        self.handoffs += 1
        self.depth = max(self.depth, payload.depth)
        self.hops = max(self.hops, payload.hops)

    def rejected(self, _payload: HandoffRejected, _event: Event) -> None:
        self.refused += 1

    def charged(self, payload: BudgetCharged, _event: Event) -> None:
        self.tokens_used += payload.tokens

    def closed(self, payload: HandoffClosed, event: Event) -> None:
        if event.parent_id is None and payload.status is not None:
            # Of a chain, or of an attempt and its retry, the last is what came back.
            self.by_turn[event.turn] = SEVERITY.get(payload.status, OTHER_SEVERITY)

    def waits(self, _payload: InputRequested | ApprovalRequested, _event: Event) -> None:
        self.waiting_for += 1
        self.outcome = State.WAITING.value

    def goes_on(self, _payload: InputGiven | ApprovalDecided, _event: Event) -> None:
        self.waiting_for = max(0, self.waiting_for - 1)
        if not self.waiting_for:
            self.outcome = State.RUNNING.value

    def ended(self, payload: SessionClosed, _event: Event) -> None:
        self.is_closed = True
        self.reason = payload.reason
        if payload.status is not None:
            self.outcome = payload.status.value
        else:
            self.outcome = (State.CANCELLED if payload.cancelled else State.UNKNOWN).value


_HANDLERS: dict[type[Payload], Callable[[_Seen, Any, Event], None]] = {
    SessionStarted: _Seen.started,
    UserMessageReceived: _Seen.asked,
    AgentActivated: _Seen.activated,
    HandoffOpened: _Seen.opened,
    HandoffRejected: _Seen.rejected,
    BudgetCharged: _Seen.charged,
    HandoffClosed: _Seen.closed,
    InputRequested: _Seen.waits,
    ApprovalRequested: _Seen.waits,
    InputGiven: _Seen.goes_on,
    ApprovalDecided: _Seen.goes_on,
    SessionClosed: _Seen.ended,
}
