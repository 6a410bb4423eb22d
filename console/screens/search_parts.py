"""Which change flips it: the search, from what it will take to its answer."""

from dataclasses import replace

import streamlit as st

from handoff_console.console import (
    family_queries,
    rerun_queries,
    rerun_state,
    settings,
    shell_lines,
    state,
)
from handoff_console.console.commands.attempt_names import AttemptName
from handoff_console.console.commands.background import start_bisection
from handoff_console.console.commands.bisecting import Bisection
from handoff_console.console.commands.errors import MarksInRequest
from handoff_console.console.commands.jobs import Job, job_of
from handoff_console.console.components.flip_search import show_flip_answer, show_flip_plan
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.rerun_queries import Compared
from handoff_console.console.viewmodels.flips import flip_answer, flip_plan
from handoff_console.console.viewmodels.rerun_plan import MODE_SENTENCES, MODE_TITLES
from handoff_console.runtime.contract import State, Status
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.rerun_player import Mode

MARKS = "flip_marks"
MARKED = (
    "Values were left out of what they were asked with, and models would read marks in their "
    "place: let them, or say the values in a shell (--value)."
)
ASKED = "asked"
"""In the address, before a search was started."""
MODES = (Mode.WHAT_IF, Mode.LIVE_READS)
MOST_REPEATS = 20
POLL_SECONDS = 0.5
_UNFINISHED = frozenset(
    one.value for one in (State.WAITING, State.RUNNING, State.CANCELLED, State.INTERRUPTED)
)
_BAD = frozenset({Status.ERROR.value, Status.LIMIT_REACHED.value})


def search(compared: Compared, handoff_id: str) -> None:
    """Offer the search, or draw how far it is."""
    sides = _failed_and_good(compared, handoff_id)
    if sides is None:
        return
    name = rerun_state.search_job()
    if name is None:
        st.button(
            "Which change flips it?",
            on_click=rerun_state.follow_search,
            args=(ASKED,),
            help="Tries the differences between the two, alone and together.",
        )
        return
    with st.container(border=True):
        panel("flip_title", [tag("b", "Which change flips it?")])
        job = job_of(name)
        if job is None:
            _ask(*sides)
        elif job.is_over:
            _answer(job)
        else:
            st.fragment(lambda: _watch(name), run_every=POLL_SECONDS)()


def _first_mode(named: str) -> int:
    """Return the place of the mode that the good attempt was made with, where it was made so."""
    member = family_queries.member_of(rerun_queries.attempt_said(named).session)
    return int(member is not None and member.mode in (Mode.LIVE_READS, Mode.LIVE, Mode.CONTINUE))


def _ask(failed: str, good: str) -> None:
    how, plan = st.columns([2, 3], gap="medium")
    with how:
        mode = Mode(
            st.radio(
                "How much is real",
                [mode.value for mode in MODES],
                format_func=lambda one: MODE_TITLES[Mode(one)],
                captions=[MODE_SENTENCES[one] for one in MODES],
                index=_first_mode(good),
                key="flip_mode",
            )
        )
        repeats = st.number_input(
            "Each is tried so many times", 1, MOST_REPEATS, 3, key="flip_repeats", width=200
        )
    _, named = rerun_queries.flow_of(rerun_queries.attempt_said(failed).session)
    asked = Bisection(failed=failed, good=good, mode=mode, repeats=int(repeats), named=named)
    asked = replace(asked, leave_marks=bool(st.session_state.get(MARKS)))
    with plan:
        shown, has_marks = None, False
        try:
            ready = rerun_queries.search_plan(asked)
            shown, has_marks = flip_plan(ready, asked.repeats), ready.has_marks
        except MarksInRequest:
            has_marks = True
            panel("flip", [tag("div.verdict.text", MARKED, outcome="needs_input")])
        except HandoffConsoleError as error:
            panel("flip", [tag("div.verdict.text", str(error), outcome="error")])
        if shown:
            show_flip_plan(shown)
        if has_marks:
            st.checkbox("Let the marks be read", key=MARKS)
        with st.container(horizontal=True):
            if shown and shown.changes:
                st.button("Look for it", type="primary", on_click=_start, args=(asked,))
            st.button("Not now", on_click=rerun_state.follow_search, args=(None,))
    _from_a_shell(shell_lines.bisect_command(asked))


def _from_a_shell(command: str) -> None:
    if command:
        st.caption("The same from a shell")
        st.code(command, language="bash", wrap_lines=True)


def _start(asked: Bisection) -> None:
    try:
        name = start_bisection(settings.store_path(), asked)
    except HandoffConsoleError as error:
        state.say(str(error))
        return
    job = job_of(name)
    if job:
        job.command = shell_lines.bisect_command(asked)
    rerun_state.follow_search(name)


def _watch(name: str) -> None:
    job = job_of(name)
    if job is None or job.is_over:
        st.rerun()
    assert job is not None
    share = job.done / job.total if job.total else 0.0
    st.progress(min(share, 1.0), text=f"{job.done} of at most {job.total} re-runs are done")
    st.button("Stop", on_click=job.stop, disabled=job.was_stopped)


def _answer(job: Job) -> None:
    if job.result is not None:
        show_flip_answer(flip_answer(job.result))
    else:
        said = job.problem or f"It was stopped after {job.done} re-runs, so nothing is known yet."
        panel("flip", [tag("div.verdict.text", said, outcome="needs_input")])
    _from_a_shell(job.command)
    st.button("Close", on_click=rerun_state.follow_search, args=(None,))


def _failed_and_good(compared: Compared, handoff_id: str) -> tuple[str, str] | None:
    """Return the two attempts to search between.

    None where there are none, both came out alike or badly, or one has not come to an end.
    """
    view = compared.view
    left, right = compared.left.handoff_id or handoff_id, compared.right.handoff_id or handoff_id
    if not (left and right):
        place = rerun_state.selected_pair()
        place = view.first if place is None or place >= len(view.rows) else place
        if place is None:
            return None
        row = view.rows[place]
        left, right = row.left_handoff_id or "", row.right_handoff_id or ""
    if not (left and right):
        return None
    failed = str(AttemptName(view.left.session_id, left))
    good = str(AttemptName(view.right.session_id, right))
    outcomes = (
        next((row.left_outcome for row in view.rows if row.left_handoff_id == left), ""),
        next((row.right_outcome for row in view.rows if row.right_handoff_id == right), ""),
    )
    if outcomes[0] == outcomes[1] or _UNFINISHED & {*outcomes} or {*outcomes} <= _BAD:
        return None
    left_is_good = outcomes[0] == "ok" or (outcomes[1] != "ok" and outcomes[1] in _BAD)
    return (good, failed) if left_is_good else (failed, good)
