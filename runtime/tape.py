"""What a session was told: every answer of a model, a tool or a person, by where it was given.

The same engine runs over a tape and over live models. A tape is keyed by where a question is asked
(path, attempt, step, index) and checked against what is asked (the digest of the input). An entry
for another question is a divergence: recorded, never guessed around.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from handoff_console.runtime.contract import HandoffRequest, Message, Usage
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    HandoffRequested,
    InputGiven,
    ModelCalled,
    ModelReplied,
    ToolCalled,
    ToolReturned,
    UserMessageReceived,
)

Place = tuple[str | None, int, int]
"""Path, attempt, step."""
ToolPlace = tuple[str | None, int, int, int]
"""Path, attempt, step, call of the reply."""


class RecordedReply(NamedTuple):
    """One answer of a model, or its failure."""

    context: str
    """The digest of what it was asked."""
    reply: Message | None
    usage: Usage
    finish_reason: str
    error: str
    transient: bool
    late: bool
    at_seconds: float
    """When it came, since the session started."""


class RecordedResult(NamedTuple):
    """One answer of a tool."""

    arguments: str
    """The digest of what it was called with."""
    message: Message
    error: str
    transient: bool
    late: bool
    at_seconds: float


@dataclass(frozen=True)
class Recording:
    """A recorded session: its events, and its bodies on request."""

    session_id: str
    events: Sequence[Event]
    body: Callable[[str], Any]
    """Returns a body by its digest, as a JSON value."""


@dataclass
class Tape:
    """The answers of a recorded session."""

    replies: dict[Place, deque[RecordedReply]] = field(default_factory=lambda: defaultdict(deque))
    """Every try of a step, in order."""
    unanswered: set[Place] = field(default_factory=set)
    """Model calls that the record has no answer to: the process ended before it came."""
    results: dict[ToolPlace, RecordedResult] = field(default_factory=dict)
    running: set[ToolPlace] = field(default_factory=set)
    """Tools that were called and had not returned when the process ended."""
    decisions: dict[str, tuple[ApprovalDecided, dict[str, Any]]] = field(default_factory=dict)
    """By approval id, with the arguments that were approved."""
    requested_at: dict[str, float] = field(default_factory=dict)
    """When approvals were asked for, in seconds since 1970, by approval id."""
    answers: dict[str, Message] = field(default_factory=dict)
    """What people answered, by the handoff that asked."""
    handoff_ids: dict[tuple[str | None, int], str] = field(default_factory=dict)
    """By path and attempt."""
    messages: list[str | HandoffRequest] = field(default_factory=list)
    """What the user said, a turn each."""

    @classmethod
    def of(cls, recording: Recording) -> "Tape":
        """Read the tape of a recorded session."""
        tape = cls()
        asked: dict[Place, deque[str]] = defaultdict(deque)
        called: dict[ToolPlace, str] = {}
        typed: dict[int, bool] = {}
        for event in recording.events:
            tape._read(event, recording.body, asked, called, typed)
        tape.unanswered = {place for place, contexts in asked.items() if contexts}
        tape.running = called.keys() - tape.results.keys()
        return tape

    def _read(
        self,
        event: Event,
        body: Callable[[str], Any],
        asked: Mapping[Place, deque[str]],
        called: dict[ToolPlace, str],
        typed: dict[int, bool],
    ) -> None:
        where = (event.path, event.attempt)
        match event.payload:
            case UserMessageReceived() as said:
                typed[event.turn] = said.typed
                self.messages.append(body(said.message)["content"])
            case HandoffRequested() as request:
                self.handoff_ids[where] = event.handoff_id or ""
                if typed.pop(event.turn, False) and request.request:
                    self.messages[-1] = HandoffRequest.model_validate(body(request.request))
            case ModelCalled() as call:
                asked[*where, call.step].append(call.context)
            case ModelReplied() as reply:
                place = (*where, reply.step)
                self.replies[place].append(
                    RecordedReply(
                        asked[place].popleft(),
                        body(reply.reply) if reply.reply else None,
                        Usage(reply.input_tokens, reply.output_tokens, reply.measured),
                        reply.finish_reason,
                        reply.error,
                        reply.transient,
                        reply.late,
                        event.elapsed_seconds,
                    )
                )
            case ToolCalled() as use:
                called[*where, use.step, use.index] = use.arguments
            case ToolReturned() as back:
                spot = (*where, back.step, back.index)
                self.results[spot] = RecordedResult(
                    called.get(spot, ""),
                    body(back.result),
                    back.error,
                    back.transient,
                    back.late,
                    event.elapsed_seconds,
                )
            case ApprovalRequested() as approval:
                self.requested_at[approval.approval_id] = event.at
            case ApprovalDecided() as decision:
                approved = decision.approved_arguments
                arguments = body(approved) if approved else {}
                self.decisions[decision.approval_id] = (decision, arguments)
            case InputGiven() as given:
                self.answers[event.handoff_id or ""] = body(given.answer)
            case _:
                pass


def last_id(ids: Iterable[str]) -> int:
    """Return the highest number among handoff ids; 0 when there are none."""
    return max((int(name[1:]) for name in ids if name[1:].isdigit()), default=0)
