"""Tokens that bought nothing: handoffs without a result, and work that had been done before.

Source: S2, "Token Economics and Latency" (what repeated and failed handoffs cost).
"""

from collections.abc import Iterable
from typing import NamedTuple

from handoff_console.runtime.contract import USER, State, Status
from handoff_console.runtime.events import Event, HandoffRequested
from handoff_console.store.analysis.nodes import HandoffTree, Outcome

NOTHING_CAME_BACK: frozenset[Outcome] = frozenset(
    {Status.ERROR, Status.LIMIT_REACHED, State.CANCELLED, State.INTERRUPTED}
)


class Waste(NamedTuple):
    """What was spent for nothing; the handoffs of the user's own requests are left out."""

    failed: int
    """Handoffs that ended with `error` or `limit_reached`, were cancelled or interrupted."""
    failed_tokens: int
    """Input plus output of their own model calls."""
    repeated: int
    """Handoffs that asked an agent for what it had answered before; none of those above."""
    repeated_tokens: int

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.failed_tokens + self.repeated_tokens


def waste(tree: HandoffTree, events: Iterable[Event]) -> Waste:
    """Return what a session spent for nothing; a session of one agent wastes nothing.

    Args:
        tree: The session's handoffs.
        events: Its events; those that ask for handoffs are enough. Equal inputs are told by their
            digest, which a request without inputs has too.
    """
    hashes = {
        event.handoff_id: event.payload.inputs_hash
        for event in events
        if isinstance(event.payload, HandoffRequested)
    }
    failed = repeated = failed_tokens = repeated_tokens = 0
    answered: set[tuple[int, str, str, str]] = set()
    for node in sorted(tree.nodes, key=lambda node: node.first_seq):
        asked = (node.turn, node.agent, node.task, hashes.get(node.handoff_id) or "")
        if node.source == USER:
            continue
        if node.outcome in NOTHING_CAME_BACK:
            failed, failed_tokens = failed + 1, failed_tokens + node.tokens_used
        elif asked in answered and node.opened_seq is not None:
            repeated, repeated_tokens = repeated + 1, repeated_tokens + node.tokens_used
        elif node.outcome in {Status.OK, Status.NOT_FOUND, Status.NEEDS_INPUT}:
            answered.add(asked)
    return Waste(failed, failed_tokens, repeated, repeated_tokens)
