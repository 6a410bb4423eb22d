"""The top of a session's page: what was asked, how it ended, why, and what it took."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from handoff_console.console.viewmodels.about import AboutSession, about_session
from handoff_console.console.viewmodels.command_lines import resume_line
from handoff_console.console.viewmodels.text import amount, block, count, one_line, seconds
from handoff_console.runtime.contract import HandoffKind, State
from handoff_console.runtime.events import Event, SessionStarted, UserMessageReceived
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.budget import Ledger
from handoff_console.store.analysis.findings import Evidence, Finding, Judgement, Severity
from handoff_console.store.analysis.nodes import HandoffNode, Outcome

CHIPS = 3


@dataclass(frozen=True, slots=True)
class Chip:
    """A piece of evidence under the verdict: a click goes to its event."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """What the top of the page says."""

    session_id: str
    request: str
    """The last thing the user said, on one line."""
    request_in_full: str
    outcome: str
    """A `Status` or `State`: the key of its glyph, colour and word."""
    limit: str
    """For `limit_reached`, which limit."""
    verdict: str
    severity: str
    """`error`, `warning` or `info`."""
    problem_handoff_id: str | None
    """The handoff that is selected at first."""
    advice: str
    """What to do about it; empty when nothing is wrong."""
    next_step: str
    """What a session that is not over needs to go on; empty when nobody has to do anything."""
    chips: tuple[Chip, ...]
    """The evidence of the verdict; at most three."""
    other_findings: int
    """Findings beside the one the verdict rests on, leaving out what is only worth knowing."""
    pool: str
    """`3,120 of 20,000 tokens`."""
    used_share: float
    """Of the pool, 0 to 1 and beyond; for a bar."""
    duration: str
    duration_seconds: float
    started: str
    """The moment it began, UTC, to the second."""
    started_at: float
    flow: str
    prompt_version: str
    origin: str
    counts: str
    """`1 transfer · 2 calls · 1 refused`; `no handoff` for a session of one agent."""
    about: AboutSession
    """What is folded away until somebody asks."""
    is_over: bool
    """False while it may still go on."""


def session_header(
    events: Sequence[Event],
    judged: Judgement,
    ledgers: Sequence[Ledger],
    *,
    body: Body | None = None,
    outcome: Outcome | None = None,
    is_whole: bool = True,
    store: str = "",
    source: str = "",
) -> SessionHeader:
    """Return what the top of a session's page says.

    Args:
        events: Of the session; at least `session_started`, the user's messages, and the last.
        judged: Its tree, findings and verdict.
        ledgers: Of its requests.
        body: Gives the user's words in full; without it there is their beginning.
        outcome: What somebody knows better than the events: that its process is gone.
        is_whole: False: the events of models and tools were left out.
        store: The store as a command line has to name it; empty where it needs no name.
        source: The file it came from; empty for what was recorded here.
    """
    started, asked = _beginning(events)
    verdict, said = judged.verdict, outcome or judged.tree.outcome
    cause = next((f for f in judged.findings if f.sentence == verdict.sentence), None)
    spent = ledgers[-1].rows[-1].spent if ledgers else 0
    total = ledgers[-1].total_tokens if ledgers else 0
    first, last = (events[0], events[-1]) if events else (None, None)
    duration = last.elapsed_seconds if last else 0.0
    text = _text(asked, body)
    return SessionHeader(
        session_id=first.session_id if first else "",
        request=one_line(text, 160),
        request_in_full=block(text),
        outcome=said.value,
        limit=one_line(judged.tree.limit, 30),
        verdict=verdict.sentence,
        severity=verdict.severity.value,
        problem_handoff_id=verdict.handoff_id,
        advice=cause.advice if cause else "",
        next_step=_next_step(said, first, store, judged.too_late) if first else "",
        chips=_chips(cause),
        other_findings=_others(judged.findings, cause),
        pool=f"{amount(spent)} of {count(total, 'token')}" if total else "no pool",
        used_share=spent / total if total else 0.0,
        duration=seconds(duration),
        duration_seconds=duration,
        started=moment(first.at) if first else "",
        started_at=first.at if first else 0.0,
        flow=one_line(started.flow, 60) if started else "",
        prompt_version=one_line(started.prompt_version, 40) if started else "",
        origin=one_line(started.origin, 20) if started else "",
        counts=_counts(judged.tree.nodes),
        about=about_session(events, judged.tree, body=body, is_whole=is_whole, source=source),
        is_over=said not in {State.RUNNING, State.WAITING},
    )


def moment(at: float) -> str:
    """Return a time of day as a screen prints it, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _beginning(
    events: Sequence[Event],
) -> tuple[SessionStarted | None, UserMessageReceived | None]:
    started, asked = None, None
    for event in events:
        if isinstance(event.payload, SessionStarted):
            started = started or event.payload
        elif isinstance(event.payload, UserMessageReceived):
            asked = event.payload
    return started, asked


def _text(asked: UserMessageReceived | None, body: Body | None) -> str:
    if asked is None:
        return ""
    content = read_fields(body, asked.message).get("content")
    return content if isinstance(content, str) else asked.preview


def _chips(cause: Finding | None) -> tuple[Chip, ...]:
    shown: tuple[Evidence, ...] = cause.evidence if cause else ()
    if len(shown) > CHIPS:
        shown = (*shown[: CHIPS - 1], shown[-1])
    return tuple(Chip(evidence.seq, one_line(evidence.reason, 72)) for evidence in shown)


def _others(findings: Sequence[Finding], cause: Finding | None) -> int:
    return sum(f is not cause and f.severity is not Severity.INFO for f in findings)


def _is_handoff(node: HandoffNode) -> bool:
    return node.depth > 0 or node.via is HandoffKind.TRANSFER


def _counts(nodes: Sequence[HandoffNode]) -> str:
    handoffs = [node for node in nodes if _is_handoff(node)]
    refused = sum(node.outcome is State.REFUSED for node in handoffs)
    made = [n for n in handoffs if n.outcome is not State.REFUSED and n.attempt == 1]
    transfers = sum(node.via is HandoffKind.TRANSFER for node in made)
    retries = sum(node.attempt > 1 for node in nodes)
    said = [
        count(number, word, plural)
        for number, word, plural in (
            (transfers, "transfer", ""),
            (len(made) - transfers, "call", ""),
            (refused, "refused", "refused"),
            (retries, "retry", "retries"),
        )
        if number
    ]
    return " · ".join(said) or "no handoff"


def _next_step(outcome: Outcome, first: Event, store: str, too_late: bool) -> str:
    if outcome is State.INTERRUPTED:
        source = first.payload.flow_source if isinstance(first.payload, SessionStarted) else ""
        words = resume_line(first.session_id, flow=source, store=store)
        return f"To go on where it stopped: {words}"
    if outcome is State.WAITING and too_late:
        return "Press “Go on” below: the agent is told so."
    if outcome is State.WAITING:
        return "Settle it below, and the session goes on."
    return ""
