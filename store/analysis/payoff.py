"""After how many steps a transfer has paid off: beside a run whose agent did the same work itself.

Source: S2, "Token Economics and Latency".
"""

from collections.abc import Iterator
from typing import NamedTuple

from handoff_console.runtime.contract import State, Status
from handoff_console.store.analysis.diff import Comparison
from handoff_console.store.analysis.economics import pays_off_at, tokens_by_step, transfer_costs
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode, Outcome

_ANSWERED: frozenset[Outcome] = frozenset({Status.OK, Status.NOT_FOUND})


class Payoff(NamedTuple):
    """A transfer in one of two runs, and the agent that kept the same task in the other one."""

    side: str
    """Of the transfer: `left` or `right`."""
    handoff_id: str
    """The receiver's."""
    agent: str
    """The receiver."""
    kept_by: str
    """Who did the work itself in the other run."""
    after_steps: int | None
    """From this step on the transfer has taken fewer tokens; None: not to the end of `steps`."""
    steps: int
    """That both runs took, and that could be compared."""
    tokens: int
    """Of the transfer, with those of asking for it: after `after_steps`, else after all `steps`."""
    kept_tokens: int
    """Of the other run, after as many."""


def payoffs(found: Comparison, left: Record, right: Record) -> tuple[Payoff, ...]:
    """Return every transfer of one run whose task the other run's agent kept, in order.

    None where a part of two sessions was compared, where the tasks differ, or where the steps of
    the two are not the whole work: one of them called a worker, handed the task on in turn, shared
    it with others, or ended without an answer; or the sender had worked before it asked.

    Args:
        found: The two runs, compared.
        left: The record of the one.
        right: The record of the other.
    """
    if found.path is not None:
        return ()
    return tuple(_payoffs(found, left, right))


def _payoffs(found: Comparison, left: Record, right: Record) -> Iterator[Payoff]:
    costs = {
        side: {cost.handoff_id: cost for cost in transfer_costs(record.events)}
        for side, record in (("left", left), ("right", right))
    }
    for pair in found.pairs:
        if pair.left is None or pair.right is None or pair.left.task != pair.right.task:
            continue
        for side, mine, my, its, others in (
            ("left", pair.left, left, pair.right, right),
            ("right", pair.right, right, pair.left, left),
        ):
            receiver = _receiver(my, mine)
            cost = costs[side].get(receiver.handoff_id) if receiver else None
            if receiver is None or cost is None or not _did_it_itself(others, its):
                continue
            kept = tokens_by_step(others.came_back.get(its.handoff_id, ()), its.handoff_id)
            if not kept:
                continue
            steps = min(len(cost.tokens_by_step), len(kept))
            after = pays_off_at(cost.tokens_by_step, kept)
            last = (after or steps) - 1
            tokens = cost.tokens_by_step[last], kept[last]
            yield Payoff(
                side, receiver.handoff_id, receiver.agent, its.agent, after, steps, *tokens
            )


def _receiver(record: Record, sender: HandoffNode) -> HandoffNode | None:
    """Return who took a task over at once and did all of it; None where nobody did."""
    at_once = sender.steps_used <= 1 and not _has_called(record, sender)
    if sender.outcome is not State.TRANSFERRED or not at_once:
        return None
    receiver = record.tree.by_id.get(sender.transferred_to or "")
    if receiver is None or receiver.fork_id or not _did_it_itself(record, receiver):
        return None
    return receiver


def _did_it_itself(record: Record, node: HandoffNode) -> bool:
    """Say whether its own steps are the whole work, up to an answer."""
    return node.outcome in _ANSWERED and not _has_called(record, node)


def _has_called(record: Record, node: HandoffNode) -> bool:
    called = record.tree.children.get(node.handoff_id, ())
    return any(one.opened_seq is not None for one in called)
