"""Where the reader is: the only user of session state and of the page's address.

Everything that is selected stands in the address, so that a link shows somebody else the same.
"""

from collections.abc import Mapping
from typing import Literal, get_args
from urllib.parse import urlencode

import streamlit as st

Tab = Literal["Request", "Gate", "Result", "Context"]
TABS: tuple[Tab, ...] = get_args(Tab)
View = Literal["Tree", "Agents"]
VIEWS: tuple[View, ...] = get_args(View)

FLOW, PACE, MESSAGE = "live_flow", "live_pace", "live_message"
"""The keys of the live screen's fields."""
_NONCE = "cursor_nonce"
_POLLING = "polling"
_LEAVING = "leaving_for"
_PROBLEM = "problem"


def selected_session() -> str | None:
    """Return the session in the address; None when there is none."""
    return _parameter("session")


def selected_handoff() -> str | None:
    """Return the handoff in the address; None leaves the choice to the verdict."""
    return _parameter("handoff")


def selected_seq() -> int | None:
    """Return the event in the address; None, also for what is no event number, is the end."""
    text = _parameter("seq") or ""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    return number or None


def selected_tab() -> Tab:
    """Return the tab of the card in the address; the first one otherwise."""
    return next((tab for tab in TABS if tab == _parameter("tab")), TABS[0])


def selected_view() -> View:
    """Return what stands at the left of the session page: the tree, or the agents' graph."""
    return next((view for view in VIEWS if view == _parameter("view")), VIEWS[0])


def select_handoff(handoff_id: str | None) -> None:
    """Put a handoff into the address."""
    _put({"handoff": handoff_id})


def step_to(seq: int | None, handoff_id: str | None) -> None:
    """Put an event, and the handoff it belongs to, into the address; None is the end."""
    _put({"seq": None if seq is None else str(seq)})
    if handoff_id:
        select_handoff(handoff_id)


def jump_to(seq: int | None, handoff_id: str | None) -> None:
    """Do `step_to` on behalf of the server: the page has to follow."""
    step_to(seq, handoff_id)
    st.session_state[_NONCE] = cursor_nonce() + 1


def cursor_nonce() -> int:
    """Return how often the server moved the reader; the page follows when it changes."""
    return int(st.session_state.get(_NONCE, 0))


def select_tab(tab: Tab) -> None:
    """Put a tab of the card into the address."""
    _put({"tab": tab if tab != TABS[0] else None})


def select_view(view: View) -> None:
    """Put the choice between tree and graph into the address."""
    _put({"view": view if view != VIEWS[0] else None})


def followed_run() -> str | None:
    """Return the session that the live screen shows; None before one was started."""
    return _parameter("run")


def follow_run(session_id: str) -> None:
    """Show a session on the live screen."""
    _put({"run": session_id})


def chosen_flow() -> str:
    """Return the sample flow that is chosen on the live screen."""
    return str(st.session_state.get(FLOW, ""))


def chosen_pace() -> str:
    """Return how fast a sample shall answer, in words."""
    return str(st.session_state.get(PACE, ""))


def typed_message() -> str:
    """Return what was typed on the live screen; empty when nothing was."""
    return str(st.session_state.get(MESSAGE) or "")


def is_polling() -> bool:
    """Say whether the page asks the store again and again."""
    return bool(st.session_state.get(_POLLING))


def poll(on: bool) -> None:
    """Note that the page asks again and again, or that it stopped to."""
    st.session_state[_POLLING] = on


def is_dark() -> bool:
    """Say whether the page is dark."""
    return st.context.theme.type == "dark"


def address_of(session_id: str) -> Mapping[str, str]:
    """Return the query parameters under which a session's page opens."""
    return {"session": session_id}


def link_to(session_id: str) -> str:
    """Return the link to a session's page, relative to the list."""
    return f"session?{urlencode(address_of(session_id))}"


def leave_for(session_id: str | None) -> None:
    """Note in a callback, which may not leave the page itself, that a session was chosen."""
    st.session_state[_LEAVING] = session_id


def leaving_for() -> str | None:
    """Return the session that was chosen, once."""
    chosen = st.session_state.pop(_LEAVING, None)
    return chosen if isinstance(chosen, str) else None


def say(problem: str) -> None:
    """Keep a sentence for the reader until the next one; empty takes it away."""
    st.session_state[_PROBLEM] = problem


def said() -> str:
    """Return the sentence that was kept for the reader; empty when there is none."""
    return str(st.session_state.get(_PROBLEM, ""))


def page_of_list() -> int:
    """Return which page of the list is shown, from 1."""
    text = _parameter("page") or ""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def turn_page(page: int) -> None:
    """Put a page of the list into the address."""
    _put({"page": str(page) if page > 1 else None})


def _parameter(name: str) -> str | None:
    return st.query_params.get(name) or None


def _put(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != value:
            st.query_params[name] = value
