"""Reads the tape of a recorded session: its events, one by one, in order."""

from collections import defaultdict, deque
from typing import Any

from handoff_console.runtime.contract import HandoffRequest, HandoffResult, Usage
from handoff_console.runtime.errors import EventError, of_another_form
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    HandoffClosed,
    HandoffRequested,
    InputGiven,
    ModelCalled,
    ModelReplied,
    Recording,
    StateSet,
    ToolCalled,
    ToolReturned,
    UserMessageReceived,
)
from handoff_console.runtime.tape import (
    BegunAct,
    Place,
    RecordedHandoff,
    RecordedReply,
    RecordedResult,
    Tape,
    ToolPlace,
)


def read_tape(recording: Recording) -> Tape:
    """Return the tape of a recorded session; of one without events it is empty.

    Raises:
        EventError: A body that an answer names is gone, or has another form than its event says.
    """
    reading = _Reading(recording)
    try:
        for event in recording.events:
            reading.take(event)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise EventError(of_another_form(recording.session_id, error)) from error
    return reading.tape_so_far()


def _message(found: Any) -> Any:
    """Return a recorded message, if it is one: a file may hold anything.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(found, dict) or not isinstance(found.get("content"), str):
        raise TypeError("no message")
    calls = found.get("tool_calls", ())
    if not isinstance(calls, list | tuple) or not all(map(_is_call, calls)):
        raise TypeError("no tool calls")
    return found


def _is_call(call: Any) -> bool:
    is_named = isinstance(call, dict) and isinstance(call.get("name"), str)
    return is_named and isinstance(call.get("id"), str) and isinstance(call.get("arguments"), dict)


class _Reading:
    """A tape while it is read, and the questions that have no answer yet."""

    def __init__(self, recording: Recording) -> None:
        self._tape, self._body = Tape(), recording.body
        self._asked: dict[Place, deque[str]] = defaultdict(deque)
        """Contexts of model calls, by place."""
        self._called: dict[ToolPlace, BegunAct] = {}
        self._is_typed: dict[int, bool] = {}
        """Whether what the user said was a typed request, by turn."""

    def tape_so_far(self) -> Tape:
        """Return the tape; what was asked without an answer stands in it as such."""
        tape = self._tape
        tape.unanswered = {place for place, contexts in self._asked.items() if contexts}
        tape.running = {
            place: act for place, act in self._called.items() if place not in tape.results
        }
        return tape

    def take(self, event: Event) -> None:
        """Take the next event; most kinds are no answers."""
        where = (event.path, event.attempt)
        match event.payload:
            case UserMessageReceived() as said:
                self._is_typed[event.turn] = said.typed
                self._tape.messages.append(_message(self._body(said.message))["content"])
            case StateSet() as fact if not self._tape.messages:
                self._tape.given |= self._body(fact.value)
            case HandoffRequested() as request:
                self._requested(event, request)
            case ModelCalled() as call:
                self._asked[*where, call.step].append(call.context)
            case ModelReplied() as reply:
                self._replied(event, reply)
            case ToolCalled() as use:
                act = BegunAct(use.arguments, use.idempotency_key)
                self._called[*where, use.step, use.index] = act
            case ToolReturned() as back:
                self._returned(event, back)
            case HandoffClosed() as closed:
                self._closed(event, closed)
            case ApprovalRequested() as approval:
                self._tape.requested_at[approval.approval_id] = event.at
                self._tape.shown[approval.approval_id] = approval.shown
            case ApprovalDecided() as decision:
                approved = decision.approved_arguments
                arguments: dict[str, Any] = dict(self._body(approved)) if approved else {}
                self._tape.decisions[decision.approval_id] = (decision, arguments)
            case InputGiven() as given:
                self._tape.answers[event.handoff_id or ""].append(self._body(given.answer))
            case _:
                pass

    def _requested(self, event: Event, request: HandoffRequested) -> None:
        tape, where = self._tape, (event.path, event.attempt)
        tape.handoff_ids[where].append(event.handoff_id or "")
        tape.requests[where] = request.request or ""
        if self._is_typed.pop(event.turn, False) and request.request:
            tape.messages[-1] = HandoffRequest.model_validate(self._body(request.request))

    def _replied(self, event: Event, reply: ModelReplied) -> None:
        place = (event.path, event.attempt, reply.step)
        self._tape.replies[place].append(
            RecordedReply(
                context=self._asked[place].popleft(),
                reply=_message(self._body(reply.reply)) if reply.reply else None,
                usage=Usage(reply.input_tokens, reply.output_tokens, reply.measured),
                finish_reason=reply.finish_reason,
                error=reply.error,
                transient=reply.transient,
                late=reply.late,
                at_seconds=event.elapsed_seconds,
                seconds=reply.latency_seconds,
                raised_at=reply.raised_at,
            )
        )

    def _returned(self, event: Event, back: ToolReturned) -> None:
        place = (event.path, event.attempt, back.step, back.index)
        self._tape.results[place] = RecordedResult(
            arguments=self._called[place].arguments if place in self._called else "",
            message=_message(self._body(back.result)),
            error=back.error,
            transient=back.transient,
            late=back.late,
            at_seconds=event.elapsed_seconds,
            seconds=back.duration_seconds,
            raised_at=back.raised_at,
            outcome_unknown=back.outcome_unknown,
            hands_over=back.hands_over,
        )

    def _closed(self, event: Event, closed: HandoffClosed) -> None:
        where, result = (event.path, event.attempt), closed.result
        self._tape.handoffs[where] = RecordedHandoff(
            event.handoff_id or "",
            self._tape.requests.get(where, ""),
            closed.target,
            HandoffResult.model_validate(self._body(result)) if result else None,
            result,
            closed.reason,
        )
