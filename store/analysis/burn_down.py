"""Fewer rows of a ledger for the same picture: a figure of 100,000 points helps nobody."""

from collections.abc import Sequence

from handoff_console.store.analysis.budget import Entry, LedgerRow


def downsample(rows: Sequence[LedgerRow], *, points: int = 800) -> tuple[LedgerRow, ...]:
    """Return at most `points` rows from which the same picture is drawn.

    The first and last row, every refusal and every change of direction of `free` stay; where even
    these are too many, each stretch of the time keeps its lowest and its highest.
    """
    if len(rows) <= points:
        return tuple(rows)
    kept = _landmarks(rows)
    if len(kept) > points:
        kept = _extremes(rows, [i for i in kept if rows[i].entry is Entry.REFUSED], points)
    spare = points - len(kept)
    if spare > 0:
        others = [i for i in range(len(rows)) if i not in kept]
        kept.update(others[round(k * (len(others) - 1) / spare)] for k in range(spare))
    return tuple(rows[i] for i in sorted(kept))


def _landmarks(rows: Sequence[LedgerRow]) -> set[int]:
    kept = {0, len(rows) - 1}
    direction = 0
    for i, row in enumerate(rows):
        if row.entry is Entry.REFUSED:
            kept.add(i)
        if row.delta_free and direction and (row.delta_free > 0) != (direction > 0):
            kept.add(i - 1)
        direction = row.delta_free or direction
    return kept


def _extremes(rows: Sequence[LedgerRow], refused: Sequence[int], points: int) -> set[int]:
    most = max(points // 2, 1)
    every = -(-len(refused) // most) or 1
    kept = {0, len(rows) - 1, *refused[::every]}
    stretches = max((points - len(kept)) // 2, 1)
    for k in range(stretches):
        stretch = range(k * len(rows) // stretches, (k + 1) * len(rows) // stretches)
        if stretch:
            kept.add(min(stretch, key=lambda i: rows[i].free))
            kept.add(max(stretch, key=lambda i: rows[i].free))
    return kept
