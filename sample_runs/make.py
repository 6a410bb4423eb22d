"""Record the sample sessions again: `make samples`."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from handoff_console.runtime import EventList
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import DIGEST_KEY, Recording, record
from handoff_console.store.db import open_reader
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.writer import open_sink

FOLDER = "recorded"
"""Has a file of JSON lines for each session."""
STORE = "samples.db"
"""Those that `demo` shows, in a store that is ready to be copied."""


def make_samples(folder: Path) -> None:
    """Record every session, as files and as a store; what was there before is replaced."""
    sessions = [(recording, record(recording)) for recording in RECORDINGS]
    with TemporaryDirectory() as drafts:
        everything, shown = Path(drafts, "everything.db"), Path(drafts, STORE)
        _write_store(everything, sessions)
        _write_files(everything, folder / FOLDER)
        _write_store(shown, [one for one in sessions if one[0].in_demo])
        (folder / STORE).unlink(missing_ok=True)
        with closing(sqlite3.connect(shown)) as db:
            # One compact file, without a journal beside it.
            db.execute("vacuum into ?", (str(folder / STORE),))


def _write_store(path: Path, sessions: Iterable[tuple[Recording, EventList]]) -> None:
    with open_sink(path, create=True) as store:
        # The store's own key is what its bodies are checked against.
        store.db.execute("update meta set value = ? where name = 'digest_key'", (DIGEST_KEY,))
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
    shown = sum(recording.in_demo for recording in RECORDINGS)
    print(f"{len(RECORDINGS)} sessions in {here / FOLDER}, {shown} of them in {here / STORE}")


if __name__ == "__main__":
    main()
