"""What a recording says of one handoff: enough to put it before the same agent again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.context import request_message, slice_messages
from handoff_console.runtime.contract import (
    HUMAN,
    ContextPolicy,
    HandoffRequest,
    HandoffResult,
    Message,
    Packet,
)
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import RequestError, choices
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    HandoffOpened,
    HandoffRequested,
    InputGiven,
    InputRequested,
    ModelCalled,
    Recording,
    UserMessageReceived,
    context_chain,
    hop_of,
    is_within,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.joining import Answered, joined_result
from handoff_console.runtime.redaction import MARK, has_mark
from handoff_console.runtime.surroundings import Surroundings, surroundings
from handoff_console.runtime.tape import Tape

_OF_PEOPLE = ApprovalRequested | ApprovalDecided | InputRequested | InputGiven
_NAMED = 20
"""Of more handoffs than that, the first and the last are named."""


@dataclass(frozen=True)
class RecordedAgain:
    """A recorded handoff that is to be run again."""

    event: Event
    """The one that opened it."""
    opened: HandoffOpened
    request: HandoffRequest
    packet: Packet | None
    first_messages: Sequence[Message]
    """What its agent read after its own instructions."""
    turn: UserMessageReceived
    """The user's message in that turn, with the pool it opened."""
    message: str
    """What the user said in that turn."""
    surroundings: Surroundings
    onward_tokens: int
    """What the hops that continued it had reserved."""
    waits_for: frozenset[str]
    """Approvals, and handoffs with a question, that it and what is below it wait for."""

    @property
    def pool_tokens(self) -> int:
        """The pool that the whole request shared."""
        return self.turn.pool_tokens

    @property
    def finish_floor_tokens(self) -> int:
        """What stayed with the root."""
        return self.turn.finish_floor_tokens

    def messages_for(self, flow: Flow, request: HandoffRequest, edits: Edits) -> Sequence[Message]:
        """Return what the agent is to read: as recorded, or as the edited request says.

        A receiver of the whole conversation reads no request, so an edited one changes nothing for
        it.
        """
        is_narrowed = request.allowed_tools != self.request.allowed_tools
        changes = edits.changes_request or edits.changes_packet or self._is_said_again(flow)
        if not (changes or is_narrowed) or self.opened.context_policy == ContextPolicy.FULL_HISTORY:
            return self.first_messages
        if self._is_plain_root:
            *before, last = self.first_messages
            return [*before, {**last, "content": edits.task or last["content"]}]
        if self.opened.context_policy == ContextPolicy.SLICE:
            payload, *recent = self.first_messages
            return [*slice_messages(request, [payload]), *recent]
        return [request_message(flow, request, self.packet_for(edits))]

    def _is_said_again(self, flow: Flow) -> bool:
        """Say whether the request holds values again that the message made of it has not."""
        if self._is_plain_root or not has_mark(list(self.first_messages[:1])):
            return False
        again = request_message(flow, self.request, self.packet)
        return _marks(again) < _marks(self.first_messages[0])

    def packet_for(self, edits: Edits) -> Packet | None:
        """Return the packet with the changes; None where none came along."""
        return edits.packet(self.packet) if self.packet else None

    @property
    def _is_plain_root(self) -> bool:
        last = self.first_messages[-1]["content"] if self.first_messages else None
        return self.opened.packet is None and last == self.message


def _marks(message: Message) -> int:
    return len(MARK.findall(str(message["content"])))


def find_handoff(recording: Recording, handoff_id: str) -> RecordedAgain:
    """Return what a recording says of a handoff.

    Raises:
        RequestError: There is no such handoff, or the gate refused it.
    """
    mine = [event for event in recording.events if event.handoff_id == handoff_id]
    if not mine:
        known = list(dict.fromkeys(e.handoff_id for e in recording.events if e.handoff_id))
        shown = f"{known[0]} to {known[-1]}" if len(known) > _NAMED else choices(known, "none")
        raise RequestError(
            f"The session {recording.session_id!r} has no handoff {handoff_id!r}; it has: {shown}."
        )
    found: dict[type, Any] = {}
    for event in mine:
        found.setdefault(type(event.payload), event)
    opening = found.get(HandoffOpened)
    if opening is None:
        raise RequestError(
            f"The handoff {handoff_id!r} was refused and never began, so there is nothing to run "
            f"again; run {_asker(recording, mine)}, which asked for it."
        )
    body, opened = recording.body, opening.payload
    called = found.get(ModelCalled)
    asked: HandoffRequested = found[HandoffRequested].payload
    turn = _turn(recording, opening.turn)
    return RecordedAgain(
        opening,
        opened,
        HandoffRequest.model_validate(body(asked.request or "")),
        Packet(**body(opened.packet)) if opened.packet else None,
        _messages(recording, called.payload.context, handoff_id)[1:] if called else [],
        turn,
        str(body(turn.message)["content"]),
        surroundings(recording, opening),
        _onward_tokens(recording, opening),
        _waits_for(recording, opening.path or ""),
    )


def _asker(recording: Recording, mine: Sequence[Event]) -> str:
    """Return who asked for a handoff, by its own handoff: `'h2' (billing)`."""
    asked = mine[0]
    base, hop = hop_of(asked.path or "")
    asker = ""
    for event in recording.events:
        if event.seq < asked.seq and isinstance(event.payload, HandoffOpened):
            is_hop_before = hop and hop_of(event.path or "") == (base, hop - 1)
            if is_hop_before or (not hop and event.handoff_id == asked.parent_id):
                asker = f"{event.handoff_id!r} ({event.payload.target})"
    return asker or "the one"


def agent_of(flow: Flow, recorded: RecordedAgain) -> Agent:
    """Return the agent that does a recorded handoff, as the flow has it now; perhaps a person.

    Raises:
        RequestError: The flow has no such agent any more.
    """
    name = recorded.opened.target
    if name not in {HUMAN, *flow.agents_by_name}:
        raise RequestError(
            f"The flow {flow.name!r} has no agent {name!r}, who did this handoff; it has: "
            f"{choices(flow.agents_by_name)}."
        )
    return flow.agent(name)


def recorded_result(
    recording: Recording, tape: Tape, path: str, attempt: int
) -> HandoffResult | None:
    """Return what a handoff, or what followed from it, came to; None when nothing did."""
    end = tape.chain_end(path, attempt)
    if end:
        return end.result
    answers = []
    for branch in tape.branches(path, attempt):
        result = recorded_result(recording, tape, branch, 1)
        if result is None:
            return None
        task = recording.body(tape.requests[branch, 1])["task"]
        answers.append(Answered(tape.handoffs[branch, 1].agent, task, result))
    return joined_result(answers) if answers else None


def _messages(recording: Recording, context: str, handoff_id: str) -> list[Message]:
    digests, is_whole = context_chain(context, recording.body)
    if not is_whole:
        raise RequestError(
            f"The session {recording.session_id!r} no longer holds all that {handoff_id!r} read, "
            "so it cannot be run again."
        )
    return [recording.body(digest) for digest in digests]


def _onward_tokens(recording: Recording, opening: Event) -> int:
    base, hop = hop_of(opening.path or "")
    tokens = 0
    for event in recording.events:
        if isinstance(event.payload, HandoffOpened):
            other, later = hop_of(event.path or "")
            if other == base and later > hop:
                tokens += event.payload.grant_tokens or 0
    return tokens


def _waits_for(recording: Recording, path: str) -> frozenset[str]:
    waiting: set[str] = set()
    for event in recording.events:
        payload = event.payload
        # By kind first: of a large session few are, and a path takes longer to read.
        if not isinstance(payload, _OF_PEOPLE) or not is_within(event.path, path):
            continue
        if isinstance(payload, ApprovalRequested):
            waiting.add(payload.approval_id)
        elif isinstance(payload, ApprovalDecided):
            waiting.discard(payload.approval_id)
        elif isinstance(payload, InputRequested):
            waiting.add(event.handoff_id or "")
        else:
            waiting.discard(event.handoff_id or "")
    return frozenset(waiting)


def _turn(recording: Recording, turn: int) -> UserMessageReceived:
    return next(
        event.payload
        for event in recording.events
        if event.turn == turn and isinstance(event.payload, UserMessageReceived)
    )
