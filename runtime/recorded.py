"""What a recording says of one handoff: enough to put it before the same agent again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handoff_console.runtime.context import request_message, slice_messages
from handoff_console.runtime.contract import ContextPolicy, HandoffRequest, Message
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import RequestError, choices
from handoff_console.runtime.events import (
    AgentActivated,
    Event,
    HandoffOpened,
    HandoffRequested,
    ModelCalled,
    UserMessageReceived,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.packet import Packet
from handoff_console.runtime.tape import Recording


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
        known = sorted({e.handoff_id for e in recording.events if e.handoff_id})
        raise RequestError(
            f"The session {recording.session_id!r} has no handoff {handoff_id!r}; it has: "
            f"{choices(known, 'none')}."
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
    )


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


def _turn(recording: Recording, turn: int) -> UserMessageReceived:
    return next(
        event.payload
        for event in recording.events
        if event.turn == turn and isinstance(event.payload, UserMessageReceived)
    )
