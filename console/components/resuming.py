"""Going on with an interrupted session: what is finished, what is ahead, what nobody knows."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from handoff_console.console.components.left_out import left_out_form
from handoff_console.console.components.panel import Node, panel, tag
from handoff_console.console.viewmodels.resumption import ResumptionView, UnknownAct

HAPPENED, NOT_HAPPENED, UNKNOWN = "It happened", "It did not happen", "Go on without knowing"
KEY = "resume"
RESUME = "Resume this session"


def show_resumption(
    view: ResumptionView, session_id: str, problem: str, on_resume: Callable[[], None]
) -> None:
    """Draw it, with the button.

    Args:
        view: What it says.
        session_id: Of the session: what is said about its acts is kept for it.
        problem: Why it could not go on; empty when nothing was wrong.
        on_resume: Goes on; `said_about` has what was said.
    """
    nodes: list[Node] = [
        tag("b", "The process that ran this session is gone. It can go on from its record."),
        tag("p.text", view.finished),
        tag("ul", *(tag("li.text", one) for one in view.ahead)),
    ]
    with st.container(border=True):
        panel(KEY, nodes)
        for act in view.unknown:
            _act(act, session_id)
        if problem:
            panel("resume_problem", [tag("div.verdict.text", problem, outcome="error")])
        missing = [act for act in view.unknown if _said(session_id, act.place) is None]
        first = "Say first what became of each act." if missing else ""
        if view.left_out:
            left_out_form(view.left_out, session_id, RESUME, on_resume, missing=first)
        else:
            st.button(
                RESUME,
                type="primary",
                on_click=on_resume,
                disabled=bool(missing),
                help=first or None,
            )


def said_about(view: ResumptionView, session_id: str) -> Mapping[str, tuple[str, str]]:
    """Return what was said about each act, by place: one of the three, and what came back."""
    return {
        act.place: (str(_said(session_id, act.place)), _came_back(session_id, act.place))
        for act in view.unknown
    }


def _act(act: UnknownAct, session_id: str) -> None:
    panel(
        f"act {act.place}",
        [
            tag("p.text.problem", f"{act.title}: nobody knows whether it happened.",
                outcome="needs_input"),
            tag("pre", act.arguments),
        ],
    )  # fmt: skip
    st.radio(
        "Find out, and say what became of it",
        [HAPPENED, NOT_HAPPENED, UNKNOWN],
        index=None,
        captions=[
            "It is not done again; the agent reads what came back.",
            "It is tried again.",
            "It is not done again; the agent is told that nobody knows.",
        ],
        key=_key(session_id, act.place),
        horizontal=True,
    )
    if _said(session_id, act.place) == HAPPENED:
        st.text_input(
            "What came back (JSON, or a text); may be left empty",
            key=_key(session_id, f"{act.place} result"),
        )


def _said(session_id: str, place: str) -> str | None:
    said: Any = st.session_state.get(_key(session_id, place))
    return said if isinstance(said, str) else None


def _came_back(session_id: str, place: str) -> str:
    return str(st.session_state.get(_key(session_id, f"{place} result")) or "")


def _key(session_id: str, name: str) -> str:
    return f"resume {session_id} {name}"
