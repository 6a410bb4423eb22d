"""What an event says, in plain words: a name for its kind and one line about it."""

from collections.abc import Callable, Mapping
from typing import Any

from handoff_console.console.viewmodels.text import amount, as_name, count, one_line, seconds
from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.events import Event, Opaque

KIND_WORDS: Mapping[str, str] = {
    "session_started": "session started",
    "user_message_received": "user asked",
    "agent_activated": "agent took over",
    "handoff_requested": "handoff asked for",
    "handoff_rejected": "handoff refused",
    "approval_requested": "approval asked for",
    "approval_decided": "approval decided",
    "budget_reserved": "tokens reserved",
    "budget_charged": "tokens spent",
    "budget_refunded": "tokens given back",
    "budget_overdrawn": "grant overdrawn",
    "handoff_opened": "handoff opened",
    "model_called": "model asked",
    "first_token_received": "first token",
    "model_replied": "model answered",
    "tool_called": "tool called",
    "tool_returned": "tool returned",
    "tool_denied": "tool denied",
    "tool_returned_late": "tool came late",
    "output_rejected": "answer rejected",
    "state_set": "fact noted",
    "fork_opened": "fork opened",
    "fork_joined": "fork joined",
    "cycle_stopped": "loop stopped",
    "input_requested": "question asked",
    "input_given": "question answered",
    "handoff_closed": "handoff closed",
    "warning_raised": "warning",
    "replay_diverged": "replay diverged",
    "session_suspended": "waiting for a person",
    "session_resumed": "gone on",
    "session_closed": "session closed",
}
"""Every kind of event, as people say it."""

LINE = 200


def sentence(event: Event) -> str:
    """Return one line about an event; for a kind of a later version, its fields as they are."""
    payload: Any = event.payload
    if isinstance(payload, Opaque):
        fields = ", ".join(f"{key}={value}" for key, value in payload.fields.items())
        return one_line(fields, LINE)
    say = _SAY.get(event.kind)
    return one_line(say(payload), LINE) if say else ""


def _waits_for(approvals: int, questions: int) -> str:
    parts = [count(n, what) for n, what in ((approvals, "approval"), (questions, "answer")) if n]
    return f"for {' and '.join(parts)}"


def _asked(p: Any) -> str:
    way = "hands off to" if p.via is HandoffKind.TRANSFER else "calls"
    reason = f": {one_line(p.reason, 120)}" if p.reason else ""
    return f"{as_name(p.source)} {way} {as_name(p.target)}{reason}"


def _opened(p: Any) -> str:
    grant = f"{count(p.grant_tokens, 'token')}, " if p.grant_tokens is not None else ""
    return (
        f"{as_name(p.target)} may take {grant}{count(p.max_steps, 'step')} "
        f"and {seconds(p.deadline_seconds)}"
    )


def _closed(p: Any) -> str:
    if p.transferred_to:
        return f"passed control on to {p.transferred_to}"
    outcome = p.status or p.ended_by
    limit = f" ({p.reason})" if p.reason else ""
    notes = f": {one_line(p.notes, 120)}" if p.notes else ""
    used = f", {count(p.steps_used, 'step')}, {count(p.tokens_used, 'token')}"
    if p.replayed:
        return f"taken over as recorded, nobody worked on it: {outcome}{limit}{notes}"
    return f"{outcome}{limit}{used}{notes}"


def _replied(p: Any) -> str:
    if p.error:
        return f"step {p.step} failed: {one_line(p.error, 120)}"
    calls = f", asks for {count(p.tool_calls, 'tool or handoff', 'tools or handoffs')}"
    tokens = f"{amount(p.input_tokens)} in, {amount(p.output_tokens)} out"
    replayed = ""
    if p.replayed:
        replayed = f", replayed: {count(p.input_tokens + p.output_tokens, 'token')} saved"
    took = seconds(p.latency_seconds)
    return f"step {p.step}: {tokens}{calls if p.tool_calls else ''}, {took}{replayed}"


def _returned(p: Any) -> str:
    done = "asks for a transfer" if p.hands_over else "done"
    said = f"error: {one_line(p.error, 120)}" if p.error else done
    replayed = ", replayed: not called again" if p.replayed else ""
    return f"{as_name(p.tool)}: {said}, {seconds(p.duration_seconds)}{replayed}"


def _session_closed(p: Any) -> str:
    outcome = p.status or ("cancelled" if p.cancelled else "unknown")
    limit = f" ({p.reason})" if p.reason else ""
    return f"{outcome}{limit}, {count(p.pool_spent, 'token')} spent, {amount(p.pool_free)} free"


def _activated(p: Any) -> str:
    version = f", prompt version {one_line(p.prompt_version, 30)}" if p.prompt_version else ""
    follows = "" if p.reads_prompt else "; follows rules and does not read its prompt"
    return f"{as_name(p.agent)} with model {as_name(p.model)}{version}{follows}"


def _called(p: Any) -> str:
    repair = ", once more after a rejected answer" if p.repair else ""
    again = f", try {p.try_number}" if p.try_number > 1 else ""
    return f"step {p.step}: {count(p.messages, 'message')} to {as_name(p.model)}{repair}{again}"


_SAY: dict[str, Callable[[Any], str]] = {
    "session_started": lambda p: f"flow {as_name(p.flow)}, {p.origin}",
    "user_message_received": lambda p: p.preview,
    "agent_activated": _activated,
    "handoff_requested": _asked,
    "handoff_rejected": lambda p: p.reason,
    "approval_requested": lambda p: f"{as_name(p.tool)} waits for a person",
    "approval_decided": lambda p: (
        f"{'approved' if p.approved else 'denied'}"
        f"{f' by {as_name(p.decided_by)}' if p.decided_by else ''}"
    ),
    "budget_reserved": lambda p: f"{count(p.tokens, 'token')} set aside",
    "budget_charged": lambda p: f"{count(p.tokens, 'token')}{', estimated' if p.estimated else ''}",
    "budget_refunded": lambda p: f"{count(p.tokens, 'token')} not used",
    "budget_overdrawn": lambda p: f"{count(p.tokens, 'token')} more than it held",
    "handoff_opened": _opened,
    "model_called": _called,
    "first_token_received": lambda p: f"step {p.step}",
    "model_replied": _replied,
    "tool_called": lambda p: f"{as_name(p.tool)}{f': {p.reason}' if p.reason else ''}",
    "tool_returned": _returned,
    "tool_denied": lambda p: p.reason,
    "tool_returned_late": lambda p: (
        f"{as_name(p.tool)}, {seconds(p.late_by_seconds)} after it was given up"
    ),
    "output_rejected": lambda p: p.problem,
    "state_set": lambda p: f"{one_line(p.key, 60)}{', a second value' if p.conflict else ''}",
    "fork_opened": lambda p: f"{count(len(p.handoff_ids), 'handoff')} at once",
    "fork_joined": lambda p: f"all back: {', '.join(p.statuses)}",
    "cycle_stopped": lambda p: ", ".join(p.transitions),
    "input_requested": lambda p: p.question,
    "input_given": lambda _: "the user answered",
    "handoff_closed": _closed,
    "warning_raised": lambda p: p.text,
    "replay_diverged": lambda p: f"at {one_line(p.place, 60)} something else was asked for",
    "session_suspended": lambda p: _waits_for(len(p.approvals), len(p.questions)),
    "session_resumed": lambda p: f"by process {p.pid} on {one_line(p.host, 60) or 'this machine'}",
    "session_closed": _session_closed,
}
