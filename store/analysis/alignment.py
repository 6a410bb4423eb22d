"""Which handoffs of two runs are the same one: by path, target and task, never by number."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from handoff_console.store.analysis.common_runs import aligned
from handoff_console.store.analysis.handoff_work import HandoffWork
from handoff_console.store.analysis.nodes import HandoffNode

_Key = Callable[[HandoffWork], Hashable]


class Match(NamedTuple):
    """A handoff of both runs, or of only one of them."""

    left: HandoffWork | None
    right: HandoffWork | None


def align(left: Sequence[HandoffWork], right: Sequence[HandoffWork]) -> list[Match]:
    """Return the handoffs of two runs, side by side, in the left one's order.

    What only the right one has stands after what it follows there. First those are brought together
    that agree in place, target, task and inputs; then, between them, those that agree in less; at
    last those that changed their order.

    Args:
        left: Handoffs in pre-order.
        right: Those of the other run.
    """
    pairs = dict(aligned(left, right, (_in_all, _wherever, _of_one_task, _in_place, _of_agent)))
    pairs |= _moved(left, right, pairs)
    return list(_merged(left, right, pairs))


def _moved(
    left: Sequence[HandoffWork], right: Sequence[HandoffWork], pairs: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Bring together what agrees, but stands elsewhere in the order."""
    taken = set(pairs.values())
    mine = [place for place in range(len(left)) if place not in pairs]
    theirs = [place for place in range(len(right)) if place not in taken]
    for key in (_wherever, _of_one_task, _in_place):
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for place in theirs:
            waiting[key(right[place])].append(place)
        found = {}
        for place in mine:
            if there := waiting.get(key(left[place])):
                found[place] = there.popleft()
        yield from found.items()
        gone = set(found.values())
        mine = [place for place in mine if place not in found]
        theirs = [place for place in theirs if place not in gone]


def _merged(
    left: Sequence[HandoffWork], right: Sequence[HandoffWork], pairs: dict[int, int]
) -> Iterator[Match]:
    taken = set(pairs.values())
    shown = 0
    for place, work in enumerate(left):
        other = pairs.get(place)
        if other is not None:
            while shown < other:
                if shown not in taken:
                    yield Match(None, right[shown])
                shown += 1
            shown = max(shown, other + 1)
        yield Match(work, right[other] if other is not None else None)
    for place in range(shown, len(right)):
        if place not in taken:
            yield Match(None, right[place])


def _task(node: HandoffNode) -> str:
    return " ".join(node.task.split())


def _inputs(work: HandoffWork) -> Hashable:
    return repr(work.request.fields.get("inputs"))


def _in_all(work: HandoffWork) -> Hashable:
    node = work.node
    return node.path, node.attempt, node.agent, _task(node), _inputs(work)


def _wherever(work: HandoffWork) -> Hashable:
    node = work.node
    return node.attempt, node.agent, node.via, _task(node), _inputs(work)


def _of_one_task(work: HandoffWork) -> Hashable:
    return work.node.attempt, work.node.agent, _task(work.node)


def _in_place(work: HandoffWork) -> Hashable:
    return work.node.path, work.node.attempt, work.node.agent


def _of_agent(work: HandoffWork) -> Hashable:
    return work.node.attempt, work.node.agent
