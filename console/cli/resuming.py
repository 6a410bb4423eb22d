"""`approve`, `answer` and `resume`: what people say to a session, and going on with it."""

from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.cli.asking import (
    ask_person,
    is_interactive,
    write_act,
    write_arguments,
    write_pending,
)
from handoff_console.console.cli.asking_values import Values, with_values
from handoff_console.console.cli.looking import check_outcomes, write_json, write_session
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.terminal import Terminal
from handoff_console.console.commands import forms, saying
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.left_out_values import values_of
from handoff_console.console.commands.looking import SessionRecord, open_session
from handoff_console.console.commands.resuming import Resumption, resume_session
from handoff_console.console.commands.running import outcome_of
from handoff_console.console.commands.settling import Settled
from handoff_console.console.commands.stores import full_session_id
from handoff_console.console.commands.typed_values import json_typed, value_like
from handoff_console.console.commands.waiting import PendingApproval, pending, pending_of
from handoff_console.console.viewmodels.text import as_name, one_line
from handoff_console.runtime import SessionResult
from handoff_console.store.db import open_reader


def approve(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff approve`."""
    store, approved = store_of(arguments), not arguments.no
    session_id = full_session_id(store, arguments.session)
    if arguments.set and not approved:
        raise CommandError("--set changes an act, and --no refuses it; give one of them.")
    act = saying.waiting_act(store, session_id, arguments.approval or "")
    changed = _changed(act, arguments)
    if _goes_on(act, changed, arguments, terminal):
        return _approve_and_go_on(session_id, act, changed, arguments, terminal)
    saying.decide(
        store,
        session_id,
        act.approval_id,
        approved=approved,
        changed=changed,
        decided_by=arguments.by,
        note=arguments.note,
    )
    _write_decision(act, changed, arguments, terminal)
    _say_what_is_next(session_id, arguments, terminal)
    return 0


def _goes_on(
    act: PendingApproval, changed: dict[str, Any], arguments: Namespace, terminal: Terminal
) -> bool:
    """Say whether what was left out is said now: it is kept nowhere, so that is gone on with."""
    if arguments.value or arguments.leave_marks:
        return True
    missing = not arguments.no and set(act.left_out) - changed.keys()
    return bool(missing) and not act.is_expired and is_interactive(terminal)


def _approve_and_go_on(
    session_id: str,
    act: PendingApproval,
    changed: dict[str, Any],
    arguments: Namespace,
    terminal: Terminal,
) -> int:
    decision = saying.decision_about(
        session_id,
        act,
        approved=not arguments.no,
        changed=changed,
        decided_by=arguments.by,
        note=arguments.note,
        is_said=True,
    )
    how = _resumption(arguments, terminal)
    if decision.approved and not how.values and is_interactive(terminal):
        terminal.note("")
        write_act(act, terminal.note, terminal)
    result = _gone_on(session_id, replace(how, decisions=[decision]), arguments, terminal)
    _write_decision(act, changed, arguments, terminal)
    terminal.line()
    _write_session(result, arguments, terminal)
    return 0


def _write_decision(
    act: PendingApproval, changed: dict[str, Any], arguments: Namespace, terminal: Terminal
) -> None:
    word = "No" if arguments.no else "Yes"
    terminal.line(f"{word} to {as_name(act.tool)} ({act.approval_id}):")
    write_arguments({**act.arguments, **changed}, terminal.line, terminal)


def answer(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff answer`."""
    store = store_of(arguments)
    session_id = full_session_id(store, arguments.session)
    question = saying.answer(
        store, session_id, arguments.text, handoff_id=arguments.handoff, answered_by=arguments.by
    )
    terminal.line(f"Answered {as_name(question.agent)} ({question.handoff_id}).")
    _say_what_is_next(session_id, arguments, terminal)
    return 0


def resume(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff resume`; 1 when the session ended as `--fail-on` says."""
    check_outcomes(arguments.fail_on)
    store = store_of(arguments)
    session_id = full_session_id(store, arguments.session)
    happened = [_came_back(word) for word in arguments.happened]
    not_happened = [Settled(place, happened=False) for place in arguments.not_happened]
    how = replace(_resumption(arguments, terminal), take_over=arguments.take_over)
    how = replace(how, leave_unknown=arguments.leave_unknown, settled=[*happened, *not_happened])
    found = pending(store, session_id)
    if not found.is_answered and is_interactive(terminal):
        how = replace(how, decisions=ask_person(store, found, terminal).decisions)
    return write_result(_gone_on(session_id, how, arguments, terminal), arguments, terminal)


def _resumption(arguments: Namespace, terminal: Terminal) -> Resumption:
    """Return how a session is gone on with, by what its command line says."""
    return Resumption(
        named=arguments.flow,
        models=arguments.model,
        values=values_of(arguments.value),
        leave_marks=arguments.leave_marks,
        wait_for_answers=is_interactive(terminal),
        announce=announced(terminal),
    )


def _gone_on(
    session_id: str, how: Resumption, arguments: Namespace, terminal: Terminal
) -> SessionResult:
    """Go on with a session, and with what it then waits for, as far as somebody sits there."""
    store = store_of(arguments)
    try:
        result, how = _resumed(store, session_id, how, terminal)
        if result.waiting_for:
            result = until_it_rests(store, session_id, how, terminal) or result
    except KeyboardInterrupt:
        say_cancelled(session_id, arguments, terminal)
        raise
    return result


def _came_back(word: str) -> Settled:
    """Return which act `--happened` is about, and what came back from it."""
    place, mark, result = word.partition("=")
    came_back = (json_typed(result, f"--happened {place}"),) if mark else ()
    return Settled(place, True, *came_back)


class _Resumed(NamedTuple):
    result: SessionResult
    how: Resumption
    """With what was said meanwhile: it is not asked for again."""


def _resumed(store: Path, session_id: str, how: Resumption, terminal: Terminal) -> _Resumed:
    """Go on with a session; whoever sits there is asked for what was left out of its record.

    Raises:
        ValuesLeftOut: Nobody was asked, or nothing was said.
        RequestError: A value is not what was left out, and nobody said another.
    """

    def attempt(values: Values, leaves: bool) -> _Resumed:
        said = replace(how, values=values, leave_marks=how.leave_marks or leaves)
        return _Resumed(resume_session(store, session_id, said), said)

    return with_values(attempt, how.values, terminal)


def until_it_rests(
    store: Path, session_id: str, how: Resumption, terminal: Terminal
) -> SessionResult | None:
    """Ask whoever sits there for what a session waits for, and go on, until nothing is left.

    Where nobody does, or nobody says anything, it waits in the store.

    Returns:
        How it came out; None when nothing was gone on with.
    """
    result = None
    while is_interactive(terminal) and (result is None or result.waiting_for):
        said = ask_person(store, pending(store, session_id), terminal)
        if not said.anything:
            break
        how = replace(how, announce=None, decisions=said.decisions, settled=())
        result, how = _resumed(store, session_id, how, terminal)
    return result


def write_result(result: SessionResult, arguments: Namespace, terminal: Terminal) -> int:
    """Write how a session stands now, what it waits for included; return the exit status."""
    if arguments.json:
        with closing(open_reader(store_of(arguments))) as db:
            write_json(forms.session_form(SessionRecord(db, result.session_id)), terminal)
    else:
        _write_session(result, arguments, terminal)
    return int(outcome_of(result) in arguments.fail_on)


def _write_session(result: SessionResult, arguments: Namespace, terminal: Terminal) -> None:
    with closing(open_reader(store_of(arguments))) as db:
        write_session(SessionRecord(db, result.session_id), arguments, terminal)


def say_cancelled(session_id: str, arguments: Namespace, terminal: Terminal) -> None:
    """Say where the record of a session is that Ctrl-C ended."""
    words = ("show", session_id) if session_id else ("list", "--outcome", "cancelled")
    seen = next_command(arguments, *words)
    terminal.note(f"Cancelled; what was done until then is recorded: {seen}")


def announced(terminal: Terminal) -> Any:
    """Return what tells, before anything runs, how a flow differs from the recorded one."""

    def announce(changes: Sequence[str]) -> None:
        terminal.note("This flow is not quite the one that was recorded:")
        for change in changes:
            terminal.note(f"  {one_line(change, 200)}")

    return announce


def _changed(act: PendingApproval, arguments: Namespace) -> dict[str, Any]:
    """Return the arguments that `--set` changes, each of the kind that it had."""
    changed = {}
    for word in arguments.set:
        name, mark, text = word.partition("=")
        if not mark or not name:
            raise CommandError(f"{word!r} changes nothing; write --set NAME=VALUE.")
        changed[name] = value_like(act.arguments.get(name), text)
    return changed


def _say_what_is_next(session_id: str, arguments: Namespace, terminal: Terminal) -> None:
    with open_session(store_of(arguments), session_id) as record:
        found = pending_of(record.db, session_id)
        flow = getattr(arguments, "flow", "") or record.flow_file  # `answer` takes none
    left = [one for one in found.approvals if one.said is None and not one.is_expired]
    if left or any(one.said is None for one in found.questions):
        terminal.line("It waits for more:")
        write_pending(found, arguments, terminal, flow)
        return
    words = ("resume", session_id, *(("--flow", flow) if flow else ()))
    terminal.line(terminal.styled(next_command(arguments, *words), "dim"))
