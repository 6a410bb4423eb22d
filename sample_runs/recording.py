"""Recording one sample session, so that the same code records the same bytes every time.

A virtual clock, ids made from names, and no process or Python version of the machine at hand.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from handoff_console.runtime import Event, EventList, HandoffRequest, Origin, run
from handoff_console.runtime.canonical import digest
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.events import SessionStarted
from handoff_console.runtime.process import ProcessIdentity
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.pace import paced

DIGEST_KEY = b"handoff-console sample sessions"
"""No secret: samples hold nothing that a digest could give away."""

_NO_PROCESS = ProcessIdentity("sample", "", 0, 0.0)


@dataclass(frozen=True)
class Recording:
    """One session to record."""

    name: str
    """Its file's name, without the ending."""
    flow: str
    asked: str | HandoffRequest
    at: datetime
    finding: str = ""
    """What it is there to show, by the finding's code; empty for a session without a fault."""

    @property
    def session_id(self) -> str:
        """The same id each time it is recorded, in the form of every session's."""
        return f"{self.at:%Y%m%d-%H%M%S}-{digest(self.name.encode(), b'')[:8]}"


def record(recording: Recording) -> EventList:
    """Run the session at the pace of a language model, in no time, and return what it recorded."""
    sink = _AnyPython(DIGEST_KEY)
    origin = Origin(
        flow_source=recording.flow,
        kind="sample",
        metadata={"sample": recording.name},
        process=_NO_PROCESS,
    )
    run_virtual(
        run(
            paced(sample(recording.flow).flow, speed=1),
            recording.asked,
            sink=sink,
            clock=VirtualClock(recording.at),
            session_id=recording.session_id,
            origin=origin,
        )
    )
    return sink


class _AnyPython(EventList):
    """A sink that leaves out which Python recorded the session."""

    def append(self, event: Event, /) -> None:
        if isinstance(event.payload, SessionStarted):
            event = event._replace(payload=replace(event.payload, python_version=""))
        super().append(event)
