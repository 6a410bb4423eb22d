"""How far two people who labelled the same cases agree.

Source: Cohen, "A coefficient of agreement for nominal scales" (1960).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from handoff_console.store.analysis.proportions import Proportion, proportion


@dataclass(frozen=True)
class Agreement:
    """Two labellers, over the cases that both have labelled."""

    first: str
    second: str
    agreed: Proportion
    kappa: float | None
    """Agreement beyond what chance would give: 1 all, 0 as chance. None when chance would give
    all of it, or nobody labelled anything."""
    disagreements: tuple[tuple[str, str, str], ...]
    """Case and what each said, by case."""

    @property
    def both(self) -> int:
        """How many cases both have labelled."""
        return self.agreed.total


def agreement(
    first: tuple[str, Mapping[str, str]], second: tuple[str, Mapping[str, str]]
) -> Agreement:
    """Return how far two labellers agree.

    Args:
        first: A labeller's name, and their label by case.
        second: The other's.
    """
    (one, mine), (other, theirs) = first, second
    both = sorted(mine.keys() & theirs.keys())
    same = sum(mine[case] == theirs[case] for case in both)
    differ = tuple((case, mine[case], theirs[case]) for case in both if mine[case] != theirs[case])
    kappa = None
    if both:
        said = Counter(mine[case] for case in both)
        heard = Counter(theirs[case] for case in both)
        chance = sum(said[label] * heard[label] for label in said) / len(both) ** 2
        kappa = None if chance == 1 else (same / len(both) - chance) / (1 - chance)
    return Agreement(one, other, proportion(same, len(both)), kappa, differ)
