"""Cached reads about many sessions: the list, what it can be filtered by, and re-runs in it."""

import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from handoff_console.console.reading import Version, reading
from handoff_console.console.settings import named_store, store_path
from handoff_console.console.viewmodels.inbox import InboxRow, inbox_rows, rerun_rows
from handoff_console.runtime.contract import State
from handoff_console.store import queries as store_queries
from handoff_console.store import reader
from handoff_console.store.analysis.findings import judgement
from handoff_console.store.deadlines import is_too_late
from handoff_console.store.lineage import attempt_rows
from handoff_console.store.session_filter import SessionFilter

READ_FOR_VERDICT_EVENTS = 5_000
"""Of a longer session that is not over the list says only that it is not."""
LABEL_VALUES = 50
"""A label with more values is an id, by which nobody filters."""


@dataclass(frozen=True)
class Facets:
    """What the sessions of a store can be filtered by."""

    outcomes: Mapping[str, int]
    """How many sessions have each, the worst first."""
    flows: tuple[str, ...]
    findings: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    """Key and value of what callers noted about their requests, by key."""
    trials: int = 0
    """Whole sessions of comparisons, which the list leaves out."""

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
        labels = store_queries.label_rows(db, most_values=LABEL_VALUES)
        trials = store_queries.trial_count(db)
    flows, findings = (
        tuple(value for facet, value, _ in found if facet == wanted and value)
        for wanted in ("flow", "finding")
    )
    named = tuple((key, value) for key, value, _ in labels)
    return Facets(dict(counts), flows, findings, named, trials)


def count_sessions(wanted: SessionFilter) -> int:
    """Return how many sessions match."""
    with reading() as db:
        return store_queries.session_count(db, wanted)


def sessions(
    wanted: SessionFilter, limit: int, offset: int, unfolded: str | None = None
) -> tuple[InboxRow, ...]:
    """Return a page of the sessions that match, failed ones first.

    Args:
        wanted: What they are to be like.
        limit: How many, re-runs left out.
        offset: How many come before them.
        unfolded: The session whose re-runs follow it, a row each.
    """
    now = time.time()
    with reading() as db:
        found = store_queries.session_rows(db, wanted, limit=limit, offset=offset)
        for row in found:
            row["verdict"] = row["verdict"] or _verdict(db, row)
        below = _reruns_of(db, unfolded, found)
    rows: list[InboxRow] = []
    for line in inbox_rows(found, now=now, store=named_store()):
        is_unfolded = bool(below) and line.session_id == unfolded
        rows.append(replace(line, is_unfolded=is_unfolded))
        rows += rerun_rows(below, now=now) if is_unfolded else ()
    return tuple(rows)


def running_ids() -> frozenset[str]:
    """Return the ids of all sessions that run now, those included that only a filter shows."""
    wanted = SessionFilter(outcomes=(State.RUNNING.value,), reruns=True, trials=True)
    with reading() as db:
        found = store_queries.session_rows(db, wanted, limit=None)
    return frozenset(row["session_id"] for row in found)


def _reruns_of(
    db: sqlite3.Connection, session_id: str | None, found: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    if session_id is None or session_id not in {row["session_id"] for row in found}:
        return []
    return [row for row in attempt_rows(db, session_id) if row["level"]]


_NOT_OVER = {State.RUNNING.value, State.WAITING.value, State.INTERRUPTED.value}


def _verdict(db: sqlite3.Connection, row: Mapping[str, Any]) -> str:
    if row["outcome"] not in _NOT_OVER or row["last_seq"] > READ_FOR_VERDICT_EVENTS:
        return ""
    interrupted, waits = row["outcome"] == State.INTERRUPTED, row["outcome"] == State.WAITING
    return _verdict_now(
        Version(
            str(store_path()),
            row["session_id"],
            row["last_seq"],
            reader.generation(db),
            interrupted,
            waits and is_too_late(db, row["session_id"], now=time.time()),
        )
    )


@st.cache_data(show_spinner=False, max_entries=400)
def _verdict_now(asked: Version) -> str:
    """Return what is to be said of a session that is not over, and so has no line yet."""
    with reading(asked.path) as db:
        events = reader.load_events(db, asked.session_id, until_seq=asked.seq)
    judged = judgement(events, interrupted=asked.interrupted, too_late=asked.too_late)
    return judged.verdict.sentence
