"""What is wrong with a session, by rules: each finding with its evidence, and one verdict.

Rules read events, never guess, and stay silent on a healthy session; a family of them is a file.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from handoff_console.runtime.contract import State, Status
from handoff_console.runtime.events import (
    BudgetOverdrawn,
    CycleStopped,
    Event,
    HandoffOpened,
    HandoffRejected,
    HandoffRequested,
    ModelReplied,
    OutputRejected,
    Payload,
    StateSet,
    ToolDenied,
    ToolReturned,
    ToolReturnedLate,
)
from handoff_console.store.analysis.bodies import Body
from handoff_console.store.analysis.findings import (
    answers,
    limits,
    loops,
    plans,
    pool,
    questions,
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
from handoff_console.store.analysis.nodes import HandoffTree, Outcome

__all__ = [
    "RULES",
    "RULES_VERSION",
    "Evidence",
    "Finding",
    "Judgement",
    "Rule",
    "Severity",
    "Verdict",
    "findings",
    "judgement",
    "verdict",
]


class Rule(NamedTuple):
    """A rule, named after what it finds, and where it cannot find anything."""

    find: Callable[[Record], Iterable[Finding]]
    kinds: frozenset[type[Payload]] = frozenset()
    """It needs an event of one of these kinds; empty: it does not."""
    outcomes: frozenset[Outcome] = frozenset()
    """It needs a handoff with one of these outcomes; empty: it does not."""

    def applies(self, kinds: frozenset[type], outcomes: frozenset[Outcome]) -> bool:
        """Say whether the rule can find anything in a session that has these."""
        if self.kinds and self.kinds.isdisjoint(kinds):
            return False
        return not self.outcomes or not self.outcomes.isdisjoint(outcomes)


def _on(*kinds: type[Payload]) -> frozenset[type[Payload]]:
    return frozenset(kinds)


_LIMIT = frozenset({Status.LIMIT_REACHED})

RULES: tuple[Rule, ...] = (
    Rule(loops.ping_pong, _on(HandoffOpened)),
    Rule(loops.recursion_refused, _on(CycleStopped)),
    Rule(pool.starved_pool, outcomes=frozenset({State.REFUSED, Status.LIMIT_REACHED})),
    Rule(pool.pool_overdrawn, _on(BudgetOverdrawn)),
    Rule(limits.limit_reached, outcomes=_LIMIT),
    Rule(limits.limit_as_answer, outcomes=_LIMIT),
    Rule(repeats.retry_of_not_found, outcomes=frozenset({Status.NOT_FOUND})),
    Rule(repeats.duplicate_work, _on(HandoffRequested)),
    Rule(plans.plan_step_missed, _on(ToolReturned)),
    Rule(tools.tool_denied, _on(ToolDenied)),
    Rule(tools.late_tool_result, _on(ToolReturnedLate)),
    Rule(tools.tool_failed, _on(ToolReturned)),
    Rule(answers.output_rejected_twice, _on(OutputRejected)),
    Rule(answers.model_failed, _on(ModelReplied)),
    Rule(answers.handoff_failed, outcomes=frozenset({Status.ERROR})),
    Rule(questions.asked_again, _on(HandoffOpened)),
    Rule(answers.needs_input_unused, outcomes=frozenset({Status.NEEDS_INPUT})),
    Rule(answers.state_conflict, _on(StateSet)),
    Rule(refusals.handoff_refused, _on(HandoffRejected)),
)


@dataclass(frozen=True)
class Judgement:
    """All that the rules say of a session, from one reading of it."""

    tree: HandoffTree
    findings: tuple[Finding, ...]
    """The worst first, causes before what follows from them."""
    verdict: Verdict
    too_late: bool = False
    """It waits for decisions alone, and nobody gave them in time."""


def judgement(
    events: Sequence[Event],
    body: Body | None = None,
    *,
    interrupted: bool = False,
    imported: bool = False,
    too_late: bool = False,
    tasks: bool = True,
) -> Judgement:
    """Return tree, findings and verdict of a session, reading it once.

    Args:
        events: All events of one session so far, by `seq`.
        body: Gives what was said; rules that need the words accuse nobody without it.
        interrupted: The session's process is gone.
        imported: It came from a file: what is open there goes on nowhere.
        too_late: It waits for decisions alone, and nobody gave them in time.
        tasks: Read each handoff's task for the tree. No rule asks for it, so that who wants only
            findings and verdict can save it.
    """
    record = Record(events, body, interrupted=interrupted, imported=imported, tasks=tasks)
    found = _findings(record)
    return Judgement(record.tree, found, _judge(record, found, too_late=too_late), too_late)


def findings(events: Sequence[Event], body: Body | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with a session, the worst first; nothing is an empty tuple."""
    return _findings(Record(events, body))


def verdict(
    events: Sequence[Event],
    findings: Sequence[Finding],
    *,
    interrupted: bool = False,
    imported: bool = False,
) -> Verdict:
    """Return the one sentence about a session and the handoff to look at first."""
    return _judge(Record(events, interrupted=interrupted, imported=imported), findings)


def _findings(record: Record) -> tuple[Finding, ...]:
    rules = _rules_for(record.kinds, record.outcomes)
    found = [finding for rule in rules for finding in rule.find(record)]
    return tuple(sorted(found, key=cause_order))


@lru_cache(maxsize=256)
def _rules_for(kinds: frozenset[type], outcomes: frozenset[Outcome]) -> tuple[Rule, ...]:
    """Return the rules that can find anything; most sessions of a flow have the same ones."""
    return tuple(rule for rule in RULES if rule.applies(kinds, outcomes))
