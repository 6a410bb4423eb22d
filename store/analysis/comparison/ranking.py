"""Which of three or more versions is best: every pair tested, and adjusted for being so many."""

from collections.abc import Sequence
from itertools import combinations

from handoff_console.runtime.counting import count
from handoff_console.store.analysis.comparison.judging import CaseTrials, accuracy, side
from handoff_console.store.analysis.comparison.pairing import Paired, p_of
from handoff_console.store.analysis.comparison.result import Best
from handoff_console.store.analysis.comparison.trials import Experiment
from handoff_console.store.analysis.comparison.wording import p_text, percent
from handoff_console.store.analysis.paired import cochrans_q, holm

NAMED = 4
"""So many versions are named of those that a sentence is about."""


def best_of(experiment: Experiment, alpha: float) -> Best | None:
    """Return which version is best; None of two, or where they may not be compared.

    The one that gets most right was found by looking, so that it is ahead of the others counts only
    after Holm's adjustment over all pairs, not over those that it is in. Only cases that every
    version decided count: otherwise each would have its own.

    Args:
        experiment: All that was run.
        alpha: The level of the tests.
    """
    labels = [version.label for version in experiment.versions]
    if len(labels) < 3 or len({version.offline for version in experiment.versions}) > 1:
        return None
    decided = _decided(experiment, labels)
    if not decided[labels[0]]:
        return None
    return _Ranked(experiment, decided, alpha).best()


def _decided(experiment: Experiment, labels: Sequence[str]) -> dict[str, tuple[CaseTrials, ...]]:
    """Return, by version, the cases that all of them decided."""
    sides = [side(experiment, label) for label in labels]
    whole = [case for case in zip(*sides, strict=True) if all(one.trials for one in case)]
    return {label: tuple(case[place] for case in whole) for place, label in enumerate(labels)}


class _Ranked:
    """Versions over the same cases, with the p of every pair."""

    def __init__(
        self, experiment: Experiment, decided: dict[str, tuple[CaseTrials, ...]], alpha: float
    ) -> None:
        self._decided, self._alpha = decided, alpha
        self._offline = experiment.versions[0].offline
        self._cases, self._all_cases = len(next(iter(decided.values()))), len(experiment.cases)
        self._shares = {label: accuracy(cases).share or 0.0 for label, cases in decided.items()}
        # Versions with equal shares stay in the order of the experiment.
        order = sorted(self._shares, key=lambda label: -self._shares[label])
        self._most = [it for it in order if self._shares[it] == self._shares[order[0]]]
        self._p = self._adjusted(experiment)
        rest = order[len(self._most) :]
        self._behind = [it for it in rest if all(self._is_behind(it, one) for one in self._most)]
        self._unclear = [it for it in rest if it not in self._behind]

    def _adjusted(self, experiment: Experiment) -> dict[frozenset[str], float]:
        """Return p after Holm by pair; two that say the same to the router are not tested."""
        found = {}
        for a, b in combinations(experiment.versions, 2):
            p = p_of(Paired(a, b, self._decided[a.label], self._decided[b.label]))
            if p is not None:
                found[frozenset((a.label, b.label))] = p
        return dict(zip(found, holm(list(found.values())), strict=True))

    def _is_behind(self, label: str, first: str) -> bool:
        return self._p.get(frozenset((label, first)), 1.0) < self._alpha

    def best(self) -> Best:
        """Return what is said of all of them."""
        is_sure = len(self._most) == 1 and not self._unclear
        q, p = cochrans_q([[bool(it.is_right) for it in of] for of in self._decided.values()])
        return Best(
            label=self._most[0] if is_sure else "",
            level=() if is_sure else (*self._most, *self._unclear),
            sentence=self._sure() if is_sure else self._unsure(),
            note=f"All versions together: Cochran's Q {q:,.1f}, p {p_text(p)}.",
        )

    def _sure(self) -> str:
        (first,) = self._most
        best = f"the agents are easiest to tell apart by {first}"
        best = best if self._offline else f"{first} routes best"
        highest = max(self._p[frozenset((it, first))] for it in self._behind)
        others = _named([f"{it} {percent(self._shares[it])}" for it in self._behind])
        return (
            f"Of {len(self._shares)} versions {best}, right in {self._share()}. It is ahead of "
            f"each of the others ({others}; the largest p {p_text(highest)}, {self._how()})."
        )

    def _unsure(self) -> str:
        of_all = f"Of {len(self._shares)} versions none is best"
        if len(self._most) == len(self._shares):
            return f"{of_all}: each is right in {self._share()}."
        first, *also = self._most
        gets, each = ("get", " each") if also else ("gets", "")
        said = f"{of_all} for sure: {_named(self._most)} {gets} most right, {self._share()}{each}"
        if self._unclear:
            others = _named([self._beside(one, first, also) for one in self._unclear], "or")
            said += f", but the data cannot tell {'them' if also else 'it'} from {others}"
        if self._behind:
            said += f". {'They are' if also else 'It is'} ahead of {_named(self._behind)}"
        return f"{said}, {self._how()}."

    def _beside(self, label: str, first: str, also: Sequence[str]) -> str:
        share, p = percent(self._shares[label]), self._p.get(frozenset((label, first)))
        return f"{label} ({share})" if also or p is None else f"{label} ({share}, p {p_text(p)})"

    def _share(self) -> str:
        cases = count(self._cases, "case")
        if self._cases < self._all_cases:
            cases = f"the {cases} that all have decided"
        return f"{percent(self._shares[self._most[0]])} of {cases}"

    def _how(self) -> str:
        return f"after Holm over all {count(len(self._p), 'pair')}"


def _named(names: Sequence[str], word: str = "and") -> str:
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} {word} {len(names) - NAMED} more"
    *before, last = names
    return f"{', '.join(before)} {word} {last}" if before else last
