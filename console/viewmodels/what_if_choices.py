"""What there is to choose in the what-if panel: the pool, the counts, and each agent's limits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from handoff_console.store.analysis.pool_course import Course
from handoff_console.store.analysis.what_if import PoolMarks

ROOM = 2
"""A slider goes up to so many times what was recorded."""

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
        marks=tuple(shown),
        counts=counts,
        agents=tuple(_agents(played)),
    )


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
