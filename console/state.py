"""Where the reader is: the only user of session state and of the page's address.

Everything that is selected stands in the address, so that a link shows somebody else the same.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Literal, get_args
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from handoff_console.console.commands.left_out_values import Asked

Tab = Literal["Request", "Gate", "Result", "Context"]
TABS: tuple[Tab, ...] = get_args(Tab)
View = Literal["Tree", "Agents"]
VIEWS: tuple[View, ...] = get_args(View)

FLOW, PACE, MESSAGE = "live_flow", "live_pace", "live_message"
NEXT_MESSAGE = "live_next_message"
"""The keys of the live screen's fields."""
FLOW_IN_ADDRESS = "name"
"""Not `flow`, which is a filter of the list of sessions: a filter's words belong to its field."""
_AGENT_IN_ADDRESS = "who"
_PROMPTS_IN_ADDRESS = "prompts"
_NONCE = "cursor_nonce"
LEAVING = "leaving_"
"""Under a key of this and the page's path stands where the reader goes from there."""
_LEAVES_LIKE = {"rerun": "session", "side_by_side": "session"}
_PAGE = "page_drawn"
_PROBLEM = "said_problem"  # no panel may have that key: a widget keeps its own there
_TOLD = "told"
_MISSED = "missed"


def selected_session() -> str | None:
    """Return the session in the address; None when there is none."""
    return _parameter("session")


def selected_handoff() -> str | None:
    """Return the handoff in the address; None leaves the choice to the verdict."""
    return _parameter("handoff")


def selected_seq(last: int) -> int | None:
    """Return the event in the address; None, also for what is no event number, is the end.

    Args:
        last: The session's last event; it stands for any that the session does not have.
    """
    number = _number("seq")
    return min(number, last) if number else None


def missing_seq(last: int) -> int | None:
    """Return the event in the address when it comes after the session's last; None otherwise."""
    number = _number("seq")
    return number if number > last else None


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
    place = {"seq": None if seq is None else str(seq)}
    _put(place | {"handoff": handoff_id} if handoff_id else place)


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
    """Return the flow that is chosen on the live screen."""
    return str(st.session_state.get(FLOW, ""))


def linked_flow() -> str:
    """Return the flow in the address; empty when there is none."""
    return _parameter(FLOW_IN_ADDRESS) or ""


def choose_flow(name: str) -> None:
    """Put a flow into the address; empty takes it, its agent and its prompts, away."""
    _put({FLOW_IN_ADDRESS: name or None, _AGENT_IN_ADDRESS: None, _PROMPTS_IN_ADDRESS: None})


def linked_prompts() -> str:
    """Return the prompt version in the address; empty for the flow's own prompts."""
    return _parameter(_PROMPTS_IN_ADDRESS) or ""


def choose_prompts(label: str) -> None:
    """Put a prompt version of the chosen flow into the address; empty takes it away."""
    _put({_PROMPTS_IN_ADDRESS: label or None})


def linked_agent() -> str | None:
    """Return the agent in the address; None leaves the choice to the page."""
    return _parameter(_AGENT_IN_ADDRESS)


def choose_agent(name: str | None) -> None:
    """Put an agent of the chosen flow into the address."""
    _put({_AGENT_IN_ADDRESS: name})


def prefer_flow(name: str) -> None:
    """Choose a flow on the live screen, unless the reader has chosen one already."""
    st.session_state.setdefault(FLOW, name)


def chosen_pace() -> str:
    """Return how fast a sample shall answer, in words."""
    return str(st.session_state.get(PACE, ""))


def typed_message() -> str:
    """Return what was typed on the live screen; empty when nothing was."""
    return str(st.session_state.get(MESSAGE) or "")


def typed_next_message() -> str:
    """Return what was typed to be said next in a session; empty when nothing was."""
    return str(st.session_state.get(NEXT_MESSAGE) or "")


def is_dark() -> bool:
    """Say whether the page is dark."""
    return st.context.theme.type == "dark"


def address_of(session_id: str, seq: int | None = None) -> Mapping[str, str]:
    """Return the query parameters under which a session's page opens, perhaps at an event."""
    return {"session": session_id, **({} if seq is None else {"seq": str(seq)})}


def address_of_flow(name: str) -> Mapping[str, str]:
    """Return the query parameters under which a flow is shown, or ready to be started."""
    return {FLOW_IN_ADDRESS: name}


def link_to(session_id: str) -> str:
    """Return the link to a session's page, relative to the list."""
    return f"session?{urlencode(address_of(session_id))}"


def come_to(page: str) -> None:
    """Forget where the reader wanted to go from other pages; say the address of one that came.

    Of two clicks at once the server hears together: where the first one led is not where to go when
    the second has led elsewhere. And what the page before writes into the address can reach the
    browser when it is elsewhere already: this page's address takes its place.
    """
    own = f"{LEAVING}{_LEAVES_LIKE.get(page, page)}"
    for key in [key for key in st.session_state if str(key).startswith(LEAVING) and key != own]:
        del st.session_state[key]
    context, before = get_script_run_ctx(), st.session_state.get(_PAGE, page)
    st.session_state[_PAGE] = page
    if page != before or (context and context.is_history_navigation):
        address = {name: st.query_params.get_all(name) for name in st.query_params}
        # Where a field writes itself there, known from an earlier visit, it does so again.
        with contextlib.suppress(StreamlitAPIException):
            st.query_params.from_dict(address)


def leave_for(session_id: str | None, seq: int | None = None, *, page: str) -> None:
    """Note in a callback, which may not leave its page itself, that a session was chosen there."""
    st.session_state[f"{LEAVING}{page}"] = session_id, seq


def leaving_for(page: str) -> tuple[str, int | None] | None:
    """Return the session that was chosen on this page, once, and at which event it is to open."""
    session_id, seq = st.session_state.pop(f"{LEAVING}{page}", (None, None))
    return (str(session_id), seq) if session_id else None


def say(problem: str) -> None:
    """Keep a sentence for the reader until the next one; empty takes it away."""
    st.session_state[_PROBLEM] = problem


def said() -> str:
    """Return the sentence that was kept for the reader; empty when there is none."""
    return str(st.session_state.get(_PROBLEM, ""))


def tell(session_id: str, sentence: str) -> None:
    """Keep what the reader is told about a session that waits; empty takes it away."""
    st.session_state[_TOLD] = (session_id, sentence)


def told_about(session_id: str) -> str:
    """Return what the reader was told about this session; empty when that is nothing."""
    about, sentence = st.session_state.get(_TOLD, ("", ""))
    return str(sentence) if about == session_id else ""


def miss(session_id: str, asked: Sequence[Asked]) -> None:
    """Keep which values a session that waits cannot go on without; none takes them away."""
    st.session_state[_MISSED] = (session_id, tuple(asked))


def missed_by(session_id: str) -> Sequence[Asked]:
    """Return which values this session cannot go on without, as far as that was found out."""
    about, asked = st.session_state.get(_MISSED, ("", ()))
    return tuple(asked) if about == session_id else ()


def page_of_list() -> int:
    """Return which page of the list is shown, from 1."""
    text = _parameter("page") or ""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def unfolded_session() -> str | None:
    """Return the session whose re-runs stand in the list; None when none do."""
    return _parameter("reruns")


def unfold(session_id: str | None) -> None:
    """Show the re-runs of a session in the list, or hide them when they are shown."""
    _put({"reruns": session_id if session_id != unfolded_session() else None})


def turn_page(page: int) -> None:
    """Put a page of the list into the address."""
    _put({"page": str(page) if page > 1 else None})


def _number(name: str) -> int:
    text = _parameter(name) or ""
    return int(text.lstrip("0")[:12] or "0") if text.isascii() and text.isdigit() else 0


def _parameter(name: str) -> str | None:
    return st.query_params.get(name) or None


def _put(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
    # In one go: each message to the page is a change of its address.
    new = {k: v for k, v in values.items() if v is not None and st.query_params.get(k) != v}
    if new:
        st.query_params.update(new)
