"""How an attempt is named on a command line and in an address: `SESSION` or `SESSION:HANDOFF`."""

import re
import sqlite3
from typing import NamedTuple

from handoff_console.store import reader
from handoff_console.store.errors import SessionAmbiguous, SessionUnknown

_NAMED = re.compile(r"(.+):(h[0-9]+)", re.DOTALL)
"""The id of an import may have colons of its own."""


class AttemptName(NamedTuple):
    """A session, or one handoff of it."""

    session: str
    """Its id, or how that begins or ends."""
    handoff_id: str = ""
    """Empty for the whole session."""

    def __str__(self) -> str:
        return f"{self.session}:{self.handoff_id}" if self.handoff_id else self.session


def attempt_named(db: sqlite3.Connection, said: str) -> AttemptName:
    """Read the name of an attempt; what names no handoff is a session as a whole.

    Handoffs of imports have any name, and so have their sessions: the store says where the one ends
    and the other begins.

    Raises:
        SessionAmbiguous: No reading names one session, and one of them names several.
    """
    plain, known, several = _plain(said), [], None
    for one in _readings(said, plain):
        try:
            session_id = reader.resolve_session(db, one.session)
        except SessionUnknown:
            continue
        except SessionAmbiguous as error:
            several = several or error
            continue
        if not one.handoff_id or _has_handoff(db, session_id, one.handoff_id):
            return one
        known.append(one)
    if several and not known:
        raise several
    return known[0] if known else plain


def _readings(said: str, plain: AttemptName) -> list[AttemptName]:
    """Return all that may be meant, the likeliest first."""
    marks = [mark.start() for mark in re.finditer(":", said)]
    split = [AttemptName(said[:place], said[place + 1 :]) for place in reversed(marks)]
    return [plain, AttemptName(said), *(one for one in split if one.handoff_id)]


def _plain(said: str) -> AttemptName:
    found = _NAMED.fullmatch(said)
    return AttemptName(found[1], found[2]) if found else AttemptName(said)


def _has_handoff(db: sqlite3.Connection, session_id: str, handoff_id: str) -> bool:
    found = db.execute(
        "select 1 from events where session = ? and handoff_id = ? limit 1",
        (reader.session_key(db, session_id), handoff_id),
    )
    return found.fetchone() is not None
