"""The pool of a request as a ledger that can be added up again, from events alone.

Source: S0, step 4, "Share the budget across the whole tree".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from handoff_console.runtime.contract import Status
from handoff_console.runtime.events import (
    BudgetCharged,
    BudgetOverdrawn,
    BudgetRefunded,
    BudgetReserved,
    Event,
    HandoffClosed,
    HandoffRejected,
    HandoffRequested,
    UserMessageReceived,
)
from handoff_console.runtime.frozen import quickly_made


class Entry(StrEnum):
    """What one row of a ledger says."""

    POOL = "pool"
    """The request began with this many tokens."""
    RESERVE = "reserve"
    SPEND = "spend"
    REFUND = "refund"
    OVERDRAFT = "overdraft"
    """Part of the spend just before it that its grant did not hold; it moves nothing more."""
    REFUSED = "refused"
    """A reservation the pool could not make, or a handoff that stopped because it was empty."""


@quickly_made
@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One thing that happened to the pool, with what was true afterwards as it was recorded."""

    seq: int
    elapsed_seconds: float
    entry: Entry
    handoff_id: str | None
    parent_id: str | None
    agent: str
    tokens: int
    """Of this entry; 0 for a refusal, which moves nothing."""
    delta_free: int
    """By how much `free` changed since the row before."""
    free: int
    open: int
    spent: int
    estimated: bool = False
    """The model did not report this usage."""


@dataclass(frozen=True)
class Ledger:
    """The pool of one request, row by row."""

    turn: int
    request_id: str | None
    total_tokens: int
    finish_floor_tokens: int
    rows: tuple[LedgerRow, ...]
    """The first is the pool itself; there is at least this one."""

    @cached_property
    def spent_by_agent(self) -> Mapping[str, int]:
        """Tokens charged to each agent that spent any, most first."""
        spent: dict[str, int] = defaultdict(int)
        for row in self.rows:
            if row.entry is Entry.SPEND:
                spent[row.agent] += row.tokens
        return dict(sorted(spent.items(), key=lambda item: (-item[1], item[0])))

    @property
    def refused(self) -> tuple[LedgerRow, ...]:
        """What the pool could not give."""
        return tuple(row for row in self.rows if row.entry is Entry.REFUSED)

    @property
    def figures(self) -> "PoolFigures":
        """The few numbers to log and to alert on."""
        last = self.rows[-1]
        overdrawn = sum(row.tokens for row in self.rows if row.entry is Entry.OVERDRAFT)
        return PoolFigures(
            total_tokens=self.total_tokens,
            spent_tokens=last.spent,
            used_share=last.spent / self.total_tokens if self.total_tokens else 0.0,
            lowest_free_tokens=min(row.free for row in self.rows),
            refused=len(self.refused),
            overdrawn_tokens=overdrawn,
        )


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """What an alert needs to know of a request's pool. Source: S0, step 4."""

    total_tokens: int
    spent_tokens: int
    used_share: float
    """Spent of total: 1.0 is all of it, more is an overdraft; 0 for a pool of nothing."""
    lowest_free_tokens: int
    refused: int
    overdrawn_tokens: int


def ledgers(events: Iterable[Event], *, until_seq: int | None = None) -> tuple[Ledger, ...]:
    """Return the ledger of every request of a session, in order.

    Args:
        events: All events of one session, by `seq`; without a user message there is no ledger.
        until_seq: Leave out what came after this event.
    """
    books: list[_Book] = []
    agents: dict[str | None, str] = {}
    for event in events:
        if until_seq is not None and event.seq > until_seq:
            break
        payload = event.payload
        if isinstance(payload, HandoffRequested):
            agents[event.handoff_id] = payload.target
        elif isinstance(payload, UserMessageReceived):
            books.append(_Book(event, payload))
        elif books:
            books[-1].take(event, agents.get(event.handoff_id, ""))
    return tuple(book.ledger() for book in books)


class _Book:
    """One request's rows while they are written down."""

    def __init__(self, event: Event, asked: UserMessageReceived) -> None:
        self._event, self._asked = event, asked
        total = asked.pool_tokens
        self._rows = [
            LedgerRow(
                event.seq, event.elapsed_seconds, Entry.POOL, None, None, "", total, 0, total, 0, 0
            )
        ]

    def take(self, event: Event, agent: str) -> None:
        payload = event.payload
        if isinstance(payload, BudgetCharged):
            self._write(event, Entry.SPEND, agent, payload, estimated=payload.estimated)
        elif isinstance(payload, BudgetReserved):
            self._write(event, Entry.RESERVE, agent, payload)
        elif isinstance(payload, BudgetRefunded):
            self._write(event, Entry.REFUND, agent, payload)
        elif isinstance(payload, BudgetOverdrawn):
            self._write(event, Entry.OVERDRAFT, agent, payload)
        elif refused_by_pool(event):
            self._write(event, Entry.REFUSED, agent, None)

    def _write(
        self,
        event: Event,
        entry: Entry,
        agent: str,
        figures: BudgetReserved | BudgetCharged | BudgetRefunded | BudgetOverdrawn | None,
        *,
        estimated: bool = False,
    ) -> None:
        last = self._rows[-1]
        after = figures or last
        self._rows.append(
            LedgerRow(
                seq=event.seq,
                elapsed_seconds=event.elapsed_seconds,
                entry=entry,
                handoff_id=event.handoff_id,
                parent_id=event.parent_id,
                agent=agent,
                tokens=figures.tokens if figures else 0,
                delta_free=after.free - last.free,
                free=after.free,
                open=after.open,
                spent=after.spent,
                estimated=estimated,
            )
        )

    def ledger(self) -> Ledger:
        asked, event = self._asked, self._event
        return Ledger(
            event.turn,
            event.request_id,
            asked.pool_tokens,
            asked.finish_floor_tokens,
            tuple(self._rows),
        )


def refused_by_pool(event: Event) -> bool:
    """Say whether an event is the pool's no: a refused reservation, or a stop on an empty pool."""
    payload = event.payload
    if isinstance(payload, HandoffRejected):
        return payload.rule == "pool"
    if not isinstance(payload, HandoffClosed):
        return False
    return payload.status is Status.LIMIT_REACHED and payload.reason == "pool"
