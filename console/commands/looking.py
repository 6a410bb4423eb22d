"""One session as the commands read it: its events, what the rules say, and what was said."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from handoff_console import sample_runs
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.viewmodels.header import SessionHeader, session_header
from handoff_console.console.viewmodels.text import as_name
from handoff_console.runtime.contract import State
from handoff_console.runtime.events import Event, SessionStarted, UserMessageReceived
from handoff_console.store import reader
from handoff_console.store.analysis.answers import session_answer
from handoff_console.store.analysis.bodies import read_fields
from handoff_console.store.analysis.budget import Ledger, ledgers
from handoff_console.store.analysis.findings import (
    RULES,
    Finding,
    Judgement,
    Severity,
    judgement,
    refusals,
)
from handoff_console.store.analysis.nodes import HandoffTree
from handoff_console.store.db import open_reader
from handoff_console.store.deadlines import is_too_late
from handoff_console.store.liveness import is_interrupted

FINDING_CODES = refusals.CODES | {
    name for rule in RULES if (name := rule.find.__name__) != "handoff_refused"
}
"""Every word that a finding may be called by."""
HANDOFFS_NAMED = 12


class SessionRecord:
    """A session in a store, each question about it answered once; lives as long as `db` is open."""

    def __init__(self, db: sqlite3.Connection, session_id: str) -> None:
        self.db, self.session_id = db, session_id

    def body(self, digest: str) -> Any:
        """Return what was said, as the JSON value it is; None when the store does not hold it."""
        try:
            return reader.body(self.db, digest)
        except KeyError:
            return None

    @cached_property
    def events(self) -> list[Event]:
        """All of them so far."""
        return reader.load_events(self.db, self.session_id)

    @cached_property
    def judgement(self) -> Judgement:
        """Tree, findings and verdict."""
        return judgement(
            self.events,
            self.body,
            interrupted=is_interrupted(self.db, self.session_id),
            imported=self.source is not None,
            too_late=is_too_late(self.db, self.session_id, now=time.time()),
        )

    @property
    def tree(self) -> HandoffTree:
        """Its handoffs."""
        return self.judgement.tree

    @cached_property
    def ledgers(self) -> tuple[Ledger, ...]:
        """The pool of each of its requests."""
        return ledgers(self.events)

    @cached_property
    def header(self) -> SessionHeader:
        """What stands at the top of it."""
        return session_header(
            self.events,
            self.judgement,
            self.ledgers,
            body=self.body,
            source=self.source or "",
        )

    @cached_property
    def message(self) -> str:
        """What the user said last, in full where the store still holds it."""
        asked = [e.payload for e in self.events if isinstance(e.payload, UserMessageReceived)]
        if not asked:
            return ""
        content = read_fields(self.body, asked[-1].message).get("content")
        return content if isinstance(content, str) else asked[-1].preview

    @cached_property
    def answer(self) -> str:
        """What the user was shown last; empty when there was nothing."""
        return session_answer(self.events, self.body)

    @cached_property
    def source(self) -> str | None:
        """The file that an import came from; None for what was recorded here."""
        return reader.source_of(self.db, self.session_id)

    @property
    def flow_file(self) -> str:
        """The `file.py:name` that its record says it ran; empty for a sample, or where it does not.

        Only to be shown: whether that file is run again, the user says.
        """
        started = [e.payload for e in self.events[:1] if isinstance(e.payload, SessionStarted)]
        named = started[0].flow_source if started else ""
        return "" if named in sample_runs.NAMES else named

    @cached_property
    def metadata(self) -> dict[str, str]:
        """What the caller knew about it."""
        started = [e.payload for e in self.events[:1] if isinstance(e.payload, SessionStarted)]
        return dict(started[0].metadata) if started else {}


@contextmanager
def open_session(store_path: Path, asked: str) -> Iterator[SessionRecord]:
    """Open the one session whose id is, begins with or ends with `asked`.

    Raises:
        OpenError: The store cannot be opened.
        SessionUnknown: There is none.
        SessionAmbiguous: There are several.
    """
    with closing(open_reader(store_path)) as db:
        yield SessionRecord(db, reader.resolve_session(db, asked))


def which_handoff(store_path: Path, asked: str) -> str:
    """Return the sentence that asks for a handoff of a session, with those that there are.

    Raises:
        OpenError, SessionUnknown, SessionAmbiguous: See `open_session`.
    """
    with open_session(store_path, asked) as record:
        began = [node for node in record.tree.nodes if node.outcome is not State.REFUSED]
        named = [
            f"{node.handoff_id} ({as_name(node.agent)}, {node.outcome})"
            for node in began[:HANDOFFS_NAMED]
        ]
        more = len(began) - len(named)
        rest = f" and {more:,} more" if more else ""
        fault = record.judgement.verdict.handoff_id
        if began and fault not in {node.handoff_id for node in began}:
            fault = began[-1].handoff_id
        example = f"; write `handoff rerun {record.session_id} {fault}`" if began else ""
        return (
            f"Say which handoff of session {record.session_id!r} to run again: "
            f"{', '.join(named) or 'it has none'}{rest}{example}."
        )


def every_session(store_path: Path) -> Iterator[SessionRecord]:
    """Yield all sessions of a store, in the order in which they came into it.

    Raises:
        OpenError: The store cannot be opened.
    """
    with closing(open_reader(store_path)) as db:
        for session_id in list(reader.session_ids(db)):
            yield SessionRecord(db, session_id)


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look, and why."""

    agent: str
    step: int | None
    """The position in the source an import came from; None for what was recorded here."""
    seq: int
    handoff_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a session came out as it did."""

    session_id: str
    source: str | None
    outcome: str
    verdict: str
    findings: tuple[Finding, ...]
    """The worst first, causes before what follows from them."""
    look_first: tuple[Place, ...]
    """The most telling place first, each handoff once; empty when nothing is wrong."""

    def has(self, wanted: frozenset[str]) -> bool:
        """Say whether a finding has one of these codes or severities."""
        return any({f.code, f.severity.value, "any"} & wanted for f in self.findings)


def explain(record: SessionRecord) -> Explanation:
    """Return why a session came out as it did, and where to look first."""
    judged = record.judgement
    return Explanation(
        session_id=record.session_id,
        source=record.source,
        outcome=judged.tree.outcome.value,
        verdict=judged.verdict.sentence,
        findings=judged.findings,
        look_first=_look_first(judged),
    )


def wanted_findings(words: list[str]) -> frozenset[str]:
    """Return what `--fail-on` names: codes of findings, severities, or `any`.

    Raises:
        CommandError: A word is none of these.
    """
    known = FINDING_CODES | {severity.value for severity in Severity} | {"any"}
    for word in words:
        if word not in known:
            raise CommandError(
                f"There is no finding {word!r}; there are: any, error, warning, info, "
                f"{', '.join(sorted(FINDING_CODES))}."
            )
    return frozenset(words)


def _look_first(judged: Judgement) -> tuple[Place, ...]:
    places: dict[str | None, Place] = {}
    for finding in judged.findings:
        if finding.severity is Severity.INFO or finding.handoff_id in places:
            continue
        seq = finding.evidence[0].seq
        places[finding.handoff_id] = Place(
            finding.agent, None, seq, finding.handoff_id, finding.sentence
        )
    verdict = judged.verdict
    if not places and verdict.severity is not Severity.INFO:
        node = judged.tree.by_id.get(verdict.handoff_id or "")
        seq = node.last_seq if node else judged.tree.seq
        places[verdict.handoff_id] = Place(
            verdict.agent or "", None, seq, verdict.handoff_id, verdict.sentence
        )
    return tuple(places.values())
