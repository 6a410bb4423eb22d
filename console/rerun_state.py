"""Where the reader of the re-run pages is, in the address: beside `state`, for the same reason."""

from collections.abc import Mapping

import streamlit as st

from handoff_console.console.state import LEAVING

SIDES, SESSION = "side_by_side", "session"
"""The pages, as the address names them."""
_LEAVING = f"{LEAVING}{SESSION}"
_WATCHED = "watched_run"


def started_run() -> str | None:
    """Return the first run of what was started on this page; None before something was."""
    return _parameter("run")


def follow(session_id: str | None) -> None:
    """Show how far a run is; None goes back to the form."""
    _put({"run": session_id})


def watch(session_id: str) -> None:
    """Note that the reader of this window waits for a run."""
    st.session_state[_WATCHED] = session_id


def was_watched(session_id: str) -> bool:
    """Say, once, whether the reader waited for this run; who comes back to it later did not."""
    return bool(st.session_state.pop(_WATCHED, None) == session_id)


def sides() -> tuple[str | None, str | None]:
    """Return the two sessions in the address that stand side by side, or a handoff of each."""
    return _parameter("left"), _parameter("right")


def put_sides(left: str, right: str) -> None:
    """Put two sessions side by side, or two attempts, as they are named."""
    _put({"left": left, "right": right, "pair": None})


def attempts_from() -> int | None:
    """Return from which attempt on they are shown; None shows the newest."""
    text = _parameter("attempts_from") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def show_attempts_from(number: int | None) -> None:
    """Show the attempts from a number on; None shows the newest again."""
    _put({"attempts_from": None if number is None else str(number)})


def selected_pair() -> int | None:
    """Return which of the compared handoffs is looked at; None leaves the choice to the page."""
    text = _parameter("pair") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def select_pair(place: int) -> None:
    """Put one of the compared handoffs into the address."""
    _put({"pair": str(place)})


def shows_all() -> bool:
    """Say whether handoffs that are the same on both sides are shown as well."""
    return _parameter("all") == "1"


def show_all(on: bool) -> None:
    """Show handoffs that are the same on both sides, or only those that differ."""
    _put({"all": "1" if on else None})


def search_job() -> str | None:
    """Return the search for what flips an outcome that is shown; None when none is."""
    return _parameter("search")


def follow_search(name: str | None) -> None:
    """Show how far a search is; None takes it away."""
    _put({"search": name})


def rerun_address(session_id: str, handoff_id: str) -> Mapping[str, str]:
    """Return the query parameters of the form for running a handoff again."""
    return {"session": session_id, "handoff": handoff_id}


def sides_address(left: str, right: str, handoff_id: str = "") -> Mapping[str, str]:
    """Return the query parameters of two sessions side by side, at a handoff of theirs."""
    address = {"left": left, "right": right}
    return {**address, "handoff": handoff_id} if handoff_id else address


def leave_for(page: str, address: Mapping[str, str]) -> None:
    """Note in a callback, which may not leave the page itself, where the reader wants to go."""
    st.session_state[_LEAVING] = (page, dict(address))


def is_leaving() -> bool:
    """Say whether the reader wants to go somewhere."""
    return _LEAVING in st.session_state


def leaving() -> tuple[str, Mapping[str, str]] | None:
    """Return the page the reader wants to go to, and its query parameters, once."""
    found: tuple[str, Mapping[str, str]] | None = st.session_state.pop(_LEAVING, None)
    return found


def _parameter(name: str) -> str | None:
    return st.query_params.get(name) or None


def _put(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
    new = {name: value for name, value in values.items() if value is not None}
    if new:
        st.query_params.update(new)
