"""What a session was told: every answer of a model, a tool or a person, by where it was given.

The same engine runs over a tape and over live models. A tape is keyed by where a question is asked
(path, attempt, step, index) and checked against what is asked (the digest of the input). An entry
for another question is a divergence: recorded, never guessed around.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

from handoff_console.runtime.contract import HandoffRequest, HandoffResult, Message, Usage
from handoff_console.runtime.events import (
    ApprovalDecided,
    hop_of,
    is_within,
    roots_of,
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
    raised_at: str = ""
    """Where the function that stands for it failed."""


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
    raised_at: str = ""
    outcome_unknown: bool = False
    hands_over: bool = False


class BegunAct(NamedTuple):
    """A tool call that the record has no end of."""

    arguments: str
    """The digest of what it was called with."""
    key: str | None
    """Of its effect; None for reads."""


class RecordedHandoff(NamedTuple):
    """One handoff, as it was asked for and as it ended."""

    handoff_id: str
    request: str
    """The digest of its request."""
    agent: str
    result: HandoffResult | None
    result_digest: str | None
    reason: str = ""
    """For `limit_reached`, which limit."""


@dataclass
class Tape:
    """The answers of a recorded session."""

    replies: dict[Place, deque[RecordedReply]] = field(default_factory=lambda: defaultdict(deque))
    """Every try of a step, in order."""
    unanswered: set[Place] = field(default_factory=set)
    """Model calls that the record has no answer to: the process ended before it came."""
    results: dict[ToolPlace, RecordedResult] = field(default_factory=dict)
    running: dict[ToolPlace, BegunAct] = field(default_factory=dict)
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
    given: dict[str, Any] = field(default_factory=dict)
    """What the host knew before the first turn."""

    @cached_property
    def places_by_request(self) -> Mapping[str, Sequence[tuple[str | None, int]]]:
        """Where handoffs were asked for with the same request, by its digest, in order.

        Of a tape that was read: a re-run may ask for thousands.
        """
        found: dict[str, list[tuple[str | None, int]]] = defaultdict(list)
        for place, known in self.handoffs.items():
            found[known.request].append(place)
        return dict(found)

    @cached_property
    def first_results(self) -> Mapping[tuple[str | None, int, str, str], RecordedResult]:
        """The first answer to the same call of a tool: by path, attempt, tool and arguments."""
        found: dict[tuple[str | None, int, str, str], RecordedResult] = {}
        for (path, attempt, _, _), known in self.results.items():
            name = str(known.message.get("name"))
            found.setdefault((path, attempt, name, known.arguments), known)
        return found

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
        """Return this tape with everything at and below a path taken from another one.

        What the other one took over as a whole, without anybody being asked, is answered from this
        one: the same request stands there.
        """
        merged = Tape()
        taken_over = self._taken_over(path, other)

        @cache
        def is_mine(at: str | None) -> bool:
            return at is None or not (is_within(at, path) and taken_over.isdisjoint(roots_of(at)))

        for name in ("replies", "results", "handoff_ids", "handoffs", "requests"):
            mine, theirs = getattr(self, name), getattr(other, name)
            getattr(merged, name).update(
                {place: value for place, value in mine.items() if is_mine(place[0])}
                | {place: value for place, value in theirs.items() if is_within(place[0], path)}
            )
        merged.decisions = {**self.decisions, **other.decisions}
        merged.shown = {**self.shown, **other.shown}
        merged.requested_at = {**self.requested_at, **other.requested_at}
        merged.answers, merged.messages = self.answers, list(self.messages)
        merged.given = self.given
        return merged

    def _taken_over(self, path: str, other: "Tape") -> set[str]:
        """Return the paths below one at which another tape has the same request, and no answer."""
        asked = {root for at, _, _ in other.replies if at for root in roots_of(at)}
        return {
            at
            for (at, attempt), request in other.requests.items()
            if at is not None
            and at != path
            and is_within(at, path)
            and request == self.requests.get((at, attempt))
            and at not in asked
        }


def last_id(ids: Iterable[str]) -> int:
    """Return the highest number among handoff ids; 0 when there are none."""
    return max((int(name[1:]) for name in ids if name[1:].isdigit()), default=0)
