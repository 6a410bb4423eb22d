"""Records the sessions that a release leaves in the tests, beside its `flows.py`.

`PYTHONPATH=tests .venv/bin/python tests/support/releases.py 0.1.0`: run when a version is released;
afterwards what it wrote is only read.
"""

import runpy
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from handoff_console.runtime import (
    Approval,
    Decision,
    EventList,
    Flow,
    Origin,
    Recording,
    Session,
    resume,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.process import ProcessIdentity
from handoff_console.store.db import open_reader
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.writer import open_sink

RECORDED = Path(__file__).parents[1] / "recorded"
STORE = "store.sqlite"
NOBODY = ProcessIdentity("host", "boot", 1, 1_767_600_000.0)
TURNS = {"talking": ("I want a lamp.", "And a bulb.")}


def flows_of(version: str) -> dict[str, Callable[[], Flow]]:
    """Return the flows that a version's sessions were recorded with."""
    flows: dict[str, Callable[[], Flow]] = runpy.run_path(str(RECORDED / version / "flows.py"))[
        "FLOWS"
    ]
    return flows


def sessions_of(version: str) -> Iterator[tuple[str, EventList]]:
    """Run every flow of a version and yield its name and its record."""
    for name, flow in flows_of(version).items():
        sink = EventList(b"released")
        run_virtual(_talk(flow(), name, sink))
        yield name, sink


async def _talk(flow: Flow, name: str, sink: EventList) -> None:
    options = {"sink": sink, "origin": Origin(kind="sample", process=NOBODY)}
    session = Session(flow, clock=VirtualClock(), session_id=name, **options)
    result = None
    for message in TURNS.get(name, ("My order A-1001 was charged twice.",)):
        result = await session.say(message)
    if result is None or not result.waiting_for:
        session.close()
    while result and result.waiting_for:
        (one,) = result.waiting_for
        recording = Recording(name, list(sink.events), sink.body)
        said = (
            {"decisions": [Decision(approval_id=one.approval_id, approved=True, shown=one.shown)]}
            if isinstance(one, Approval)
            else {"answers": {one.handoff_id: "That is all."}}
        )
        result = await resume(flow, recording, clock=VirtualClock(), **said, **options)


def write(version: str) -> None:
    """Write a version's sessions as files and as a store."""
    folder = RECORDED / version
    with TemporaryDirectory() as drafts:
        draft = Path(drafts, "draft.db")
        with open_sink(draft, create=True) as store:
            store.db.execute("update meta set value = ? where name = 'digest_key'", (b"released",))
            for name, session in sessions_of(version):
                for digest, body in session.bodies.items():
                    store.keep(digest, body, name)
                for event in session.events:
                    store.append(event)
                store.commit()
        with closing(open_reader(draft)) as db:
            for name in flows_of(version):
                lines = "".join(export_lines(db, [name]))
                Path(folder, f"{name}.jsonl").write_bytes(lines.encode())
        Path(folder, STORE).unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as db:
            db.execute("vacuum into ?", (str(folder / STORE),))


if __name__ == "__main__":
    write(sys.argv[1])
