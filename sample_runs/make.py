"""Record the sample sessions again: `make samples`."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import Recording, record
from handoff_console.store.writer import open_sink

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
"""A file of JSON lines for each session."""
STORE = HERE / "samples.db"
"""All of them in a store, ready to be copied."""


def make_store(path: Path, recordings: Iterable[Recording] = RECORDINGS) -> None:
    """Record sessions into a new store: one small file, without a journal beside it."""
    path.unlink(missing_ok=True)
    with open_sink(path, create=True) as store:
        for recording in recordings:
            session = record(recording)
            for digest, body in session.bodies.items():
                store.keep(digest, body, recording.session_id)
            for event in session.events:
                store.append(event)
            store.commit()
    db = sqlite3.connect(path)
    try:
        db.execute("pragma journal_mode = delete")
        db.execute("vacuum")
    finally:
        db.close()
