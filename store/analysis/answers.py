"""What a person is shown as an answer, read back from a record; one way for all who show it."""

from collections.abc import Sequence

from pydantic import ValidationError

from handoff_console.runtime.contract import HandoffResult, answer_text
from handoff_console.runtime.events import Event, HandoffClosed, SessionClosed
from handoff_console.store.analysis.bodies import Body, read_fields


def result_text(body: Body | None, digest: str | None) -> str:
    """Return a recorded result as text; empty where there is none, or of another form.

    The result of an import may have any form.
    """
    fields = read_fields(body, digest)
    try:
        return answer_text(HandoffResult.model_validate(fields)) if fields else ""
    except ValidationError:
        return ""


def session_answer(events: Sequence[Event], body: Body | None) -> str:
    """Return what the user was shown last, between two turns as well; empty for nothing yet."""
    for event in reversed(events):
        match event.payload:
            case SessionClosed() as closed if said := result_text(body, closed.answer):
                return said
            case HandoffClosed(status=status) as ended if status and event.parent_id is None:
                return result_text(body, ended.result) or ended.notes
    return ""
