"""The smallest part of a set that still does something: delta debugging, and how sure it is.

Source: A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
Transactions on Software Engineering 28 (2002).
"""

from collections.abc import Awaitable, Callable, Sequence
from math import comb
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")


class Trials(NamedTuple):
    """So many of so many tries passed."""

    passed: int
    total: int


async def smallest(
    parts: Sequence[_T], does_it: Callable[[Sequence[_T]], Awaitable[bool]]
) -> tuple[_T, ...]:
    """Return parts that together do it, and of which none can be left out.

    There may be others that do it too, and even fewer: what is certain is that each of these is
    needed beside the others. No set is tried twice. The tries grow with the square of the number of
    parts at worst, and with its logarithm where a single part does it.

    Args:
        parts: All parts; they have to do it together, and the empty set must not.
        does_it: Tries some of them, in their order.
    """
    known: dict[tuple[int, ...], bool] = {}

    async def tried(places: tuple[int, ...]) -> bool:
        if places not in known:
            known[places] = await does_it([parts[place] for place in places])
        return known[places]

    kept = tuple(range(len(parts)))
    pieces = 2
    while len(kept) > 1:
        found = await _smaller(kept, pieces, tried)
        if found is not None:
            kept, pieces = found
        elif pieces >= len(kept):
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return tuple(parts[place] for place in kept)


async def _smaller(
    kept: tuple[int, ...], pieces: int, tried: Callable[[tuple[int, ...]], Awaitable[bool]]
) -> tuple[tuple[int, ...], int] | None:
    """Return a piece that does it alone, or what is left without one; with the next cut."""
    cuts = [kept[len(kept) * n // pieces : len(kept) * (n + 1) // pieces] for n in range(pieces)]
    for cut in cuts:
        if await tried(cut):
            return cut, 2
    if pieces > 2:  # of two, each one's rest is the other
        for cut in cuts:
            rest = tuple(place for place in kept if place not in cut)
            if await tried(rest):
                return rest, max(pieces - 1, 2)
    return None


def most_tries(parts: int) -> int:
    """Return how many sets `smallest` tries at most; 0 for a single part, which needs none."""
    return parts * parts + 3 * parts if parts > 1 else 0


def likely_tries(parts: int) -> int:
    """Return how many sets it tries where a single part does it, at worst by its place."""
    tries = 0
    while parts > 1:
        parts, tries = (parts + 1) // 2, tries + 2
    return tries


def chance(with_it: Trials, without: Trials) -> float:
    """Return how likely so clear a difference is if there is none (Fisher's exact test, one-sided).

    1.0 when nothing was tried on a side.
    """
    passed, total = with_it.passed + without.passed, with_it.total + without.total
    ways = comb(total, with_it.total)
    clearer = range(with_it.passed, min(passed, with_it.total) + 1)
    return (
        sum(comb(passed, n) * comb(total - passed, with_it.total - n) for n in clearer) / ways
        if with_it.total and without.total
        else 1.0
    )
