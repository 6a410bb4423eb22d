"""Cached reads: what the screens ask the store, each answer kept until the session changes.

A connection lives for one question, because a screen runs in a thread of its own each time. What is
kept is keyed by the session's last event and the store's generation, so nothing has to be cleared.
"""

import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.tree import Outline, outline
from handoff_console.console.figures.burn_down import burn_down_figure
from handoff_console.console.memory import undisturbed
from handoff_console.console.reading import Version, reading
from handoff_console.console.settings import named_store, store_path
from handoff_console.console.viewmodels.agent_graph import AgentGraph, agent_graph
from handoff_console.console.viewmodels.burn_down import BurnDown, burn_down
from handoff_console.console.viewmodels.handoff_card import CARD_KINDS, HandoffCard, handoff_card
from handoff_console.console.viewmodels.header import SessionHeader, session_header
from handoff_console.console.viewmodels.seen import ContextView, context_view
from handoff_console.console.viewmodels.stepper import StepGuide, StepWindow, step_window
from handoff_console.console.viewmodels.text import one_line
from handoff_console.console.viewmodels.tree import TreeRow, tree_rows
from handoff_console.runtime.events import KINDS, Event, HandoffRequested
from handoff_console.store import reader
from handoff_console.store.analysis.answers import session_answer
from handoff_console.store.analysis.asked_with import asked_with, sender_of
from handoff_console.store.analysis.bodies import Body
from handoff_console.store.analysis.budget import Ledger, ledgers
from handoff_console.store.analysis.findings import Judgement, judgement
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.tree import handoff_tree
from handoff_console.store.deadlines import is_too_late
from handoff_console.store.liveness import is_interrupted
from handoff_console.store.recordings import is_imported

__all__ = [
    "Record", "Version", "agents", "burn_down_of", "card", "context", "is_running", "reading",
    "record", "steps_around", "version",
]  # fmt: skip

SESSIONS_KEPT = 16
"""Sessions whose record stays in memory, for all readers of this console together."""


LARGE_EVENTS = 2_000
"""From here on a session weighs enough to be kept out of the garbage collector's way."""
END_EVENTS = 200
"""Of a larger session, so many at its end are read with what is said in passing."""
READ_WHOLE_EVENTS = 20_000
"""Up to here all of a session is read at once; of a larger one, what is said in passing is not."""

_IN_PASSING = frozenset(
    {
        "agent_activated",
        "first_token_received",
        "model_called",
        "model_replied",
        "tool_called",
        "tool_returned",
    }
)
"""Most of a large session, needed by neither its tree nor its pool."""


def version(session_id: str) -> Version | None:
    """Return how far a session is now; None when the store has no such session."""
    with reading() as db:
        seq = reader.last_seq(db, session_id)
        if not seq:
            return None
        gone = is_interrupted(db, session_id)
        late = is_too_late(db, session_id, now=time.time())
        came = is_imported(db, session_id)
        return Version(str(store_path()), session_id, seq, reader.generation(db), gone, late, came)


@dataclass(frozen=True)
class Record:
    """What is known of a session as a whole: read once, never changed."""

    version: Version
    judgement: Judgement
    ledgers: tuple[Ledger, ...]
    header: SessionHeader
    answer: str
    """What the user was told last; empty while there is nothing."""

    def prepare(self) -> None:
        """Make now what would be made when it is asked for."""
        _ = self.outline, self.guide, self.burn_down

    @cached_property
    def tree(self) -> tuple[TreeRow, ...]:
        """The rows of the outline."""
        judged = self.judgement
        return tree_rows(
            judged.tree,
            ledgers=self.ledgers,
            findings=judged.findings,
            verdict=judged.verdict,
            total_seconds=self.header.duration_seconds,
        )

    @cached_property
    def outline(self) -> Outline:
        """The same rows as they go to the page."""
        return outline(self.tree, self.judgement.tree.seq)

    @cached_property
    def guide(self) -> StepGuide:
        """Where to jump, and what a line about an event needs to know."""
        judged, is_rerun = self.judgement, self.header.origin == "rerun"
        return StepGuide(judged.tree, self.ledgers, judged.findings, is_rerun=is_rerun)

    @cached_property
    def agent_colors(self) -> Mapping[str, str]:
        """The colour of each agent that spent anything."""
        appeared = sorted(self.judgement.tree.nodes, key=lambda node: node.first_seq)
        order = dict.fromkeys(one_line(node.agent, 40) for node in appeared)
        return theme.agent_colors(self.burn_down.agents, order)

    @cached_property
    def burn_down(self) -> BurnDown:
        """The pool as it burned down."""
        return burn_down(self.ledgers)


@st.cache_resource(show_spinner=False, max_entries=SESSIONS_KEPT)
def record(asked: Version) -> Record:
    """Return a session as it stood at a version."""
    large = asked.seq > LARGE_EVENTS
    with reading(asked.path) as db, undisturbed(keep=large):
        kinds = None if asked.seq <= READ_WHOLE_EVENTS else KINDS.keys() - _IN_PASSING
        events = reader.load_events(db, asked.session_id, until_seq=asked.seq, kinds=kinds)
        if kinds is not None:
            events = _with_all_of_the_end(db, asked, events)
        body = _bodies(db, _requests(events) if large else ())
        judged = judgement(
            events,
            body,
            interrupted=asked.interrupted,
            imported=asked.imported,
            too_late=asked.too_late,
        )
        books = ledgers(events)
        top = session_header(
            events,
            judged,
            books,
            body=body,
            is_whole=kinds is None,
            store=named_store(),
            source=reader.source_of(db, asked.session_id) or "",
        )
        found = Record(asked, judged, books, top, session_answer(events, body))
        if large:
            found.prepare()
        return found


@st.cache_resource(show_spinner=False, max_entries=8 * SESSIONS_KEPT)
def card(found: Version, handoff_id: str, seq: int | None) -> HandoffCard | None:
    """Return a handoff's card as it was at an event; None when nobody had asked for it yet."""
    whole = record(found).judgement
    node = whole.tree.by_id.get(handoff_id)
    if node is None or (seq is not None and seq < node.first_seq):
        return None
    with reading(found.path) as db:
        is_past = seq is not None and seq < whole.tree.seq
        own = _of_handoff(db, found, node, seq, kinds=None if is_past else CARD_KINDS)
        if is_past:
            then = handoff_tree(own, until_seq=seq).by_id[handoff_id]
            node = replace(then, task=node.task, depth=node.depth, hop=node.hop)
        body, call = _bodies(db), _asked_with(db, found, node, own)
        currency = record(found).header.about.currency
        return handoff_card(
            node, own, body=body, findings=whole.findings, call=call, currency=currency
        )


@st.cache_resource(show_spinner=False, max_entries=8 * SESSIONS_KEPT)
def context(found: Version, handoff_id: str, seq: int | None) -> ContextView:
    """Return what a handoff's agent had read at an event, at its last model call."""
    nodes = record(found).judgement.tree.by_id
    node = nodes.get(handoff_id)
    before = nodes.get(node.continues or "") if node else None
    with reading(found.path) as db:
        events = [
            event for one in (before, node) if one for event in _of_handoff(db, found, one, seq)
        ]
        events.sort(key=lambda event: event.seq)
        return context_view(events, handoff_id, _bodies(db), seq=seq)


@st.cache_resource(show_spinner=False, max_entries=4 * SESSIONS_KEPT)
def agents(found: Version, seq: int | None) -> AgentGraph:
    """Return the agents of a session and what had gone between them at an event."""
    with reading(found.path) as db:
        kinds = {"session_started"} if seq is None else KINDS.keys() - _IN_PASSING
        events = reader.load_events(db, found.session_id, until_seq=seq, kinds=kinds)
        tree = record(found).judgement.tree if seq is None else handoff_tree(events)
        return agent_graph(tree, events, body=_bodies(db))


@st.cache_resource(show_spinner=False, max_entries=4 * SESSIONS_KEPT)
def burn_down_of(asked: Version, *, dark: bool) -> Any:
    """Return the burn-down as a Plotly figure; nobody may change it."""
    import plotly.graph_objects

    found = record(asked)
    figure = burn_down_figure(
        found.burn_down, last_seq=asked.seq, colors=found.agent_colors, dark=dark
    )
    # A plain dict would be checked field by field at every run of the page: 40 ms when it is large.
    return plotly.graph_objects.Figure(figure)


def steps_around(found: Record, seq: int | None) -> StepWindow:
    """Return the events around one, or at the end, as rows."""
    return step_window(
        lambda first, last: _events_between(found.version, first, last), found.guide, around=seq
    )


@st.cache_resource(show_spinner=False, max_entries=4 * SESSIONS_KEPT)
def _events_between(asked: Version, first: int, last: int) -> tuple[Event, ...]:
    with reading(asked.path) as db:
        return tuple(reader.load_events(db, asked.session_id, after_seq=first - 1, until_seq=last))


def _of_handoff(
    db: sqlite3.Connection,
    found: Version,
    node: HandoffNode,
    seq: int | None,
    kinds: Collection[str] | None = None,
) -> list[Event]:
    # Its first and last event bound the search: without them all of a session is looked through.
    last = node.last_seq if seq is None else min(seq, node.last_seq)
    return reader.load_events(
        db,
        found.session_id,
        after_seq=node.first_seq - 1,
        until_seq=last,
        kinds=kinds,
        handoff_id=node.handoff_id,
    )


def _asked_with(
    db: sqlite3.Connection, found: Version, node: HandoffNode, own: Sequence[Event]
) -> Mapping[str, Any] | None:
    """Return the call behind a request that was not kept as one, because it was refused."""
    asked = own[0].payload if own else None
    sender = sender_of(node)
    if not isinstance(asked, HandoffRequested) or asked.request or sender is None:
        return None
    replies = reader.load_events(
        db,
        found.session_id,
        until_seq=node.first_seq,
        kinds={"model_replied", "tool_returned"},
        handoff_id=sender,
    )
    return asked_with(asked, replies, _bodies(db))


def _with_all_of_the_end(
    db: sqlite3.Connection, asked: Version, events: Sequence[Event]
) -> list[Event]:
    """Add what was said in passing at the end: it tells what an unfinished session is doing."""
    end = reader.load_events(db, asked.session_id, until_seq=asked.seq, last=END_EVENTS)
    return [event for event in events if event.seq < end[0].seq] + end if end else list(events)


def _requests(events: Iterable[Event]) -> Iterable[str]:
    """Yield the bodies of the requests: the tree names the task of each."""
    for event in events:
        if isinstance(event.payload, HandoffRequested) and event.payload.request:
            yield event.payload.request


def _bodies(db: sqlite3.Connection, wanted: Iterable[str] = ()) -> Body:
    """Return a reader of bodies; those that are wanted for certain are read at once."""
    known = reader.bodies(db, wanted)
    return lambda digest: known[digest] if digest in known else reader.body(db, digest)


def is_running(session_id: str | None) -> bool:
    """Say whether a session goes on."""
    found = version(session_id) if session_id else None
    return found is not None and not record(found).header.is_over
