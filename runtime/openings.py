"""Opens and closes handoffs: each exactly once, with its grant, its agent and its record."""

from collections.abc import Sequence
from typing import NamedTuple

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.context import KeptMessage, kept_message, system_message
from handoff_console.runtime.contract import EndedBy, HandoffResult
from handoff_console.runtime.events import (
    AgentActivated,
    BudgetRefunded,
    BudgetReserved,
    HandoffClosed,
    HandoffOpened,
)
from handoff_console.runtime.flow import Fixed, Flow
from handoff_console.runtime.handoff import End, OpenHandoff
from handoff_console.runtime.offers import offered_tools
from handoff_console.runtime.recorder import Recorder


class Outfit(NamedTuple):
    """What an agent acts with, as it is recorded each time it is activated."""

    prompt: Fixed
    """Its instructions alone."""
    system: Fixed
    """The message it reads first."""
    tools: Fixed


class Openings:
    """The open handoffs of one request."""

    def __init__(self, flow: Flow, recorder: Recorder, pool: Pool) -> None:
        self._flow, self._recorder, self._pool = flow, recorder, pool
        self._open: dict[str, OpenHandoff] = {}
        self.result: HandoffResult | None = None
        """Of the handoff that closed last with a result."""
        self.result_digest: str | None = None

    def reserve(self, handoff: OpenHandoff, *, keep_floor: bool) -> None:
        """Set a handoff's tokens aside. `keep_floor` leaves the root enough to answer."""
        tokens = handoff.limits.max_tokens
        self._pool.reserve(handoff.id, handoff.scope.parent_id, tokens, keep_floor=keep_floor)
        handoff.grant_tokens = tokens
        self._recorder.emit(handoff.scope, BudgetReserved(tokens=tokens, **self._figures()))

    def begin(self, handoff: OpenHandoff, hops: int) -> None:
        """Open a handoff and activate its agent. `hops` counts the request's transfers so far."""
        handoff.opened_at = self._recorder.timeline.elapsed()
        handoff.deadline_at = min(
            handoff.opened_at + handoff.limits.deadline_seconds, handoff.bound_at
        )
        self._open[handoff.id] = handoff
        packet = handoff.packet
        self._recorder.emit(
            handoff.scope,
            HandoffOpened(
                source=handoff.source,
                target=handoff.agent.name,
                via=handoff.via,
                depth=handoff.depth,
                depth_left=handoff.depth_left,
                hop=handoff.hop,
                hops=hops,
                grant_tokens=handoff.grant_tokens,
                max_steps=handoff.limits.max_steps,
                max_tokens=handoff.limits.max_tokens,
                deadline_seconds=round(handoff.deadline_at - handoff.opened_at, 6),
                allowed_tools=handoff.request.allowed_tools,
                output_schema=handoff.request.output_schema,
                context_policy=handoff.policy.value,
                packet=self._recorder.keep_text(packet.body()).digest if packet else None,
                withheld=handoff.withheld,
                fork_id=handoff.fork_id,
                continues=handoff.continues,
                follows=handoff.follows,
            ),
        )
        self._activate(handoff)

    def cancel_all(self) -> None:
        """Close what is open, innermost first."""
        for handoff in reversed(list(self._open.values())):
            self.close(handoff, End(ended_by=EndedBy.CANCELLED))

    def _activate(self, handoff: OpenHandoff) -> None:
        flow, agent, recorder = self._flow, handoff.agent, self._recorder
        allowed = handoff.request.allowed_tools
        outfit = flow.cached(
            (agent.name, agent.prompt, allowed), lambda: _outfit(flow, agent, allowed)
        )
        tools, system = outfit.tools, outfit.system
        handoff.tools, handoff.tools_bytes = tools.value, tools.size_bytes
        recorder.emit(
            handoff.scope,
            AgentActivated(
                agent=agent.name,
                prompt=recorder.keep_fixed(outfit.prompt),
                prompt_version=flow.prompt_version,
                model=handoff.model.name,
                tools=recorder.keep_fixed(tools),
                reads_prompt=handoff.model.reads_prompt,
            ),
        )
        handoff.context.append(
            KeptMessage(system.value, recorder.keep_fixed(system), system.size_bytes),
            *[kept_message(recorder, message) for message in handoff.passed_on],
        )

    def close(self, handoff: OpenHandoff, end: End, *, replayed: bool = False) -> None:
        """Close a handoff with its result and give back what it did not use."""
        result = end.result
        kept = self._recorder.keep_text(result.body()).digest if result else None
        if result:
            self.result, self.result_digest = result, kept
        self._open.pop(handoff.id, None)
        self._recorder.emit(
            handoff.scope,
            HandoffClosed(
                target=handoff.agent.name,
                ended_by=end.ended_by,
                status=result.status if result else None,
                result=kept,
                reason=end.reason,
                notes=result.notes if result else "",
                transferred_to=end.transfers[0].id if end.transfers else None,
                fork_id=end.fork_id,
                inputs_hash=handoff.inputs_hash,
                steps_used=handoff.steps,
                tokens_used=handoff.tokens,
                measured=handoff.measured,
                cost=handoff.cost if handoff.model.name in self._flow.prices else None,
                duration_seconds=round(self._recorder.timeline.elapsed() - handoff.opened_at, 6),
                replayed=replayed,
                quarantined=end.quarantined,
            ),
        )
        refunded = self._pool.refund(handoff.id)
        if refunded is not None:
            self._recorder.emit(handoff.scope, BudgetRefunded(tokens=refunded, **self._figures()))

    def _figures(self) -> dict[str, int]:
        return {"free": self._pool.free, "open": self._pool.open, "spent": self._pool.spent}


def _outfit(flow: Flow, agent: Agent, allowed: Sequence[str]) -> Outfit:
    parts = (agent.prompt, system_message(agent), offered_tools(flow, agent, allowed))
    return Outfit._make(Fixed(part, flow.redaction) for part in parts)
