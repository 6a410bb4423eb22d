"""How a session, and a wait in it, end on the record."""

from collections.abc import Iterable, Sequence
from itertools import chain

from handoff_console.runtime.budget import Pool
from handoff_console.runtime.contract import EndedBy, HandoffResult, Status
from handoff_console.runtime.events import SessionClosed, SessionSuspended, WarningRaised
from handoff_console.runtime.handoff import End
from handoff_console.runtime.options import SessionResult
from handoff_console.runtime.people import Approval, People, Question
from handoff_console.runtime.toolbox import Toolbox


def closed(end: End | None, answer: str | None, pool: Pool) -> SessionClosed:
    """Return the last event of a session.

    Args:
        end: How its last request ended; None when it was cancelled.
        answer: The digest of that result.
        pool: Of the last request.
    """
    result = end.result if end else None
    return SessionClosed(
        status=result.status if result else None,
        cancelled=end is None or end.ended_by is EndedBy.CANCELLED,
        reason=end.reason if end else "",
        answer=answer,
        pool_free=pool.free,
        pool_spent=pool.spent,
    )


def suspended(people: People) -> SessionSuspended:
    """Return what says who is waited for."""
    return SessionSuspended(
        approvals=tuple(approval.approval_id for approval in people.approvals),
        questions=tuple(question.handoff_id for question in people.questions),
    )


def waiting(session_id: str, people: People, pool: Pool) -> SessionResult:
    """Return the result of a session that waits for people."""
    waits: tuple[Approval | Question, ...] = (*people.approvals, *people.questions)
    notes = "; ".join(
        f"{item.tool} waits for approval" if isinstance(item, Approval) else item.text
        for item in waits
    )
    result = HandoffResult(status=Status.NEEDS_INPUT, notes=notes)
    return SessionResult(session_id, result, "", pool.spent, pool.total, waits)


def left_running(toolboxes: Sequence[Toolbox]) -> Iterable[WarningRaised]:
    """Close the toolboxes; return a warning for each tool that had not returned yet."""
    for toolbox in toolboxes:
        toolbox.closed = True
    for name in chain.from_iterable(toolbox.running.values() for toolbox in toolboxes):
        text = (
            f"the tool {name!r} had not returned when the session stopped; its result, should "
            "it come, is not recorded"
        )
        yield WarningRaised(code="tool_left_running", text=text)
