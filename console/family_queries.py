"""A session and all that repeat it: re-runs, and re-runs of those, as they are now."""

import sqlite3
import time
from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

from handoff_console.console.queries import Version, reading
from handoff_console.console.settings import store_path
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.errors import SessionUnknown
from handoff_console.store.lineage import attempt_rows
from handoff_console.store.liveness import is_interrupted
from handoff_console.store.recordings import is_imported


class Member(NamedTuple):
    """A session of a family: the one that all repeat, or a re-run."""

    version: Version
    rerun_of: str
    handoff_id: str
    """Of a re-run: what it runs again; so is the next."""
    mode: str

    @property
    def is_alone(self) -> bool:
        """It is a re-run of one handoff, which has that part of the tree alone."""
        return bool(self.mode) and self.mode != Mode.CONTINUE


def family(session_id: str) -> tuple[Member, ...]:
    """Return a session's family as it is now, the session that all repeat first."""
    with reading() as db:
        newest, generation = reader.newest_event(db), reader.generation(db)
        # A process may be gone without an event; a page that asks twice need not look twice.
        lately = int(time.monotonic() / KEPT_SECONDS)
        key = (str(store_path()), session_id, newest, generation, lately)
        members = _families.get(key)
        if members is None:
            members = tuple(_members(db, session_id, generation))
            with _families_lock:
                while len(_families) >= FAMILIES_KEPT:
                    del _families[next(iter(_families))]
                _families[key] = members
        return members


KEPT_SECONDS = 2.0
FAMILIES_KEPT = 16
_families: dict[tuple[str, str, int, int, int], tuple[Member, ...]] = {}
_families_lock = Lock()


def _members(db: sqlite3.Connection, session_id: str, generation: int) -> Iterator[Member]:
    for row in attempt_rows(db, session_id):
        name = row["session_id"]
        gone = is_interrupted(db, name)
        found = Version(
            str(store_path()),
            name,
            reader.last_seq(db, name),
            generation,
            gone,
            imported=is_imported(db, name),
        )
        said = (row["rerun_of"] or "", row["rerun_handoff"] or "", row["rerun_mode"] or "")
        yield Member(found, *said)


def member_of(session_id: str) -> Member | None:
    """Return a session as a member of its family; None when the store does not have it."""
    try:
        members = family(session_id)
    except SessionUnknown:
        return None
    return next((one for one in members if one.version.session_id == session_id), None)


def running_seconds(found: Version) -> float:
    """Return how long ago a session began; its events tell nothing while a model is asked."""
    with reading(found.path) as db:
        begun = reader.load_events(db, found.session_id, kinds=frozenset({"session_started"}))
    return max(0.0, time.time() - begun[0].at) if begun else 0.0
