"""Acts that nobody decided on in time."""

import pytest
from support import event_logs
from support.logs import Log

from handoff_console.runtime import Decision
from handoff_console.runtime.contract import Effect, Status
from handoff_console.runtime.events import ApprovalRequested, SessionClosed, SessionSuspended
from handoff_console.store import reader
from handoff_console.store.deadlines import is_too_late
from handoff_console.store.errors import SessionUnknown
from handoff_console.store.inbox import put_decision


def asked(approval_id: str, expires_seconds: float) -> ApprovalRequested:
    return ApprovalRequested(
        step=1, index=0, approval_id=approval_id, tool="mail",
        effect=Effect.EXTERNAL, shown="d" * 32, expires_seconds=expires_seconds,
    )  # fmt: skip


def suspended(*approvals: str, questions: tuple[str, ...] = ()) -> SessionSuspended:
    return SessionSuspended(approvals=approvals, questions=questions)


def asked_at(sink, reading, *payloads) -> float:
    """Record a session to which this happened, and return when its last event was."""
    log = Log().user("Write to bob.")
    root = log.root("clerk")
    for payload in payloads:
        log.emit(root if isinstance(payload, ApprovalRequested) else None, payload)
    event_logs.write(sink, "s", log)
    return reader.load_events(reading, "s")[-1].at


@pytest.mark.parametrize(
    ("happened", "after_seconds", "late"),
    [
        ((asked("a", 60.0), suspended("a")), 59.0, False),
        ((asked("a", 60.0), suspended("a")), 61.0, True),
        ((asked("a", 60.0), asked("b", 900.0), suspended("a", "b")), 61.0, False),
        ((asked("a", 60.0), asked("b", 900.0), suspended("a")), 61.0, True),
        ((asked("a", 60.0), suspended("a", questions=("h1",))), 61.0, False),
        ((suspended(questions=("h1",)),), 61.0, False),
        ((asked("a", 60.0),), 61.0, False),
    ],
    ids=[
        "in time", "late", "another is in time", "another was decided", "a question too",
        "only a question", "a process is at work",
    ],
)  # fmt: skip
def test_it_is_too_late_when_time_decided_all_that_a_session_waits_for(
    sink, reading, happened, after_seconds, late
):
    last = asked_at(sink, reading, *happened)

    assert is_too_late(reading, "s", now=last + after_seconds) is late


def test_what_somebody_decided_is_not_decided_by_time(sink, reading):
    last = asked_at(sink, reading, asked("a", 60.0), suspended("a"))
    put_decision(sink.db, "s", Decision(approval_id="a", approved=True, shown="d" * 32))

    assert not is_too_late(reading, "s", now=last + 61.0)


def test_a_closed_session_waits_for_nobody(sink, reading):
    closed = SessionClosed(status=Status.OK, pool_spent=0, pool_free=0)
    last = asked_at(sink, reading, asked("a", 60.0), closed)

    assert not is_too_late(reading, "s", now=last + 61.0)


def test_an_unknown_session_is_named(reading):
    with pytest.raises(SessionUnknown):
        is_too_late(reading, "nobody", now=0.0)
