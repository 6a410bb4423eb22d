"""What another pool or other limits would have done to a recorded session: no model is called.

The ledger alone says which handoffs would have been refused or cut. What it cannot say is what
anybody would have done then; that is named, and where it matters a handoff's fate is `depends`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from handoff_console.store.analysis.plain_text import as_name, listed
from handoff_console.store.analysis.pool_change import Change, Fate, Held
from handoff_console.store.analysis.pool_course import Asked, Course, courses
from handoff_console.store.analysis.pool_replay import Replay

__all__ = [
    "Change",
    "Fate",
    "HandoffFate",
    "PoolMarks",
    "WhatIf",
    "courses",
    "pool_marks",
    "what_if",
]

LOST = frozenset({Fate.REFUSED, Fate.CUT, Fate.NOT_ASKED})
"""What takes something away from the record."""


@dataclass(frozen=True, slots=True)
class HandoffFate:
    """What would have become of one handoff."""

    handoff_id: str
    agent: str
    recorded: str
    """Its outcome: a `Status` or a `State`."""
    fate: Fate
    limit: str
    """The limit or rule that decides: `pool`, `tokens`, `steps`, `deadline`, `handoffs`, `workers`,
    `cycle`, `depth`; empty where nothing changes."""
    seq: int | None
    """The recorded event at which it would have gone otherwise."""
    needed_tokens: int
    """What it asked for, where tokens decide; so is the next."""
    available_tokens: int


@dataclass(frozen=True)
class WhatIf:
    """A session, had its pool or its limits been others."""

    change: Change
    handoffs: tuple[HandoffFate, ...]
    """All of them, in the order they were asked for."""
    spent_low_tokens: int
    """If handoffs of which nothing is recorded had used nothing."""
    spent_high_tokens: int
    """If they had used all they may."""
    lowest_free_tokens: int
    """In the worse of the two cases; below zero only by an overdraft."""
    unknown: tuple[str, ...]
    """What the record cannot say, a sentence each; empty when nothing would have changed."""

    @cached_property
    def changed(self) -> tuple[HandoffFate, ...]:
        """Those that would have fared otherwise."""
        return tuple(handoff for handoff in self.handoffs if handoff.fate is not Fate.SAME)


@dataclass(frozen=True, slots=True)
class PoolMarks:
    """Two sizes of a pool worth knowing, for every request of the session alike."""

    as_recorded_tokens: int
    """The smallest that changes nothing that is recorded."""
    without_refusals_tokens: int | None
    """The smallest with which certainly nothing would have been refused or stopped for the pool;
    None where the record does not say how much was asked for, or how much more was needed."""


def what_if(played: Sequence[Course], change: Change) -> WhatIf:
    """Return what a change would have done to a session.

    Args:
        played: Its requests, from `courses`; worked out once, they serve any number of changes.
        change: What is taken to have been otherwise, in each of its requests.
    """
    found: list[HandoffFate] = []
    unknown: list[str] = []
    low = high = 0
    lowest: list[int] = []
    for course in played:
        sparing = Replay(course, change, generous=False).run()
        generous = Replay(course, change, generous=True).run()
        fates = [_merged(sparing.held[name], generous.held[name]) for name in course.handoffs]
        found += fates
        unknown += _unknown(course, fates)
        low, high = low + sparing.pool.spent, high + generous.pool.spent
        lowest += [sparing.lowest_free, generous.lowest_free]
    return WhatIf(
        change=change,
        handoffs=tuple(found),
        spent_low_tokens=min(low, high),
        spent_high_tokens=max(low, high),
        lowest_free_tokens=min(lowest, default=0),
        unknown=tuple(unknown),
    )


def pool_marks(played: Sequence[Course]) -> PoolMarks | None:
    """Return the sizes of a pool between which something changes; None without a request."""
    if not played:
        return None
    enough = [_enough(course) for course in played]
    certain = [tokens for tokens in enough if tokens is not None]
    return PoolMarks(
        as_recorded_tokens=max(
            course.asked.pool_tokens - Replay(course, Change(), generous=False).run().slack
            for course in played
        ),
        without_refusals_tokens=max(certain) if len(certain) == len(enough) else None,
    )


def _enough(course: Course) -> int | None:
    """Return a pool that refuses nothing of a request, even if all that it opens is used up."""
    wished = sum(asked.tokens or 0 for asked in course.handoffs.values())
    plenty = course.asked.pool_tokens + 2 * wished + course.asked.finish_floor_tokens
    replay = Replay(course, Change(pool_tokens=plenty), generous=True).run()
    for held in replay.held.values():
        is_refused = held.asked.rule == "pool" and held.fate is not Fate.OPENED
        if is_refused or held.asked.limit == "pool" or held.fate in LOST:
            return None
    return plenty - replay.slack


def _merged(sparing: Held, generous: Held) -> HandoffFate:
    """Put the two cases together; where they disagree, it depends on what is not recorded."""
    same = sparing.fate is generous.fate
    tells = sparing if sparing.fate is not Fate.SAME else generous
    return HandoffFate(
        handoff_id=tells.asked.handoff_id,
        agent=tells.asked.agent,
        recorded=tells.asked.outcome.value,
        fate=tells.fate if same else Fate.DEPENDS,
        limit="" if tells.fate is Fate.SAME else tells.limit,
        seq=tells.seq,
        needed_tokens=tells.needed_tokens,
        available_tokens=min(sparing.available_tokens, generous.available_tokens),
    )


def _unknown(course: Course, fates: Sequence[HandoffFate]) -> Iterator[str]:
    def askers(*wanted: Fate) -> list[str]:
        names = [_asker(course, fate) for fate in fates if fate.fate in wanted]
        return list(dict.fromkeys(filter(None, names)))

    def agents(*wanted: Fate) -> list[str]:
        return list(dict.fromkeys(as_name(f.agent) for f in fates if f.fate in wanted))

    if names := askers(Fate.REFUSED, Fate.CUT):
        yield (
            f"What {listed(names)} would have done without a full answer is not recorded; what is "
            "shown takes everybody to have done the same."
        )
    if names := [as_name(f.agent) for f in fates if _is_root(course, f) and f.fate is Fate.CUT]:
        yield f"What {listed(names)} would have answered by then is not recorded."
    if names := agents(Fate.OPENED):
        yield (
            f"What {listed(names)} would have done and used is not recorded, nor what would have "
            "followed."
        )
    if names := agents(Fate.GOES_ON):
        yield f"How {listed(names)} would have gone on is not recorded, nor with which result."
    if names := agents(Fate.DEPENDS):
        yield f"What becomes of {listed(names)} depends on that."


def _asker(course: Course, fate: HandoffFate) -> str:
    """Return who asked for a handoff; empty for the user."""
    asked: Asked = course.handoffs[fate.handoff_id]
    asker = course.handoffs.get(asked.asker or "")
    return as_name(asker.agent) if asker else ""


def _is_root(course: Course, fate: HandoffFate) -> bool:
    return course.handoffs[fate.handoff_id].is_root
