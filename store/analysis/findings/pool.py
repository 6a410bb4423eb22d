"""A pool that could not give what was asked for.

Source: S0, step 4, "Share the budget across the whole tree".
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from handoff_console.runtime.events import BudgetOverdrawn, Event, HandoffClosed, HandoffRejected
from handoff_console.store.analysis.budget import Entry, Ledger, LedgerRow, refused_by_pool
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.plain_text import as_name, one_line


def starved_pool(record: Record) -> Iterable[Finding]:
    """A reservation that the pool refused, or a handoff that stopped because it was empty."""
    starved: dict[int, list[Event]] = defaultdict(list)
    for kind in (HandoffRejected, HandoffClosed):
        for event, _ in record.of(kind):
            if refused_by_pool(event):
                starved[event.turn].append(event)
    for turn, events in starved.items():
        events.sort(key=lambda event: event.seq)
        ledger = next((ledger for ledger in record.ledgers if ledger.turn == turn), None)
        yield _starved(record, turn, events, ledger)


def pool_overdrawn(record: Record) -> Iterable[Finding]:
    """A model used more than its grant held; the rest came from the pool."""
    by_handoff: dict[str | None, list[tuple[Event, BudgetOverdrawn]]] = defaultdict(list)
    for event, overdrawn in record.of(BudgetOverdrawn):
        by_handoff[event.handoff_id].append((event, overdrawn))
    for handoff_id, excesses in by_handoff.items():
        tokens = sum(overdrawn.tokens for _, overdrawn in excesses)
        agent = record.agent(handoff_id)
        yield Finding(
            code="pool_overdrawn",
            severity=Severity.INFO,
            handoff_id=handoff_id,
            agent=agent,
            turn=excesses[0][0].turn,
            evidence=tuple(Evidence(e.seq, f"{o.tokens:,} tokens over") for e, o in excesses),
            sentence=f"{as_name(agent)} used {tokens:,} tokens more than its grant held.",
            advice=f"Raise max_tokens of the edge to {as_name(agent)}, or give it less to read.",
        )


def _starved(record: Record, turn: int, events: Sequence[Event], ledger: Ledger | None) -> Finding:
    first = events[0]
    node = record.node(first.handoff_id)
    refused = isinstance(first.payload, HandoffRejected)
    agent = (node.source if refused else node.agent) if node else ""
    target = as_name(node.agent) if node else "somebody"
    what = (
        f"{as_name(agent)} could not hand off to {target}" if refused else f"{target} had to stop"
    )
    others = len(events) - 1
    more = f", and {others} more request{'s' if others > 1 else ''} met the same" if others else ""
    evidence = [_evidence(event) for event in events]
    taker, advice = None, "Raise pool_tokens of the flow."
    figures = ""
    if ledger is not None:
        before = [row for row in ledger.rows if row.seq <= first.seq]
        taker = _biggest_taker(before)
        last = before[-1]
        figures = (
            f" when {max(last.free, 0):,} of {ledger.total_tokens:,} tokens were free "
            f"and {last.open:,} reserved"
        )
    if taker is not None:
        verb = "reserved" if taker.entry is Entry.RESERVE else "spent"
        name = as_name(taker.agent)
        evidence.append(Evidence(taker.seq, f"{name} {verb} {taker.tokens:,} tokens"))
        advice = (
            f"Raise pool_tokens of the flow, or lower what {name} may take: it {verb} "
            f"{taker.tokens:,} tokens."
        )
    return Finding(
        code="starved_pool",
        severity=Severity.ERROR if record.failed(turn) else Severity.WARNING,
        handoff_id=first.handoff_id,
        agent=agent,
        turn=turn,
        evidence=tuple(sorted(evidence, key=lambda item: item.seq)),
        sentence=f"The pool ran dry: {what}{figures}{more}.",
        advice=advice,
    )


def _biggest_taker(rows: Sequence[LedgerRow]) -> LedgerRow | None:
    """Return the entry that took most of what is gone: a grant still open, or a single spend."""
    refunded = {row.handoff_id for row in rows if row.entry is Entry.REFUND}
    takers = [
        row
        for row in rows
        if row.entry is Entry.SPEND
        or (row.entry is Entry.RESERVE and row.handoff_id not in refunded)
    ]
    return max(takers, key=lambda row: row.tokens, default=None)


def _evidence(event: Event) -> Evidence:
    payload = event.payload
    if isinstance(payload, HandoffRejected):
        return Evidence(event.seq, one_line(payload.reason, 160))
    return Evidence(event.seq, "stopped: the pool is empty")
