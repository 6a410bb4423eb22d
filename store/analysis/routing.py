"""How the handoffs of one recorded session went, as figures: the four metrics of the documents.

Source: S2, "Evaluating handoffs": first-pass routing accuracy, depth and churn, payload
completeness, transition latency. What many sessions come to together is in `routing_groups`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from handoff_console.runtime.contract import HUMAN, RUNTIME, HandoffKind, State, Status
from handoff_console.runtime.events import Event, SessionClosed, SessionStarted
from handoff_console.store.analysis.asked_with import sender_of
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.findings.questions import asked_again
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.latency import transitions
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.values_along import ValuesAlong

ANSWERED: frozenset[Status | State] = frozenset({Status.OK, Status.NOT_FOUND})
_WAITING: frozenset[Status | State] = frozenset({Status.NEEDS_INPUT, State.WAITING})


class HandedOn(NamedTuple):
    """A first handoff that its receiver handed on before it had answered."""

    first: str
    kept: str
    """Who has it in the end; again whoever got it first, where it came back."""


@dataclass(frozen=True)
class Routing:
    """What one session says about routing."""

    session_id: str
    flow: str
    prompt_version: str
    started_at: float
    """Seconds since 1970 (UTC)."""
    first_targets: tuple[str, ...]
    """Whom the first agent handed off to first: one, or all branches of a fork; none for nobody."""
    first_invalid: bool
    """It first asked for an agent that does not exist or that it may not hand off to."""
    first_pass: bool | None
    """The first handoff was answered (`ok` or `not_found`) by whoever got it; of a fork, in every
    branch. None where it is not eligible."""
    not_eligible: str
    """Why not: `no handoff`, `transient error`, `waiting`, `rerun`, or what the handoff is while it
    has no result (`running`, `interrupted`, `cancelled` …); empty otherwise."""
    route_unknown: bool
    """The first handoff ran into a limit, which says nothing about where it should have gone."""
    handoffs: int
    """Accepted ones, without the user's own."""
    depth: int
    """The longest chain of them."""
    corrective: int
    """Accepted ones that their receiver handed on before answering."""
    ping_pong: int
    """Accepted ones that went straight back."""
    cut: bool
    """The session was stopped by a limit on handoffs: there might have been more."""
    required: int
    """Values that handoffs had to take along."""
    present: int
    """Those of them that went along, not empty."""
    asked_again: int
    """Questions to the user for something that the session knew."""
    tokens_used: int
    misroute_tokens: int
    """Used by agents that handed on what they got, before the one that kept it."""
    transition_seconds: tuple[float, ...]
    streamed: bool
    final_agent: str
    outcome: str
    first_values: tuple[str, ...] = ()
    """Names of the values that reached whom it handed off to first, by name."""
    handed_on: tuple[HandedOn, ...] = ()
    """The first handoffs that were handed on, in order; of a fork, such branches of it."""

    @property
    def completeness(self) -> float | None:
        """Share of the required values that went along; None where none were required."""
        return self.present / self.required if self.required else None


def routing_of(events: Sequence[Event], *, body: Body | None = None) -> Routing:
    """Return the figures of one session, from its events alone.

    Args:
        events: All events of the session, by `seq`; at least the first.
        body: Looks up what was sent along; without it, payloads cannot be judged.
    """
    record = Record(events, body)
    seen = _Seen(record)
    started = next((payload for _, payload in record.of(SessionStarted)), None)
    reruns = bool(started and started.rerun_of)
    first_pass, why_not, unknown = seen.first_pass() if not reruns else (None, "rerun", False)
    required, present = seen.payload()
    seconds, streamed = seen.transitions()
    return Routing(
        session_id=events[0].session_id,
        flow=started.flow if started else "",
        prompt_version=started.prompt_version if started else "",
        started_at=events[0].at,
        first_targets=tuple(node.agent for node in seen.first),
        first_invalid=seen.first_invalid,
        first_pass=first_pass,
        not_eligible=why_not,
        route_unknown=unknown,
        handoffs=len(seen.accepted),
        depth=max(seen.depths.values(), default=0),
        corrective=len(seen.corrective),
        ping_pong=sum(seen.turns_back(node) for node in seen.accepted),
        cut=seen.was_cut,
        required=required,
        present=present,
        asked_again=len(list(asked_again(record))),
        tokens_used=sum(node.tokens_used for node in record.tree.nodes),
        misroute_tokens=sum(node.tokens_used for node in seen.corrective),
        transition_seconds=seconds,
        streamed=streamed,
        final_agent=seen.final_agent,
        outcome=record.tree.outcome.value,
        first_values=seen.first_values,
        handed_on=seen.handed_on,
    )


class _Seen:
    """The handoffs of a session as the metrics count them."""

    def __init__(self, record: Record) -> None:
        self._record, self._tree = record, record.tree
        self._nodes = record.tree.nodes
        self._roots = [node for node in self._nodes if node.parent_id is None and not node.hop]
        self._roots = [node for node in self._roots if node.continues is None]
        self._values = ValuesAlong(record)

    @cached_property
    def accepted(self) -> list[HandoffNode]:
        """Those that opened, each place once: not the user's own, no repeat, no merging."""
        roots = {node.handoff_id for node in self._roots}
        return [
            node
            for node in self._nodes
            if node.opened_seq is not None
            and node.handoff_id not in roots
            and node.follows is None
            and node.source != RUNTIME
        ]

    @cached_property
    def _asked_first(self) -> list[HandoffNode]:
        """What the agent that first held control asked for, in order; refused ones too."""
        if not self._roots:
            return []
        root = self._roots[0].handoff_id
        own = [
            node
            for node in self._nodes
            if root in (node.continues, node.parent_id if node.via is HandoffKind.CALL else None)
            and node.source != RUNTIME
            and node.follows is None
        ]
        return sorted(own, key=lambda node: node.first_seq)

    @property
    def first_invalid(self) -> bool:
        """The first thing it asked for was an agent that it may not ask."""
        return bool(self._asked_first) and self._asked_first[0].rule == "target"

    @cached_property
    def first(self) -> list[HandoffNode]:
        """The first accepted handoff out of the first agent; of a fork, all its branches."""
        opened = [node for node in self._asked_first if node.opened_seq is not None]
        if not opened:
            return []
        fork = opened[0].fork_id
        return [node for node in opened if node.fork_id == fork] if fork else opened[:1]

    @cached_property
    def corrective(self) -> list[HandoffNode]:
        """Accepted handoffs that their receiver handed on before it had answered.

        Not those that it split among several, and not those that it took to a person.
        """
        handed_on = {
            node.continues
            for node in self.accepted
            if node.via is HandoffKind.TRANSFER and not node.fork_id and node.agent != HUMAN
        }
        return [node for node in self.accepted if self._last_try(node).handoff_id in handed_on]

    @property
    def handed_on(self) -> tuple[HandedOn, ...]:
        """The first handoffs that their receivers handed on, each with who has it in the end.

        That is not who answered the user: of a call, its caller does.
        """
        return tuple(
            HandedOn(node.agent, self._tree.last_of_chain(node.handoff_id).agent)
            for node in self.first
            if node in self.corrective
        )

    def first_pass(self) -> tuple[bool | None, str, bool]:
        """Return whether the first handoff was the last; or why it does not count.

        The third says that it ran into a limit, which hides where it should have gone.
        """
        if not self.first:
            return None, "no handoff", False
        results = [self._passed(node) for node in self.first]
        unknown = any(limit for _, _, limit in results)
        if any(passed is False for passed, _, _ in results):
            return False, "", unknown
        why_not = next((why for passed, why, _ in results if passed is None), "")
        return (None, why_not, unknown) if why_not else (True, "", unknown)

    def _passed(self, node: HandoffNode) -> tuple[bool | None, str, bool]:
        last = self._last_try(node)
        if node in self.corrective:
            return False, "", False
        if last.outcome is State.TRANSFERRED:
            last = self._tree.last_of_chain(last.handoff_id)
        if last.outcome in ANSWERED:
            return True, "", False
        if last.outcome is Status.LIMIT_REACHED:
            return False, "", True
        if last.outcome in _WAITING:
            return None, "waiting", False
        if last.outcome is Status.ERROR:
            transient = self._is_transient(last)
            return (None, "transient error", False) if transient else (False, "", False)
        return None, last.outcome.value, False

    def _last_try(self, node: HandoffNode) -> HandoffNode:
        tries = {one.follows: one for one in self._nodes if one.follows}
        while node.handoff_id in tries:
            node = tries[node.handoff_id]
        return node

    def _is_transient(self, node: HandoffNode) -> bool:
        _, closed = self._record.closings[node.handoff_id]
        return bool(read_fields(self._record.body, closed.result).get("transient"))

    @cached_property
    def depths(self) -> dict[str, int]:
        """How many accepted handoffs lead to each, itself included."""
        found = {node.handoff_id: 0 for node in self._roots}
        for node in sorted(self.accepted, key=lambda node: node.first_seq):
            found[node.handoff_id] = found.get(sender_of(node) or "", 0) + 1
        return found

    def turns_back(self, node: HandoffNode) -> bool:
        """Say whether a transfer goes straight back to whoever had handed on."""
        before = self._tree.by_id.get(node.continues or "")
        return before is not None and before.source == node.agent and before not in self._roots

    @property
    def was_cut(self) -> bool:
        """A limit on handoffs stopped it."""
        ends = [payload.reason for _, payload in self._record.of(SessionClosed)]
        return "handoffs" in ends or any(node.rule == "handoffs" for node in self._nodes)

    @property
    def final_agent(self) -> str:
        """Who answered the last request; empty where nobody was asked."""
        if not self._roots:
            return ""
        return self._tree.last_of_chain(self._roots[-1].handoff_id).agent

    def payload(self) -> tuple[int, int]:
        """Return how many values accepted handoffs had to take along, and how many they did."""
        required = present = 0
        for node in self.accepted:
            names, sent = self._values.required(node), self._values.sent(node)
            required += len(names)
            present += sum(name in sent for name in names)
        return required, present

    @property
    def first_values(self) -> tuple[str, ...]:
        """The names of the values that went along with the first handoffs."""
        return tuple(sorted(set().union(*map(self._values.along, self.first))))

    def transitions(self) -> tuple[tuple[float, ...], bool]:
        """Return how long each transfer took, and whether first tokens were seen.

        Where some were and some were not, only those that were count: the two are not mixed.
        """
        found = [one for one in transitions(self._record.events) if one.target != HUMAN]
        streamed = [one for one in found if one.streamed]
        return tuple(one.seconds for one in streamed or found), bool(streamed)
