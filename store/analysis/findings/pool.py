"""A pool that could not give what was asked for.

Source: S0, step 4, "Share the budget across the whole tree".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.counting import count
from handoff_console.runtime.events import BudgetOverdrawn, Event, HandoffClosed, HandoffRejected
from handoff_console.store.analysis.budget import Entry, Ledger, LedgerRow, refused_by_pool
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.ledger_check import rest_of_grant
from handoff_console.store.analysis.nodes import HandoffNode
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
            evidence=tuple(
                Evidence(e.seq, f"{count(o.tokens, 'token')} over") for e, o in excesses
            ),
            sentence=f"{as_name(agent)} used {count(tokens, 'token')} more than its grant held.",
            advice=f"Raise max_tokens of the edge to {as_name(agent)}, or give it less to read.",
        )


class _Shortage(NamedTuple):
    """What was missing: tokens in the pool itself, or in the grant of whoever asked."""

    sentence: str
    advice: str
    taker: LedgerRow | None


def _starved(record: Record, turn: int, events: Sequence[Event], ledger: Ledger | None) -> Finding:
    first = events[0]
    node = record.node(first.handoff_id)
    refused = isinstance(first.payload, HandoffRejected)
    agent = (node.source if refused else node.agent) if node else ""
    what = f"{as_name(agent)} had to stop"
    if refused and node is not None:
        verb = "call" if node.via is HandoffKind.CALL else "hand off to"
        what = f"{as_name(agent)} could not {verb} {as_name(node.agent)}"
    shortage = _shortage(record, what, first, node, ledger)
    others = len(events) - 1
    more = f", and {others} more request{'s' if others > 1 else ''} met the same" if others else ""
    evidence = [_evidence(event) for event in events]
    if (taker := shortage.taker) is not None:
        evidence.append(Evidence(taker.seq, _took(taker)))
    return Finding(
        code="starved_pool",
        severity=Severity.ERROR if record.failed(turn) else Severity.WARNING,
        handoff_id=first.handoff_id,
        agent=agent,
        turn=turn,
        evidence=tuple(sorted(evidence, key=lambda item: item.seq)),
        sentence=f"{shortage.sentence}{more}.",
        advice=shortage.advice,
    )


def _shortage(
    record: Record, what: str, first: Event, node: HandoffNode | None, ledger: Ledger | None
) -> _Shortage:
    if ledger is None:
        return _Shortage(
            f"Too few tokens were left: {what}", "Raise pool_tokens of the flow.", None
        )
    caller = record.node(node.parent_id) if node else None
    rest = rest_of_grant(ledger, caller.handoff_id, first.seq) if caller else None
    if caller is not None and rest is not None:
        grant = f" of {caller.grant_tokens:,}" if caller.grant_tokens else ""
        return _Shortage(
            f"{what}: of its own grant{grant} tokens {max(rest, 0):,} were left",
            f"Raise max_tokens of the edge to {as_name(caller.agent)}, from which its calls are "
            "paid, or lower what it asks for its workers.",
            None,
        )
    needed = _needed_tokens(first)
    if needed is not None and needed > ledger.total_tokens:
        return _larger_than_the_pool(what, needed, first, node, ledger)
    before = [row for row in ledger.rows if row.seq <= first.seq]
    last, taker = before[-1], _biggest_taker(before)
    advice = "Raise pool_tokens of the flow."
    if taker is not None:
        advice = f"Raise pool_tokens of the flow, or lower what is taken from it: {_took(taker)}."
    floor = ledger.finish_floor_tokens if node and node.via is HandoffKind.CALL else 0
    kept = f" ({floor:,} of them kept for the answer)" if 0 < floor <= last.free else ""
    short = "Too few tokens were left" if last.free > floor else "The pool ran dry"
    stopped = isinstance(first.payload, HandoffClosed) and needed is not None
    wanted = f"; its next call needed about {needed:,}" if stopped else ""
    return _Shortage(
        f"{short}: {what} when {max(last.free, 0):,} of {ledger.total_tokens:,} tokens "
        f"were free{kept} and {last.open:,} reserved{wanted}",
        advice,
        taker,
    )


def _larger_than_the_pool(
    what: str, needed: int, first: Event, node: HandoffNode | None, ledger: Ledger
) -> _Shortage:
    """Say that even a pool that nobody had touched would not have been enough."""
    pool = f"the whole pool has {ledger.total_tokens:,}"
    if isinstance(first.payload, HandoffRejected):
        edge = f"the edge to {as_name(node.agent)}" if node else "the edge"
        return _Shortage(
            f"{what}: {count(needed, 'token')} were to be reserved for it, and {pool}",
            f"Lower max_tokens of {edge}, or give the request more than {needed:,} tokens: "
            "--pool, or pool_tokens of the flow.",
            None,
        )
    is_first = node is not None and node.source == "user" and not node.steps_used
    reads = "the message with the instructions" if is_first else "what it has to read"
    return _Shortage(
        f"{what}: {reads} needs about {count(needed, 'token')}, and {pool}",
        f"Give the request more than {needed:,} tokens (--pool, or pool_tokens of the flow), or "
        "shorten the message.",
        None,
    )


_NEEDED = re.compile(
    r"\babout (\d{1,12}) needed$|^limit_reached: (\d{1,12}) tokens cannot be reserved"
)
"""Where the runtime says how much it would have taken; another sentence does not say it."""


def _needed_tokens(event: Event) -> int | None:
    payload = event.payload
    said = payload.reason if isinstance(payload, HandoffRejected) else ""
    if isinstance(payload, HandoffClosed):
        said = payload.notes
    found = _NEEDED.search(said)
    return int(found[1] or found[2]) if found else None


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


def _took(row: LedgerRow) -> str:
    verb = "reserved" if row.entry is Entry.RESERVE else "spent"
    return f"{as_name(row.agent)} {verb} {count(row.tokens, 'token')}"


def _evidence(event: Event) -> Evidence:
    payload = event.payload
    needed = _needed_tokens(event)
    if isinstance(payload, HandoffRejected):
        said = f"refused: {count(needed, 'token')} for {as_name(payload.target)}" if needed else ""
        return Evidence(event.seq, said or one_line(payload.reason, 160))
    wanted = f"about {count(needed, 'token')} needed" if needed else "too few tokens in the pool"
    return Evidence(event.seq, f"stopped: {wanted}")
