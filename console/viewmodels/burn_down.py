"""The pool over a session's events: free, reserved and spent by whom, and whether it adds up."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from handoff_console.console.viewmodels.text import amount, count, one_line
from handoff_console.store.analysis.budget import Entry, Ledger, LedgerRow
from handoff_console.store.analysis.burn_down import downsample
from handoff_console.store.analysis.ledger_check import check

AGENTS_SHOWN = 7
OTHER = "other"

_MARKED = frozenset({Entry.RESERVE, Entry.REFUND, Entry.REFUSED, Entry.OVERDRAFT})


@dataclass(frozen=True, slots=True)
class Point:
    """The pool right after an event."""

    seq: int
    elapsed_seconds: float
    free: int
    """Below zero after an overdraft."""
    open: int
    spent_by: tuple[int, ...]
    """Spent so far by each of `BurnDown.agents`, in their order."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened to the pool besides spending."""

    kind: str
    """`reserve`, `refund`, `refused` or `overdraft`."""
    seq: int
    free: int
    text: str
    """One line."""
    handoff_id: str | None


@dataclass(frozen=True, slots=True)
class BurnDown:
    """All that the figure draws, and the line under it."""

    total_tokens: int
    """The largest of the session's pools; 0 when there is none."""
    agents: tuple[str, ...]
    """Who spent anything, most first; beyond seven the rest is `other`."""
    points: tuple[Point, ...]
    """By seq; a request begins with a full pool."""
    marks: tuple[Mark, ...]
    adds_up: bool
    check: str
    """One sentence: that the ledger adds up, or where it does not."""
    left_out: int
    """Entries that are not drawn, so that the figure stays light."""

    @property
    def summary(self) -> str:
        """What the figure shows, for those who cannot see it."""
        if not self.points:
            return "Nothing was reserved or spent."
        last = self.points[-1]
        spent = [f"{name} {amount(n)}" for name, n in zip(self.agents, last.spent_by, strict=True)]
        return (
            f"Pool of {count(self.total_tokens, 'token')}: {amount(last.free)} free and "
            f"{amount(last.open)} reserved at the end; spent: {', '.join(spent) or 'nothing'}."
        )


def burn_down(ledgers: Sequence[Ledger], *, points: int = 800) -> BurnDown:
    """Return the pool of a session as it burned down, request after request.

    Args:
        ledgers: Of the session's requests, in order; none gives an empty picture.
        points: The most that are drawn in all.
    """
    bands = _bands(ledgers)
    rows_in_all = sum(len(ledger.rows) for ledger in ledgers)
    drawn: list[Point] = []
    marks: list[Mark] = []
    for ledger in ledgers:
        share = max(2, points * len(ledger.rows) // max(rows_in_all, 1))
        kept = downsample(ledger.rows, points=share)
        drawn += _points(ledger, kept, bands)
        marks += [_mark(row) for row in kept if row.entry in _MARKED]
    checks = [check(ledger) for ledger in ledgers]
    wrong = next((result for result in checks if not result.adds_up), None)
    said = wrong or (checks[-1] if checks else None)
    return BurnDown(
        total_tokens=max((ledger.total_tokens for ledger in ledgers), default=0),
        agents=bands.shown,
        points=tuple(drawn),
        marks=tuple(marks),
        adds_up=wrong is None,
        check=said.sentence if said else "There is no ledger: nothing was asked yet.",
        left_out=rows_in_all - len(drawn),
    )


class _Bands(NamedTuple):
    """Whose spending is drawn where."""

    shown: tuple[str, ...]
    place: Mapping[str, int]
    """Of each agent with a band of its own; all others share the last."""


def _bands(ledgers: Sequence[Ledger]) -> _Bands:
    spent: Counter[str] = Counter()
    for ledger in ledgers:
        spent.update(ledger.spent_by_agent)
    names = [name for name, _ in sorted(spent.items(), key=lambda item: (-item[1], item[0]))]
    own = names[:AGENTS_SHOWN]
    shown = [one_line(name, 40) for name in own] + ([OTHER] if len(names) > len(own) else [])
    return _Bands(tuple(shown), {name: place for place, name in enumerate(own)})


def _points(ledger: Ledger, kept: Sequence[LedgerRow], bands: _Bands) -> list[Point]:
    wanted = {row.seq for row in kept}
    spent = [0] * len(bands.shown)
    drawn = []
    for row in ledger.rows:
        if row.entry is Entry.SPEND:
            spent[bands.place.get(row.agent, len(spent) - 1)] += row.tokens
        if row.seq in wanted:
            point = Point(row.seq, row.elapsed_seconds, row.free, row.open, tuple(spent))
            drawn.append(point)
    return drawn


def _mark(row: LedgerRow) -> Mark:
    name = one_line(row.agent, 40)
    text = {
        Entry.RESERVE: f"{count(row.tokens, 'token')} reserved for {name}",
        Entry.REFUND: f"{name} gave back {count(row.tokens, 'token')}",
        Entry.REFUSED: f"refused: the pool has too few tokens for {name}",
        Entry.OVERDRAFT: f"{name} went {count(row.tokens, 'token')} over its grant",
    }[row.entry]
    return Mark(row.entry.value, row.seq, row.free, text, row.handoff_id)
