"""Sessions run in virtual time: what a test asks of one, in few words."""

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handoff_console.runtime import Flow, HandoffRequest, Origin, SessionResult, Status, run
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.contract import Message
from handoff_console.runtime.events import Event, EventList, Payload, payload_text
from handoff_console.runtime.models import ModelCall, ModelReply, as_model
from handoff_console.runtime.process import ProcessIdentity

SOMEWHERE = ProcessIdentity("host", "boot", 4812, 1_767_600_000.0)
"""A process that is the same on every machine, so that recordings are."""


@dataclass
class Watched:
    """A model that answers as another one does, and remembers what it was asked."""

    model: Any
    name: str = "watched"
    offline: bool = True
    reads_prompt: bool = True
    calls: list[ModelCall] = field(default_factory=list)

    async def reply(self, call: ModelCall, /) -> ModelReply:
        self.calls.append(call)
        return await as_model(self.model, "flow", call.agent.name).reply(call)

    def read_by(self, agent: str, step: int = 1) -> list[Message]:
        """Return the messages that an agent read in its step."""
        return list(self.call_of(agent, step).messages)

    def call_of(self, agent: str, step: int = 1) -> ModelCall:
        return next(c for c in self.calls if (c.agent.name, c.step) == (agent, step))


@dataclass
class Played:
    """A session that has ended, and its record."""

    sink: EventList
    outcome: SessionResult | None = None
    raised: BaseException | None = None

    @property
    def result(self) -> SessionResult:
        if self.outcome is None:
            raise AssertionError("The session raised.") from self.raised
        return self.outcome

    @property
    def status(self) -> Status:
        return self.result.status

    @property
    def events(self) -> list[Event]:
        return self.sink.events

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def of(self, kind: str, handoff_id: str | None = None) -> list[Any]:
        """Return the payloads of a kind, in order."""
        return [
            event.payload
            for event in self.events
            if event.kind == kind and handoff_id in (None, event.handoff_id)
        ]

    def one(self, kind: str, handoff_id: str | None = None) -> Any:
        """Return the only payload of a kind."""
        (payload,) = self.of(kind, handoff_id)
        return payload

    def count(self, kind: str) -> int:
        return Counter(self.kinds)[kind]

    def asked_models(self) -> list[str]:
        """Return the agents whose models were asked, in order."""
        agents = {e.handoff_id: e.payload.agent for e in self.events if e.kind == "agent_activated"}
        return [agents[e.handoff_id] for e in self.events if e.kind == "model_called"]

    def routes(self) -> list[str]:
        """Return `source → target` of every handoff that opened, in order."""
        return [f"{p.source} → {p.target}" for p in self.of("handoff_opened")]

    def read(self, context: str | None) -> list[Message]:
        """Return the messages along a recorded context."""
        messages: list[Message] = []
        while context:
            node = self.sink.body(context)
            messages = [self.sink.body(digest) for digest in node["messages"]] + messages
            context = node["previous"]
        return messages

    def everything_written(self) -> str:
        """Return all payloads and bodies as one text."""
        payloads = [payload_text(event.payload) for event in self.events]
        return "\n".join([*payloads, *(body.decode() for body in self.sink.bodies.values())])

    def as_text(self) -> str:
        """Return the whole record, envelopes included: equal runs, equal text."""
        lines = [
            canonical_text([*event[:-1], event.kind, payload_text(event.payload)])
            for event in self.events
        ]
        return "\n".join([*lines, canonical_text(self.sink.bodies)])


def play(
    flow: Flow,
    message: str | HandoffRequest = "Why was I charged twice?",
    *,
    sink: EventList | None = None,
    **options: Any,
) -> Played:
    """Run a session in virtual time; what it raises is kept with its record."""
    played = Played(EventList(b"key") if sink is None else sink)
    options = {"session_id": "s1", "origin": Origin(process=SOMEWHERE)} | options
    start = functools.partial(run, flow, message, sink=played.sink, clock=VirtualClock())
    try:
        played.outcome = run_virtual(start(**options))
    except Exception as raised:  # noqa: BLE001 - the test asks for it
        played.raised = raised
    return played


def replies(payload: Payload) -> Mapping[str, Any]:
    """Return a payload's fields as a mapping, for comparing some of them."""
    return {name: getattr(payload, name) for name, _ in type(payload).defaults}
