"""The handoff tree of a session, from its events alone.

Source: S0, "Trace the tree" (the tree is rebuilt without raw transcripts); S2, transition graph.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from handoff_console.runtime.contract import EndedBy, HandoffKind, State
from handoff_console.runtime.events import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetCharged,
    BudgetReserved,
    Event,
    ForkOpened,
    HandoffClosed,
    HandoffOpened,
    HandoffRejected,
    HandoffRequested,
    InputGiven,
    InputRequested,
    ModelCalled,
    SessionClosed,
    UserMessageReceived,
)
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.nodes import HandoffNode, HandoffTree, Outcome


def handoff_tree(
    events: Iterable[Event],
    *,
    body: Body | None = None,
    until_seq: int | None = None,
    interrupted: bool = False,
    imported: bool = False,
) -> HandoffTree:
    """Lay the handoffs of a session out, each `handoff_requested` exactly once.

    Args:
        events: All events of one session, by `seq`; none gives an empty tree that is running.
        body: Gives the tasks; without it, or where a body is gone, the reason stands instead.
        until_seq: Give the tree as it was right after this event.
        interrupted: The session's process is gone, so what is open will not go on.
        imported: The session came from a file and goes on nowhere: what is open is incomplete.
    """
    growth = _Growth()
    if until_seq is not None:
        events = takewhile(lambda event: event.seq <= until_seq, events)
    growth.take(events)
    unfinished = growth.unfinished(interrupted, imported)
    nodes = tuple(draft.node(unfinished, body) for draft in growth.in_order())
    return HandoffTree(nodes, growth.outcome(nodes, unfinished), growth.limit, growth.seq)


@dataclass(slots=True)
class _Draft:
    """What is known of a handoff while the events are read."""

    handoff_id: str
    event: Event
    asked: HandoffRequested
    continues: str | None
    user_text: str = ""
    """At the root: what the user said."""
    depth: int = 0
    grant_tokens: int | None = None
    opened: HandoffOpened | None = None
    opening: Event | None = None
    closed: HandoffClosed | None = None
    rejected: HandoffRejected | None = None
    closing: Event | None = None
    fork_id: str | None = None
    tokens_used: int = 0
    measured: bool = True
    steps_used: int = 0
    last_seq: int = 0
    pending: set[str] = field(default_factory=set)
    """What a person has still to decide or answer."""
    waits: list[tuple[int, int | None]] = field(default_factory=list)

    def node(self, unfinished: State, body: Body | None) -> HandoffNode:
        asked, opened, closed, event = self.asked, self.opened, self.closed, self.event
        task = read_fields(body, asked.request).get("task") if body else None
        return HandoffNode(
            handoff_id=self.handoff_id,
            parent_id=event.parent_id,
            turn=event.turn,
            path=event.path or "",
            attempt=event.attempt,
            source=asked.source,
            agent=asked.target,
            via=asked.via,
            task=task if isinstance(task, str) else self.user_text or asked.reason,
            reason=asked.reason,
            outcome=self.outcome(unfinished),
            limit=closed.reason if closed else "",
            rule=self.rejected.rule if self.rejected else "",
            depth=self.depth,
            hop=opened.hop if opened else 0,
            tokens_used=closed.tokens_used if closed else self.tokens_used,
            measured=closed.measured if closed else self.measured,
            grant_tokens=opened.grant_tokens if opened else self.grant_tokens,
            steps_used=closed.steps_used if closed else self.steps_used,
            max_steps=opened.max_steps if opened else None,
            requested_seconds=event.elapsed_seconds,
            opened_seconds=self.opening.elapsed_seconds if self.opening else None,
            closed_seconds=self.closing.elapsed_seconds if self.closing else None,
            first_seq=event.seq,
            opened_seq=self.opening.seq if self.opening else None,
            closed_seq=self.closing.seq if self.closing else None,
            last_seq=self.last_seq,
            continues=self.continues,
            transferred_to=closed.transferred_to if closed else None,
            follows=asked.follows,
            fork_id=self.fork_id,
            waits=tuple(self.waits),
        )

    def ask_a_person(self, subject: str, seq: int) -> None:
        if not self.pending:
            self.waits.append((seq, None))
        self.pending.add(subject)

    def hear_a_person(self, subject: str, seq: int) -> None:
        self.pending.discard(subject)
        if not self.pending and self.waits and self.waits[-1][1] is None:
            self.waits[-1] = (self.waits[-1][0], seq)

    def outcome(self, unfinished: State) -> Outcome:
        if self.rejected:
            return State.REFUSED
        if self.closed is None:
            if self.pending and unfinished in {State.RUNNING, State.INTERRUPTED}:
                return State.WAITING
            is_new = self.opened is None and unfinished is State.RUNNING
            return State.ASKED_FOR if is_new else unfinished
        if self.closed.ended_by is EndedBy.TRANSFERRED:
            return State.TRANSFERRED
        if self.closed.ended_by is EndedBy.CANCELLED:
            return State.CANCELLED
        return self.closed.status or State.UNKNOWN


class _Growth:
    """The tree while events arrive. A link only ever points to a handoff asked for before it."""

    def __init__(self) -> None:
        self.seq = 0
        self.limit = ""
        self._drafts: dict[str | None, _Draft] = {}
        self._by_path: dict[str, list[_Draft]] = {}
        self._roots: list[_Draft] = []
        self._called: dict[str, list[_Draft]] = defaultdict(list)
        self._next: dict[str, list[_Draft]] = defaultdict(list)
        self._user_text = ""
        self._end: SessionClosed | None = None

    def take(self, events: Iterable[Event]) -> None:
        """Read events, by seq."""
        drafts, event = self._drafts, None
        for event in events:
            payload = event.payload
            kind = type(payload)
            grow = _GROW.get(kind)
            if grow is not None:
                grow(self, event, payload)
            draft = drafts.get(event.handoff_id)
            if draft is not None:
                draft.last_seq = event.seq
                note = _NOTES.get(kind)
                if note is not None:
                    note(draft, event, payload)
        if event is not None:
            self.seq = event.seq

    def ask(self, event: Event, asked: HandoffRequested) -> None:
        handoff_id = event.handoff_id
        if handoff_id is None or handoff_id in self._drafts:
            return
        sender = self._drafts.get(asked.continues) or self._sender(event, asked)
        before = self._drafts.get(asked.follows) or sender
        caller = self._drafts.get(event.parent_id)
        draft = _Draft(handoff_id, event, asked, sender.handoff_id if sender else asked.continues)
        if before is not None:
            draft.depth = before.depth
            self._next[before.handoff_id].append(draft)
        elif caller is not None:
            draft.depth = caller.depth + 1
            self._called[caller.handoff_id].append(draft)
        else:
            draft.user_text = self._user_text
            self._roots.append(draft)
        self._drafts[handoff_id] = draft
        if event.path:
            self._by_path.setdefault(event.path, []).append(draft)

    def _sender(self, event: Event, asked: HandoffRequested) -> _Draft | None:
        """Return who asked for a transfer that does not say so: a refused one continues nothing."""
        stem, _, hop = (event.path or "").rpartition("~")
        if asked.via is not HandoffKind.TRANSFER or not hop.isdecimal():
            return None
        path = f"{stem}~{int(hop) - 1}" if int(hop) > 1 else stem
        there = self._by_path.get(path, ())
        return next((draft for draft in reversed(there) if draft.opened), None)

    def fork(self, _: Event, payload: ForkOpened) -> None:
        for handoff_id in payload.handoff_ids:
            if handoff_id in self._drafts:
                self._drafts[handoff_id].fork_id = payload.fork_id

    def begin(self, _: Event, payload: UserMessageReceived) -> None:
        self._user_text, self._end, self.limit = payload.preview, None, ""

    def end(self, _: Event, payload: SessionClosed) -> None:
        self._end, self.limit = payload, payload.reason

    def in_order(self) -> Iterable[_Draft]:
        """Yield the handoffs in pre-order, without recursion: a chain may be 10,000 long."""
        pending = self._roots[::-1]
        while pending:
            draft = pending.pop()
            yield draft
            pending.extend(reversed(self._next.get(draft.handoff_id, ())))
            pending.extend(reversed(self._called.get(draft.handoff_id, ())))

    def unfinished(self, interrupted: bool, imported: bool) -> State:
        """What a handoff without an end is, given what became of the session."""
        if self._end is not None:
            return State.CANCELLED if self._end.cancelled else State.INCOMPLETE
        if imported:
            return State.INCOMPLETE
        return State.INTERRUPTED if interrupted else State.RUNNING

    def outcome(self, nodes: tuple[HandoffNode, ...], unfinished: State) -> Outcome:
        if self._end is not None:
            return self._end.status or (State.CANCELLED if self._end.cancelled else State.UNKNOWN)
        if any(node.outcome is State.WAITING for node in nodes):
            return State.WAITING
        return unfinished


def _reserved(draft: _Draft, _: Event, payload: Any) -> None:
    draft.grant_tokens = payload.tokens


def _opened(draft: _Draft, event: Event, payload: Any) -> None:
    draft.opened, draft.opening = payload, event
    draft.fork_id = payload.fork_id or draft.fork_id


def _rejected(draft: _Draft, event: Event, payload: Any) -> None:
    draft.rejected, draft.closing = payload, event


def _closed(draft: _Draft, event: Event, payload: Any) -> None:
    draft.closed, draft.closing = payload, event


def _called(draft: _Draft, _: Event, payload: Any) -> None:
    draft.steps_used = max(draft.steps_used, payload.step)


def _charged(draft: _Draft, _: Event, payload: Any) -> None:
    draft.tokens_used += payload.tokens
    draft.measured = draft.measured and not payload.estimated


_QUESTION = "question"

_NOTES: dict[type, Callable[[_Draft, Event, Any], None]] = {
    BudgetReserved: _reserved,
    HandoffOpened: _opened,
    HandoffRejected: _rejected,
    HandoffClosed: _closed,
    ModelCalled: _called,
    BudgetCharged: _charged,
    ApprovalRequested: lambda draft, e, payload: draft.ask_a_person(payload.approval_id, e.seq),
    ApprovalDecided: lambda draft, e, payload: draft.hear_a_person(payload.approval_id, e.seq),
    InputRequested: lambda draft, e, _: draft.ask_a_person(_QUESTION, e.seq),
    InputGiven: lambda draft, e, _: draft.hear_a_person(_QUESTION, e.seq),
}
_GROW: dict[type, Callable[[_Growth, Event, Any], None]] = {
    HandoffRequested: _Growth.ask,
    ForkOpened: _Growth.fork,
    UserMessageReceived: _Growth.begin,
    SessionClosed: _Growth.end,
}
