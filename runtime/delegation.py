"""The handoffs of one request: opened, run, passed on, closed exactly once."""

import math
from collections.abc import Mapping, Sequence
from itertools import count

from handoff_console.runtime.asking import Asker
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.context import (
    KeptMessage,
    kept_message,
    request_message,
    system_message,
)
from handoff_console.runtime.contract import (
    EndedBy,
    HandoffKind,
    HandoffRequest,
    HandoffResult,
    Message,
    Reaction,
    Status,
    ToolCall,
    reaction_to,
)
from handoff_console.runtime.errors import SessionStopped
from handoff_console.runtime.events import (
    AgentActivated,
    BudgetRefunded,
    BudgetReserved,
    ForkJoined,
    ForkOpened,
    HandoffClosed,
    HandoffOpened,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.gate import Gate
from handoff_console.runtime.handoff import End, OpenHandoff
from handoff_console.runtime.models import Model
from handoff_console.runtime.offers import offered_tools
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.toolbox import Toolbox
from handoff_console.runtime.worker import Refused, Worker

USER = "user"
"""Who asks for the root handoff."""


class Delegations:
    """Every handoff of one request from the gate to its close; the worker's `Delegation`."""

    def __init__(
        self,
        flow: Flow,
        models: Mapping[str, Model],
        recorder: Recorder,
        *,
        raise_on_stop: bool = False,
    ) -> None:
        self._flow, self._recorder = flow, recorder
        self.pool = Pool(flow.pool_tokens, flow.finish_floor_tokens)
        self.state = SessionState(recorder)
        self.toolbox = Toolbox(recorder, self.state)
        self.result_digest: str | None = None
        """Of the handoff that closed last with a result."""
        self._gate = Gate(flow, models, recorder, self.pool, self.state)
        self._worker = Worker(
            flow,
            recorder,
            Asker(flow, recorder, self.pool),
            self.toolbox,
            self,
            raise_on_stop=raise_on_stop,
        )
        self._forks = count(1)
        self._open: dict[str, OpenHandoff] = {}

    @property
    def stopped(self) -> SessionStopped | None:
        """The first stop of a loop, for those who want it raised."""
        return self._gate.stopped

    async def run_root(self, scope: Scope, message: str | HandoffRequest) -> End:
        """Open the user's request as the root handoff and run its chain to the end."""
        flow = self._flow
        agent = flow.agents_by_name[flow.start]
        first: Message
        if isinstance(message, HandoffRequest):
            request, first = message, request_message(flow, message)
        else:
            request = HandoffRequest(
                task=" ".join(message.split()) or "(nothing)",
                allowed_tools=tuple(tool.name for tool in agent.tools),
                limits=flow.limits,
                output_schema=agent.output_schema,
            )
            first = {"role": "user", "content": message}
        root = self._gate.prepared(
            scope._replace(handoff_id=self._gate.next_id(), path=f"t{scope.turn}"),
            USER,
            agent,
            HandoffKind.CALL,
            request,
            bound_at=math.inf,
            depth_left=flow.depth,
        )
        self._gate.requested(root, "the user's request")
        root.passed_on = [first]
        self._begin(root)
        return await self._chain(root)

    def judge_call(self, asking: OpenHandoff, call: ToolCall, index: int) -> OpenHandoff | Refused:
        """Gate a call and reserve its grant."""
        judged = self._gate.call(asking, call, index)
        if isinstance(judged, OpenHandoff):
            self._gate.turn.workers += 1
            self._reserve(judged, keep_floor=True)
        return judged

    def judge_transfer(
        self, asking: OpenHandoff, call: ToolCall, index: int, *, extra: bool
    ) -> OpenHandoff | Refused:
        """Gate a transfer; its grant is reserved once the sender has closed."""
        return self._gate.transfer(asking, call, index, extra=extra)

    def fork(self, asking: OpenHandoff, calls: Sequence[OpenHandoff]) -> str:
        """Mark calls as decided together."""
        fork_id = f"f{next(self._forks)}"
        for handoff in calls:
            handoff.fork_id = fork_id
        ids = tuple(handoff.id for handoff in calls)
        self._recorder.emit(asking.scope, ForkOpened(fork_id=fork_id, handoff_ids=ids))
        return fork_id

    def joined(
        self,
        asking: OpenHandoff,
        fork_id: str,
        calls: Sequence[OpenHandoff],
        statuses: Sequence[str],
    ) -> None:
        """Record that all calls of a fork came back, in the order they were asked for."""
        ids = tuple(handoff.id for handoff in calls)
        joined = ForkJoined(fork_id=fork_id, handoff_ids=ids, statuses=tuple(statuses))
        self._recorder.emit(asking.scope, joined)

    async def run_call(self, handoff: OpenHandoff) -> HandoffResult:
        """Run a judged call to its result; a transient error is tried once more."""
        result = await self._run(handoff)
        if reaction_to(result, attempt=handoff.scope.attempt) is not Reaction.RETRY:
            return result
        tokens, parent = handoff.limits.max_tokens, handoff.scope.parent_id
        if self.pool.available(parent, keep_floor=True) < tokens:
            return result
        retry = self._gate.prepared(
            handoff.scope._replace(handoff_id=self._gate.next_id(), attempt=2),
            handoff.source,
            handoff.agent,
            handoff.via,
            handoff.request,
            bound_at=handoff.bound_at,
            depth=handoff.depth,
            depth_left=handoff.depth_left,
            ancestors=handoff.ancestors,
            fork_id=handoff.fork_id,
            follows=handoff.id,
            passed_on=handoff.passed_on,
        )
        self._gate.requested(retry, f"tried again: {result.notes}")
        self._reserve(retry, keep_floor=True)
        return await self._run(retry)

    def cancel_open(self) -> None:
        """Close what is open, innermost first."""
        for handoff in reversed(list(self._open.values())):
            self._close(handoff, End(ended_by=EndedBy.CANCELLED))

    async def _run(self, handoff: OpenHandoff) -> HandoffResult:
        self._begin(handoff)
        end = await self._chain(handoff)
        return end.result or HandoffResult(status=Status.ERROR, notes="no result")

    async def _chain(self, handoff: OpenHandoff) -> End:
        """Run a handoff and all that transfers continue it, until one of them has a result."""
        while True:
            end = await self._worker.work(handoff)
            self._close(handoff, end)
            if end.transfer is None:
                return end
            self._gate.turn.transferred(handoff.agent.name, end.transfer.agent.name)
            handoff = end.transfer
            self._reserve(handoff, keep_floor=False)
            for key, value in handoff.confirmed.items():
                self.state.set(handoff.scope, key, value)
            self._begin(handoff)

    def _reserve(self, handoff: OpenHandoff, *, keep_floor: bool) -> None:
        tokens = handoff.limits.max_tokens
        self.pool.reserve(handoff.id, handoff.scope.parent_id, tokens, keep_floor=keep_floor)
        handoff.grant_tokens = tokens
        self._recorder.emit(handoff.scope, BudgetReserved(tokens=tokens, **self._figures()))

    def _begin(self, handoff: OpenHandoff) -> None:
        handoff.opened_at = self._recorder.clock.elapsed()
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
                hops=self._gate.turn.transfers,
                grant_tokens=handoff.grant_tokens,
                max_steps=handoff.limits.max_steps,
                max_tokens=handoff.limits.max_tokens,
                deadline_seconds=round(handoff.deadline_at - handoff.opened_at, 6),
                allowed_tools=handoff.request.allowed_tools,
                output_schema=handoff.request.output_schema,
                context_policy=handoff.policy.value,
                packet=self._recorder.keep(packet.body()).digest if packet else None,
                withheld=handoff.withheld,
                fork_id=handoff.fork_id,
                continues=handoff.continues,
                follows=handoff.follows,
            ),
        )
        self._activate(handoff)

    def _activate(self, handoff: OpenHandoff) -> None:
        flow, agent, recorder = self._flow, handoff.agent, self._recorder
        allowed = handoff.request.allowed_tools
        tools = flow.fixed(
            ("tools", agent.name, allowed), lambda: offered_tools(flow, agent, allowed)
        )
        prompt = flow.fixed(("prompt", agent.name), lambda: agent.prompt)
        system = flow.fixed(("system", agent.name), lambda: system_message(agent))
        handoff.tools, handoff.tools_bytes = tools.value, tools.size_bytes
        recorder.emit(
            handoff.scope,
            AgentActivated(
                agent=agent.name,
                prompt=recorder.keep_clean(prompt.body),
                prompt_version=flow.prompt_version,
                model=handoff.model.name,
                tools=recorder.keep_clean(tools.body),
                reads_prompt=handoff.model.reads_prompt,
            ),
        )
        handoff.context.append(
            KeptMessage(system.value, recorder.keep_clean(system.body), system.size_bytes),
            *(kept_message(recorder, message) for message in handoff.passed_on),
        )

    def _close(self, handoff: OpenHandoff, end: End) -> None:
        result = end.result
        kept = self._recorder.keep(result.model_dump(mode="json")).digest if result else None
        self.result_digest = kept or self.result_digest
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
                transferred_to=end.transfer.id if end.transfer else None,
                inputs_hash=handoff.inputs_hash,
                steps_used=handoff.steps,
                tokens_used=handoff.tokens,
                measured=handoff.measured,
                cost=handoff.cost if handoff.model.name in self._flow.prices else None,
                duration_seconds=round(self._recorder.clock.elapsed() - handoff.opened_at, 6),
                quarantined=end.quarantined,
            ),
        )
        refunded = self.pool.refund(handoff.id)
        if refunded is not None:
            self._recorder.emit(handoff.scope, BudgetRefunded(tokens=refunded, **self._figures()))

    def _figures(self) -> dict[str, int]:
        return {"free": self.pool.free, "open": self.pool.open, "spent": self.pool.spent}
