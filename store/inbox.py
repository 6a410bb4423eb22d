"""What people said to a session that waits: decisions about acts, answers to questions.

Whoever decides need not be who goes on with the session: it is put down here, once for each
subject, and the process that resumes the session takes it from here.
"""

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from handoff_console.runtime.people import Decision
from handoff_console.store.commands import append_command, finish_command, open_commands

DECIDE, ANSWER = "decide", "answer"


class Inbox(NamedTuple):
    """What was said to a session and is not in its record yet."""

    decisions: tuple[Decision, ...]
    answers: dict[str, str]
    """By subject: the handoff that asked, and which of its questions it is (`h3#1`)."""

    @property
    def answers_by_handoff(self) -> dict[str, str]:
        """What is to be told to each handoff that asked."""
        return {subject.partition("#")[0]: text for subject, text in self.answers.items()}


def put_decision(db: sqlite3.Connection, session_id: str, decision: Decision) -> None:
    """Put down what a person decided about an act.

    Raises:
        AlreadySaid: Somebody decided about it before.
        WriteFailed: The store did not take it.
    """
    said = {
        "approved": decision.approved is True,
        "shown": decision.shown,
        "arguments": None if decision.arguments is None else dict(decision.arguments),
        "note": decision.note,
    }
    append_command(
        db,
        session_id,
        DECIDE,
        said,
        subject=decision.approval_id,
        sent_by=decision.decided_by,
    )


def put_answer(
    db: sqlite3.Connection, session_id: str, subject: str, text: str, answered_by: str = ""
) -> None:
    """Put down what a person answered.

    Args:
        db: A store opened for writing.
        session_id: The full id.
        subject: The handoff that asked and the number of its question: `h3#1`.
        text: The answer.
        answered_by: Who answered.

    Raises:
        AlreadySaid: Somebody answered this question before.
        WriteFailed: The store did not take it.
    """
    append_command(db, session_id, ANSWER, {"text": text}, subject=subject, sent_by=answered_by)


def inbox_of(db: sqlite3.Connection, session_id: str) -> Inbox:
    """Return what was said to a session and was not taken over yet."""
    decisions: list[Decision] = []
    answers: dict[str, str] = {}
    for command in open_commands(db, session_id):
        said, subject = command.arguments, command.subject or ""
        if command.verb == DECIDE:
            decisions.append(
                Decision(
                    approval_id=subject,
                    approved=said["approved"],
                    shown=said["shown"],
                    arguments=said["arguments"],
                    decided_by=command.sent_by,
                    note=said["note"],
                )
            )
        elif command.verb == ANSWER:
            answers[subject] = said["text"]
    return Inbox(tuple(decisions), answers)


def take_over(db: sqlite3.Connection, session_id: str, subjects: Collection[str]) -> None:
    """Note that what was said about these subjects is in the session's record now.

    Raises:
        WriteFailed: The store did not take it.
    """
    for command in open_commands(db, session_id):
        if command.verb in (DECIDE, ANSWER) and command.subject in subjects:
            finish_command(db, command.command)
