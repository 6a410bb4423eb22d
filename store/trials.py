"""The ledger of trials, known by their content: each is run once, whichever experiments need it.

`started` rows of a killed process say which tokens may have been paid for nothing; an `error` is
never done.
"""

import json
import sqlite3
import time
from collections.abc import Sequence
from typing import NamedTuple

from handoff_console.store.experiment_forms import Outcome, outcome_text, read_outcome
from handoff_console.store.transactions import transaction


class KnownTrial(NamedTuple):
    """What the store has of a trial."""

    state: str
    outcome: Outcome


def known_trials(db: sqlite3.Connection, keys: Sequence[str]) -> dict[str, KnownTrial]:
    """Return what the store has of these trials, by key."""
    rows = db.execute(
        "select trial_key, state, outcome from trials"
        " where trial_key in (select value from json_each(?))",
        (json.dumps(list(dict.fromkeys(keys))),),
    )
    return {key: KnownTrial(state, read_outcome(text)) for key, state, text in rows}


def begin_trial(db: sqlite3.Connection, trial_key: str, reserved_tokens: int) -> None:
    """Note, before anything is asked, that a trial runs and what it may use.

    Raises:
        WriteFailed: The store did not take it, so it must not run.
    """
    with transaction(db):
        db.execute(
            "insert into trials (trial_key, state, reserved_tokens, started_at_us)"
            " values (?, 'started', ?, ?) on conflict (trial_key) do update set state = 'started',"
            " reserved_tokens = excluded.reserved_tokens, outcome = null,"
            " started_at_us = excluded.started_at_us, ended_at_us = null",
            (trial_key, reserved_tokens, _now_us()),
        )


def end_trial(db: sqlite3.Connection, trial_key: str, outcome: Outcome) -> None:
    """Keep what came of a trial; one with a problem is an error, and will be run again.

    Raises:
        WriteFailed: The store did not take it.
    """
    state = "error" if outcome.problem else "done"
    with transaction(db):
        db.execute(
            "update trials set state = ?, outcome = ?, ended_at_us = ? where trial_key = ?",
            (state, outcome_text(outcome), _now_us(), trial_key),
        )


def _now_us() -> int:
    return time.time_ns() // 1_000
