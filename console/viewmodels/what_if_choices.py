"""What there is to choose in the what-if panel: the pool, the counts, and each agent's limits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from handoff_console.store.analysis.pool_course import Course
from handoff_console.store.analysis.what_if import PoolMarks

ROOM = 2
"""A slider goes up to so many times what was recorded."""

ROOMY = 5
"""Of a pool of more than so many times what is worth trying, that is a sliver of the slider."""
FINE_STOPS, COARSE_STOPS = 150, 30

Limit = tuple[str, str, int, int]
"""Name, title, as recorded, the most that can be chosen."""


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The limits of an agent's handoffs."""

    agent: str
    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class WhatIfChoices:
    """What can be taken to have been otherwise."""

    pool_tokens: int
    """As recorded, of the first request."""
    most_pool_tokens: int
    pool_stops: tuple[int, ...]
    """Where the pool's slider stops, closely where it matters; none where all stops are alike."""
    marks: tuple[tuple[int, str], ...]
    """Sizes worth knowing, each with what it stands for."""
    counts: tuple[tuple[str, str, int], ...]
    """Name, title, as recorded."""
    agents: tuple[AgentLimits, ...]


def what_if_choices(
    played: Sequence[Course], marks: PoolMarks | None, shown: Sequence[tuple[int, str]]
) -> WhatIfChoices | None:
    """Return what there is to choose; None for a session without a request.

    Args:
        played: The session's requests.
        marks: Of its pool.
        shown: The marks as they are called.
    """
    if not played:
        return None
    asked = played[0].asked
    enough = max((tokens for tokens, _ in shown), default=0)
    most = max(ROOM * asked.pool_tokens, ceil(1.2 * enough) if marks else 0)
    counts = (
        ("max_handoffs", "Most transfers", asked.max_handoffs),
        ("max_workers", "Most calls", asked.max_workers),
        ("max_edge_repeats", "Repeats of a transfer", asked.max_edge_repeats),
        ("depth", "Depth of calls", asked.depth),
    )
    return WhatIfChoices(
        pool_tokens=asked.pool_tokens,
        most_pool_tokens=most,
        pool_stops=pool_stops(asked.pool_tokens, most, [tokens for tokens, _ in shown]),
        marks=tuple(shown),
        counts=counts,
        agents=tuple(_agents(played)),
    )


def pool_stops(recorded: int, most: int, marks: Sequence[int]) -> tuple[int, ...]:
    """Return where the slider of a pool stops that is much larger than what was needed of it.

    Most of the slider is for what is worth trying; ever larger steps lead on from there.

    Args:
        recorded: The pool as it was.
        most: The most that can be chosen.
        marks: Sizes worth knowing; where all of them take their part of the slider, stops that are
            alike are enough, and none are returned.
    """
    enough = ceil(1.2 * max(marks, default=0))
    if not enough or most <= ROOMY * enough:
        return ()
    step = _round_step(enough / FINE_STOPS)
    fine = range(step, enough + step, step)
    growth = most / enough
    coarse = (int(enough * growth ** (n / COARSE_STOPS)) for n in range(1, COARSE_STOPS))
    rounded = (stop // step * step for stop in coarse)
    stops = {*fine, *rounded, *marks, recorded, most}
    return tuple(sorted(stop for stop in stops if stop > 0))


def _round_step(least: float) -> int:
    """Return 1, 2 or 5 times a power of ten: the least of them that is as large."""
    power = int(10 ** floor(log10(max(least, 1))))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)


def _agents(played: Sequence[Course]) -> Iterator[AgentLimits]:
    """Yield the agents whose handoffs opened, with the widest limits that they had."""
    widest: dict[str, tuple[int, int, int]] = {}
    for course in played:
        for asked in course.handoffs.values():
            if asked.max_steps:
                mine = (asked.max_steps, asked.max_tokens, ceil(asked.deadline_seconds))
                before = widest.get(asked.agent, mine)
                widest[asked.agent] = tuple(map(max, before, mine))  # type: ignore[assignment]
    for agent, (steps, tokens, deadline) in widest.items():
        yield AgentLimits(
            agent,
            (
                ("max_steps", "Steps", steps, ROOM * steps),
                ("max_tokens", "Tokens", tokens, ROOM * tokens),
                ("deadline_seconds", "Deadline in seconds", deadline, ROOM * deadline),
            ),
        )
