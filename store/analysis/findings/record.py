"""A session as the rules read it: its tree and its events by kind, each built once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar, cast

from handoff_console.runtime.contract import HandoffKind, State, Status
from handoff_console.runtime.events import (
    Event,
    HandoffClosed,
    ModelReplied,
    Payload,
    ToolReturned,
)
from handoff_console.store.analysis.bodies import Body
from handoff_console.store.analysis.budget import Ledger, ledgers
from handoff_console.store.analysis.findings.finding import Severity
from handoff_console.store.analysis.nodes import HandoffNode, HandoffTree, Outcome
from handoff_console.store.analysis.tree import handoff_tree

_P = TypeVar("_P", bound=Payload)

FAILED: frozenset[Outcome] = frozenset({Status.ERROR, Status.LIMIT_REACHED})
"""Outcomes after which whoever waited did not get what was asked for."""


class Record:
    """What rules ask about one session."""

    def __init__(
        self,
        events: Sequence[Event],
        body: Body | None = None,
        *,
        interrupted: bool = False,
        imported: bool = False,
        tasks: bool = True,
    ) -> None:
        self.events, self.body = events, body
        self.tree: HandoffTree = handoff_tree(
            events, body=body if tasks else None, interrupted=interrupted, imported=imported
        )
        self._by_kind: dict[type, list[Event]] = defaultdict(list)
        for event in events:
            self._by_kind[type(event.payload)].append(event)
        self.kinds = frozenset(self._by_kind)
        """The kinds of event there are."""
        self.outcomes = frozenset([node.outcome for node in self.tree.nodes])
        """The outcomes that handoffs have."""

    def of(self, kind: type[_P]) -> Iterable[tuple[Event, _P]]:
        """Return the events of a kind, by seq, each with its payload."""
        return [(event, cast("_P", event.payload)) for event in self._by_kind.get(kind, ())]

    @cached_property
    def ledgers(self) -> tuple[Ledger, ...]:
        """The ledger of every request."""
        return ledgers(self.events)

    @cached_property
    def closings(self) -> dict[str, tuple[Event, HandoffClosed]]:
        """How each handoff closed, by id."""
        return {event.handoff_id or "": (event, closed) for event, closed in self.of(HandoffClosed)}

    @cached_property
    def came_back(self) -> Mapping[str, Sequence[Event]]:
        """What each handoff's model and tools answered, by the handoff's id: there may be 5,000."""
        found: dict[str, list[Event]] = defaultdict(list)
        for kind in (ToolReturned, ModelReplied):
            for event in self._by_kind.get(kind, ()):
                found[event.handoff_id or ""].append(event)
        return found

    @cached_property
    def _roots(self) -> dict[int, HandoffNode]:
        roots: dict[int, HandoffNode] = {}
        for node in self.tree.nodes:
            if node.depth == 0:
                roots.setdefault(node.turn, node)
        return roots

    def node(self, handoff_id: str | None) -> HandoffNode | None:
        """Return a handoff; None when the record has no request for it."""
        return self.tree.by_id.get(handoff_id or "")

    def agent(self, handoff_id: str | None) -> str:
        """Return the agent of a handoff; empty when the handoff is unknown."""
        node = self.node(handoff_id)
        return node.agent if node else ""

    def answer_of(self, turn: int) -> HandoffNode | None:
        """Return the handoff that answers, or will answer, the request of a turn."""
        root = self._roots.get(turn)
        return self.tree.last_of_chain(root.handoff_id) if root else None

    def asker(self, node: HandoffNode) -> HandoffNode | None:
        """Return the handoff that asked for this one; None when the user did."""
        return self.node(node.continues if node.via is HandoffKind.TRANSFER else node.parent_id)

    def waiting_for(self, node: HandoffNode) -> HandoffNode | None:
        """Return the handoff that answers with this one's result; None when that is the user."""
        if self.node(node.parent_id) is None:
            return None
        return self.tree.last_of_chain(node.parent_id or "")

    def made_good_by(self, node: HandoffNode) -> HandoffNode | None:
        """Return its retry, or a later call of the agent by the same caller, that went well."""
        last = self.tree.last_of_chain(node.handoff_id)
        if last is not node and last.outcome is Status.OK:
            return last
        alike = self._went_well.get((node.parent_id or "", node.agent), ())
        return next((other for other in alike if other.first_seq > node.first_seq), None)

    @cached_property
    def _went_well(self) -> Mapping[tuple[str, str], Sequence[HandoffNode]]:
        """What came out well, by caller and agent: one caller may have made 5,000 calls."""
        found: dict[tuple[str, str], list[HandoffNode]] = defaultdict(list)
        for caller, called in self.tree.children.items():
            for node in called:
                if self.tree.last_of_chain(node.handoff_id).outcome is Status.OK:
                    found[caller, node.agent].append(node)
        return found

    def severity_after(self, node: HandoffNode | None) -> Severity:
        """Return how much something matters that happened to a handoff: an error if it failed."""
        return Severity.ERROR if node and node.outcome in FAILED else Severity.WARNING

    def failed(self, turn: int) -> bool:
        """Say whether the request of a turn failed, or broke off."""
        answer = self.answer_of(turn)
        broken = {State.INTERRUPTED, State.INCOMPLETE}
        return answer is not None and (answer.outcome in FAILED or answer.outcome in broken)
