"""What two sequences have in common, in order: the base of every comparison.

Where they differ in little they are compared exactly (Myers' greedy algorithm). Others are first
cut at what occurs once on both sides (patience diff): stretches of several items, or single ones.
Where neither comes to an end within its bounds, what lies between is given as replaced: right, if
not as short as it could be.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")

LARGE_ITEMS = 1_200
"""From here on, both sides together, a block is cut at stretches before single items."""
EXACT_EDITS = 800
"""An exact comparison is given up after so many differences; its work grows with their square."""
EFFORT = 2_000_000
"""Steps that the exact comparisons of two texts may take together: about a second."""
STRETCH_ITEMS = 8
"""So many items in a row are rarely there twice, even where each of them is common."""


class Run(NamedTuple):
    """A stretch that both sequences have."""

    left: int
    """Where it begins in the left one, from 0; so is the next in the right one."""
    right: int
    length: int


class Gap(NamedTuple):
    """What lies between two runs: the items that only one side has there. Ends are excluded."""

    left_start: int
    left_end: int
    right_start: int
    right_end: int


class Effort:
    """How much work is left for exact comparisons; several may share it."""

    def __init__(self, steps: int = EFFORT) -> None:
        self._steps = steps

    def spend(self, steps: int) -> bool:
        """Take steps; False when there are not so many left."""
        self._steps -= steps
        return self._steps >= 0


def common_runs(
    left: Sequence[Hashable], right: Sequence[Hashable], effort: Effort | None = None
) -> list[Run]:
    """Return what two sequences have in common, in order, as runs that do not touch or overlap.

    Args:
        left: One sequence.
        right: The other one.
        effort: Shared with other comparisons; by default this one has its own.
    """
    numbers: dict[Hashable, int] = {}
    a = [numbers.setdefault(item, len(numbers)) for item in left]
    b = [numbers.setdefault(item, len(numbers)) for item in right]
    return _joined(_Comparing(a, b, effort or Effort()).runs())


def gaps(runs: Sequence[Run], left_length: int, right_length: int) -> Iterator[Gap]:
    """Yield what lies before, between and after runs, where there is anything on either side."""
    left = right = 0
    for run in (*runs, Run(left_length, right_length, 0)):
        if run.left > left or run.right > right:
            yield Gap(left, run.left, right, run.right)
        left, right = run.left + run.length, run.right + run.length


def aligned(
    left: Sequence[_T], right: Sequence[_T], keys: Sequence[Callable[[_T], Hashable]]
) -> list[tuple[int, int]]:
    """Return which items of two sequences belong together, by place, in order.

    Args:
        left: One sequence.
        right: The other one.
        keys: What makes two items the same, the strictest first; each is asked only about what
            the one before left between its matches.
    """
    pairs: list[tuple[int, int]] = []
    waiting = [(Gap(0, len(left), 0, len(right)), 0)]
    while waiting:
        gap, depth = waiting.pop()
        mine = [keys[depth](item) for item in left[gap.left_start : gap.left_end]]
        theirs = [keys[depth](item) for item in right[gap.right_start : gap.right_end]]
        runs = common_runs(mine, theirs)
        for run in runs:
            first, second = gap.left_start + run.left, gap.right_start + run.right
            pairs += [(first + offset, second + offset) for offset in range(run.length)]
        if depth + 1 < len(keys):
            for inner in gaps(runs, len(mine), len(theirs)):
                if inner.left_end > inner.left_start and inner.right_end > inner.right_start:
                    waiting.append((_moved(inner, gap), depth + 1))
    return sorted(pairs)


def _moved(inner: Gap, outer: Gap) -> Gap:
    left, right = outer.left_start, outer.right_start
    return Gap(
        inner.left_start + left,
        inner.left_end + left,
        inner.right_start + right,
        inner.right_end + right,
    )


def _joined(runs: list[Run]) -> list[Run]:
    runs.sort()
    found: list[Run] = []
    for run in runs:
        if found:
            last = found[-1]
            if (last.left + last.length, last.right + last.length) == (run.left, run.right):
                found[-1] = Run(last.left, last.right, last.length + run.length)
                continue
        found.append(run)
    return found


class _Comparing:
    """Two sequences of numbers, compared block by block."""

    def __init__(self, a: list[int], b: list[int], effort: Effort) -> None:
        self._a, self._b = a, b
        self._effort = effort
        self._found: list[Run] = []

    def runs(self) -> list[Run]:
        waiting = [Gap(0, len(self._a), 0, len(self._b))]
        while waiting:
            block = self._trimmed(waiting.pop())
            if block.left_start == block.left_end or block.right_start == block.right_end:
                continue
            waiting += self._split(block)
        return self._found

    def _trimmed(self, block: Gap) -> Gap:
        """Take off what both sides of a block begin and end with."""
        a, b = self._a, self._b
        start_a, end_a, start_b, end_b = block
        while start_a < end_a and start_b < end_b and a[start_a] == b[start_b]:
            start_a, start_b = start_a + 1, start_b + 1
        self._keep(block.left_start, block.right_start, start_a - block.left_start)
        while start_a < end_a and start_b < end_b and a[end_a - 1] == b[end_b - 1]:
            end_a, end_b = end_a - 1, end_b - 1
        self._keep(end_a, end_b, block.left_end - end_a)
        return Gap(start_a, end_a, start_b, end_b)

    def _keep(self, left: int, right: int, length: int) -> None:
        if length:
            self._found.append(Run(left, right, length))

    def _split(self, block: Gap) -> list[Gap]:
        """Find what a block has in common; return the smaller blocks that are still to be done."""
        size = block.left_end - block.left_start + block.right_end - block.right_start
        if self._exactly(block):
            return []
        for width in (STRETCH_ITEMS, 1) if size > LARGE_ITEMS else (1,):
            if anchors := _anchors(self._a, self._b, block, width):
                return list(self._between(block, anchors))
        return []

    def _between(self, block: Gap, anchors: list[tuple[int, int]]) -> Iterator[Gap]:
        left, right = block.left_start, block.right_start
        for anchor_left, anchor_right in anchors:
            self._keep(anchor_left, anchor_right, 1)
            if anchor_left > left and anchor_right > right:
                yield Gap(left, anchor_left, right, anchor_right)
            left, right = anchor_left + 1, anchor_right + 1
        yield Gap(left, block.left_end, right, block.right_end)

    def _exactly(self, block: Gap) -> bool:
        """Compare a block exactly; False when that takes too long, and then nothing is found."""
        a = self._a[block.left_start : block.left_end]
        b = self._b[block.right_start : block.right_end]
        most = min(len(a) + len(b), EXACT_EDITS)
        furthest = [0] * (2 * most + 3)  # by diagonal, with the main one in the middle
        trace: list[list[int]] = []
        for edits in range(most + 1):
            if not self._effort.spend(edits + 1):
                return False
            end = _advance(a, b, edits, furthest, most + 1)
            trace.append(furthest[most + 1 - edits : most + 2 + edits : 2])
            if end:
                self._take_back(block, len(a), len(b), trace)
                return True
        return False

    def _take_back(self, block: Gap, x: int, y: int, trace: list[list[int]]) -> None:
        """Walk a trace back from its end and keep the diagonals: they are the common items."""
        for edits in range(len(trace) - 1, 0, -1):
            k, before = x - y, trace[edits - 1]
            below = before[(k + edits) // 2] if k < edits else -1  # furthest on diagonal k + 1
            above = before[(k + edits) // 2 - 1] if k > -edits else -1  # and on k - 1
            down = k == -edits or (k != edits and above < below)
            start = below if down else above + 1
            self._keep(block.left_start + start, block.right_start + start - k, x - start)
            x = below if down else above
            y = x - (k + 1 if down else k - 1)
        self._keep(block.left_start, block.right_start, x)


def _advance(a: list[int], b: list[int], edits: int, furthest: list[int], middle: int) -> bool:
    """Go as far as one more edit leads on every diagonal; say whether that is the end."""
    end_a, end_b = len(a), len(b)
    for place in range(middle - edits, middle + edits + 1, 2):
        below, above = furthest[place + 1], furthest[place - 1]
        down = place == middle - edits or (place != middle + edits and above < below)
        x = below if down else above + 1
        y = x - place + middle
        while x < end_a and y < end_b and a[x] == b[y]:
            x += 1
            y += 1
        furthest[place] = x
        if x >= end_a and y >= end_b:
            return True
    return False


def _anchors(a: list[int], b: list[int], block: Gap, width: int) -> list[tuple[int, int]]:
    """Return places, in order, at which a stretch begins that each side of a block has once.

    Of those that cross each other, the most that do not are taken. What begins there is one common
    item each.
    """
    here = _once(a, block.left_start, block.left_end, width)
    there = _once(b, block.right_start, block.right_end, width)
    places = [(place, there[item]) for item, place in here.items() if item in there]
    places.sort()
    tails: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for number, (_, right) in enumerate(places):
        length = bisect_left(tails, right)
        before.append(tops[length - 1] if length else -1)
        tails[length : length + 1] = [right]
        tops[length : length + 1] = [number]
    found = []
    number = tops[-1] if tops else -1
    while number >= 0:
        found.append(places[number])
        number = before[number]
    return found[::-1]


def _once(items: list[int], start: int, end: int, width: int) -> dict[tuple[int, ...], int]:
    """Return the stretches of a block that occur once, each with its place."""
    shifted = [items[start + offset : end] for offset in range(width)]
    seen: dict[tuple[int, ...], int] = {}
    for place, stretch in enumerate(zip(*shifted, strict=False), start):
        seen[stretch] = -1 if stretch in seen else place
    return {stretch: place for stretch, place in seen.items() if place >= 0}
