"""The handoff tree, row by row, at every event of the session."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.text import amount, count, one_line, seconds
from handoff_console.runtime.contract import USER, HandoffKind, State, Status
from handoff_console.runtime.frozen import quickly_made
from handoff_console.store.analysis.budget import Entry, Ledger
from handoff_console.store.analysis.findings import Finding, Severity, Verdict
from handoff_console.store.analysis.nodes import HandoffNode, HandoffTree

_WORDS = {
    "target": "not allowed",
    "pool": "too few tokens",
    "cycle": "loop",
    "depth": "no depth left",
    "handoffs": "too many handoffs",
    "workers": "too many workers",
    "request": "invalid request",
    "trust": "not trusted",
    "ingress": "not taken",
}


@quickly_made
@dataclass(frozen=True, slots=True)
class TreeRow:
    """One handoff as the outline draws it."""

    handoff_id: str
    depth: int
    agent: str
    task: str
    outcome: str
    """A `Status` or `State`: the key of its glyph, colour and word."""
    tokens: int
    start: float
    """Where its time bar begins, as a share of the session's time; so is the next."""
    end: float
    asked_seq: int
    opened_seq: int
    """0 while it has not opened; so is the next."""
    closed_seq: int
    waits: tuple[tuple[int, int], ...] = ()
    """From which event on it waited for a person, and the event that ended it; 0: none did."""
    note: str = ""
    """A word or two beside the agent: an attempt, a transfer."""
    end_note: str = ""
    """What is to be said beside it once it is over: a limit, a refusal."""
    mark: str = ""
    """`cause` for the handoff of the verdict, `problem` for others that findings rest on."""
    charges: tuple[tuple[int, int], ...] = ()
    """(seq, tokens so far) after each charge, by seq."""
    tooltip: str = ""
    end_tooltip: str = ""
    """What is known once it is over, or at the end."""


def tree_rows(
    tree: HandoffTree,
    *,
    ledgers: Iterable[Ledger] = (),
    findings: Iterable[Finding] = (),
    verdict: Verdict | None = None,
    total_seconds: float | None = None,
) -> tuple[TreeRow, ...]:
    """Return the rows of a tree, in its order; an empty tree has none.

    Args:
        tree: At the session's end, or as far as it came.
        ledgers: Of the session's requests; without them a row has no tokens before it closed.
        findings: Mark the handoffs they concern.
        verdict: Marks the handoff to look at first.
        total_seconds: How long the session took, or has taken so far; None takes the last close.
    """
    ends = [node.closed_seconds or node.requested_seconds for node in tree.nodes]
    total = max(total_seconds or 0.0, *ends, 1e-9) if ends else 1.0
    charges = _charges(ledgers)
    marks = _marks(tree.nodes, findings, verdict)
    return tuple(
        _row(node, total, charges.get(node.handoff_id, ()), marks.get(node.handoff_id, ""))
        for node in tree.nodes
    )


def _row(
    node: HandoffNode, total: float, charges: tuple[tuple[int, int], ...], mark: str
) -> TreeRow:
    start = node.opened_seconds if node.opened_seconds is not None else node.requested_seconds
    end = node.closed_seconds if node.closed_seconds is not None else total
    return TreeRow(
        handoff_id=node.handoff_id,
        depth=node.depth,
        agent=one_line(node.agent, 60),
        task=one_line(node.task, 160),
        outcome=node.outcome.value,
        tokens=node.tokens_used,
        start=min(start / total, 1.0),
        end=min(max(end, start) / total, 1.0),
        asked_seq=node.first_seq,
        opened_seq=node.opened_seq or 0,
        closed_seq=node.closed_seq or 0,
        waits=tuple((start_seq, end_seq or 0) for start_seq, end_seq in node.waits),
        note=_note(node),
        end_note=_end_note(node),
        mark=mark,
        charges=charges,
        tooltip=_tooltip(node),
        end_tooltip=_end_tooltip(node, start, end),
    )


def _note(node: HandoffNode) -> str:
    words = []
    if node.attempt > 1:
        words.append(f"attempt {node.attempt}")
    if node.hop:
        words.append(f"transfer {node.hop}")
    return " · ".join(words)


def _end_note(node: HandoffNode) -> str:
    if node.outcome is Status.LIMIT_REACHED:
        return one_line(node.limit, 20)
    if node.outcome is State.REFUSED:
        return _WORDS.get(node.rule, one_line(node.rule, 20))
    return ""


def _tooltip(node: HandoffNode) -> str:
    asks = "hands off to" if node.via is HandoffKind.TRANSFER else "calls"
    if node.source == USER:
        asks = "asks"
    return f"{node.handoff_id}: {one_line(node.source, 40)} {asks} {one_line(node.agent, 40)}"


def _end_tooltip(node: HandoffNode, start: float, end: float) -> str:
    parts = [f"{node.outcome.value}, {seconds(end - start)} from {seconds(start)} on"]
    if node.grant_tokens is not None:
        parts.append(f"{amount(node.tokens_used)} of {count(node.grant_tokens, 'token')}")
    if node.max_steps:
        parts.append(f"{node.steps_used} of {count(node.max_steps, 'step')}")
    return " · ".join(parts)


def _charges(ledgers: Iterable[Ledger]) -> Mapping[str, tuple[tuple[int, int], ...]]:
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for ledger in ledgers:
        for row in ledger.rows:
            if row.entry is Entry.SPEND and row.handoff_id is not None:
                so_far = found[row.handoff_id][-1][1] if row.handoff_id in found else 0
                found[row.handoff_id].append((row.seq, so_far + row.tokens))
    return {handoff_id: tuple(charges) for handoff_id, charges in found.items()}


def _marks(
    nodes: Sequence[HandoffNode], findings: Iterable[Finding], verdict: Verdict | None
) -> Mapping[str, str]:
    """Return the mark of each handoff that a finding names, or whose beginning or end shows it."""
    serious = [finding for finding in findings if finding.severity is not Severity.INFO]
    named = {finding.handoff_id for finding in serious}
    seqs = {evidence.seq for finding in serious for evidence in finding.evidence}
    marks = {
        node.handoff_id: "problem"
        for node in nodes
        if node.handoff_id in named or node.first_seq in seqs or node.closed_seq in seqs
    }
    if verdict and verdict.handoff_id in marks:
        marks[verdict.handoff_id] = "cause"
    return marks
