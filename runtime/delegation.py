"""The handoffs of one request: judged, run, passed on, forked and joined, answered by people."""

import weakref
from collections.abc import Sequence

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.asking import Asker
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.context import kept_message, request_message
from handoff_console.runtime.contract import (
    HUMAN,
    USER,
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
from handoff_console.runtime.events import ForkJoined, ForkOpened
from handoff_console.runtime.gate import Gate
from handoff_console.runtime.handoff import End, OpenHandoff, answered
from handoff_console.runtime.joining import aggregation, answers_of, joined_result
from handoff_console.runtime.openings import Openings
from handoff_console.runtime.parts import SessionParts
from handoff_console.runtime.people import Suspended
from handoff_console.runtime.recorder import Scope
from handoff_console.runtime.toolbox import Toolbox
from handoff_console.runtime.tools import run_together
from handoff_console.runtime.tracing import traced
from handoff_console.runtime.worker import Refused, Worker


class Delegations:
    """Every handoff of one request from the gate to its close; the worker's `Delegation`."""

    def __init__(
        self, session: SessionParts, earlier_workers: int = 0, pool: Pool | None = None
    ) -> None:
        flow, recorder = session.flow, session.recorder
        self._session, self._flow, self._recorder = session, flow, recorder
        self.pool = pool or Pool(flow.pool_tokens, flow.finish_floor_tokens)
        self.toolbox = Toolbox(
            recorder, session.state, session.player, session.people, session.ledger
        )
        self.openings = Openings(flow, recorder, self.pool)
        self.gate = Gate(flow, session.models, recorder, self.pool, session.state, session.player)
        self.gate.session_workers = earlier_workers
        self.last: OpenHandoff | None = None
        """The last hop of the root: who answered."""
        asker = Asker(flow, recorder, self.pool, session.player)
        # No circle: all of a session is given back when it ends, and not when Python looks for
        # circles, which would take a fiftieth of the session's time (measured).
        to_here = weakref.proxy(self)
        self._worker = Worker(
            flow, recorder, asker, self.toolbox, to_here, raise_on_stop=session.raise_on_stop
        )
        self._asked_by = ""

    @property
    def stopped(self) -> SessionStopped | None:
        """The first stop of a loop, for those who want it raised."""
        return self.gate.stopped

    async def run_root(
        self,
        scope: Scope,
        message: str | HandoffRequest,
        agent: Agent,
        history: Sequence[Message] = (),
    ) -> End:
        """Open the user's request as the root handoff and run its chain to the end.

        Args:
            scope: The turn and its request id.
            message: What the user says, or a typed request.
            agent: Who takes it.
            history: What was said in earlier turns.

        Raises:
            Suspended: It waits for a person; its handoffs stay open.
        """
        path = f"t{scope.turn}"
        request, first = self._first_request(path, message, agent)
        root = self.gate.places.prepared(
            self.gate.places.scope(scope, path, parent_id=None),
            USER,
            agent,
            HandoffKind.CALL,
            request,
            bound_at=self._now() + request.limits.deadline_seconds,
            depth_left=self._flow.depth,
            passed_on=[*history, first],
        )
        self.gate.requested(root, "the user's request")
        self.openings.begin(root, hops=0)
        return await self._chain(root)

    def _first_request(
        self, path: str, message: str | HandoffRequest, agent: Agent
    ) -> tuple[HandoffRequest, Message]:
        """Return the user's request, edited where a re-run edits it, and what its agent reads."""
        flow = self._flow
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
        asked = request.task
        request = self._session.player.edited_request(path, request)
        if request.task != asked:
            first = {"role": "user", "content": request.task}
        return request, first

    def judge_call(self, asking: OpenHandoff, call: ToolCall, index: int) -> OpenHandoff | Refused:
        """Gate a call and reserve its grant."""
        judged = self.gate.call(asking, call, index)
        if isinstance(judged, OpenHandoff):
            self.gate.turn.workers += 1
            self.openings.reserve(judged, keep_floor=True)
        return judged

    def judge_transfer(
        self, asking: OpenHandoff, call: ToolCall, index: int, *, of: int, promised: int
    ) -> OpenHandoff | Refused:
        """Gate a transfer; its grant is reserved once the sender has closed."""
        judged = self.gate.transfer(asking, call, index, of=of, promised=promised)
        if isinstance(judged, OpenHandoff):
            self.gate.turn.transfers += 1
        return judged

    def fork(self, asking: OpenHandoff, calls: Sequence[OpenHandoff]) -> str:
        """Mark handoffs as decided together."""
        fork_id = f"{asking.id}.{asking.steps}"
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
        """Record that all of a fork came back, in the order they were asked for."""
        ids = tuple(handoff.id for handoff in calls)
        joined = ForkJoined(fork_id=fork_id, handoff_ids=ids, statuses=tuple(statuses))
        self._recorder.emit(asking.scope, joined)

    async def run_call(self, handoff: OpenHandoff) -> HandoffResult:
        """Run a judged call to its result."""
        result = await self._run(handoff)
        if result.status is Status.NEEDS_INPUT:
            self._asked_by = handoff.scope.path or ""
        return result

    async def run_alone(self, handoff: OpenHandoff, reason: str, *, has_grant: bool) -> End:
        """Run one handoff, and what follows from it, as the root of a request.

        `has_grant` reserves for it, as its caller did; the root of a session spends what is free.
        """
        self.gate.requested(handoff, reason)
        if has_grant:
            self.openings.reserve(handoff, keep_floor=False)
        self.openings.begin(handoff, hops=0)
        return await self._chain(handoff)

    async def _run(self, handoff: OpenHandoff) -> HandoffResult:
        self.openings.begin(handoff, self.gate.turn.transfers)
        known = self._session.player.child(handoff.scope, handoff.request_digest)
        if known and known.result:
            self.openings.close(handoff, answered(known.result, known.reason), replayed=True)
            return known.result
        return _result(await self._chain(handoff))

    async def _chain(self, handoff: OpenHandoff) -> End:
        """Run a handoff and all that transfers continue it, until one of them has a result."""
        while True:
            end = await self._work(handoff)
            if len(end.transfers) > 1:
                fork_id = f"{handoff.id}.{handoff.steps}"
                end = End(ended_by=end.ended_by, transfers=end.transfers, fork_id=fork_id)
            self.openings.close(handoff, end)
            for target in end.transfers:
                self.gate.turn.transferred(handoff.agent.name, target.agent.name)
            if not end.transfers:
                again = self._second_attempt(handoff, _result(end))
                if again is None:
                    self.last = handoff if handoff.scope.parent_id is None else self.last
                    return end
                handoff = again
                continue
            if len(end.transfers) == 1:
                handoff = end.transfers[0]
                self._take_over(handoff)
                continue
            results = await self._run_fork(handoff, end.transfers)
            merging = aggregation(self._flow, self.gate, handoff, end.transfers, results)
            if merging is None:
                return answered(joined_result(answers_of(end.transfers, results)))
            handoff = merging
            self._take_over(handoff)

    def _second_attempt(self, first: OpenHandoff, result: HandoffResult) -> OpenHandoff | None:
        """Open a handoff that failed for a moment once more, and only this one of its chain.

        None when its result stands: the user's own request, a second attempt, no tokens, no time.
        """
        if reaction_to(result, attempt=first.scope.attempt) is not Reaction.RETRY:
            return None
        parent, is_call = first.scope.parent_id, first.via is HandoffKind.CALL
        has_tokens = self.pool.available(parent, keep_floor=is_call) >= first.limits.max_tokens
        if first.source == USER or not has_tokens or first.bound_at <= self._now():
            return None
        again = self.gate.places.again(first)
        self.gate.requested(again, f"tried again: {result.notes}")
        self.openings.reserve(again, keep_floor=is_call)
        self.openings.begin(again, self.gate.turn.transfers)
        return again

    def _now(self) -> float:
        return self._recorder.timeline.elapsed()

    async def _work(self, handoff: OpenHandoff) -> End:
        """Run one hop. A person may be asked, and the hop goes on with the answer."""
        if handoff.agent.name == HUMAN:
            packet = handoff.packet
            question = f"{packet.goal} ({handoff.request.task})" if packet else handoff.request.task
            said = self._session.people.hear(handoff, question)["content"]
            return answered(HandoffResult(status=Status.OK, data={"text": said}))
        while True:
            with traced(handoff.scope.request_id or "", handoff.id):
                end = await self._worker.work(handoff)
            if not self._waits_for_user(handoff, end) or handoff.last_reply is None:
                return end
            question = _result(end).notes or "Something is missing."
            answer = self._session.people.hear(handoff, question, self._asked_by)
            handoff.context.append(handoff.last_reply, kept_message(self._recorder, answer))

    def _waits_for_user(self, handoff: OpenHandoff, end: End) -> bool:
        return (
            self._session.wait_for_answers
            and handoff.scope.parent_id is None
            and end.ended_by is EndedBy.ANSWERED
            and _result(end).status is Status.NEEDS_INPUT
        )

    def _take_over(self, handoff: OpenHandoff) -> None:
        self.openings.reserve(handoff, keep_floor=False)
        for key, value in handoff.confirmed.items():
            self._session.state.set(handoff.scope, key, value)
        self.openings.begin(handoff, self.gate.turn.transfers)

    async def _run_fork(
        self, sender: OpenHandoff, branches: Sequence[OpenHandoff]
    ) -> list[HandoffResult]:
        """Run several hops at once, all reserved in order first; results in that order."""
        fork_id = self.fork(sender, branches)
        for branch in branches:
            self.openings.reserve(branch, keep_floor=False)
        results: dict[int, HandoffResult] = {}

        async def run(place: int, branch: OpenHandoff) -> None:
            for key, value in branch.confirmed.items():
                self._session.state.set(branch.scope, key, value)
            self.openings.begin(branch, self.gate.turn.transfers)
            try:
                results[place] = _result(await self._chain(branch))
            except Suspended:
                return

        await run_together([run(place, branch) for place, branch in enumerate(branches)])
        if len(results) < len(branches):
            raise Suspended
        in_order = [results[place] for place in range(len(branches))]
        self.joined(sender, fork_id, branches, [result.status.value for result in in_order])
        return in_order


def _result(end: End) -> HandoffResult:
    return end.result or HandoffResult(status=Status.ERROR, notes="no result")
