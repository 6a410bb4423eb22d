"""What only a person can say: a yes to an act, an answer to a question.

A session that needs one is suspended: a state in its record, not a coroutine that waits. A decision
is bound to exactly what was shown, counts once, and anything but a clear yes is a no. Source: S3,
example 3 and exercise 3.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from handoff_console.runtime.canonical import as_json
from handoff_console.runtime.contract import Effect, Message, ToolCall
from handoff_console.runtime.errors import MISTAKES, named
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    InputGiven,
    InputRequested,
    WarningRaised,
)
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.tool import Tool

_Said = TypeVar("_Said")


class Suspended(Exception):
    """This branch of the session waits; its handoffs stay open."""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """An act that waits for a person, as it is shown."""

    approval_id: str
    tool: str
    effect: Effect
    arguments: Mapping[str, Any]
    agent: str
    path: str
    shown: str
    """Digest of all of the above: what a yes is bound to."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that waits for a person."""

    handoff_id: str
    text: str
    agent: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What a person decided about an approval."""

    approval_id: str
    approved: bool
    shown: str
    """The digest of what the person was shown."""
    arguments: Mapping[str, Any] | None = None
    """Other arguments, where the person edited them."""
    decided_by: str = ""
    note: str = ""


@dataclass
class People:
    """The decisions and answers at hand, and what still waits for one."""

    recorder: Recorder
    player: Player
    now: Callable[[], float]
    """The time of day, in seconds since 1970."""
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    """Each counts for one question."""
    ask: Callable[[Approval | Question], Decision | str | None] | None = None
    """Asked at once, where somebody sits there; None as an answer suspends the session."""
    approvals: list[Approval] = field(default_factory=list)
    """Waiting, in the order they came up."""
    questions: list[Question] = field(default_factory=list)

    def decide(
        self, handoff: OpenHandoff, call: ToolCall, index: int, tool: Tool
    ) -> tuple[ApprovalDecided, dict[str, Any]]:
        """Return the decision about an act and the arguments it is decided for.

        Raises:
            Suspended: Nobody has decided yet.
        """
        approval = self._requested(handoff, call, index, tool)
        denied = self.player.is_denied(handoff.scope, tool)
        recorded = None if denied else self.player.decision(approval.approval_id, approval.shown)
        if recorded:
            self.recorder.emit(handoff.scope, recorded[0])
            return recorded
        decision = self.decisions.get(approval.approval_id)
        if denied:
            decision = _pretended_no(approval)
        if decision is None:
            decision = self._asked_now(handoff, approval, Decision)
        expired = self._is_expired(approval.approval_id, tool)
        if decision is None and not expired:
            self.approvals.append(approval)
            raise Suspended
        reason, arguments = ("expired", {}) if expired else _judged(decision, approval, tool)
        keep = self.recorder.keep
        decided = ApprovalDecided(
            approval_id=approval.approval_id,
            approved=not reason,
            decided_by=str(decision.decided_by) if decision else "",
            reason=reason,
            proposed=keep(call["arguments"]).digest,
            approved_arguments=None if reason else keep(arguments).digest,
            note=str(decision.note) if decision else "",
        )
        self.recorder.emit(handoff.scope, decided)
        return decided, arguments

    def hear(self, handoff: OpenHandoff, question: str, asked_by: str = "") -> Message:
        """Return a person's answer to an open handoff, as the message its agent reads.

        Raises:
            Suspended: Nobody has answered yet.
        """
        self.recorder.emit(handoff.scope, InputRequested(question=question, asked_by=asked_by))
        recorded = self.player.answer(handoff.id)
        answer = self.answers.pop(handoff.id, None) if recorded is None else None
        if recorded is None and answer is None:
            answer = self._asked_now(handoff, self._question(handoff, question), str)
        if recorded is None and answer is None:
            self.questions.append(self._question(handoff, question))
            raise Suspended
        message: Message = recorded or {"role": "user", "content": answer or ""}
        kept = self.recorder.keep(message)
        self.recorder.emit(handoff.scope, InputGiven(answer=kept.digest))
        return message

    def _asked_now(
        self, handoff: OpenHandoff, what: Approval | Question, kind: type[_Said]
    ) -> _Said | None:
        """Return what somebody who sits there says; None where nobody does, or says it wrongly.

        Then the session waits, as without them: nothing is lost, and nothing is taken for a yes.
        """
        if self.ask is None:
            return None
        try:
            said: object = self.ask(what)
        except MISTAKES as error:  # it is the host's, and the session goes on
            problem = f"asking a person failed ({named(error)})"
        else:
            if said is None or isinstance(said, kind):
                return said
            if inspect.iscoroutine(said):
                said.close()  # or Python warns that nobody waited for it
            problem = (
                f"who was asked returned a {type(said).__name__}; it has to return a "
                f"{'text' if kind is str else kind.__name__}, or None"
            )
        text = f"{problem}; the session waits for the answer"
        self.recorder.emit(handoff.scope, WarningRaised(code="not_asked", text=text))
        return None

    def _question(self, handoff: OpenHandoff, text: str) -> Question:
        return Question(
            handoff_id=handoff.id,
            text=text,
            agent=handoff.agent.name,
            path=handoff.scope.path or "",
        )

    def _requested(self, handoff: OpenHandoff, call: ToolCall, index: int, tool: Tool) -> Approval:
        approval_id = f"{handoff.id}.{handoff.steps}.{index}"
        fields = {
            "approval_id": approval_id,
            "tool": tool.name,
            "effect": tool.effect.value,
            "arguments": call["arguments"],
            "agent": handoff.agent.name,
            "path": handoff.scope.path or "",
        }
        shown = self.recorder.keep(fields).digest
        self.recorder.emit(
            handoff.scope,
            ApprovalRequested(
                approval_id=approval_id,
                step=handoff.steps,
                index=index,
                tool=tool.name,
                effect=tool.effect,
                shown=shown,
                expires_seconds=tool.approval_seconds,
            ),
        )
        return Approval(
            approval_id=approval_id,
            tool=tool.name,
            effect=tool.effect,
            arguments=call["arguments"],
            agent=handoff.agent.name,
            path=handoff.scope.path or "",
            shown=shown,
        )

    def _is_expired(self, approval_id: str, tool: Tool) -> bool:
        requested_at = self.player.requested_at(approval_id)
        return requested_at is not None and self.now() > requested_at + tool.approval_seconds


def _pretended_no(approval: Approval) -> Decision:
    return Decision(
        approval_id=approval.approval_id,
        approved=False,
        shown=approval.shown,
        note="pretended by a re-run",
    )


def _judged(
    decision: Decision | None, approval: Approval, tool: Tool
) -> tuple[str, dict[str, Any]]:
    """Return why a decision is a no (empty: it is a yes) and the arguments it is about."""
    if decision is None or decision.approved is not True:
        return "denied", {}
    if decision.shown != approval.shown:
        return "stale", {}
    if decision.arguments is None:
        return "", dict(approval.arguments)
    try:
        arguments: dict[str, Any] = as_json(dict(decision.arguments))
        tool.parse(arguments)
    except (TypeError, ValueError):
        return "invalid", {}
    return "", arguments
