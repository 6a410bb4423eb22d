"""What is wrong with a session, by rules: each finding with its evidence, and one verdict.

Rules read events, never guess, and stay silent on a healthy session; a family of them is a file.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from handoff_console.runtime.events import Event
from handoff_console.store.analysis.bodies import Body
from handoff_console.store.analysis.findings import (
    answers,
    limits,
    loops,
    pool,
    refusals,
    repeats,
    tools,
)
from handoff_console.store.analysis.findings.finding import (
    RULES_VERSION,
    Evidence,
    Finding,
    Severity,
)
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.findings.verdict import Verdict, cause_order
from handoff_console.store.analysis.findings.verdict import judge as _judge
from handoff_console.store.analysis.nodes import HandoffTree

__all__ = [
    "RULES",
    "RULES_VERSION",
    "Evidence",
    "Finding",
    "Judgement",
    "Severity",
    "Verdict",
    "findings",
    "judgement",
    "verdict",
]

RULES: tuple[Callable[[Record], Iterable[Finding]], ...] = (
    loops.ping_pong,
    loops.recursion_refused,
    pool.starved_pool,
    pool.pool_overdrawn,
    limits.limit_reached,
    limits.limit_as_answer,
    repeats.retry_of_not_found,
    repeats.duplicate_work,
    tools.tool_denied,
    tools.late_tool_result,
    answers.output_rejected_twice,
    answers.model_failed,
    answers.handoff_failed,
    answers.needs_input_unused,
    answers.state_conflict,
    refusals.handoff_refused,
)
"""Every rule, each named after what it finds."""


@dataclass(frozen=True)
class Judgement:
    """All that the rules say of a session, from one reading of it."""

    tree: HandoffTree
    findings: tuple[Finding, ...]
    """The worst first, causes before what follows from them."""
    verdict: Verdict


def judgement(
    events: Sequence[Event], body: Body | None = None, *, interrupted: bool = False
) -> Judgement:
    """Return tree, findings and verdict of a session, reading it once.

    Args:
        events: All events of one session so far, by `seq`.
        body: Gives what was said; rules that need the words accuse nobody without it.
        interrupted: The session's process is gone.
    """
    record = Record(events, body, interrupted=interrupted)
    found = _findings(record)
    return Judgement(record.tree, found, _judge(record, found))


def findings(events: Sequence[Event], body: Body | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with a session, the worst first; nothing is an empty tuple."""
    return _findings(Record(events, body))


def verdict(
    events: Sequence[Event], findings: Sequence[Finding], *, interrupted: bool = False
) -> Verdict:
    """Return the one sentence about a session and the handoff to look at first."""
    return _judge(Record(events, interrupted=interrupted), findings)


def _findings(record: Record) -> tuple[Finding, ...]:
    found = [finding for rule in RULES for finding in rule(record)]
    return tuple(sorted(found, key=cause_order))
