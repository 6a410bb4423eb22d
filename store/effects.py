"""The ledger of effects: acts on the world outside by their key, so that none is done twice.

`begun` is written before an act, `done` or `failed` after it, each by itself: what a killed process
leaves `begun` may or may not have happened, and nobody but a person can find out.
"""

import json
import sqlite3
import time
from enum import StrEnum
from typing import Any, NamedTuple

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.ledger import Done
from handoff_console.runtime.redaction import Redaction
from handoff_console.store.transactions import transaction

_BEGIN = """
    insert into effects (key, session_id, state, begun_at_us) values (?, ?, 'begun', ?)
    on conflict (key) do update set session_id = excluded.session_id, state = 'begun',
        begun_at_us = excluded.begun_at_us, ended_at_us = null where state = 'failed'
"""


class EffectState(StrEnum):
    """How far an effect has come."""

    BEGUN = "begun"
    """About to be tried, or being tried; for good where its process is gone."""
    DONE = "done"
    FAILED = "failed"
    """Tried, and it did not happen: it may be tried again."""


class StoredEffect(NamedTuple):
    """One effect, as the store has it."""

    key: str
    state: EffectState
    begun_at: float
    """Seconds since 1970 (UTC)."""


class StoreLedger:
    """The ledger of a store, for the runtime; it outlives the process.

    Before an effect the runtime syncs its record of it, which takes this ledger's along.

    Args:
        db: A store opened for writing, used from one thread.
        redaction: What is never written; results pass it first.
    """

    def __init__(self, db: sqlite3.Connection, redaction: Redaction) -> None:
        self._db, self._redaction = db, redaction

    def find(self, key: str, /) -> Done | None:
        """Return what an effect came to; None when it has not been done to its end."""
        row = self._db.execute(
            "select result from effects where key = ? and state = 'done'", (key,)
        ).fetchone()
        return None if row is None else Done(json.loads(row[0] or "null"))

    def is_open(self, key: str, /) -> bool:
        """Say whether it was begun and nobody knows how it ended."""
        row = self._db.execute(
            "select 1 from effects where key = ? and state = 'begun'", (key,)
        ).fetchone()
        return row is not None

    def begin(self, key: str, session_id: str, /) -> None:
        """Note, before anything happens, that an effect is about to be tried.

        Raises:
            WriteFailed: The store did not take it, so it must not be tried.
        """
        with transaction(self._db):
            self._db.execute(_BEGIN, (key, session_id, _now_us()))

    def done(self, key: str, result: Any, /) -> None:
        """Note that it happened, and what came back.

        Raises:
            WriteFailed: The store did not take it; the effect stays `begun`.
        """
        clean = self._redaction.clean(json.loads(canonical_text(result)))
        self._end(key, EffectState.DONE, canonical_text(clean))

    def failed(self, key: str, /) -> None:
        """Note that it was tried and did not happen.

        Raises:
            WriteFailed: The store did not take it; the effect stays `begun`.
        """
        self._end(key, EffectState.FAILED, None)

    def _end(self, key: str, state: EffectState, result: str | None) -> None:
        with transaction(self._db):
            self._db.execute(
                "update effects set state = ?, result = ?, ended_at_us = ?"
                " where key = ? and state <> 'done'",
                (state.value, result, _now_us(), key),
            )


def effects_of(db: sqlite3.Connection, session_id: str) -> list[StoredEffect]:
    """Return the effects that a session began, the oldest first."""
    rows = db.execute(
        "select key, state, begun_at_us from effects where session_id = ?"
        " order by begun_at_us, key",
        (session_id,),
    )
    return [StoredEffect(key, EffectState(state), at_us / 1e6) for key, state, at_us in rows]


def _now_us() -> int:
    return time.time_ns() // 1_000
