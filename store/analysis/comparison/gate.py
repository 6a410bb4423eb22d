"""What a candidate has to hold to be let through."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """What B has to hold to get through."""

    max_drop_points: float = 2.0
    """As much worse it may be."""
    alpha: float = 0.05
    min_accuracy: float | None = None
    """A share: B has to reach it."""
    no_critical_regressions: bool = False
    max_errors: int = 0
    """Cases that may be without a decision."""
