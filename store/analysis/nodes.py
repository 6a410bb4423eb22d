"""What the handoff tree is made of."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from handoff_console.runtime.contract import RUNTIME, HandoffKind, State, Status
from handoff_console.runtime.frozen import quickly_made

Outcome: TypeAlias = Status | State
"""How a handoff or a session ended, or what it is while it has no result."""


@quickly_made
@dataclass(frozen=True, slots=True)
class HandoffNode:
    """One handoff as the tree shows it: everything from events, `task` from the request's body."""

    handoff_id: str
    parent_id: str | None
    """The handoff that called it; None at the root and for what transfers continue the root."""
    turn: int
    path: str
    attempt: int
    source: str
    agent: str
    """The target, as it was asked for; it need not exist when the handoff was refused."""
    via: HandoffKind
    task: str
    """The request's task; its reason where the body is gone; the user's words at the root."""
    reason: str
    outcome: Outcome
    limit: str
    """For `limit_reached`, which limit; otherwise empty."""
    rule: str
    """For `refused`, which check of the gate; otherwise empty."""
    depth: int
    """Level to show it at: a child one below its caller, a transfer level with its sender."""
    hop: int
    """Transfers before it on the same task."""
    tokens_used: int
    """Input plus output so far; the recorded total once it closed."""
    measured: bool
    """False: `tokens_used` holds an estimate."""
    grant_tokens: int | None
    """Reserved for it; None at the root and when nothing was reserved."""
    steps_used: int
    max_steps: int | None
    """None until it opened."""
    requested_seconds: float
    """When it was asked for, in seconds since the session started; so are the next two."""
    opened_seconds: float | None
    closed_seconds: float | None
    """When it closed or was refused."""
    first_seq: int
    """The event that asked for it."""
    opened_seq: int | None
    closed_seq: int | None
    """The event that closed or refused it."""
    last_seq: int
    """The last event about it so far."""
    continues: str | None
    """The handoff a transfer takes over from, or would have taken over from."""
    transferred_to: str | None
    follows: str | None
    """The earlier attempt that this one repeats."""
    fork_id: str | None
    waits: tuple[tuple[int, int | None], ...] = ()
    """From which event on it waited for a person, and the event that ended it; None: it still waits
    (or never went on)."""


@dataclass(frozen=True)
class HandoffTree:
    """The handoffs of a session, each right after what it belongs under."""

    nodes: tuple[HandoffNode, ...]
    """Pre-order: a handoff, what it called, then the retries and transfers that follow it."""
    outcome: Outcome
    """Of the session: its last request's result, or what it is while there is none."""
    limit: str
    """For a session that ended `limit_reached`, which limit."""
    seq: int
    """The last event that was taken into account; 0 when there was none."""

    @cached_property
    def by_id(self) -> Mapping[str, HandoffNode]:
        """The nodes by handoff id."""
        return {node.handoff_id: node for node in self.nodes}

    @cached_property
    def children(self) -> Mapping[str, tuple[HandoffNode, ...]]:
        """What each handoff called, with what continues these calls, in pre-order."""
        found = defaultdict(list)
        for node in self.nodes:
            if node.parent_id is not None:
                found[node.parent_id].append(node)
        return {handoff_id: tuple(nodes) for handoff_id, nodes in found.items()}

    @cached_property
    def _retries(self) -> Mapping[str, str]:
        return {node.follows: node.handoff_id for node in self.nodes if node.follows}

    @cached_property
    def retried(self) -> frozenset[str]:
        """The handoffs that the runtime tried again, and those tries."""
        again = {node.handoff_id for node in self.nodes if node.follows}
        return frozenset(self._retries) | again

    def last_of_chain(self, handoff_id: str) -> HandoffNode:
        """Return the handoff that answers for this one: past its transfers and its retry.

        Past a fork it is the one that merges the branches; the first branch where none does.
        """
        node, seen = self.by_id[handoff_id], {handoff_id}
        while after := self._after(node):
            if after in seen or after not in self.by_id:
                break
            seen.add(after)
            node = self.by_id[after]
        return node

    def _after(self, node: HandoffNode) -> str | None:
        merging = self._merging.get(node.handoff_id)
        return merging or node.transferred_to or self._retries.get(node.handoff_id)

    @cached_property
    def _merging(self) -> Mapping[str, str]:
        return {
            node.continues: node.handoff_id
            for node in self.nodes
            if node.continues and node.source == RUNTIME
        }
