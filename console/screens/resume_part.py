"""Where an interrupted session is gone on with."""

from collections.abc import Mapping

from handoff_console.console import rerun_queries, runs, state
from handoff_console.console.commands.errors import FlowNotNamed, ValuesLeftOut
from handoff_console.console.commands.settling import HAPPENED as IT_HAPPENED
from handoff_console.console.commands.settling import Settled, settle
from handoff_console.console.commands.typed_values import json_typed
from handoff_console.console.components.left_out import MISSING, forget_said, said_there
from handoff_console.console.components.resuming import (
    HAPPENED,
    UNKNOWN,
    said_about,
    show_resumption,
)
from handoff_console.console.queries import Record
from handoff_console.console.settings import named_store, store_path
from handoff_console.console.viewmodels.command_lines import ways_on
from handoff_console.console.viewmodels.resumption import ResumptionView
from handoff_console.runtime.errors import HandoffConsoleError


def resume_part(record: Record) -> None:
    """Draw what going on means, and the button that does."""
    session_id = record.version.session_id
    view = rerun_queries.resumption(record.version, record.judgement.tree)
    show_resumption(view, session_id, state.told_about(session_id), lambda: _resume(record, view))


def _resume(record: Record, view: ResumptionView) -> None:
    session_id = record.version.session_id
    state.tell(session_id, "")
    try:
        _go_on(session_id, view)
    except ValuesLeftOut:
        state.tell(session_id, MISSING)
    except HandoffConsoleError as error:
        state.tell(session_id, str(error))


def _go_on(session_id: str, view: ResumptionView) -> None:
    said = said_about(view, session_id)
    settled = _settled(said)
    values, leave_marks = said_there(view.left_out, session_id)
    try:
        runs.go_on(
            session_id,
            runs.AT_ONCE,
            leave_unknown=any(what == UNKNOWN for what, _ in said.values()),
            values=values,
            leave_marks=leave_marks,
            settled=settled,
        )
    except FlowNotNamed:
        settle(store_path(), session_id, *settled)  # for whoever goes on from a shell
        source = runs.flow_source(session_id) or "path/to/file.py:name"
        state.tell(session_id, ways_on(session_id, flow=source, store=named_store()))
    else:
        forget_said(view.left_out, session_id)


def _settled(said: Mapping[str, tuple[str, str]]) -> list[Settled]:
    """Return what became of each act.

    Raises:
        CommandError: Something that came back is no value.
    """
    return [
        Settled(
            place,
            what == HAPPENED,
            json_typed(text, "What came back") if text else IT_HAPPENED,
        )
        for place, (what, text) in said.items()
        if what != UNKNOWN
    ]
