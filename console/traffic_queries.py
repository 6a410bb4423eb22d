"""What the routing pages ask the store about recorded sessions, each answer kept while it is true.

Beside `compare_queries`, and by the same rules.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from threading import Lock

import streamlit as st

from handoff_console.console.memory import undisturbed
from handoff_console.console.reading import reading
from handoff_console.console.settings import store_path
from handoff_console.store import reader, routed_sessions
from handoff_console.store.analysis.routing import Routing, routing_of
from handoff_console.store.labels import labels
from handoff_console.store.routed_sessions import FirstMessage, RoutedSession

SAID_FROM = 300
"""With more sessions to read than this the page says how far it is."""


class _Shelf:
    """The routing figures of closed sessions, each computed once: closed ones do not change."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.found: dict[RoutedSession, Routing] = {}


@st.cache_resource(show_spinner=False, max_entries=2)
def _shelf(path: str, generation: int) -> _Shelf:  # noqa: ARG001 - they are the key
    return _Shelf()


def routings() -> tuple[Routing, ...]:
    """Return the routing figures of every closed session that repeats no other one."""
    path = str(store_path())
    with reading() as db:
        wanted = routed_sessions.routed_sessions(db)
        shelf = _shelf(path, reader.generation(db))
        with shelf.lock:
            missing = [it for it in wanted if it not in shelf.found]
            if missing:
                _fill(shelf, db, missing)
            return tuple(shelf.found[it] for it in wanted)


def _fill(shelf: _Shelf, db: sqlite3.Connection, missing: Sequence[RoutedSession]) -> None:
    said = st.progress(0.0) if len(missing) > SAID_FROM else None
    bodies = lambda digest: reader.body(db, digest)  # noqa: E731 - a name for one line
    with undisturbed(keep=len(missing) > SAID_FROM):
        for place, wanted in enumerate(missing):
            events = reader.load_events(db, wanted.session_id, until_seq=wanted.last_seq)
            shelf.found[wanted] = routing_of(events, body=bodies)
            if said and place % 100 == 0:
                said.progress(
                    place / len(missing), f"Reading {place:,} of {len(missing):,} sessions"
                )
    if said:
        said.empty()


def previews(session_ids: Sequence[str]) -> Mapping[str, str]:
    """Return the beginning of what each session began with."""
    with reading() as db:
        return routed_sessions.previews(db, session_ids)


def label_keys() -> tuple[str, ...]:
    """Return what came with requests and names agents somewhere: it may be a label."""
    with reading() as db:
        newest = reader.newest_event(db)
        return _label_keys(str(store_path()), reader.generation(db), newest)


@st.cache_data(show_spinner=False, max_entries=4)
def _label_keys(path: str, generation: int, newest: int) -> tuple[str, ...]:  # noqa: ARG001 - the key
    with reading(path) as db:
        return tuple(routed_sessions.label_keys(db))


def session_labels(key: str | None) -> Mapping[str, str]:
    """Return who should have got each session: what people said, and what came with requests.

    What people said here counts for more; where two of them differ nobody knows, and the session
    has no label.

    Args:
        key: The field that came with the requests; None takes only what people said.
    """
    with reading() as db:
        came = routed_sessions.session_labels(db, key) if key else {}
        said: dict[str, set[str]] = {}
        for label in labels(db):
            said.setdefault(label.session_id, set()).add(label.label)
    agreed = {session_id: min(words) for session_id, words in said.items() if len(words) == 1}
    unknown = said.keys() - agreed.keys()
    return {name: word for name, word in (came | agreed).items() if name not in unknown}


def labels_by() -> Mapping[str, Mapping[str, str]]:
    """Return what each labeller has said: by labeller, then by session."""
    by: dict[str, dict[str, str]] = {}
    with reading() as db:
        for label in labels(db):
            by.setdefault(label.labeller, {})[label.session_id] = label.label
    return by


def requests(flow: str) -> tuple[FirstMessage, ...]:
    """Return what the closed sessions of a flow began with, the newest first."""
    with reading() as db:
        key = (str(store_path()), reader.generation(db), reader.newest_event(db))
        return _requests(*key, flow)


def request_of(session_id: str) -> FirstMessage | None:
    """Return what a closed session began with; None for one that is open, or is no traffic."""
    with reading() as db:
        return next(iter(routed_sessions.first_messages(db, session_id=session_id)), None)


@st.cache_resource(show_spinner="Reading requests", max_entries=8)
def _requests(path: str, generation: int, newest: int, flow: str) -> tuple[FirstMessage, ...]:  # noqa: ARG001 - the key
    with reading(path) as db:
        return tuple(routed_sessions.first_messages(db, flow))
