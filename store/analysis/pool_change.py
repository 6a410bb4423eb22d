"""What could have been otherwise about a pool and its limits, and what that does to a handoff."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from handoff_console.store.analysis.pool_course import Asked


@dataclass(frozen=True, kw_only=True)
class Change:
    """What is taken to have been otherwise; None leaves it as it was."""

    pool_tokens: int | None = None
    finish_floor_tokens: int | None = None
    max_handoffs: int | None = None
    """Transfers of the request."""
    max_workers: int | None = None
    """Calls of the request."""
    max_edge_repeats: int | None = None
    depth: int | None = None
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """`max_steps`, `max_tokens`, `deadline_seconds` of handoffs, by agent."""
    everyone: Mapping[str, float] = field(default_factory=dict)
    """The same for all handoffs whose agent `limits` does not name; the user's request left out."""

    def of(self, asked: Asked, limit: str) -> float | None:
        """Return what a limit of a handoff becomes; None when it stays."""
        own = self.limits.get(asked.agent)
        if own is not None:
            return own.get(limit)
        return None if asked.is_root else self.everyone.get(limit)


class Fate(StrEnum):
    """What would have become of a handoff."""

    SAME = "same"
    """What is recorded."""
    REFUSED = "refused"
    """It would not have been let through."""
    CUT = "cut"
    """A limit would have ended it early."""
    NOT_ASKED = "not asked"
    """Whoever asked for it would not have come so far."""
    OPENED = "opened"
    """It was refused, and would have been let through; what it would have done is not recorded."""
    GOES_ON = "goes on"
    """A limit ended it, and would not have; what more it would have done is not recorded."""
    DEPENDS = "depends"
    """On what is not recorded."""


@dataclass(slots=True)
class Held:
    """A handoff while the request is played."""

    asked: Asked
    fate: Fate = Fate.SAME
    limit: str = ""
    """Which limit or rule decides."""
    seq: int | None = None
    """The recorded event at which it would have gone otherwise."""
    needed_tokens: int = 0
    available_tokens: int = 0
    """What there would have been, where tokens decide."""
    is_open: bool = False
    """It was let through, and has not closed."""
    is_gone: bool = False
    """Nothing more of it happens."""
    opened_seconds: float = inf
    used: int = 0
    pending: int = 0
    """What the model call that it waits for may take."""

    def end(self, fate: Fate, limit: str, seq: int) -> None:
        """Note where it parts from the record, for the first time."""
        self.is_gone = True
        if self.fate is Fate.SAME:
            self.fate, self.limit, self.seq = fate, limit, seq
