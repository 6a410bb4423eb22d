"""Cached reads: what the screens ask the store, each answer kept until the session changes.

A connection lives for one question, because a screen runs in a thread of its own each time. What is
kept is keyed by the session's last event and the store's generation, so nothing has to be cleared.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.tree import Outline, outline
from handoff_console.console.figures.burn_down import burn_down_figure
from handoff_console.console.memory import undisturbed
from handoff_console.console.settings import store_path
from handoff_console.console.viewmodels.agent_graph import AgentGraph, agent_graph
from handoff_console.console.viewmodels.burn_down import BurnDown, burn_down
from handoff_console.console.viewmodels.handoff_card import HandoffCard, handoff_card
from handoff_console.console.viewmodels.header import SessionHeader, session_header
from handoff_console.console.viewmodels.inbox import InboxRow, inbox_rows
from handoff_console.console.viewmodels.seen import ContextView, context_view
from handoff_console.console.viewmodels.stepper import StepGuide, StepWindow, step_window
from handoff_console.console.viewmodels.text import one_line
from handoff_console.console.viewmodels.tree import TreeRow, tree_rows
from handoff_console.runtime.events import KINDS, Event
from handoff_console.store import queries as store_queries
from handoff_console.store import reader
from handoff_console.store.analysis.bodies import Body
from handoff_console.store.analysis.budget import Ledger, ledgers
from handoff_console.store.analysis.findings import Judgement, judgement
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.tree import handoff_tree
from handoff_console.store.db import open_reader
from handoff_console.store.liveness import is_interrupted
from handoff_console.store.session_filter import SessionFilter

SESSIONS_KEPT = 16
"""Sessions whose record stays in memory, for all readers of this console together."""


LARGE_EVENTS = 2_000
"""From here on a session weighs enough to be kept out of the garbage collector's way."""
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


class Version(NamedTuple):
    """A session as it stood at one moment: the key under which everything about it is kept."""

    path: str
    session_id: str
    seq: int
    """Its last event."""
    generation: int
    """Of the store: counts deletions and rebuilds."""
    interrupted: bool = False
    """It is not closed, and its process is gone."""


@contextmanager
def reading(path: str | None = None) -> Iterator[sqlite3.Connection]:
    """Open the console's store for one question."""
    with closing(open_reader(path or store_path())) as db:
        yield db


def version(session_id: str) -> Version | None:
    """Return how far a session is now; None when the store has no such session."""
    with reading() as db:
        seq = reader.last_seq(db, session_id)
        if not seq:
            return None
        gone = is_interrupted(db, session_id)
        return Version(str(store_path()), session_id, seq, reader.generation(db), gone)


@dataclass(frozen=True)
class Record:
    """What is known of a session as a whole: read once, never changed."""

    version: Version
    judgement: Judgement
    ledgers: tuple[Ledger, ...]
    header: SessionHeader

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
        return outline(self.tree)

    @cached_property
    def guide(self) -> StepGuide:
        """Where to jump, and what a line about an event needs to know."""
        return StepGuide(self.judgement.tree, self.ledgers, self.judgement.findings)

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
        body = _bodies(db)
        judged = judgement(events, body, interrupted=asked.interrupted)
        books = ledgers(events)
        found = Record(asked, judged, books, session_header(events, judged, books, body=body))
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
        own = _of_handoff(db, found, node, seq)
        if seq is not None and seq < whole.tree.seq:
            then = handoff_tree(own, until_seq=seq).by_id[handoff_id]
            node = replace(then, task=node.task, depth=node.depth, hop=node.hop)
        return handoff_card(node, own, body=_bodies(db), findings=whole.findings)


def answer(found: Version) -> str:
    """Return what the user was told last; empty while there is nothing."""
    tree = record(found).judgement.tree
    roots = [node.handoff_id for node in tree.nodes if node.depth == 0]
    last = card(found, tree.last_of_chain(roots[-1]).handoff_id, None) if roots else None
    return last.result.answer or last.result.notes if last else ""


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
def burn_down_of(asked: Version, *, dark: bool) -> dict[str, Any]:
    """Return the burn-down's figure; nobody may change it."""
    found = record(asked)
    return burn_down_figure(
        found.burn_down, last_seq=asked.seq, colors=found.agent_colors, dark=dark
    )


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
    db: sqlite3.Connection, found: Version, node: HandoffNode, seq: int | None
) -> list[Event]:
    # Its first and last event bound the search: without them all of a session is looked through.
    last = node.last_seq if seq is None else min(seq, node.last_seq)
    return reader.load_events(
        db,
        found.session_id,
        after_seq=node.first_seq - 1,
        until_seq=last,
        handoff_id=node.handoff_id,
    )


def _bodies(db: sqlite3.Connection) -> Body:
    return lambda digest: reader.body(db, digest)


@dataclass(frozen=True)
class Facets:
    """What the sessions of a store can be filtered by."""

    outcomes: Mapping[str, int]
    """How many sessions have each, the worst first."""
    flows: tuple[str, ...]
    findings: tuple[str, ...]

    @property
    def total(self) -> int:
        """How many sessions there are."""
        return sum(self.outcomes.values())


def facets() -> Facets:
    """Return what can be filtered by now."""
    with reading() as db:
        newest = reader.newest_event(db)
        return _facets(str(store_path()), reader.generation(db), newest)


@st.cache_data(show_spinner=False, max_entries=4)
def _facets(
    path: str,
    generation: int,  # noqa: ARG001 - a part of the key
    newest: int,  # noqa: ARG001 - another one
) -> Facets:
    with reading(path) as db:
        counts = store_queries.outcome_count_rows(db)
        found = store_queries.facet_rows(db)
    flows, findings = (
        tuple(value for facet, value, _ in found if facet == wanted and value)
        for wanted in ("flow", "finding")
    )
    return Facets(dict(counts), flows, findings)


def count_sessions(wanted: SessionFilter) -> int:
    """Return how many sessions match."""
    with reading() as db:
        return store_queries.session_count(db, wanted)


def sessions(wanted: SessionFilter, limit: int, offset: int) -> tuple[InboxRow, ...]:
    """Return a page of the sessions that match, failed ones first."""
    with reading() as db:
        found = store_queries.session_rows(db, wanted, limit=limit, offset=offset)
    return inbox_rows(found, now=time.time())


def is_running(session_id: str | None) -> bool:
    """Say whether a session goes on."""
    found = version(session_id) if session_id else None
    return found is not None and not record(found).header.is_over
