"""Two sides over the same cases: may they be tested, with which p, and how far are they apart."""

from dataclasses import dataclass
from functools import cached_property

from handoff_console.store.analysis.comparison.judging import CaseTrials
from handoff_console.store.analysis.comparison.result import Interval
from handoff_console.store.analysis.comparison.trials import Version
from handoff_console.store.analysis.paired import Pairs, mcnemar, paired_interval, pairs_of
from handoff_console.store.analysis.resampling import clustered_interval


@dataclass(frozen=True)
class Paired:
    """Both sides over the cases that both decided."""

    a: Version
    b: Version
    cases_a: tuple[CaseTrials, ...]
    """Of all cases, in order; so is the next."""
    cases_b: tuple[CaseTrials, ...]

    @cached_property
    def decided(self) -> list[tuple[CaseTrials, CaseTrials]]:
        """The cases with a decision on both sides."""
        both = zip(self.cases_a, self.cases_b, strict=True)
        return [(a, b) for a, b in both if a.trials and b.trials]

    @cached_property
    def pairs(self) -> Pairs:
        """How they came out."""
        found = self.decided
        return pairs_of([bool(a.is_right) for a, _ in found], [bool(b.is_right) for _, b in found])

    @cached_property
    def undecided(self) -> int:
        """Cases without a decision on a side."""
        return len(self.cases_a) - len(self.decided)


def why_no_test(a: Version, b: Version) -> str:
    """Return why two sides are never tested against each other; empty when they may be."""
    if a.offline != b.offline:
        return (
            f"{a.label} was scored by {a.model} and {b.label} by {b.model}: an offline score is no "
            "model's score, so the two are not compared. Run both with the same kind of router."
        )
    if b.offline and a.routing_hash == b.routing_hash and a.model == b.model:
        return (
            f"{b.label} differs from {a.label} in nothing that {b.model} reads (descriptions, "
            "examples, targets, threshold), so this change is invisible to the offline model. Run "
            "it with a language model to see its effect."
        )
    return ""


def p_of(paired: Paired) -> float | None:
    """Return the exact p of two sides; None where they are not tested."""
    if why_no_test(paired.a, paired.b) or not paired.pairs.total:
        return None
    return mcnemar(paired.pairs)


def difference_interval(paired: Paired, seed: int = 0) -> Interval:
    """Return B − A in points; where cases are paraphrases of one another, by whole groups."""
    pairs, found = paired.pairs, paired.decided
    low, high = paired_interval(pairs)
    groups = [a.case.group or f"\0{a.case.case_id}" for a, _ in found]
    if len(set(groups)) < len(groups):
        differences = [float(bool(b.is_right)) - float(bool(a.is_right)) for a, b in found]
        low, high = clustered_interval(differences, groups, seed=seed) or (low, high)
    return Interval(100 * pairs.difference, 100 * low, 100 * high)
