"""A whole session: what the user says in, the tree of handoffs it causes, one answer out."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import chain
from typing import Any

from handoff_console.runtime.agents import HUMAN
from handoff_console.runtime.answers import answer_text
from handoff_console.runtime.asked import check_request
from handoff_console.runtime.beginnings import received, resumed, started
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.contract import EndedBy, HandoffRequest, HandoffResult, Message, Status
from handoff_console.runtime.delegation import Delegations
from handoff_console.runtime.events import (
    InputRequested,
    SessionClosed,
    SessionSuspended,
    WarningRaised,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End
from handoff_console.runtime.options import RunOptions, SessionResult, chosen_models, new_session_id
from handoff_console.runtime.parts import SessionParts
from handoff_console.runtime.people import Approval, People, Question, Suspended
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.tape import Recording, Tape
from handoff_console.runtime.toolbox import Toolbox


async def run(flow: Flow, message: str | HandoffRequest, **options: Any) -> SessionResult:
    """Run a session of one user turn to its end, or to where it needs a person, and record it.

    Args:
        flow: Who may hand off to whom.
        message: What the user says; or a typed request, which the flow's first agent then gets as
            any worker would.
        options: Fields of `RunOptions`: `sink`, `model`, `clock` and so on.

    Raises:
        FlowError: An agent has no model, or a model no agent, before anything is recorded.
        RequestError: The typed request does not fit the flow, before anything is recorded.
        SessionStopped: Only with `on_stop="raise"`.
    """
    session = Session(flow, **options)
    result = await session.say(message)
    if not result.waiting_for:
        session.close()
    session.raise_if_stopped()
    return result


async def resume(flow: Flow, recording: Recording, **options: Any) -> SessionResult:
    """Go on with a session that was suspended or interrupted, from its record.

    What was answered is not asked again, what was done is not done again: the engine runs over the
    recorded answers to where they end, and goes live from there.

    Args:
        flow: The flow it was recorded with.
        recording: The session so far.
        options: Fields of `RunOptions`; `decisions` and `answers` say what people decided since.

    Raises:
        ReplayDiverged: The flow now asks for something else than was recorded.
    """
    session = Session(flow, recording=recording, session_id=recording.session_id, **options)
    result = None
    for message in session.earlier_messages:
        result = await session.say(message)
        if result.waiting_for:
            return result
    session.close()
    session.raise_if_stopped()
    return result or SessionResult(recording.session_id, HandoffResult(status=Status.ERROR))


class Session:
    """A conversation: one or more user turns, each a request with a pool of its own.

    Args:
        flow: Who may hand off to whom.
        recording: What it recorded so far, to go on with it.
        player_of: Makes what answers from a recording, for a session that repeats another one.
        options: Fields of `RunOptions`.
    """

    def __init__(
        self,
        flow: Flow,
        recording: Recording | None = None,
        *,
        player_of: Callable[[Recorder], Player] | None = None,
        **options: Any,
    ) -> None:
        self._options = options_of = RunOptions(**options)
        clock = options_of.clock
        self.id = options_of.session_id or new_session_id(clock)
        tape = Tape.of(recording) if recording else None
        self.earlier_messages = list(tape.messages) if tape else []
        """What the user said before, where a recording is gone on with."""
        recorded = recording.events if recording else ()
        recorder = Recorder(options_of.sink, self.id, clock, flow.redaction, recorded)
        player = player_of(recorder) if player_of else Player(recorder, tape)
        people = People(
            recorder=recorder,
            player=player,
            now=clock.now,
            decisions={decision.approval_id: decision for decision in options_of.decisions},
            answers=dict(options_of.answers),
            ask=options_of.ask,
        )
        self.parts = SessionParts(
            flow=flow,
            models=chosen_models(flow, options_of),
            recorder=recorder,
            state=SessionState(recorder),
            player=player,
            people=people,
            ledger=options_of.ledger,
            raise_on_stop=options_of.on_stop == "raise",
            wait_for_answers=options_of.wait_for_answers,
        )
        self._turn, self._workers = 0, 0
        self._request_id = ""
        self._next_agent = flow.start
        self._history: list[Message] = []
        self._delegations: Delegations | None = None
        self._toolboxes: list[Toolbox] = []
        self._end: End | None = None
        self._resumes = recording is not None

    async def say(self, message: str | HandoffRequest) -> SessionResult:
        """Run one user turn to its end, or to where it needs a person.

        Raises:
            RequestError: A typed request does not fit the flow; nothing is recorded of it.
        """
        flow = self.parts.flow
        if isinstance(message, HandoffRequest):
            check_request(flow, message)
        if self._turn == 0:
            self._start()
        self._turn += 1
        self._request_id = f"{self.id}/t{self._turn}"
        scope = Scope(turn=self._turn, request_id=self._request_id)
        self._receive(scope, message, flow.pool_tokens)
        delegations = self._delegations = Delegations(self.parts, self._workers)
        self._toolboxes.append(delegations.toolbox)
        agent = flow.agents_by_name[self._next_agent]
        root = delegations.run_root(scope, message, agent, self._history)
        result = await self._until_end(scope, delegations, root)
        if result.waiting_for:
            return result
        self._workers += delegations.gate.turn.workers
        text = message if isinstance(message, str) else message.task
        self._history += [
            {"role": "user", "content": text},
            {"role": "assistant", "content": result.answer},
        ]
        if delegations.last:
            self._next_agent = delegations.last.return_to or delegations.last.agent.name
            self._next_agent = flow.start if self._next_agent == HUMAN else self._next_agent
        return result

    async def repeat(
        self, scope: Scope, pool: Pool, message: str, work: Callable[[Delegations], Awaitable[End]]
    ) -> SessionResult:
        """Run a part of another session as a request of this one.

        Args:
            scope: The turn and the request id, as recorded: effects keep their keys.
            pool: Of its own.
            message: What the user said in that turn.
            work: What to run.
        """
        self._start()
        self._turn = scope.turn
        self._request_id = scope.request_id or ""
        self._receive(scope, message, pool.total)
        delegations = self._delegations = Delegations(self.parts, 0, pool)
        self._toolboxes.append(delegations.toolbox)
        return await self._until_end(scope, delegations, work(delegations))

    async def _until_end(
        self, scope: Scope, delegations: Delegations, work: Awaitable[End]
    ) -> SessionResult:
        try:
            self._end = await work
        except Suspended:
            return self._suspended(scope, delegations)
        except asyncio.CancelledError:
            delegations.openings.cancel_all()
            self._end = None
            self.close()
            raise
        self.parts.recorder.commit()
        result = self._end.result or HandoffResult(status=Status.ERROR, notes="no result")
        pool = delegations.pool
        return SessionResult(self.id, result, self._end.reason, pool.spent, pool.total)

    def close(self) -> None:
        """End the session; nothing is recorded of it afterwards."""
        delegations, recorder = self._delegations, self.parts.recorder
        if delegations is None:
            return
        scope = Scope(turn=self._turn, request_id=self._request_id)
        end = self._end
        result = end.result if end else None
        if result and result.status is Status.NEEDS_INPUT:
            question = result.notes or answer_text(result)
            recorder.emit(scope, InputRequested(question=question))
        self._warn_of_running_tools(scope)
        pool = delegations.pool
        recorder.emit(
            scope,
            SessionClosed(
                status=result.status if result else None,
                cancelled=end is None or end.ended_by is EndedBy.CANCELLED,
                reason=end.reason if end else "",
                answer=self.result_digest if result else None,
                pool_free=pool.free,
                pool_spent=pool.spent,
            ),
        )
        recorder.commit()

    @property
    def result_digest(self) -> str | None:
        """The digest of the last request's result; None before there is one."""
        result = self._end.result if self._end else None
        if result is None or self._delegations is None:
            return None
        openings = self._delegations.openings
        if result is openings.result:
            return openings.result_digest
        # No handoff closed with it: the runtime joined it from the answers of a fork.
        return self.parts.recorder.keep(result.model_dump(mode="json")).digest

    def raise_if_stopped(self) -> None:
        """Raise what stopped the last request, for those who asked for it.

        Raises:
            SessionStopped: With `on_stop="raise"`, when a loop or too many transfers ended it.
        """
        stopped = self._delegations.stopped if self._delegations else None
        if self.parts.raise_on_stop and stopped:
            raise stopped

    def _start(self) -> None:
        parts, origin = self.parts, self._options.origin
        if self._resumes:
            parts.recorder.emit(Scope(), resumed(origin))
        parts.recorder.emit(Scope(), started(parts, origin))

    def _receive(self, scope: Scope, message: str | HandoffRequest, pool_tokens: int) -> None:
        payload = received(self.parts, scope, message, pool_tokens)
        self.parts.recorder.emit(scope, payload)

    def _suspended(self, scope: Scope, delegations: Delegations) -> SessionResult:
        people, recorder = self.parts.people, self.parts.recorder
        waiting: tuple[Approval | Question, ...] = (*people.approvals, *people.questions)
        self._warn_of_running_tools(scope)
        recorder.emit(
            scope,
            SessionSuspended(
                approvals=tuple(approval.approval_id for approval in people.approvals),
                questions=tuple(question.handoff_id for question in people.questions),
            ),
        )
        recorder.commit(synced=bool(people.approvals))
        notes = "; ".join(
            f"{item.tool} waits for approval" if isinstance(item, Approval) else item.text
            for item in waiting
        )
        result = HandoffResult(status=Status.NEEDS_INPUT, notes=notes)
        pool = delegations.pool
        return SessionResult(self.id, result, "", pool.spent, pool.total, waiting)

    def _warn_of_running_tools(self, scope: Scope) -> None:
        for toolbox in self._toolboxes:
            toolbox.closed = True
        for name in chain.from_iterable(toolbox.running.values() for toolbox in self._toolboxes):
            text = (
                f"the tool {name!r} had not returned when the session stopped; its result, should "
                "it come, is not recorded"
            )
            warning = WarningRaised(code="tool_left_running", text=text)
            self.parts.recorder.emit(scope, warning)
