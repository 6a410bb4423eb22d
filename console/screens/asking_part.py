"""Where a session waits for a person, on any page that shows one."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from handoff_console.console import queries, runs, state
from handoff_console.console.commands.errors import ActLeftOut, FlowNotNamed, ValuesLeftOut
from handoff_console.console.commands.left_out_values import Asked, asked_for
from handoff_console.console.commands.saying import (
    answer,
    decide,
    decision_about,
    waiting_act,
)
from handoff_console.console.components.asking import Replies, show_asking
from handoff_console.console.components.left_out import MISSING, forget_said, said_there
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.settings import named_store, store_path
from handoff_console.console.viewmodels.asking import ActShown, Asking, QuestionShown, asking
from handoff_console.console.viewmodels.command_lines import ways_on, yes_line
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.errors import AlreadySaid


def asking_part(session_id: str, *, closes: bool = True) -> None:
    """Draw what a session waits for and the ways to answer; what is said goes on at once.

    Nothing is drawn where it waits for nobody.

    Args:
        session_id: The session.
        closes: It ends with the answer to its last message; otherwise more can be said to it.
    """
    found = asking(runs.pending(session_id), now=time.time())
    of_acts = _of_acts(found)

    def said(act: ActShown, approved: bool, changed: Mapping[str, Any], note: str) -> None:
        if approved and act.left_out:
            _say_with_values(session_id, act, changed, note, of_acts, closes)
            return
        _say(session_id, lambda: decided(act, approved, changed, note), closes)

    def decided(act: ActShown, approved: bool, changed: Mapping[str, Any], note: str) -> None:
        decide(
            store_path(),
            session_id,
            act.approval_id,
            approved=approved,
            changed=changed or None,
            shown=act.shown,
            note=note,
        )

    def answered(question: QuestionShown, text: str) -> None:
        answer(store_path(), session_id, text, handoff_id=question.handoff_id)

    replies = Replies(
        decide=said,
        answer=lambda *what: _say(session_id, lambda: answered(*what), closes),
        go_on=lambda: _say(session_id, lambda: None, closes, go_on=True),
    )
    told = state.told_about(session_id)
    if told:
        panel("asking_told", [tag("div.verdict.text", told, outcome="needs_input", role="alert")])
    show_asking(
        found,
        replies,
        going_on=runs.is_at_work(session_id),
        left_out=state.missed_by(session_id),
        of_acts=of_acts,
    )


def _of_acts(found: Asking) -> Sequence[Asked]:
    """Return what a person says with a yes, where an act holds what was left out of its record."""
    if not any(act.is_open and act.left_out for act in found.acts):
        return ()
    version = queries.version(found.session_id)
    return runs.left_out_of(version) if version else ()


def _say(session_id: str, say: Callable[[], None], closes: bool, *, go_on: bool = False) -> None:
    """Say something to a session, go on with it where nothing is missing, and tell what failed."""
    with _told(session_id):
        say()
        left = asking(runs.pending(session_id), now=time.time()).left
        try:
            if go_on or not (left or runs.is_at_work(session_id)):
                _go_on(session_id, closes)
        except ValuesLeftOut as missing:
            state.miss(session_id, asked_for(missing.gaps))
            state.tell(session_id, f"What you said is kept. {MISSING}")
        except FlowNotNamed:
            state.tell(session_id, _how_to_go_on(session_id))


def _say_with_values(
    session_id: str,
    act: ActShown,
    changed: Mapping[str, Any],
    note: str,
    asked: Sequence[Asked],
    closes: bool,
) -> None:
    """Say yes to an act and what was left out of its record, which is kept nowhere; and go on."""
    values, leave_marks = said_there(asked, session_id, act.approval_id)
    with _told(session_id):
        waiting = waiting_act(store_path(), session_id, act.approval_id)
        decision = decision_about(
            session_id,
            waiting,
            approved=True,
            changed=changed or None,
            shown=act.shown,
            note=note,
            is_said=True,
        )
        try:
            runs.go_on(
                session_id,
                state.chosen_pace(),
                closes=closes,
                values=values,
                leave_marks=leave_marks,
                decisions=[decision],
            )
        except ValuesLeftOut:
            state.tell(session_id, f"Nothing was decided. {MISSING}")
        except ActLeftOut:
            names = ", ".join(act.left_out)
            state.tell(session_id, f"Nothing was decided: say the value of {names}, or say no.")
        except FlowNotNamed:
            line = yes_line(
                session_id,
                act.approval_id,
                [one.gap.name for one in asked if one.is_first],
                flow=runs.flow_source(session_id) or "path/to/file.py:name",
                store=named_store(),
            )
            state.tell(session_id, f"Nothing was decided. {_no_code(line)}")
        else:
            forget_said(asked, session_id, act.approval_id)


@contextmanager
def _told(session_id: str) -> Iterator[None]:
    """Tell beside what waits why something could not be said, or not be gone on with."""
    state.tell(session_id, "")
    try:
        yield
    except AlreadySaid as error:
        by = f" by {error.said_by}" if error.said_by else ""
        state.tell(
            session_id,
            f"{error.subject} was dealt with before{by}, in another window or from a shell; that "
            "counts, and what you said now was not taken.",
        )
    except HandoffConsoleError as error:
        state.tell(session_id, str(error))


def _go_on(session_id: str, closes: bool) -> None:
    asked = state.missed_by(session_id)
    values, leave_marks = said_there(asked, session_id)
    runs.go_on(
        session_id, state.chosen_pace(), closes=closes, values=values, leave_marks=leave_marks
    )
    forget_said(asked, session_id)
    state.miss(session_id, ())


def _how_to_go_on(session_id: str) -> str:
    source = runs.flow_source(session_id) or "path/to/file.py:name"
    return f"What you said is kept. {ways_on(session_id, flow=source, store=named_store())}"


def _no_code(line: str) -> str:
    return (
        "The session ran a flow of your own, and no code is run because a record says so: say yes "
        f"with `{line}`, or open the console with the flow."
    )
