"""What a session was told: every answer of a model, a tool or a person, by where it was given.

The same engine runs over a tape and over live models. A tape is keyed by where a question is asked
(path, attempt, step, index) and checked against what is asked (the digest of the input). An entry
for another question is a divergence: recorded, never guessed around.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from handoff_console.runtime.contract import HandoffRequest, HandoffResult, Message, Usage
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    HandoffClosed,
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
    seconds: float
    """How long it took."""


class RecordedResult(NamedTuple):
    """One answer of a tool."""

    arguments: str
    """The digest of what it was called with."""
    message: Message
    error: str
    transient: bool
    late: bool
    at_seconds: float
    seconds: float


class RecordedHandoff(NamedTuple):
    """One handoff, as it was asked for and as it ended."""

    handoff_id: str
    request: str
    """The digest of its request."""
    agent: str
    result: HandoffResult | None
    result_digest: str | None


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
    shown: dict[str, str] = field(default_factory=dict)
    """Digests of what people were shown, by approval id."""
    requested_at: dict[str, float] = field(default_factory=dict)
    """When approvals were asked for, in seconds since 1970, by approval id."""
    answers: dict[str, deque[Message]] = field(default_factory=lambda: defaultdict(deque))
    """What people answered, in order, by the handoff that asked."""
    handoff_ids: dict[tuple[str | None, int], deque[str]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    """By path and attempt, in the order asked: a refused transfer leaves its place to the next."""
    handoffs: dict[tuple[str | None, int], RecordedHandoff] = field(default_factory=dict)
    """By path and attempt, those that closed."""
    requests: dict[tuple[str | None, int], str] = field(default_factory=dict)
    """Digests of the requests, by path and attempt."""
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
                self.handoff_ids[where].append(event.handoff_id or "")
                self.requests[where] = request.request or ""
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
                        reply.latency_seconds,
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
                    back.duration_seconds,
                )
            case HandoffClosed() as closed:
                result = closed.result
                self.handoffs[where] = RecordedHandoff(
                    event.handoff_id or "",
                    self.requests.get(where, ""),
                    closed.target,
                    HandoffResult.model_validate(body(result)) if result else None,
                    result,
                )
            case ApprovalRequested() as approval:
                self.requested_at[approval.approval_id] = event.at
                self.shown[approval.approval_id] = approval.shown
            case ApprovalDecided() as decision:
                approved = decision.approved_arguments
                arguments = body(approved) if approved else {}
                self.decisions[decision.approval_id] = (decision, arguments)
            case InputGiven() as given:
                self.answers[event.handoff_id or ""].append(body(given.answer))
            case _:
                pass

    def chain_end(self, path: str, attempt: int) -> RecordedHandoff | None:
        """Return what a handoff came to: its result, its retry's, or the last hop's.

        None when none of them has one: it was left open, or its fork was joined by the runtime.
        """
        path, attempt = self._last_of_chain(path, attempt)
        found = self.handoffs.get((path, attempt))
        return found if found and found.result else None

    def branches(self, path: str, attempt: int) -> list[str]:
        """Return the paths of a fork that the runtime joined at a chain's end; mostly none."""
        base, hop = hop_of(self._last_of_chain(path, attempt)[0])
        found: list[str] = []
        while (f"{base}~{hop + 1}.{len(found)}", 1) in self.handoffs:
            found.append(f"{base}~{hop + 1}.{len(found)}")
        return found

    def _last_of_chain(self, path: str, attempt: int) -> tuple[str, int]:
        while (found := self.handoffs.get((path, attempt))) is not None:
            if (path, attempt + 1) in self.handoffs:
                attempt += 1
                continue
            after = self._next_hop(path)
            if found.result is not None or (after, 1) not in self.handoffs:
                break
            path, attempt = after, 1
        return path, attempt

    def _next_hop(self, path: str) -> str:
        """Return the path of the hop after one; after a fork, of the one that merges it."""
        base, hop = hop_of(path)
        is_fork = (f"{base}~{hop + 1}.0", 1) in self.handoffs
        return f"{base}~{hop + (2 if is_fork else 1)}"

    def grafted(self, path: str, other: "Tape") -> "Tape":
        """Return this tape with everything at and below a path taken from another one."""
        merged = Tape()
        for name in ("replies", "results", "handoff_ids", "handoffs", "requests"):
            mine, theirs = getattr(self, name), getattr(other, name)
            getattr(merged, name).update(
                {place: value for place, value in mine.items() if not is_within(place[0], path)}
                | {place: value for place, value in theirs.items() if is_within(place[0], path)}
            )
        merged.decisions = {**self.decisions, **other.decisions}
        merged.shown = {**self.shown, **other.shown}
        merged.requested_at = {**self.requested_at, **other.requested_at}
        merged.answers, merged.messages = self.answers, list(self.messages)
        return merged


def is_within(path: str | None, root: str) -> bool:
    """Say whether a path is `root`, lies below it, or continues it by transfers."""
    if path is None or path == root:
        return path is not None
    base, hop = hop_of(root)
    if path.startswith((root + "/", root + "~", root + "#")):
        return True
    if base == root or not path.startswith(base + "~"):
        return False
    later = re.match(r"\d+", path[len(base) + 1 :])
    return later is not None and int(later[0]) > hop


def hop_of(path: str) -> tuple[str, int]:
    """Return the path that a chain of transfers is counted from, and how many this hop is.

    A branch of a fork (`t1~2.1`) is where a chain of its own begins.
    """
    base, mark, hop = path.rpartition("~")
    if not mark or "/" in hop:
        return path, 0
    number, is_branch, _ = hop.partition(".")
    return (path if is_branch else base), int(number)


def last_id(ids: Iterable[str]) -> int:
    """Return the highest number among handoff ids; 0 when there are none."""
    return max((int(name[1:]) for name in ids if name[1:].isdigit()), default=0)
