"""The card of one handoff: request, gate and result; `seen` has the context."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.console.viewmodels.gate import GateCheck, gate_checks
from handoff_console.console.viewmodels.request import Asked, Line, RequestView, request_view
from handoff_console.console.viewmodels.text import (
    amount,
    as_name,
    block,
    count,
    money,
    one_line,
    pretty,
    seconds,
)
from handoff_console.runtime.contract import EndedBy, State
from handoff_console.runtime.events import (
    AgentActivated,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRejected,
    HandoffRequested,
    OutputRejected,
    Payload,
)
from handoff_console.store.analysis.bodies import Body, read, read_fields
from handoff_console.store.analysis.findings import Finding
from handoff_console.store.analysis.nodes import HandoffNode

CARD_KINDS = frozenset(
    {
        "agent_activated",
        "approval_decided",
        "approval_requested",
        "budget_reserved",
        "handoff_closed",
        "handoff_opened",
        "handoff_rejected",
        "handoff_requested",
        "output_rejected",
    }
)
"""Of a handoff's events, those that its card reads: of thousands of steps, none."""


@dataclass(frozen=True, slots=True)
class GateView:
    """What the gate said."""

    sentence: str
    passed: bool | None
    """None while the gate has not decided."""
    checks: tuple[GateCheck, ...]
    choices: tuple[str, ...]
    """What would have been allowed; only after a refusal."""


@dataclass(frozen=True, slots=True)
class RejectedAnswer:
    """An answer that did not fit; nobody but the operator reads it."""

    problem: str
    """What was wrong with it."""
    text: str
    """What the worker said, as it was recorded; empty when that is gone."""


@dataclass(frozen=True, slots=True)
class ResultView:
    """What came back."""

    outcome: str
    """A `Status` or `State`."""
    sentence: str
    """How it ended, in plain words."""
    answer: str
    """The answer's text, where it is one; otherwise empty."""
    data: str
    """The answer's data as indented JSON; empty when there is none, or only a text."""
    notes: str
    lines: tuple[Line, ...]
    """Steps, tokens, time, schema check, attempts."""
    rejected: tuple[RejectedAnswer, ...]
    """Each answer that did not fit, in order."""
    is_whole: bool
    """False: the result's body is gone."""


@dataclass(frozen=True, slots=True)
class HandoffCard:
    """All that the card of one handoff shows beside its context."""

    handoff_id: str
    agent: str
    outcome: str
    title: str
    """`billing · attempt 2`."""
    task: str
    problems: tuple[Finding, ...]
    """The findings that concern it, the worst first."""
    request: RequestView
    gate: GateView
    result: ResultView


def handoff_card(
    node: HandoffNode,
    events: Iterable[Event],
    *,
    body: Body | None = None,
    findings: Sequence[Finding] = (),
    call: Mapping[str, Any] | None = None,
    currency: str = "",
) -> HandoffCard:
    """Return the card of a handoff.

    Args:
        node: The handoff, in the tree as it was at the moment to show.
        events: The session's events, or only this handoff's, up to that moment.
        body: Gives what was said; what is gone is left out and said to be gone.
        findings: The session's; those of other handoffs are left out.
        call: By which it was asked for (`asked_with`), where that is all there is of the request.
        currency: Of the session's costs.
    """
    own = _Own(event for event in events if event.handoff_id == node.handoff_id)
    asked = Asked(asked=own.asked, opened=own.opened, rejected=own.rejected, call=call, body=body)
    attempt = f" · attempt {node.attempt}" if node.attempt > 1 else ""
    return HandoffCard(
        handoff_id=node.handoff_id,
        agent=as_name(node.agent),
        outcome=node.outcome.value,
        title=f"{as_name(node.agent)}{attempt}",
        task=one_line(node.task, 300),
        problems=tuple(f for f in findings if f.handoff_id == node.handoff_id),
        request=request_view(node, asked),
        gate=_gate(node, own),
        result=_result(node, own, body, currency),
    )


class _Own:
    """A handoff's events, by what the card asks of them."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.asked: HandoffRequested | None = None
        self.opened: HandoffOpened | None = None
        self.rejected: HandoffRejected | None = None
        self.closed: HandoffClosed | None = None
        self.activated: AgentActivated | None = None
        self.outputs: list[OutputRejected] = []
        self.payloads: list[Payload] = []
        for event in events:
            payload = event.payload
            self.payloads.append(payload)
            match payload:
                case HandoffRequested():
                    self.asked = payload
                case HandoffOpened():
                    self.opened = payload
                case HandoffRejected():
                    self.rejected = payload
                case HandoffClosed():
                    self.closed = payload
                case AgentActivated():
                    self.activated = payload
                case OutputRejected():
                    self.outputs.append(payload)


def _gate(node: HandoffNode, own: _Own) -> GateView:
    checks = gate_checks(node, own.payloads)
    if own.rejected is not None:
        rejected = own.rejected
        choices = tuple(as_name(choice) for choice in rejected.choices)
        return GateView(one_line(rejected.reason, 400), False, checks, choices)
    grant = node.grant_tokens
    reserved = f" with {count(grant, 'token')} reserved" if grant is not None else ""
    if own.opened is not None:
        return GateView(f"Let through{reserved}.", True, checks, ())
    if node.outcome is State.WAITING:
        return GateView("A person has to decide first.", None, checks, ())
    if reserved:
        said = f"Let through{reserved}; {as_name(node.agent)} has not begun yet."
        return GateView(said, True, checks, ())
    return GateView("The gate has not decided yet.", None, checks, ())


def _result(node: HandoffNode, own: _Own, body: Body | None, currency: str) -> ResultView:
    closed = own.closed
    fields = read_fields(body, closed.result if closed else None)
    data = fields.get("data")
    text = data.get("text") if isinstance(data, Mapping) else None
    only_text = isinstance(text, str) and isinstance(data, Mapping) and len(data) == 1
    notes = fields.get("notes") or (closed.notes if closed else "")
    return ResultView(
        outcome=node.outcome.value,
        sentence=_how_it_ended(node, closed),
        answer=block(text) if isinstance(text, str) else "",
        data="" if only_text or not data else pretty(data),
        notes=block(notes, 2_000) if isinstance(notes, str) else "",
        lines=tuple(_result_lines(node, own, currency)),
        rejected=tuple(_rejected(output, body) for output in own.outputs),
        is_whole=closed is None or closed.result is None or read(body, closed.result) is not None,
    )


def _rejected(output: OutputRejected, body: Body | None) -> RejectedAnswer:
    said = read_fields(body, output.output).get("content")
    text = block(said) if isinstance(said, str) else ""
    return RejectedAnswer(one_line(output.problem, 300), text)


_LIMITS = {
    "steps": "its step limit",
    "tokens": "its token limit",
    "deadline": "its deadline",
    "pool": "a pool with too few tokens",
    "cost": "the cost limit",
    "cycle": "a loop",
    "handoffs": "the limit of handoffs",
    "repeats": "asking again for what was refused",
}


_ENDS = {
    EndedBy.ANSWERED: "{name} answered.",
    EndedBy.FAILED: "{name} failed; this result was made by the runtime.",
    EndedBy.CANCELLED: "{name} was cancelled.",
}


def _how_it_ended(node: HandoffNode, closed: HandoffClosed | None) -> str:
    name = as_name(node.agent)
    if node.outcome is State.REFUSED:
        return "It never began: the gate refused it."
    if node.outcome is State.ASKED_FOR:
        return f"{name} was asked for and has not begun yet."
    if closed is None:
        return f"{name} has not finished; nothing came back yet."
    if node.transferred_to:
        return f"{name} passed control on to {node.transferred_to}, which answers instead."
    if closed.ended_by is EndedBy.STOPPED:
        limit = _LIMITS.get(closed.reason, "a limit")
        return f"{name} was stopped by {limit}; what is here is incomplete."
    return _ENDS.get(closed.ended_by, "{name} ended.").format(name=name)


def _result_lines(node: HandoffNode, own: _Own, currency: str) -> Iterable[Line]:
    if own.opened is None:
        return
    of = f" of {node.max_steps}" if node.max_steps else ""
    yield Line("steps", f"{node.steps_used}{of}")
    grant = f" of {amount(node.grant_tokens)} reserved" if node.grant_tokens is not None else ""
    guess = "" if node.measured else ", partly estimated"
    yield Line("tokens", f"{amount(node.tokens_used)}{grant}{guess}")
    if node.opened_seconds is not None and node.closed_seconds is not None:
        yield Line("time", seconds(node.closed_seconds - node.opened_seconds))
    if own.closed is not None and own.closed.cost:
        yield Line("cost", money(own.closed.cost, currency))
    yield Line("schema check", _schema_check(own))
    if own.activated is not None:
        yield Line("model", as_name(own.activated.model))


def _schema_check(own: _Own) -> str:
    schema = as_name(own.opened.output_schema) if own.opened else "Text"
    if any(output.final for output in own.outputs):
        return f"no answer fitted {schema}, twice"
    if own.closed is None or own.closed.ended_by is not EndedBy.ANSWERED:
        return f"no answer was checked against {schema}"
    return f"fits {schema}{', after one repair' if own.outputs else ''}"
