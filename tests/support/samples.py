"""Running sample flows, as they are and with something changed."""

import asyncio
from dataclasses import replace
from typing import Any, NamedTuple

from handoff_console.runtime import (
    Event,
    EventList,
    Flow,
    HandoffRequest,
    Session,
    SessionResult,
    run,
)
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import record
from handoff_console.store.analysis.findings import Finding, findings
from handoff_console.store.analysis.transcript import transcript


class Ran(NamedTuple):
    """A session that ran, and what it recorded."""

    result: SessionResult
    sink: EventList

    @property
    def answer(self) -> str:
        return self.result.answer

    @property
    def status(self) -> str:
        return self.result.status.value

    @property
    def lines(self) -> list[str]:
        return transcript(self.sink.events, self.sink.body)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return findings(self.sink.events, self.sink.body)

    def read_by(self, agent: str) -> list[list[dict[str, Any]]]:
        """The messages that an agent's model read, a list for each of its calls, in order."""
        agents = {e.handoff_id: e.payload.target for e in self.events("handoff_opened")}
        calls = [e for e in self.events("model_called") if agents[e.handoff_id] == agent]
        return [self._chain(call.payload.context) for call in calls]

    def _chain(self, digest: str | None) -> list[dict[str, Any]]:
        if digest is None:
            return []
        node = self.sink.body(digest)
        return self._chain(node["previous"]) + [self.sink.body(m) for m in node["messages"]]

    def events(self, kind: str) -> list[Event]:
        return [event for event in self.sink.events if event.kind == kind]

    def opened(self) -> list[tuple[str, str]]:
        """Who handed off to whom, the user left out."""
        opened = [event.payload for event in self.events("handoff_opened")[1:]]
        return [(payload.source, payload.target) for payload in opened]

    def request(self, number: int) -> dict[str, Any]:
        """The request of the n-th handoff that was asked for, from 0 for the user's."""
        return self.sink.body(self.events("handoff_requested")[number].payload.request)

    def data(self) -> dict[str, Any]:
        """What the result holds."""
        return self.result.result.data or {}


def ran(flow: str | Flow, asked: str | HandoffRequest, **options: Any) -> Ran:
    flow = sample(flow).recorded_flow if isinstance(flow, str) else flow
    sink = EventList()
    return Ran(asyncio.run(run(flow, asked, sink=sink, **options)), sink)


def talked(flow: str | Flow, *turns: str, **options: Any) -> Ran:
    """A session of several user turns."""
    flow = sample(flow).recorded_flow if isinstance(flow, str) else flow
    sink = EventList()

    async def talk() -> SessionResult:
        session = Session(flow, sink=sink, **options)
        result = [await session.say(turn) for turn in turns][-1]
        session.close()
        return result

    return Ran(asyncio.run(talk()), sink)


def shipped(name: str) -> EventList:
    """A recorded session by its name, recorded now."""
    return record(next(recording for recording in RECORDINGS if recording.name == name))


def with_edge(name: str, source: str, target: str, **changes: Any) -> Flow:
    """A sample flow in which one edge is changed."""
    flow = sample(name).flow
    return flow.changed(
        agents=[
            replace(
                agent,
                edges=[
                    replace(edge, **changes) if edge.target == target else edge
                    for edge in agent.edges
                ],
            )
            if agent.name == source
            else agent
            for agent in flow.agents
        ]
    )
