"""Two runs side by side: two sessions, or two attempts of one handoff.

Handoffs are aligned by path, target and task; each pair says what differs, and the comparison says
where they first part: that is the cause, what follows is mostly its effect.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from handoff_console.runtime.events import Event, SessionStarted, UserMessageReceived
from handoff_console.store.analysis.alignment import Match, align
from handoff_console.store.analysis.differences import (
    ABSENT,
    Aspect,
    Difference,
    changed_fields,
)
from handoff_console.store.analysis.figures import Figures, figures_of, totals
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.handoff_work import HandoffWork
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.scope import named_scope, scope_of
from handoff_console.store.analysis.work_differences import work_differences


@dataclass(frozen=True, slots=True)
class Pair:
    """One handoff in both runs, or in one of them."""

    left: HandoffNode | None
    right: HandoffNode | None
    differences: tuple[Difference, ...]
    """In the order in which things happened; none when the two are the same."""
    left_figures: Figures | None
    right_figures: Figures | None

    @property
    def change(self) -> str:
        """`same`, `changed`, `added` (only the right has it) or `removed`."""
        if self.left is None:
            return "added"
        if self.right is None:
            return "removed"
        return "changed" if self.differences else "same"

    @property
    def node(self) -> HandoffNode:
        """The handoff, in the left run where it is there."""
        node = self.left or self.right
        assert node is not None
        return node


@dataclass(frozen=True)
class Comparison:
    """Two runs, handoff by handoff."""

    path: str | None
    """The place in the tree that was compared, with all below; None: whole sessions."""
    pairs: tuple[Pair, ...]
    """In the left run's pre-order; what only the right one has stands where it has it."""
    settings: tuple[Difference, ...]
    """What differs between the sessions as such: flow, prompt version, models, pool. Of attempts of
    one handoff, only its flow and models."""
    left: Figures
    """Of all handoffs that were compared; so is the next."""
    right: Figures
    first: int | None
    """The place in `pairs` of the one in which they first part; None when they never do."""

    @property
    def first_pair(self) -> Pair | None:
        """The handoff in which the two first part."""
        return None if self.first is None else self.pairs[self.first]

    @property
    def first_difference(self) -> Difference | None:
        """What differs first, by the order in which things happened."""
        pair = self.first_pair
        return pair.differences[0] if pair else None

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many handoffs are `same`, `changed`, `added`, `removed`."""
        counts = dict.fromkeys(("same", "changed", "added", "removed"), 0)
        for pair in self.pairs:
            counts[pair.change] += 1
        return counts

    @property
    def is_same(self) -> bool:
        """Whether all handoffs are the same on both sides; figures may still differ."""
        return self.first is None


def compare(left: Record, right: Record, *, handoffs: tuple[str, str] | None = None) -> Comparison:
    """Compare two runs.

    Of a re-run of one handoff and the session it repeats a part of, only that handoff and what is
    below it is compared, on both sides.

    Args:
        left: One of them.
        right: The other one.
        handoffs: One handoff of each, to be compared with what is below it; wherever they stand,
            these two are taken for the same one.
    """
    found = named_scope(left, right, handoffs) if handoffs else scope_of(left, right)
    path, mine, theirs = found
    left_works, right_works = _works(left, mine), _works(right, theirs)
    order = _Order(left_works, right_works)
    pairs: list[Pair] = []
    firsts: list[tuple[float, int]] = []
    for match in _aligned(left_works, right_works, named=bool(handoffs)):
        pair = _pair(match, order)
        if pair.differences:
            firsts.append((order.place(pair.differences[0]), len(pairs)))
        pairs.append(pair)
    return Comparison(
        path=path,
        pairs=tuple(pairs),
        settings=tuple(_settings(left, right, whole=path is None)),
        left=totals(left.tree, mine, _figures(pairs, "left"), is_handoff=path is not None),
        right=totals(right.tree, theirs, _figures(pairs, "right"), is_handoff=path is not None),
        first=min(firsts)[1] if firsts else None,
    )


def _figures(pairs: Sequence[Pair], side: str) -> list[Figures]:
    found = (getattr(pair, f"{side}_figures") for pair in pairs)
    return [figures for figures in found if figures]


def _aligned(
    left: Sequence[HandoffWork], right: Sequence[HandoffWork], *, named: bool
) -> Sequence[Match]:
    if not named or not left or not right:
        return align(left, right)
    return [Match(left[0], right[0]), *align(left[1:], right[1:])]


class _Order:
    """Tells what happened first, across two records whose events are numbered differently.

    Until two runs part, they have the same events, so that counting those of the compared handoffs
    gives both sides one scale. The pool and the session say nothing of their own.
    """

    def __init__(self, left: Sequence[HandoffWork], right: Sequence[HandoffWork]) -> None:
        self._left, self._right = _counted(left), _counted(right)

    def place(self, difference: Difference) -> float:
        """Return when a difference shows, on the common scale."""
        places = []
        if difference.left_seq is not None:
            places.append(bisect_left(self._left, difference.left_seq))
        if difference.right_seq is not None:
            places.append(bisect_left(self._right, difference.right_seq))
        return min(places, default=0)


def _counted(works: Iterable[HandoffWork]) -> list[int]:
    return sorted(
        event.seq for work in works for event in work.events if not event.kind.startswith("budget_")
    )


def _works(record: Record, nodes: Sequence[HandoffNode]) -> list[HandoffWork]:
    own: dict[str, list[Event]] = defaultdict(list)
    for event in record.events:
        if event.handoff_id is not None:
            own[event.handoff_id].append(event)
    return [HandoffWork(node, own[node.handoff_id], record.body) for node in nodes]


def _pair(match: Match, order: _Order) -> Pair:
    left, right = match
    if left is not None and right is not None:
        found = sorted(work_differences(left, right), key=order.place)
    else:
        found = [_only_one(left, right)]
    return Pair(
        left=left.node if left else None,
        right=right.node if right else None,
        differences=tuple(found),
        left_figures=figures_of(left) if left else None,
        right_figures=figures_of(right) if right else None,
    )


def _only_one(left: HandoffWork | None, right: HandoffWork | None) -> Difference:
    node = (left or right).node  # type: ignore[union-attr]
    return Difference(
        Aspect.HANDOFF,
        node.agent,
        left.node.task if left else ABSENT,
        right.node.task if right else ABSENT,
        left.node.first_seq if left else None,
        right.node.first_seq if right else None,
    )


_POOL = (
    "pool_tokens", "finish_floor_tokens", "max_handoffs", "max_edge_repeats", "max_workers",
    "depth", "max_cost",
)  # fmt: skip


def _settings(left: Record, right: Record, *, whole: bool) -> Iterable[Difference]:
    mine, theirs = _session(left, whole=whole), _session(right, whole=whole)
    for name, before, after in changed_fields(mine, theirs):
        yield Difference(Aspect.SESSION, name, before, after, 1, 1)


def _session(record: Record, *, whole: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _, started in record.of(SessionStarted):
        found |= {"flow": started.flow, "prompt version": started.prompt_version}
        found["models"] = dict(started.models)
    if whole:
        for _, asked in list(record.of(UserMessageReceived))[-1:]:
            found |= {name: getattr(asked, name) for name in _POOL}
    return found
