"""What is to be run again, and what can be wrong with it: checked before anything runs."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from handoff_console.console.commands.errors import CommandError, MarksInRequest
from handoff_console.console.commands.recorded_edits import whole_edits
from handoff_console.console.commands.recorded_flows import RecordedFlow, started_of
from handoff_console.console.commands.recorded_models import CannotBeAsked
from handoff_console.console.commands.rerun_past import Past, Told, past_of
from handoff_console.runtime import Agent, Flow, FlowError, Model
from handoff_console.runtime.contract import HandoffRequest
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.gaps import gaps_in, message_place
from handoff_console.runtime.models import as_model
from handoff_console.runtime.recorded import RecordedAgain, agent_of
from handoff_console.runtime.redaction import has_mark, redacted_names
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.recordings import recording_of


@dataclass(frozen=True, kw_only=True)
class RerunOrder:
    """What is to be run again, and how."""

    handoff_id: str
    mode: Mode
    edits: Edits = field(default_factory=Edits)
    graft: str = ""
    """For `continue`: the re-run whose answers are taken over, with what was changed for it, or how
    its id begins or ends."""
    times: int = 1
    named: str = ""
    """The flow: `path/to/file.py:name`; empty where a sample ran."""
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was left out of the record, as `filled` takes it."""
    leave_marks: bool = False
    """A model may be asked with marks where values were left out of the request."""
    announce: "Callable[[Prepared], None] | None" = None
    """Is told what is about to run, before it does."""
    tell: Callable[[int, int], None] | None = None
    """Is told how many of how many runs are done."""
    begun: Callable[[str], None] | None = None
    """Is told the id of each run as soon as it is in the store."""

    @property
    def alone(self) -> str | None:
        """The handoff, where it runs alone; None where the session goes on from it."""
        return None if self.mode is Mode.CONTINUE else self.handoff_id


class Graft(Told):
    """A re-run whose answers are taken over."""

    @cached_property
    def edits(self) -> Edits:
        """What was changed for it: its answers are to that question.

        Acts that it did again are not armed, and a model of somebody's own is not known any more:
        both have answered.

        Raises:
            CannotGoOn: A value of a change was left out of the record, or cannot be read.
        """
        made = whole_edits(
            self.recording,
            "its answers cannot be taken over; make the change again without --graft",
        )
        is_known = isinstance(made.model, str) and ":" in made.model
        return replace(made, armed=(), model=made.model if is_known else None)


@dataclass(frozen=True)
class Prepared:
    """A re-run that was checked and can begin."""

    past: Past
    edits: Edits
    """With the model that they name, and with those of the re-run whose answers are taken over."""
    request: HandoffRequest
    """With the edits."""
    graft: Graft | None

    @property
    def flow(self) -> RecordedFlow:
        """What it is run with."""
        return self.past.flow

    @property
    def recorded(self) -> RecordedAgain:
        """The handoff as it was recorded."""
        return self.past.recorded


def prepare(db: sqlite3.Connection, session_id: str, order: RerunOrder) -> Prepared:
    """Check everything that can be wrong with a re-run before anything runs.

    Raises:
        RequestError: There is no such handoff, it never began, its agent is gone from the flow, an
            edit is wrong, or a value is not what was left out of the record.
        FlowNotNamed: The session ran a file, and the file is not named.
        FlowError: There is no model of the name that an edit has.
        CommandError: An act is armed that would not run, the graft is none, or a value that was
            left out of the record is not said.
    """
    past = past_of(
        db,
        session_id,
        order.handoff_id,
        order.named,
        alone=order.alone is not None,
        values=order.values,
    )
    return checked(past, graft_of(db, session_id, order), order)


def checked(past: Past, graft: Graft | None, order: RerunOrder) -> Prepared:
    """Check an order against what the record says.

    Raises:
        RequestError, FlowError, CommandError: As `prepare`.
    """
    flow, recorded = past.flow.flow, past.recorded
    agent = agent_of(flow, recorded)
    edits = order.edits.over(graft.edits) if graft else order.edits
    if edits.model is not None:
        is_taken_over = order.edits.model is None
        made = _model(edits.model, flow, agent, may_be_missing=is_taken_over)
        # A name is recorded with its settings.
        if not isinstance(edits.model, str) or isinstance(made, CannotBeAsked):
            edits = replace(edits, model=made)
    request = edits.check(flow, agent, recorded.request, recorded.packet)
    if order.edits.armed and order.mode is not Mode.LIVE:
        raise CommandError("Only a re-run with --mode live acts again; leave --arm out, or say so.")
    if order.mode in (Mode.WHAT_IF, Mode.LIVE_READS, Mode.LIVE) and not order.leave_marks:
        _check_it_is_all_there(request, recorded, order)
    return Prepared(past, edits, request, graft)


def _model(named: Any, flow: Flow, agent: Agent, *, may_be_missing: bool) -> Model:
    """Return the model that edits name, or what stands for one that has answered already.

    Raises:
        FlowError: It cannot be asked here, and its answers are not taken over.
    """
    try:
        return as_model(named, flow.name, agent.name)
    except FlowError as error:
        if not may_be_missing:
            raise
        return CannotBeAsked(str(named), error.mistakes[0], offline=False, reads_prompt=True)


def graft_of(db: sqlite3.Connection, session_id: str, order: RerunOrder) -> Graft | None:
    """Return the re-run whose answers an order takes over; mostly none.

    Raises:
        CommandError: The mode takes none over, or it repeats another handoff.
        StoreError: There is no such session.
    """
    if not order.graft:
        return None
    if order.mode is not Mode.CONTINUE:
        raise CommandError("Answers of another re-run are taken over only with --mode continue.")
    found = recording_of(db, reader.resolve_session(db, order.graft))
    started = started_of(found)
    if (started.rerun_of, started.rerun_handoff) != (session_id, order.handoff_id):
        raise CommandError(
            f"Session {found.session_id!r} is no re-run of {order.handoff_id!r} of session "
            f"{session_id!r}, so its answers cannot be taken over."
        )
    return Graft(found)


def _check_it_is_all_there(
    request: HandoffRequest, recorded: RecordedAgain, order: RerunOrder
) -> None:
    """Refuse a request for a live model that holds marks where values were.

    Raises:
        MarksInRequest: A value was left out of the record.
    """
    names = redacted_names(request.inputs)
    if names:
        raise MarksInRequest(
            f"The value of {names[0]!r} was left out of the record, and a model would be asked "
            f"with a mark in its place; say it with --set inputs.{names[0]}=VALUE, or "
            "--leave-marks to ask with the mark."
        )
    if has_mark(request.task):
        is_message = recorded.request.task == recorded.message
        turn = message_place(recorded.event.turn)
        place = turn if is_message else f"{order.handoff_id} task"
        is_own = order.edits.task is not None  # what somebody has just typed
        raise MarksInRequest(
            "The task holds a value that was left out of the record, and a model would be asked "
            "with a mark in its place; say it with --value NAME=VALUE, the whole task with --task "
            "TEXT, or --leave-marks to ask with the mark.",
            () if is_own else gaps_in(place, request.task),
        )
