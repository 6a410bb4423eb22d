"""The smallest cause of a difference: what was tried, what it came to, and how sure that is."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from handoff_console.runtime.changes import Change, Changes
from handoff_console.runtime.ddmin import Trials, chance, likely_tries, most_tries, smallest
from handoff_console.runtime.errors import RequestError

SURE = 0.05
"""A difference that chance alone makes more often than this is not taken for sure."""

Run = Callable[[Sequence[Change]], Awaitable[bool]]
"""Runs the failed handoff once with some changes, and says whether it came out well."""


class Conclusion(StrEnum):
    """What a bisection came to."""

    FOUND = "found"
    PASSES_ANYWAY = "passes anyway"
    """Without any change it came out well more often than not: what failed was chance, or is gone.
    """
    NOT_AMONG_THEM = "not among them"
    """Even with all changes it fails: the cause is something that no edit can make."""
    NOTHING_DIFFERS = "nothing differs"
    """There is nothing to try."""


@dataclass(frozen=True)
class Evidence:
    """How often it came out well with some of the changes."""

    changes: tuple[Change, ...]
    trials: Trials


@dataclass(frozen=True)
class Cause:
    """The smallest change that flips an outcome, and how sure that is."""

    conclusion: Conclusion
    changes: tuple[Change, ...]
    """None of them can be left out. Empty unless they were found."""
    with_them: Trials
    """How often it came out well with these changes; with all, where none were found."""
    without: Trials
    """How often without any."""
    without_one: tuple[Evidence, ...]
    """For several changes: all but one of them, each in turn."""
    untried: tuple[str, ...]
    """Differences that a re-run cannot make, by name."""
    reruns: int
    """How many were made in all."""

    @property
    def chance(self) -> float:
        """How likely so clear a difference is if the changes do nothing, 0 to 1."""
        return chance(self.with_them, self.without)

    @property
    def is_sure(self) -> bool:
        """Whether chance can be ruled out: 3 of 3 beside 0 of 3 can, 1 of 1 beside 0 of 1 not."""
        return self.conclusion is Conclusion.FOUND and self.chance <= SURE

    @property
    def sentence(self) -> str:
        """The answer in one or two sentences."""
        return _SENTENCES[self.conclusion](self)


@dataclass(frozen=True)
class Estimate:
    """What a bisection will take, before it starts."""

    changes: int
    likely_reruns: int
    """Where a single change is the cause."""
    most_reruns: int
    tokens_each: int
    """What the failed attempt took; a re-run with other edits may take more."""


def estimate(changes: Changes, tokens_each: int, repeats: int) -> Estimate:
    """Return what trying these changes will take: model calls are real, so it may cost something.

    Args:
        changes: The differences.
        tokens_each: What one attempt takes.
        repeats: How often each set is tried.
    """
    count = len(changes.changes)
    ends = 2 if count else 0
    one_by_one = count if count > 1 else 0
    return Estimate(
        changes=count,
        likely_reruns=repeats * (ends + likely_tries(count)),
        most_reruns=repeats * (ends + most_tries(count) + one_by_one),
        tokens_each=tokens_each,
    )


async def smallest_cause(changes: Changes, run: Run, *, repeats: int = 3) -> Cause:
    """Return the smallest set of changes with which it comes out well.

    Args:
        changes: What can be changed; together they should make it come out well.
        run: Runs it once with some of them.
        repeats: How often each set is tried; it flips when more than half of the tries pass.

    Raises:
        RequestError: It is to be tried less than once.
    """
    if repeats < 1:
        raise RequestError(f"{repeats} repeats try nothing; ask for 1 or more.")
    tries = _Tries(run, repeats)
    every = changes.changes
    conclusion, found = Conclusion.FOUND, every
    if not every:
        conclusion = Conclusion.NOTHING_DIFFERS
    elif await tries.flips(()):
        conclusion = Conclusion.PASSES_ANYWAY
    elif not await tries.flips(every):
        conclusion = Conclusion.NOT_AMONG_THEM
    else:
        found = await smallest(every, tries.flips)
    rests = [[change for change in found if change is not one] for one in found]
    if conclusion is not Conclusion.FOUND or len(found) < 2:
        rests = []
    for shown in ((), found, *rests) if every else ():
        await tries.complete(shown)
    return tries.cause(conclusion, found, rests, changes.untried)


class _Tries:
    """Tries sets of changes, each so many times, and remembers how they came out."""

    def __init__(self, run: Run, repeats: int) -> None:
        self._run, self._repeats = run, repeats
        self._trials: dict[tuple[int, ...], Trials] = {}

    async def flips(self, changes: Sequence[Change]) -> bool:
        """Say whether it comes out well with some changes more often than not.

        It is tried no longer than it takes to know that.
        """
        while True:
            passed, total = self._trials.get(_key(changes), Trials(0, 0))
            if 2 * passed > self._repeats or 2 * (total - passed) >= self._repeats:
                return 2 * passed > self._repeats
            await self._once(changes)

    async def complete(self, changes: Sequence[Change]) -> None:
        """Try some changes as often as was asked."""
        while self._trials.get(_key(changes), Trials(0, 0)).total < self._repeats:
            await self._once(changes)

    async def _once(self, changes: Sequence[Change]) -> None:
        passed, total = self._trials.get(_key(changes), Trials(0, 0))
        self._trials[_key(changes)] = Trials(passed + await self._run(changes), total + 1)

    def cause(
        self,
        conclusion: Conclusion,
        found: Sequence[Change],
        rests: Sequence[Sequence[Change]],
        untried: tuple[str, ...],
    ) -> Cause:
        """Return what was found, with the tries that show it."""
        nothing = Trials(0, 0)
        return Cause(
            conclusion=conclusion,
            changes=tuple(found) if conclusion is Conclusion.FOUND else (),
            with_them=self._trials.get(_key(found), nothing) if found else nothing,
            without=self._trials.get((), nothing),
            without_one=tuple(Evidence(tuple(r), self._trials[_key(r)]) for r in rests),
            untried=untried,
            reruns=sum(trials.total for trials in self._trials.values()),
        )


def _key(changes: Sequence[Change]) -> tuple[int, ...]:
    return tuple(sorted(id(change) for change in changes))


def _listed(changes: Sequence[Change]) -> str:
    *first, last = [change.name for change in changes]
    return f"{', '.join(first)} and {last}" if first else last


def _of(trials: Trials) -> str:
    return f"{trials.passed} of {trials.total}"


def _found(cause: Cause) -> str:
    if len(cause.changes) == 1:
        what = f"{cause.changes[0].name} alone flips it"
    else:
        what = f"{_listed(cause.changes)} flip it together, and none of them can be left out"
    seen = f"{_of(cause.with_them)} came out well with it, {_of(cause.without)} without"
    if cause.is_sure:
        return f"{what}: {seen}."
    return f"{what}, as far as seen: {seen}. That may be chance; try it with more repeats."


_SENTENCES: dict[Conclusion, Callable[[Cause], str]] = {
    Conclusion.FOUND: _found,
    Conclusion.PASSES_ANYWAY: lambda cause: (
        f"It comes out well without any change, {_of(cause.without)} times: what failed was chance "
        "or is not there any more."
    ),
    Conclusion.NOT_AMONG_THEM: lambda cause: (
        f"Even with all differences that can be tried it came out well only "
        f"{_of(cause.with_them)} times: the cause is something else"
        + (f", perhaps {', '.join(cause.untried)}." if cause.untried else ".")
    ),
    Conclusion.NOTHING_DIFFERS: lambda cause: (
        "The two attempts differ in nothing that a re-run can change"
        + (f" ({', '.join(cause.untried)} cannot be changed)" if cause.untried else "")
        + ": run one of them several times to see whether it comes out by chance."
    ),
}
