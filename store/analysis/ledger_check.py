"""Whether a ledger adds up: its arithmetic done again, trusting none of its figures."""

from dataclasses import dataclass

from handoff_console.runtime.counting import count
from handoff_console.store.analysis.budget import Entry, Ledger, LedgerRow


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """Whether a ledger adds up, computed again from its amounts alone."""

    adds_up: bool
    rows_checked: int
    first_wrong_seq: int | None
    """The event at which the record and the arithmetic part; None when they never do."""
    sentence: str


def check(ledger: Ledger) -> LedgerCheck:
    """Add a ledger up again from its amounts, and name the first row that says something else.

    The figures of a row are never taken for granted: what each grant holds is followed from
    reserve to refund, so that a record that was damaged or invented shows.
    """
    sums = _Sums(ledger.total_tokens)
    for place, row in enumerate(ledger.rows, start=1):
        wrong = sums.add(row)
        if wrong:
            sentence = f"The ledger does not add up at event {row.seq}: {wrong}."
            return LedgerCheck(False, place, row.seq, sentence)
    last = ledger.rows[-1]
    sentence = (
        f"The ledger adds up: {last.free:,} free + {last.open:,} reserved + {last.spent:,} spent "
        f"= {ledger.total_tokens:,}, after each of {count(len(ledger.rows), 'entry', 'entries')}."
    )
    return LedgerCheck(True, len(ledger.rows), None, sentence)


def rest_of_grant(ledger: Ledger, handoff_id: str | None, seq: int) -> int | None:
    """Return what a handoff's grant still held right after an event; None when it held none."""
    sums = _Sums(ledger.total_tokens)
    for row in ledger.rows:
        if row.seq > seq:
            break
        sums.add(row)
    return sums.left.get(handoff_id)


class _Sums:
    """The arithmetic of a pool, done again."""

    def __init__(self, total: int) -> None:
        self.total = self.free = total
        self.open = self.spent = 0
        self.left: dict[str | None, int] = {}
        """What each open grant still holds."""
        self._carved_from: dict[str | None, str | None] = {}

    def add(self, row: LedgerRow) -> str:
        """Take a row; return what is wrong with it, in words, or nothing."""
        wrong = _ADD[row.entry](self, row)
        if wrong:
            return wrong
        for name in ("free", "open", "spent"):
            recorded, computed = getattr(row, name), getattr(self, name)
            if recorded != computed:
                return f"it records {recorded:,} {_SHOWN[name]} where {computed:,} is right"
        return ""

    def reserve(self, row: LedgerRow) -> str:
        if row.handoff_id in self.left:
            return f"{row.handoff_id} reserves a second time"
        carved_from = row.parent_id if row.parent_id in self.left else None
        if carved_from is None:
            self.free -= row.tokens
            self.open += row.tokens
        else:
            self.left[carved_from] -= row.tokens
        self._carved_from[row.handoff_id] = carved_from
        self.left[row.handoff_id] = row.tokens
        return ""

    def spend(self, row: LedgerRow) -> str:
        covered = min(row.tokens, max(self.left.get(row.handoff_id, 0), 0))
        if covered:
            self.left[row.handoff_id] -= covered
            self.open -= covered
        self.free -= row.tokens - covered
        self.spent += row.tokens
        return ""

    def refund(self, row: LedgerRow) -> str:
        left = self.left.pop(row.handoff_id, None)
        if left is None:
            return f"{row.handoff_id} refunds what it never reserved"
        if left != row.tokens:
            refunds = f"{row.handoff_id} refunds {count(row.tokens, 'token')}"
            return f"{refunds}, but {left:,} are left of it"
        carved_from = self._carved_from[row.handoff_id]
        if carved_from in self.left:
            self.left[carved_from] += left
        else:
            self.free += left
            self.open -= left
        return ""

    def nothing(self, _: LedgerRow) -> str:
        return ""


_ADD = {
    Entry.POOL: _Sums.nothing,
    Entry.RESERVE: _Sums.reserve,
    Entry.SPEND: _Sums.spend,
    Entry.REFUND: _Sums.refund,
    Entry.OVERDRAFT: _Sums.nothing,
    Entry.REFUSED: _Sums.nothing,
}
_SHOWN = {"free": "free", "open": "reserved", "spent": "spent"}
