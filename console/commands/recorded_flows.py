"""Which flow a recorded session is run with again: the one the user names, or a sample.

A store can say that a session ran `file.py:name`; the file is imported only when the user says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from handoff_console.console.commands.errors import CannotGoOn, FlowNotNamed
from handoff_console.console.commands.flow_changes import (
    Kept,
    flow_changes,
    kept_as_recorded,
)
from handoff_console.console.commands.flows import Models, load_flow
from handoff_console.console.commands.recorded_models import (
    OtherModel,
    check_can_be_asked,
    with_recorded_models,
)
from handoff_console.runtime import Flow
from handoff_console.runtime.as_recorded import as_recorded
from handoff_console.runtime.errors import HandoffConsoleError, of_another_form
from handoff_console.runtime.events import Recording, SessionStarted, UserMessageReceived
from handoff_console.runtime.flow import Price
from handoff_console.runtime.models import as_model
from handoff_console.runtime.recorded_rules import tells_rules

_RECORDED_LIMITS = (
    "pool_tokens", "finish_floor_tokens", "max_handoffs", "max_edge_repeats", "max_workers",
    "depth", "max_cost",
)  # fmt: skip


@dataclass(frozen=True)
class RecordedFlow:
    """The flow of a recorded session, ready to be run again."""

    flow: Flow
    """With the prompts, edges, limits and models it was recorded with."""
    source: str
    """How it is named."""
    changes: Sequence[str]
    """What differs from the flow that was recorded, to be announced before anything runs."""
    kept: Sequence[Kept] = ()
    """What the flow has otherwise by now, and has here as it was recorded."""
    other_models: Sequence[OtherModel] = ()
    """Agents whose recorded model is not the flow's own."""
    tells_rules: bool = True
    """Whether the record tells by which redaction, checks and terms of models it went."""


def flow_for(recording: Recording, named: str = "", handoff_id: str = "") -> RecordedFlow:
    """Return the flow of a recorded session.

    Args:
        recording: The session.
        named: A sample, or `path/to/file.py:name`, as the user says; empty where a sample ran.
        handoff_id: Which of its handoffs is run again; empty for the session.

    Raises:
        FlowNotNamed: It is empty, and the session ran no sample.
        FlowNotFound: There is no flow of this name.
        FlowFileFailed: The file could not be imported.
        FlowError: The flow contradicts itself.
    """
    started = started_of(recording)
    if named:
        loaded = load_flow(named)
        flow, source = loaded.flow, loaded.source
    else:
        flow, source = _sample_flow(recording.session_id, started), started.flow_source
    return adapted(flow, source, recording, handoff_id)


def adapted(flow: Flow, source: str, recording: Recording, handoff_id: str = "") -> RecordedFlow:
    """Return a flow as a session had it, with what it cannot have of it told.

    Raises:
        CannotGoOn: The record has another form than its events say.
    """
    with record_read(recording.session_id):
        return _adapted(flow, source, recording, handoff_id)


@contextmanager
def record_read(session_id: str) -> Iterator[None]:
    """Say in one sentence that a record is not what its events say: a file may hold anything.

    Raises:
        CannotGoOn: What was said has another form than it has to have.
    """
    try:
        yield
    except HandoffConsoleError:  # it says what is wrong in its own words
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CannotGoOn(of_another_form(session_id, error)) from error


def _adapted(flow: Flow, source: str, recording: Recording, handoff_id: str) -> RecordedFlow:
    asked = [e.payload for e in recording.events if isinstance(e.payload, UserMessageReceived)]
    as_was = as_recorded(flow, recording)
    if asked:
        as_was = as_was.changed(**{name: getattr(asked[0], name) for name in _RECORDED_LIMITS})
    snapshot = recording.body(started_of(recording).flow_digest)
    as_was = _with_recorded_prices(as_was, snapshot)
    as_was, others = with_recorded_models(as_was, recording, handoff_id)
    changes = flow_changes(flow, as_was, snapshot)
    kept = kept_as_recorded(flow, as_was, snapshot)
    return RecordedFlow(as_was, source, changes, kept, others, tells_rules(snapshot))


def _with_recorded_prices(flow: Flow, snapshot: Mapping[str, Any]) -> Flow:
    """Return a flow that counts cost as it was counted so far: a session has one price list."""
    prices = {name: Price(**price) for name, price in snapshot.get("prices", {}).items()}
    return flow.changed(prices=prices, currency=snapshot.get("currency", ""))


def check_models(recorded: RecordedFlow, recording: Recording, models: Models) -> None:
    """Refuse other models than the session has been run with so far.

    Raises:
        CannotGoOn: An agent would get another model; the text says how to name the right one.
        FlowError: An agent has no model, or one that cannot be asked here.
    """
    flow = recorded.flow
    given = flow.agents_by_name.keys() if models.every_agent else models.by_agent.keys()
    were: Mapping[str, str] = started_of(recording).models
    check_can_be_asked(flow, flow.agents_by_name.keys() - given)
    for agent in flow.agents:
        named: Any = (
            models.by_agent.get(agent.name) or models.every_agent or agent.model or flow.model
        )
        now = as_model(named, flow.name, agent.name).name
        was = were.get(agent.name, now)
        if now != was:
            raise CannotGoOn(
                f"Agent {agent.name!r} of session {recording.session_id!r} asked the model "
                f"{was!r}, and would ask {now!r} from here on; say which one it had with --model "
                f"{agent.name}=SPEC."
            )


def started_of(recording: Recording) -> SessionStarted:
    """Return how a session began.

    Raises:
        CannotGoOn: It has no beginning.
    """
    payload = recording.events[0].payload if recording.events else None
    if not isinstance(payload, SessionStarted):
        raise CannotGoOn(
            f"The record of session {recording.session_id!r} does not begin with a session's "
            "start, so there is nothing to run."
        )
    return payload


def _sample_flow(session_id: str, started: SessionStarted) -> Flow:
    from handoff_console import sample_runs

    if started.flow_source not in sample_runs.NAMES:
        ran = f"the flow {started.flow!r}"
        if started.flow_source:
            ran += f" of {started.flow_source!r}"
        raise FlowNotNamed(
            f"Session {session_id!r} ran {ran}; name it as path/to/file.py:name (--flow in a "
            "shell) to run that code again, since none is run because a record says so."
        )
    if started.origin != "sample":
        return sample_runs.sample(started.flow_source).flow
    from handoff_console.sample_runs.day import RECORDINGS

    for one in RECORDINGS:
        if one.session_id == session_id and one.variant:
            return one.variant()
    return sample_runs.sample(started.flow_source).recorded_flow
