"""Recording one sample session, so that the same code records the same bytes every time.

A virtual clock, ids made from names, and no process or versions of the machine at hand.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from handoff_console.runtime import (
    Approval,
    Decision,
    Event,
    EventList,
    Flow,
    HandoffRequest,
    Origin,
    Question,
    Session,
    SessionResult,
    resume,
)
from handoff_console.runtime import Recording as SessionSoFar
from handoff_console.runtime.canonical import digest
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.events import SessionStarted
from handoff_console.runtime.process import ProcessIdentity
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.pace import paced

DIGEST_KEY = b"handoff-console sample sessions"
"""No secret: samples hold nothing that a digest could give away."""

_NO_PROCESS = ProcessIdentity("sample", "", 0, 0.0)

Said = Decision | str | None
"""What a person says to what waits: a decision, an answer, or nothing."""


@dataclass(frozen=True)
class Later:
    """Somebody looks at a session that waits, and it goes on."""

    minutes: float
    """After the session began."""
    says: Callable[[Approval | Question], Said] = lambda _: None
    """What is said to each thing that waits; by default nothing."""


@dataclass(frozen=True)
class SampleSession:
    """One session to record."""

    name: str
    """Its file's name, without the ending."""
    flow: str
    asked: str | HandoffRequest
    at: datetime
    finding: str = ""
    """What it is there to show, by the finding's code; empty for a session without a fault."""
    then: Sequence[str] = ()
    """What the user says afterwards, a turn each."""
    later: Sequence[Later] = ()
    """What people say to a session that waits."""
    variant: Callable[[], Flow] | None = None
    """The flow with something changed; by default as it is."""

    @property
    def session_id(self) -> str:
        """The same id each time it is recorded, in the form of every session's."""
        return f"{self.at:%Y%m%d-%H%M%S}-{digest(self.name.encode(), b'')[:8]}"


def record(recording: SampleSession) -> EventList:
    """Run the session at the pace of a language model, in no time, and return what it recorded."""
    sink = _AnyPython(DIGEST_KEY)
    chosen = sample(recording.flow)
    flow = paced(recording.variant() if recording.variant else chosen.recorded_flow, speed=1)
    origin = Origin(
        flow_source=recording.flow,
        kind="sample",
        metadata={"sample": recording.name},
        process=_NO_PROCESS,
    )
    result = run_virtual(_run(flow, recording, sink=sink, origin=origin))
    for later in recording.later:
        result = run_virtual(_go_on(flow, recording, later, result, sink=sink, origin=origin))
    return sink


async def _run(flow: Flow, recording: SampleSession, **options: Any) -> SessionResult:
    clock = VirtualClock(recording.at)
    session = Session(flow, clock=clock, session_id=recording.session_id, **options)
    result = await session.say(recording.asked)
    for message in recording.then:
        result = await session.say(message)
    if not result.waiting_for:
        session.close()
    return result


async def _go_on(
    flow: Flow, recording: SampleSession, later: Later, waiting: SessionResult, **options: Any
) -> SessionResult:
    said = [(one, later.says(one)) for one in waiting.waiting_for]
    sink: EventList = options["sink"]
    bodies = dict(sink.bodies)
    return await resume(
        flow,
        SessionSoFar(
            recording.session_id, tuple(sink.events), lambda name: json.loads(bodies[name])
        ),
        clock=VirtualClock(recording.at + timedelta(minutes=later.minutes)),
        decisions=[word for _, word in said if isinstance(word, Decision)],
        answers={
            one.handoff_id: word
            for one, word in said
            if isinstance(one, Question) and isinstance(word, str)
        },
        **options,
    )


class _AnyPython(EventList):
    """A sink that leaves out which Python and which packages recorded the session."""

    def append(self, event: Event, /) -> None:
        if isinstance(event.payload, SessionStarted):
            event = event._replace(payload=replace(event.payload, python_version="", packages=()))
        super().append(event)
