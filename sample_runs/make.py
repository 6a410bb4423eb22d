"""Record the sample sessions again: `make samples`."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import Recording, record
from handoff_console.store.writer import open_sink

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
"""A file of JSON lines for each session."""
STORE = HERE / "samples.db"
"""All of them in a store, ready to be copied."""


def make_store(path: Path, recordings: Iterable[Recording] = RECORDINGS) -> None:
    """Record sessions into a new store: one compact file, without a journal beside it."""
    path.unlink(missing_ok=True)
    with TemporaryDirectory() as folder:
        draft = Path(folder, "samples.db")
        with open_sink(draft, create=True) as store:
            for recording in recordings:
                session = record(recording)
                for digest, body in session.bodies.items():
                    store.keep(digest, body, recording.session_id)
                for event in session.events:
                    store.append(event)
                store.commit()
        with closing(sqlite3.connect(draft)) as db:
            db.execute("vacuum into ?", (str(path),))


def main() -> None:
    """Record everything again."""
    make_store(STORE)
    print(f"{len(RECORDINGS)} sessions in {STORE.name}")


if __name__ == "__main__":
    main()
