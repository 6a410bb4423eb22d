"""What a recording says of a handoff that is run again, whatever is changed about it.

A form asks for a plan at every change of a field. What does not depend on the change is worked out
once and can be kept, without the recording, which is a hundred times as large.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from handoff_console.console.commands.recorded_flows import RecordedFlow, flow_for, record_read
from handoff_console.console.commands.recorded_models import activated_of
from handoff_console.console.commands.rerun_course import Course, Part, course_of, part_at
from handoff_console.console.commands.typed_values import typed_form
from handoff_console.runtime import Recording
from handoff_console.runtime.contract import HandoffRequest, State, tool_value
from handoff_console.runtime.events import (
    AgentActivated,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRequested,
    ModelCalled,
    ModelReplied,
    SessionClosed,
    ToolCalled,
    ToolDenied,
    is_within,
)
from handoff_console.runtime.filling import filled
from handoff_console.runtime.recorded import RecordedAgain, find_handoff, recorded_result
from handoff_console.runtime.redaction import has_mark
from handoff_console.runtime.tape import RecordedResult, Tape
from handoff_console.runtime.taping import read_tape
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.plain_text import as_name
from handoff_console.store.analysis.scope import Place
from handoff_console.store.recordings import recording_of


@dataclass(frozen=True)
class RecordedCall:
    """One tool call of a handoff that came back."""

    place: str
    """Step and call: `2.0`."""
    tool: str
    arguments: str
    """As JSON."""
    returned: str
    """As it stands in a field."""
    is_text: bool
    """It returned a text."""


class Marked(NamedTuple):
    """A recorded result of a tool that holds a mark where a value was left out."""

    tool: str
    place: str
    """Step and call: `2.0`."""


class Answers(NamedTuple):
    """What a form and a plan read of the recorded answers themselves."""

    calls: tuple[RecordedCall, ...]
    """Of the handoff itself; so is the next."""
    marked: tuple[Marked, ...]
    marked_workers: tuple[str, ...]
    """Who answered a call of it with something that holds a mark."""
    has_marks: bool
    """Something was left out of what the user or any tool said."""


class Told:
    """What a recording tells; each part is a cached property, worked out when it is asked for.

    Args:
        recording: The recording.
    """

    def __init__(self, recording: Recording) -> None:
        self.session_id = recording.session_id
        self._recording: Recording | None = recording

    @property
    def recording(self) -> Recording:
        """Where it stands; gone from what was kept, of which only plans are made."""
        assert self._recording is not None
        return self._recording

    @cached_property
    def _record(self) -> Record:
        return Record(self.recording.events, self.recording.body, tasks=False)

    @cached_property
    def course(self) -> Course:
        """What models and tools answered."""
        return course_of(self._record)

    def keep(self) -> None:
        """Make now what would be made when it is asked for, and let the recording go.

        Raises:
            HandoffConsoleError: Something of the recording cannot be read.
        """
        for cls in type(self).__mro__:
            for name, one in vars(cls).items():
                if isinstance(one, cached_property):
                    getattr(self, name)
        self.__dict__.pop("_record", None)
        self._recording = None


class Past(Told):
    """What a recording says of a handoff.

    Args:
        recording: The session, or what of it this handoff needs to be run again alone.
        recorded: The handoff.
        flow: What it is run with.
    """

    def __init__(self, recording: Recording, recorded: RecordedAgain, flow: RecordedFlow) -> None:
        super().__init__(recording)
        self.recorded, self.flow = recorded, flow
        self.handoff_id = recorded.event.handoff_id or ""

    @cached_property
    def outcome(self) -> str:
        """How it came out when it was recorded."""
        return recorded_outcome_of(self.recording, self.recorded)

    @cached_property
    def activated(self) -> AgentActivated | None:
        """Who acted in it, and on which model; None where nobody did."""
        return activated_of(self.recording, self.handoff_id)

    @cached_property
    def was_denied(self) -> bool:
        """Whether a tool was denied it."""
        return any(
            event.handoff_id == self.handoff_id and isinstance(event.payload, ToolDenied)
            for event in self.recording.events
        )

    @cached_property
    def asked_for(self) -> frozenset[str]:
        """The tools that it called, and the places of the calls: `2.0`."""
        here = self.recorded.event.path, self.recorded.event.attempt
        called = [
            event.payload
            for event in self.recording.events
            if isinstance(event.payload, ToolCalled) and (event.path, event.attempt) == here
        ]
        return frozenset(name for one in called for name in (one.tool, f"{one.step}.{one.index}"))

    @cached_property
    def is_over(self) -> bool:
        """Whether the record goes on to the session's end."""
        return any(isinstance(event.payload, SessionClosed) for event in self.recording.events)

    @cached_property
    def last_turn(self) -> int:
        """The last turn that there is."""
        return max(event.turn for event in self.recording.events)

    @cached_property
    def left_open(self) -> frozenset[str]:
        """Whose handoffs the record has no end of: the session waits, or its process is gone."""
        events = self.recording.events
        closed = {e.handoff_id for e in events if isinstance(e.payload, HandoffClosed)}
        return frozenset(
            event.payload.target
            for event in events
            if isinstance(event.payload, HandoffOpened) and event.handoff_id not in closed
        )

    @cached_property
    def part(self) -> Part:
        """The handoff and all that it led to."""
        event = self.recorded.event
        return part_at(self._record, Place(event.path or "", event.attempt))

    @cached_property
    def steps(self) -> tuple[Event, ...]:
        """Its own questions to its model, and the answers."""
        return tuple(
            event
            for event in self.recording.events
            if event.handoff_id == self.handoff_id
            and isinstance(event.payload, ModelCalled | ModelReplied)
        )

    @cached_property
    def answers(self) -> Answers:
        """What its form and its plan read of the recorded answers.

        Raises:
            EventError: An answer is gone, or has another form than its event says.
        """
        tape, event = read_tape(self.recording), self.recorded.event
        mine = {
            place: result
            for place, result in tape.results.items()
            if place[:2] == (event.path, event.attempt)
        }
        said = [dict(one) if isinstance(one, HandoffRequest) else one for one in tape.messages]
        return Answers(
            tuple(self._calls(mine)),
            tuple(
                Marked(str(result.message.get("name")), f"{step}.{index}")
                for (*_, step, index), result in mine.items()
                if has_mark(result.message)
            ),
            tuple(_marked_workers(tape, event.path or "")),
            has_mark(said) or has_mark([one.message for one in tape.results.values()]),
        )

    def _calls(self, results: Mapping[Any, RecordedResult]) -> Iterator[RecordedCall]:
        called = {
            (event.payload.step, event.payload.index): event.payload
            for event in self.recording.events
            if event.handoff_id == self.handoff_id and isinstance(event.payload, ToolCalled)
        }
        for (*_, step, index), result in sorted(results.items(), key=lambda item: item[0][2:]):
            if (step, index) not in called:
                continue
            value = tool_value(result.message)
            yield RecordedCall(
                place=f"{step}.{index}",
                tool=called[step, index].tool,
                arguments=typed_form(self.recording.body(called[step, index].arguments)),
                returned=typed_form(value),
                is_text=isinstance(value, str),
            )


def _marked_workers(tape: Tape, mine: str) -> Iterator[str]:
    for (path, _), ended in tape.handoffs.items():
        is_called = (path or "")[len(mine) :].count("/") == 1 and is_within(path, mine)
        if is_called and ended.result and has_mark([ended.result.data, ended.result.notes]):
            yield as_name(ended.agent)


def past_of(
    db: sqlite3.Connection,
    session_id: str,
    handoff_id: str,
    named: str,
    *,
    alone: bool,
    values: Mapping[str, Sequence[str]] | None = None,
) -> Past:
    """Return what a session says of a handoff.

    Args:
        db: The store; it has to stay open until the past is kept.
        session_id: The full id.
        handoff_id: The handoff.
        named: The flow: `path/to/file.py:name`; empty where a sample ran.
        alone: It runs alone; otherwise the session goes on from it.
        values: What was left out of the record, as `filled` takes it.

    Raises:
        RequestError: There is no such handoff, it never began, or a value is not what was left out.
        FlowNotNamed: The session ran a file, and the file is not named.
        FlowError: The flow contradicts itself.
    """
    recording = recording_of(db, session_id, handoff_id if alone else None)
    with record_read(session_id):
        recorded = find_handoff(recording, handoff_id)
    flow = flow_for(recording, named, handoff_id)
    if values:
        recording = filled(recording, values, flow.flow.redaction)
        recorded = find_handoff(recording, handoff_id)
    return Past(recording, recorded, flow)


def recorded_outcome_of(recording: Recording, recorded: RecordedAgain) -> str:
    """Return how a recorded handoff came out.

    Without a result it was `waiting` for somebody, or it is `incomplete`: the record breaks off.
    """
    event = recorded.event
    ends = [
        one for one in recording.events if isinstance(one.payload, HandoffRequested | HandoffClosed)
    ]
    tape = read_tape(replace(recording, events=ends))
    result = recorded_result(recording, tape, event.path or "", event.attempt)
    if result:
        return result.status.value
    return (State.WAITING if recorded.waits_for else State.INCOMPLETE).value
