"""The same attempt several times over: how it came out, how often, and how much that varies."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.contract import State, Status
from handoff_console.store.analysis.lineage import Attempt
from handoff_console.store.analysis.proportions import Proportion, proportion

_UNFINISHED = frozenset(
    {State.RUNNING.value, State.WAITING.value, State.INTERRUPTED.value, State.CANCELLED.value}
)


@dataclass(frozen=True, slots=True)
class Spread:
    """How a figure varies."""

    least: float
    median: float
    most: float
    mean: float
    deviation: float
    """The sample's standard deviation; 0 for a single value."""


@dataclass(frozen=True)
class Repeats:
    """Several attempts that were made the same way."""

    attempts: tuple[Attempt, ...]
    outcomes: Mapping[str, int]
    """How many came out how, most first."""
    passed: Proportion
    """How many passed, of those that came to an end."""
    unfinished: int
    """Still running or waiting, interrupted, or cancelled: they count neither way."""
    different_results: int
    """How many results there are that differ, to the byte."""
    tokens: Spread | None
    """Of those that came to an end; None when none did. So is the next."""
    seconds: Spread | None
    spent_tokens: int
    """By all of them together; what was taken from a recording left out."""


def repeats(
    attempts: Iterable[Attempt], *, passing: Collection[str] = (Status.OK.value,)
) -> Repeats:
    """Return how attempts came out that were made the same way.

    Args:
        attempts: The attempts; of none, nothing is known.
        passing: The outcomes that count as passed.
    """
    tried = tuple(attempts)
    ended = [attempt for attempt in tried if attempt.outcome not in _UNFINISHED]
    passed = sum(attempt.outcome in passing for attempt in ended)
    outcomes = Counter(attempt.outcome for attempt in tried)
    return Repeats(
        attempts=tried,
        outcomes=dict(sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))),
        passed=proportion(passed, len(ended)),
        unfinished=len(tried) - len(ended),
        different_results=len({attempt.result for attempt in ended}),
        tokens=spread([attempt.figures.tokens_used for attempt in ended]),
        seconds=spread([attempt.figures.seconds for attempt in ended]),
        spent_tokens=sum(attempt.figures.spent_tokens for attempt in tried),
    )


def made_alike(attempts: Iterable[Attempt]) -> tuple[tuple[Attempt, ...], ...]:
    """Return re-runs by how they were made: from the same attempt, same mode, edits and flow.

    Those that took over the answers of one other re-run are a group of their own, and so are those
    that read marks where others read what the record leaves out.

    Groups stand in the order of their first attempt; runs of the original session are no re-runs.
    Between two of another flow a tool may have changed: what they came to says nothing together.
    """
    groups: dict[tuple[Hashable, ...], list[Attempt]] = {}
    for attempt in attempts:
        if attempt.is_rerun:
            edits = canonical_text(dict(attempt.edits))
            how = attempt.mode, edits, attempt.flow, attempt.graft, attempt.left_out
            made = attempt.repeats, *how
            groups.setdefault(made, []).append(attempt)
    return tuple(tuple(group) for group in groups.values())


def spread(values: Sequence[float]) -> Spread | None:
    """Return how values vary; None when there are none."""
    if not values:
        return None
    return Spread(
        least=min(values),
        median=median(values),
        most=max(values),
        mean=fmean(values),
        deviation=stdev(values) if len(values) > 1 else 0.0,
    )
