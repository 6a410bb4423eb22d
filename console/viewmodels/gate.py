"""The checks of the gate, in the order in which the runtime makes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.text import amount, as_name, count, one_line
from handoff_console.runtime.contract import USER, HandoffKind
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetReserved,
    HandoffOpened,
    HandoffRejected,
    Payload,
)
from handoff_console.store.analysis.nodes import HandoffNode


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One check: passed, failed, or not reached because one before it failed."""

    name: str
    passed: bool | None
    """None: not reached, or not decided yet."""
    says: str


_NAMES = {
    "target": "allowed target",
    "depth": "depth",
    "cycle": "no loop",
    "handoffs": "count of transfers",
    "workers": "count of calls",
    "request": "valid request",
    "trust": "trust",
    "ingress": "checks of the target",
    "pool": "pool",
}
_CALL = ("target", "depth", "cycle", "workers", "request", "pool")
_TRANSFER = ("target", "cycle", "handoffs", "request", "pool")
_RARE = frozenset({"trust", "ingress"})
"""Shown only where they refused, after the request they are about."""


def gate_checks(node: HandoffNode, payloads: Sequence[Payload]) -> tuple[GateCheck, ...]:
    """Return what the gate checked of a handoff, in order; the user's request passes no gate.

    Args:
        node: The handoff.
        payloads: Of its own events, so far.
    """
    opened = next((p for p in payloads if isinstance(p, HandoffOpened)), None)
    rejected = next((p for p in payloads if isinstance(p, HandoffRejected)), None)
    reserved = next((p for p in payloads if isinstance(p, BudgetReserved)), None)
    if node.source == USER:
        return ()
    rules = list(_TRANSFER if node.via is HandoffKind.TRANSFER else _CALL)
    if rejected is not None and rejected.rule not in rules:
        rules.insert(-1 if rejected.rule in _RARE else 1, rejected.rule)
    checks = list(_checks(node, rules, opened, rejected, reserved))
    return (*checks, *_approvals(payloads))


def _checks(
    node: HandoffNode,
    rules: Iterable[str],
    opened: HandoffOpened | None,
    rejected: HandoffRejected | None,
    reserved: BudgetReserved | None,
) -> Iterable[GateCheck]:
    reached = True
    decided = opened is not None or rejected is not None or reserved is not None
    for rule in rules:
        name = _NAMES.get(rule, one_line(rule.replace("_", " "), 40))
        if not reached:
            yield GateCheck(name, None, "not reached")
        elif rejected is not None and rejected.rule == rule:
            reached = False
            yield GateCheck(name, False, one_line(rejected.reason, 300))
        elif not decided:
            yield GateCheck(name, None, "not decided yet")
        else:
            yield GateCheck(name, True, _passed(rule, node, opened, reserved))


def _passed(
    rule: str, node: HandoffNode, opened: HandoffOpened | None, reserved: BudgetReserved | None
) -> str:
    source, agent = as_name(node.source), as_name(node.agent)
    if rule == "target":
        return f"{source} may hand off to {agent}"
    if rule == "depth" and opened is not None:
        return f"level {opened.depth}; {count(opened.depth_left, 'more level')} below it"
    if rule == "handoffs" and opened is not None:
        return f"transfer {opened.hops} of this request"
    if rule == "request":
        return "task, inputs and limits are valid"
    if rule == "pool" and reserved is not None:
        return f"{count(reserved.tokens, 'token')} reserved, {amount(reserved.free)} free after it"
    return "passed"


def _approvals(payloads: Sequence[Payload]) -> Iterable[GateCheck]:
    decided = {p.approval_id: p for p in payloads if isinstance(p, ApprovalDecided)}
    for asked in payloads:
        if not isinstance(asked, ApprovalRequested):
            continue
        decision = decided.get(asked.approval_id)
        tool = as_name(asked.tool)
        if decision is None:
            yield GateCheck("approval", None, f"{tool} waits for a person")
        else:
            by = f" by {as_name(decision.decided_by)}" if decision.decided_by else ""
            said = "approved" if decision.approved else "denied"
            yield GateCheck("approval", decision.approved, f"{tool} {said}{by}")
