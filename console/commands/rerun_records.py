"""Re-runs read back from their records: what made one, and going on with one that stopped."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from handoff_console.console.commands.as_then_notes import reached
from handoff_console.console.commands.errors import CannotGoOn
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.recorded_edits import recorded_edits, whole_edits
from handoff_console.console.commands.recorded_flows import flow_for, started_of
from handoff_console.console.commands.recorded_models import check_can_be_asked
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.runtime import Decision, Flow, Origin, Recording, SessionResult
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.events import SessionStarted
from handoff_console.runtime.recorded import agent_of, find_handoff
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.effects import StoreLedger
from handoff_console.store.errors import SessionUnknown
from handoff_console.store.liveness import is_interrupted
from handoff_console.store.recordings import recording_of

GRAFT = "graft"
"""The label under which a re-run records whose answers it took over."""
MARKS, _VALUES = "marks", "values"
"""Labels under which it records that marks of its request were read, and of which values that were
left out it was told; not the values."""
_BETWEEN = "; "


def labels_of(order: RerunOrder, graft: Recording | None) -> dict[str, str] | None:
    """Return what a re-run records of its order besides its edits; None where that is nothing."""
    labels = {
        GRAFT: graft.session_id if graft else "",
        MARKS: "read" if order.leave_marks else "",
        _VALUES: _BETWEEN.join(order.values),
    }
    return {name: label for name, label in labels.items() if label} or None


def resume_rerun(
    db: sqlite3.Connection,
    so_far: Recording,
    whole: Callable[[Flow, Recording], Sequence[Recording]],
    decided: Callable[[Recording], Sequence[Decision]],
    named: str,
    edits: Edits | None,
    **options: Any,
) -> SessionResult:
    """Go on with a re-run that waited for a person, or whose process is gone.

    Args:
        db: The store that holds it and what it repeats.
        so_far: The re-run.
        whole: Returns it, and what it repeats, with what was left out of their records.
        decided: Returns what people decided, from the re-run made whole; carried out just before it
            goes on.
        named: The flow, as for `flow_for`.
        edits: What was changed, from somebody who has it at hand; else as it was recorded.
        options: Fields of `RunOptions`.

    Raises:
        CannotGoOn: What it repeats is gone, or a value of its edits was left out of the record.
        RequestError: Its agent is gone from the flow.
        FlowError: A model that it may ask cannot be asked here.
    """
    started = started_of(so_far)
    try:
        original = recording_of(db, started.rerun_of)
    except SessionUnknown as error:
        raise CannotGoOn(
            f"Session {so_far.session_id!r} repeats a part of {started.rerun_of!r}, which is gone "
            "from this store, so there is nothing to go on from."
        ) from error
    graft = started.metadata.get(GRAFT)
    flow = flow_for(original, named, started.rerun_handoff)
    edits = edits or whole_edits(so_far, "run the handoff again with it instead")
    _check_models(flow.flow, original, started, edits)
    so_far, original = whole(flow.flow, original)
    return asyncio.run(
        rerun(
            flow.flow,
            original,
            started.rerun_handoff,
            mode=Mode(started.rerun_mode),
            edits=edits,
            graft=recording_of(db, graft) if graft else None,
            so_far=so_far,
            decisions=decided(so_far),
            ledger=StoreLedger(db, flow.flow.redaction),
            origin=Origin(flow_source=flow.source, metadata=started.metadata),
            **options,
        )
    ).session


def _check_models(flow: Flow, original: Recording, started: SessionStarted, edits: Edits) -> None:
    """Refuse to go on where a model cannot be asked here; the edited one is made anew anyway."""
    agent = agent_of(flow, find_handoff(original, started.rerun_handoff)).name
    mode = started.rerun_mode
    whole = frozenset(flow.agents_by_name)
    asked = whole if mode == Mode.CONTINUE else reached(flow, agent, Mode(mode))
    check_can_be_asked(flow, asked - {agent} if edits.model is not None else asked)


def recorded_order(db: sqlite3.Connection, session_id: str) -> RerunOrder:
    """Return the order that made a re-run, as far as its record says; of values it has the names.

    Raises:
        CannotGoOn: It is no re-run, or what was changed for it cannot be read.
    """
    events = reader.load_events(db, session_id, kinds={"session_started"})
    found = Recording(session_id, events, lambda digest: reader.body(db, digest))
    started = started_of(found)
    if not started.rerun_mode:
        raise CannotGoOn(f"Session {session_id!r} is no re-run of another one.")
    names = started.metadata.get(_VALUES, "").split(_BETWEEN)
    return RerunOrder(
        handoff_id=started.rerun_handoff,
        mode=Mode(started.rerun_mode),
        edits=recorded_edits(found),
        graft=started.metadata.get(GRAFT, ""),
        values={name: ["VALUE"] for name in filter(None, names)},
        leave_marks=MARKS in started.metadata,
        named=started.flow_source if file_reference(started.flow_source) else "",
    )


def record_of(db: sqlite3.Connection, session_id: str, handoff_id: str | None = None) -> Record:
    """Return a session as the analysis takes it, or what of it belongs to one handoff.

    Raises:
        SessionUnknown: There is no such session.
    """
    found = recording_of(db, session_id, handoff_id)
    return Record(found.events, found.body, interrupted=is_interrupted(db, session_id))
