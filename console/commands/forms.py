"""The JSON forms that programs read; `docs/command-line.md` has them all.

They are stable: a field may be added, none is renamed or removed without a new major version.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from handoff_console.console.commands.batch import Progress
from handoff_console.console.commands.looking import Explanation, SessionRecord
from handoff_console.console.commands.waiting import Pending, pending_of
from handoff_console.runtime.contract import WORST_FIRST, HandoffKind, State
from handoff_console.runtime.events import ModelReplied, ToolDenied, ToolReturned, payload_fields
from handoff_console.store.analysis.economics import totals
from handoff_console.store.analysis.findings import Finding
from handoff_console.store.analysis.nodes import HandoffNode


def session_form(record: SessionRecord) -> dict[str, Any]:
    """Return `show --json` and `run --json`: a session, its handoffs and its pool."""
    head = record.header
    return {
        "session_id": record.session_id,
        "flow": head.flow,
        "prompt_version": head.prompt_version,
        "origin": "import" if record.source else head.origin,
        "source": record.source,
        "started_at": _time(head.started_at),
        "duration_seconds": head.duration_seconds,
        "message": record.message,
        "outcome": record.tree.outcome.value,
        "limit": record.tree.limit,
        "answer": record.answer,
        "verdict": head.verdict,
        "pool": [
            {
                "turn": ledger.turn,
                "total_tokens": ledger.total_tokens,
                "spent_tokens": ledger.rows[-1].spent,
                "free_tokens": ledger.rows[-1].free,
                "open_tokens": ledger.rows[-1].open,
            }
            for ledger in record.ledgers
        ],
        "cost": totals(record.events).cost if head.about.cost else None,
        "currency": head.about.currency,
        "handoffs": [_handoff(node) for node in record.tree.nodes],
        "findings": [finding_form(finding) for finding in record.judgement.findings],
        "metadata": record.metadata,
        "waiting_for": _waiting(pending_of(record.db, record.session_id)),
    }


def line_form(session: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item of `list --json` from a row of the store's `session_rows`."""
    started, seen = session["started_at"], session["last_seen_at"]
    return {
        **{name: session[name] for name in _LINE},
        "started_at": _time(started.timestamp()),
        "last_seen_at": _time(seen.timestamp()),
    }


_LINE = (
    "session_id", "outcome", "flow", "prompt_version", "origin", "source", "message", "verdict",
    "problem_handoff_id", "agent_at_fault", "reason", "turns", "handoffs", "refused", "depth",
    "hops", "tokens_used", "pool_tokens", "duration_seconds", "agents", "metadata", "rerun_of",
    "rerun_handoff", "rerun_mode", "reruns",
)  # fmt: skip


def explanation_form(found: Explanation) -> dict[str, Any]:
    """Return `why --json`."""
    return {
        "session_id": found.session_id,
        "source": found.source,
        "outcome": found.outcome,
        "verdict": found.verdict,
        "findings": [finding_form(finding) for finding in found.findings],
        "look_first": [
            {
                "agent": place.agent,
                "step": place.step,
                "seq": place.seq,
                "handoff_id": place.handoff_id,
                "reason": place.reason,
            }
            for place in found.look_first
        ],
    }


def finding_form(finding: Finding) -> dict[str, Any]:
    """Return a finding with its evidence."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "handoff_id": finding.handoff_id,
        "agent": finding.agent,
        "turn": finding.turn,
        "sentence": finding.sentence,
        "advice": finding.advice,
        "evidence": [{"seq": item.seq, "reason": item.reason} for item in finding.evidence],
    }


def event_forms(record: SessionRecord) -> list[dict[str, Any]]:
    """Return `show --events --json`: every event with its envelope and what it says."""
    return [
        {
            "seq": event.seq,
            "at": _time(event.at),
            "elapsed_seconds": event.elapsed_seconds,
            "turn": event.turn,
            "handoff_id": event.handoff_id,
            "parent_id": event.parent_id,
            "path": event.path,
            "attempt": event.attempt,
            "kind": event.kind,
            "payload": payload_fields(event.payload),
        }
        for event in record.events
    ]


def batch_form(progress: Progress) -> dict[str, Any]:
    """Return `run --input --json`."""
    return {
        "input": progress.input_name,
        "requests": progress.total,
        "done": progress.done,
        "done_before": progress.done_before,
        "left": progress.left,
        "skipped": [{"line": line, "problem": problem} for line, problem in progress.skipped],
        "outcomes": progress.outcomes,
        "tokens_used": progress.tokens_used,
        "seconds": round(progress.seconds, 3),
        "sessions_per_second": round(progress.sessions_per_second, 1),
    }


class Reading:
    """What is read from one file, all its sessions together; none of them is kept."""

    def __init__(self) -> None:
        self.sessions = 0
        self._parts: dict[str, list[dict[str, Any]]] = {
            "handoffs": [], "delegations": [], "refused": [], "tool_calls": []
        }  # fmt: skip
        self._agents: set[str] = set()
        self._tokens: Counter[str] = Counter()
        self._worst = State.UNKNOWN.value

    def add(self, record: SessionRecord) -> None:
        """Take in one session."""
        self._add_handoffs(record)
        self._add_work(record)
        outcome = record.tree.outcome.value
        both = (self._worst, outcome) if self.sessions else (outcome,)
        self._worst = min(both, key=WORST_FIRST.index)
        self.sessions += 1

    def form(self) -> dict[str, Any]:
        """Return `import --dry-run --json`."""
        return {
            "sessions": self.sessions,
            "agents": sorted(self._agents),
            **self._parts,
            "tokens": {"input": self._tokens["input"], "output": self._tokens["output"]},
            "status": self._worst,
        }

    def _add_handoffs(self, record: SessionRecord) -> None:
        for node in record.tree.nodes:
            way = {"from": node.source, "to": node.agent}
            if node.outcome is State.REFUSED:
                self._parts["refused"].append(way)
                continue
            self._agents.add(node.agent)
            if node.via is HandoffKind.TRANSFER:
                sure = {**way, "evidence": "event", "confidence": "high"}
                self._parts["handoffs"].append(sure)
            elif node.depth:
                self._parts["delegations"].append(way)

    def _add_work(self, record: SessionRecord) -> None:
        agents = {node.handoff_id: node.agent for node in record.tree.nodes}
        for event in record.events:
            payload, agent = event.payload, agents.get(event.handoff_id or "", "")
            if isinstance(payload, ModelReplied):
                self._tokens.update(input=payload.input_tokens, output=payload.output_tokens)
            elif isinstance(payload, ToolReturned | ToolDenied):
                ok = isinstance(payload, ToolReturned) and not payload.error
                self._parts["tool_calls"].append({"agent": agent, "tool": payload.tool, "ok": ok})


def _time(at: float) -> str:
    """Return a time of day, in seconds since 1970, as ISO 8601 in UTC to the microsecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def _waiting(found: Pending) -> dict[str, list[dict[str, Any]]]:
    return {
        "approvals": [
            {
                "approval_id": act.approval_id,
                "handoff_id": act.handoff_id,
                "agent": act.agent,
                "tool": act.tool,
                "effect": act.effect.value,
                "arguments": dict(act.arguments),
                "expires_at": _time(act.expires_at),
                "said": None if act.said is None else act.said.approved,
            }
            for act in found.approvals
        ],
        "questions": [
            {
                "handoff_id": question.handoff_id,
                "agent": question.agent,
                "question": question.text,
                "said": question.said,
            }
            for question in found.questions
        ],
        "unknown_effects": [
            {
                "place": effect.place,
                "agent": effect.agent,
                "tool": effect.tool,
                "arguments": dict(effect.arguments),
            }
            for effect in found.effects
        ],
    }


def _handoff(node: HandoffNode) -> dict[str, Any]:
    ended = node.closed_seconds
    return {
        "handoff_id": node.handoff_id,
        "parent_id": node.parent_id,
        "path": node.path,
        "turn": node.turn,
        "attempt": node.attempt,
        "source": node.source,
        "target": node.agent,
        "kind": node.via.value,
        "status": node.outcome.value,
        "limit": node.limit,
        "refused_by": node.rule,
        "task": node.task,
        "reason": node.reason,
        "depth": node.depth,
        "hop": node.hop,
        "steps_used": node.steps_used,
        "max_steps": node.max_steps,
        "tokens_used": node.tokens_used,
        "measured": node.measured,
        "grant_tokens": node.grant_tokens,
        "duration_seconds": None if ended is None else round(ended - node.requested_seconds, 6),
        "continues": node.continues,
        "transferred_to": node.transferred_to,
        "follows": node.follows,
    }
