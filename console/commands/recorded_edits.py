"""What was changed for a re-run, as its record has it."""

from handoff_console.console.commands.errors import CannotGoOn
from handoff_console.console.commands.recorded_flows import record_read, started_of
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.events import Recording
from handoff_console.runtime.redaction import has_mark


def recorded_edits(rerun: Recording) -> Edits:
    """Return what was changed for a re-run; nothing for a session that is none.

    Marks stand where values were left out of the record; a model is known by its name alone.

    Raises:
        CannotGoOn: What was changed has another form than it has to have.
    """
    with record_read(rerun.session_id):
        started = started_of(rerun)
        fields = dict(rerun.body(started.edits) or {}) if started.edits else {}
        # What says nothing new, and fails where a value is not of its kind.
        return Edits().over(Edits.recorded(fields, fields.get("model")))


def whole_edits(rerun: Recording, otherwise: str) -> Edits:
    """Return what was changed for a re-run, with all its values.

    Args:
        rerun: The re-run.
        otherwise: What there is to do where a value was left out, as the end of a sentence.

    Raises:
        CannotGoOn: A value was left out of the record, or has another form than it has to have.
    """
    edits = recorded_edits(rerun)
    if has_mark(edits.described()):
        raise CannotGoOn(
            f"A value that re-run {rerun.session_id!r} was given was left out of the record, so "
            f"{otherwise}."
        )
    return edits
