"""What a recording says of one handoff: enough to put it before the same agent again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handoff_console.runtime.context import request_message, slice_messages
from handoff_console.runtime.contract import ContextPolicy, HandoffRequest, HandoffResult, Message
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import RequestError, choices
from handoff_console.runtime.events import (
    AgentActivated,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    HandoffOpened,
    HandoffRequested,
    InputGiven,
    InputRequested,
    ModelCalled,
    UserMessageReceived,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.joining import Answered, joined_result
from handoff_console.runtime.packet import Packet
from handoff_console.runtime.surroundings import Surroundings, surroundings
from handoff_console.runtime.tape import Recording, Tape, hop_of, is_within

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
        if not edits.changes_request or self.opened.context_policy == ContextPolicy.FULL_HISTORY:
            return self.first_messages
        if self._is_plain_root:
            *before, last = self.first_messages
            return [*before, {**last, "content": edits.task or last["content"]}]
        if self.opened.context_policy == ContextPolicy.SLICE:
            payload, *recent = self.first_messages
            return [*slice_messages(request, [payload]), *recent]
        return [request_message(flow, request, self._edited_packet(edits))]

    @property
    def _is_plain_root(self) -> bool:
        last = self.first_messages[-1]["content"] if self.first_messages else None
        return self.opened.packet is None and last == self.message

    def _edited_packet(self, edits: Edits) -> Packet | None:
        if self.packet is None:
            return None
        facts = {k: v for k, v in self.packet.facts.items() if k not in edits.without_inputs}
        return replace(self.packet, facts=facts | dict(edits.inputs))


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
            "again; run the one that asked for it."
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
        _messages(called.payload.context, body)[1:] if called else [],
        turn,
        str(body(turn.message)["content"]),
        surroundings(recording, opening),
        _onward_tokens(recording, opening),
        _waits_for(recording, opening.path or ""),
    )


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


def with_recorded_prompts(flow: Flow, recording: Recording) -> Flow:
    """Return the flow with the prompts its agents had when the session was recorded."""
    prompts: dict[str, str] = {}
    for event in recording.events:
        if isinstance(event.payload, AgentActivated):
            prompts[event.payload.agent] = str(recording.body(event.payload.prompt))
    agents = [replace(agent, prompt=prompts.get(agent.name, agent.prompt)) for agent in flow.agents]
    return flow.changed(agents=agents)


def flow_changes(flow: Flow, snapshot: Mapping[str, Any]) -> list[str]:
    """Return what differs between a flow and the one a session was recorded with.

    Tools are compared by source, schema and effect; a changed one is announced before anything
    runs live.
    """
    recorded = {agent["name"]: agent for agent in snapshot.get("agents", ())}
    changes = []
    for agent in flow.agents:
        was = recorded.get(agent.name)
        if was is None:
            changes.append(f"agent {agent.name!r} is new")
            continue
        before = {tool["name"]: tool for tool in was.get("tools", ())}
        now = {tool.name: tool.spec for tool in agent.tools}
        changes += [
            f"the tool {name!r} of {agent.name!r} {_change(before.get(name), now.get(name))}"
            for name in sorted(before.keys() | now.keys())
            if before.get(name) != now.get(name)
        ]
        if was.get("prompt") != agent.prompt:
            changes.append(f"the prompt of {agent.name!r} is another one")
    gone = recorded.keys() - flow.agents_by_name.keys()
    return changes + [f"agent {name!r} is gone" for name in sorted(gone)]


def _change(before: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> str:
    if before is None:
        return "is new"
    if now is None:
        return "is gone"
    parts = [part for part in ("source", "parameters", "effect") if before[part] != now[part]]
    return f"has another {' and '.join(parts) or 'description'}"


def _messages(node: str, body: Callable[[str], Any]) -> list[Message]:
    parts: list[list[Message]] = []
    while node:
        link = body(node)
        parts.append([body(digest) for digest in link["messages"]])
        node = link["previous"] or ""
    return [message for part in reversed(parts) for message in part]


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
        if not is_within(event.path, path):
            continue
        if isinstance(payload, ApprovalRequested):
            waiting.add(payload.approval_id)
        elif isinstance(payload, ApprovalDecided):
            waiting.discard(payload.approval_id)
        elif isinstance(payload, InputRequested):
            waiting.add(event.handoff_id or "")
        elif isinstance(payload, InputGiven):
            waiting.discard(event.handoff_id or "")
    return frozenset(waiting)


def _turn(recording: Recording, turn: int) -> UserMessageReceived:
    return next(
        event.payload
        for event in recording.events
        if event.turn == turn and isinstance(event.payload, UserMessageReceived)
    )
