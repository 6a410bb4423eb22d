"""The words a session can be found by, and the full-text index that holds them.

The index keeps no text of its own: to take a session out of it, the same words are made again from
its events.
"""

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from handoff_console.runtime.events import (
    AgentActivated,
    Event,
    HandoffClosed,
    UserMessageReceived,
)
from handoff_console.store.analysis.bodies import read_fields, texts_within

CHARACTERS_INDEXED = 100_000
"""Of each column; what stands behind them is not found."""


class Words(NamedTuple):
    """What is indexed of a session."""

    message: str
    """Everything the user said."""
    answer: str
    """What came back, of every request."""
    agents: str
    notes: str
    """What the agents noted beside their results."""


def words_of(events: Iterable[Event], body: Callable[[str], Any]) -> Words:
    """Return the words of a session; the same events and bodies give the same words."""
    messages: list[str] = []
    answers: list[str] = []
    agents: dict[str, None] = {}
    notes: list[str] = []
    for event in events:
        payload = event.payload
        if isinstance(payload, AgentActivated):
            agents.setdefault(payload.agent)
        elif isinstance(payload, HandoffClosed):
            if payload.notes:
                notes.append(payload.notes)
            if event.parent_id is None and payload.result is not None:
                answers += texts_within(read_fields(body, payload.result).get("data"))
        elif isinstance(payload, UserMessageReceived):
            messages.append(str(read_fields(body, payload.message).get("content", "")))
    columns = (messages, answers, agents, notes)
    return Words._make(storable(" ".join(column)[:CHARACTERS_INDEXED]) for column in columns)


def storable(text: str) -> str:
    """Return `text` with what SQLite cannot hold as text (NUL, lone surrogates) replaced."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def add_words(db: sqlite3.Connection, session: int, words: Words) -> None:
    """Put a session into the index, inside the caller's transaction."""
    db.execute(
        "insert into session_words (rowid, message, answer, agents, notes) values (?, ?, ?, ?, ?)",
        (session, *words),
    )


def remove_words(db: sqlite3.Connection, session: int, words: Words) -> None:
    """Take a session out of the index; `words` must be those it was put in with."""
    db.execute(
        "insert into session_words (session_words, rowid, message, answer, agents, notes)"
        " values ('delete', ?, ?, ?, ?, ?)",
        (session, *words),
    )


def match_expression(text: str) -> str:
    """Return what a person typed as a query of the index: every word, the last as a beginning.

    Signs that the index's own language knows are taken as plain text. Without any word, empty.
    """
    pieces = [piece.replace('"', '""') for piece in text.replace("\0", " ").split()]
    words = [piece for piece in pieces if any(char.isalnum() for char in piece)]
    return " ".join(f'"{word}"' for word in words) + ("*" if words else "")
