"""What became of an act that was begun when its process ended: a person finds out, and says it."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.commands.errors import NothingToDecide
from handoff_console.console.commands.waiting import pending_of, settled_effects
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.errors import choices
from handoff_console.runtime.ledger import Done
from handoff_console.runtime.redaction import Redaction
from handoff_console.store import reader
from handoff_console.store.db import open_store
from handoff_console.store.effects import StoreLedger

HAPPENED = "it happened; what came back is not recorded"
"""What a model reads as the result of an act that a person vouches for."""


class Settled(NamedTuple):
    """What somebody says became of an act."""

    place: str
    """Handoff, step and call of the act: `h2.1.0`."""
    happened: bool
    """If not, it may be tried again."""
    result: Any = HAPPENED
    """What came back, as the model will read it."""


def settle(store_path: Path, asked: str, *said: Settled) -> None:
    """Put down what became of acts, without going on.

    To say the same once more changes nothing: whoever could not go on the first time, because
    something else was missing, says it again.

    Args:
        store_path: The store.
        asked: The session, or how its id begins or ends.
        said: What became of each.

    Raises:
        NothingToDecide: The outcome of no such act is unknown, or it was said to be another one.
        StoreError: The store cannot be opened or does not take it.
    """
    with closing(open_store(store_path)) as db:
        settle_in(db, reader.resolve_session(db, asked), said)


def settle_in(db: sqlite3.Connection, session_id: str, said: Sequence[Settled]) -> None:
    """Put down what became of acts, in an open store; see `settle`."""
    begun = check_settled(db, session_id, said)
    ledger = StoreLedger(db, Redaction())
    for one in said:
        if one.place not in begun:
            continue  # it was said before
        if one.happened:
            ledger.done(begun[one.place], one.result)
        else:
            ledger.failed(begun[one.place])


def check_settled(
    db: sqlite3.Connection, session_id: str, said: Sequence[Settled]
) -> dict[str, str]:
    """Return the keys of the acts whose outcome is unknown, by place; nothing is put down.

    Raises:
        NothingToDecide: Something is said of another act, or something else than before.
    """
    if not said:
        return {}
    begun = {one.place: one.key for one in pending_of(db, session_id).effects}
    before = settled_effects(db, session_id)
    ledger = StoreLedger(db, Redaction())
    for one in said:
        if one.place in before:
            _check_it_is_the_same(one, ledger.find(before[one.place]))
        elif one.place not in begun:
            raise NothingToDecide(
                f"Session {session_id!r} has no act {one.place!r} whose outcome is unknown; there "
                f"are: {choices(begun, 'none')}."
            )
    return begun


def begun_acts(db: sqlite3.Connection, session_id: str, said: Sequence[Settled]) -> set[str]:
    """Return the acts that may have happened, by place: who goes on does not try them again.

    Args:
        db: The store.
        session_id: The session.
        said: What somebody says became of some, not put down yet.
    """
    ledger = StoreLedger(db, Redaction())
    before = settled_effects(db, session_id).items()
    found = {one.place for one in pending_of(db, session_id).effects}
    found |= {place for place, key in before if ledger.find(key)}
    return found - {one.place for one in said if not one.happened}


def _check_it_is_the_same(said: Settled, before: Done | None) -> None:
    """Check what is said of an act of which it was said before.

    Raises:
        NothingToDecide: It is something else.
    """
    if said.happened != (before is not None):
        word = "that it happened" if before else "that it did not happen"
    elif before and canonical_text(Redaction().clean(said.result)) != canonical_text(before.result):
        word = "what came back, and it is something else"
    else:
        return
    raise NothingToDecide(
        f"Of {said.place} it is known already {word}; `handoff resume` without it goes on with "
        "that."
    )
