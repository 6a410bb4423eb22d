"""What a person says to a session: yes or no to an act, an answer to a question.

Saying is not going on: it is put into the store's inbox, and whoever resumes the session takes it
from there.
"""

import getpass
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from handoff_console.console.commands.errors import ArgumentsRefused, NothingToDecide
from handoff_console.console.commands.json_values import problems
from handoff_console.console.commands.left_out_values import marks_in
from handoff_console.console.commands.waiting import (
    Pending,
    PendingApproval,
    PendingQuestion,
    asked_questions,
    pending,
    pending_of,
)
from handoff_console.runtime import Decision
from handoff_console.runtime.errors import choices
from handoff_console.runtime.events import ApprovalDecided
from handoff_console.runtime.redaction import has_mark
from handoff_console.store import inbox, reader
from handoff_console.store.db import open_store
from handoff_console.store.inbox import put_answer, put_decision


def decide(
    store_path: Path,
    asked: str,
    approval_id: str = "",
    *,
    approved: bool,
    changed: Mapping[str, Any] | None = None,
    shown: str = "",
    decided_by: str = "",
    note: str = "",
) -> PendingApproval:
    """Say yes or no to an act that waits, and return what it was said to.

    Args:
        store_path: The store.
        asked: The session, or how its id begins or ends.
        approval_id: Which act; may be left out where only one waits.
        approved: Yes or no.
        changed: Arguments to be sent instead of those proposed; the others stay.
        shown: The digest of what the person saw, where that was some time ago; whatever waits now
            has to be the same.
        decided_by: Who decides; by default the user of this process.
        note: Why.

    Raises:
        NothingToDecide: No such act waits, or it is too late, or a value of it is not recorded.
        ArgumentsRefused: Changed arguments are none that the tool takes.
        AlreadySaid: Somebody decided before.
        StoreError: The store cannot be opened or does not take it.
    """
    with closing(open_store(store_path)) as db:
        session_id = reader.resolve_session(db, asked)
        act = _chosen(pending_of(db, session_id), approval_id)
        decision = decision_about(
            session_id,
            act,
            approved=approved,
            changed=changed,
            shown=shown,
            decided_by=decided_by,
            note=note,
        )
        put_decision(db, session_id, decision)
        return act


def decision_about(
    session_id: str,
    act: PendingApproval,
    *,
    approved: bool,
    changed: Mapping[str, Any] | None = None,
    shown: str = "",
    decided_by: str = "",
    note: str = "",
    is_said: bool = False,
) -> Decision:
    """Return what a person decided about an act, as `decide` takes it; it is not put down yet.

    Where whoever goes on with it has what was left out of the act's record, `is_said` says so.

    Raises:
        NothingToDecide: It is too late, or something else was shown, or a value is not recorded.
        ArgumentsRefused: Changed arguments are none that the tool takes.
    """
    # The rest as it is recorded: what this process knows besides is not written down.
    arguments = {**act.recorded, **changed} if changed else None
    if shown and shown != act.shown:
        raise NothingToDecide(
            f"What waits as {act.approval_id} is not what was shown to you; look at it again."
        )
    if approved:
        _check_they_are_whole(act, changed or {})
        _check_yes(session_id, act, changed or {}, is_said=is_said)
        _check_they_fit(act, {**act.arguments, **changed} if changed else None)
    return Decision(
        approval_id=act.approval_id,
        approved=approved,
        shown=act.shown,
        arguments=arguments if approved else None,
        decided_by=decided_by or user_name(),
        note=note,
    )


def waiting_act(store_path: Path, asked: str, approval_id: str = "") -> PendingApproval:
    """Return the act that waits for a yes in a session; where only one does, it need not be named.

    Raises:
        NothingToDecide: No such act waits.
        StoreError: The store cannot be opened.
    """
    return _chosen(pending(store_path, asked), approval_id)


def answer(
    store_path: Path, asked: str, text: str, *, handoff_id: str = "", answered_by: str = ""
) -> PendingQuestion:
    """Answer a question that a session waits with, and return the question.

    Args:
        store_path: The store.
        asked: The session, or how its id begins or ends.
        text: The answer.
        handoff_id: Who asks; may be left out where only one does.
        answered_by: Who answers; by default the user of this process.

    Raises:
        NothingToDecide: No such question waits, or the answer is empty.
        AlreadySaid: Somebody answered before.
        StoreError: The store cannot be opened or does not take it.
    """
    if not text.strip():
        raise NothingToDecide("The answer is empty; say something.")
    with closing(open_store(store_path)) as db:
        session_id = reader.resolve_session(db, asked)
        questions = pending_of(db, session_id).questions
        _check_some_wait(session_id, "question", "an answer", questions)
        wanted = [one for one in questions if handoff_id in ("", one.handoff_id)]
        if len(wanted) != 1:
            names = choices([one.handoff_id for one in questions], "none")
            raise NothingToDecide(
                f"Which question of session {session_id!r} is meant is not clear; those that wait "
                f"for an answer come from: {names}."
            )
        put_answer(db, session_id, wanted[0].subject, text, answered_by or user_name())
        return wanted[0]


def take_over_said(db: sqlite3.Connection, session_id: str) -> None:
    """Take out of the inbox what is in the session's record by now.

    Raises:
        WriteFailed: The store did not take it.
    """
    events = reader.load_events(
        db, session_id, kinds={"approval_decided", "input_requested", "input_given"}
    )
    subjects = {e.payload.approval_id for e in events if isinstance(e.payload, ApprovalDecided)}
    subjects |= {subject for subject, given in asked_questions(events).items() if given[1]}
    inbox.take_over(db, session_id, subjects)


def user_name() -> str:
    """Return the name of the user of this process; empty where the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def _chosen(found: Pending, approval_id: str) -> PendingApproval:
    wanted = [one for one in found.approvals if approval_id in ("", one.approval_id)]
    if len(wanted) == 1:
        return wanted[0]
    _check_some_wait(found.session_id, "act", "a yes", found.approvals)
    names = choices([one.approval_id for one in found.approvals], "none")
    meant = f"no act {approval_id!r} that waits" if approval_id else "several acts that wait"
    raise NothingToDecide(
        f"Session {found.session_id!r} has {meant} for a yes; there are: {names}."
    )


def _check_some_wait(session_id: str, what: str, wanted: str, waiting: Sequence[object]) -> None:
    """Refuse to say something where nothing waits for it."""
    if not waiting:
        raise NothingToDecide(
            f"Session {session_id!r} has no {what} that waits for {wanted}; `handoff show "
            f"{session_id}` shows how it stands."
        )


def _check_they_are_whole(act: PendingApproval, changed: Mapping[str, Any]) -> None:
    """Refuse a change with a mark in it: whatever holds one is sent as it was proposed."""
    for name, value in changed.items():
        if has_mark(value) and value != act.recorded.get(name):
            raise ArgumentsRefused(
                f"The mark in {name!r} stands for a value that was left out of the record, so the "
                "argument is not whole; say all of it, or leave it as it is. Nothing was decided."
            )


def _check_they_fit(act: PendingApproval, arguments: Mapping[str, Any] | None) -> None:
    """Refuse changed arguments that would make the yes a no."""
    if arguments is None or not act.parameters:
        return
    wrong = " ".join(problems(arguments, act.parameters, act.parameters))
    if wrong:
        raise ArgumentsRefused(
            f"These arguments do not fit {act.tool!r}: {wrong} Nothing was decided."
        )


def _check_yes(
    session_id: str, act: PendingApproval, changed: Mapping[str, Any], *, is_said: bool
) -> None:
    if act.is_expired:
        raise NothingToDecide(
            f"It is too late for a yes to {act.approval_id}, which makes it a no; "
            f"`handoff show {session_id}` says how to go on without it."
        )
    missing = [] if is_said else [name for name in act.left_out if name not in changed]
    if missing:
        raise NothingToDecide(
            f"The value of {missing[0]!r} was left out of the record, so it cannot be sent as it "
            f"was; say what was left out with --value {f'{marks_in(act.arguments)[0]}=VALUE'!r}, "
            f"which goes on at once, or send another value with --set {missing[0]}=VALUE."
        )
