"""Record the sample sessions again: `make samples`."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from handoff_console.runtime import EventList
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import DIGEST_KEY, SampleSession, record
from handoff_console.sample_runs.shipped import PACKED, pack
from handoff_console.store.db import open_reader
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.writer import open_sink

FOLDER = "recorded"
"""Has a file of JSON lines for each session."""


def make_samples(folder: Path) -> None:
    """Record every session, as files and as a store; what was there before is replaced."""
    sessions = [(recording, record(recording)) for recording in RECORDINGS]
    with TemporaryDirectory() as drafts:
        store, compact = Path(drafts, "samples.db"), Path(drafts, "compact.db")
        _write_store(store, sessions)
        _write_files(store, folder / FOLDER)
        with closing(sqlite3.connect(store)) as db:
            # One file, without a journal beside it.
            db.execute("vacuum into ?", (str(compact),))
        pack(compact, folder / PACKED)


def _write_store(path: Path, sessions: Iterable[tuple[SampleSession, EventList]]) -> None:
    with open_sink(path, create=True) as store:
        # Bodies are checked against the store's own key; its age would differ each time.
        made_us = int(RECORDINGS[0].at.timestamp() * 1e6)
        for name, value in (("digest_key", DIGEST_KEY), ("created_at_us", made_us)):
            store.db.execute("update meta set value = ? where name = ?", (value, name))
        for recording, session in sessions:
            for digest, body in session.bodies.items():
                store.keep(digest, body, recording.session_id)
            for event in session.events:
                store.append(event)
            store.commit()


def _write_files(store: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.jsonl"):
        old.unlink()
    with closing(open_reader(store)) as db:
        for recording in RECORDINGS:
            lines = "".join(export_lines(db, [recording.session_id]))
            Path(folder, f"{recording.name}.jsonl").write_bytes(lines.encode())


def main() -> None:
    """Record everything again, beside this file."""
    here = Path(__file__).parent
    make_samples(here)
    print(f"{len(RECORDINGS)} sessions in {here / FOLDER} and in {here / PACKED}")


if __name__ == "__main__":
    main()
