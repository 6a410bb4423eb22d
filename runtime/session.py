"""A whole session: what the user says in, the tree of handoffs it causes, one answer out."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from handoff_console.runtime import endings
from handoff_console.runtime.asked import check_message
from handoff_console.runtime.beginnings import received, resumed, started
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.contract import (
    HUMAN,
    HandoffRequest,
    HandoffResult,
    Message,
    Status,
    answer_text,
)
from handoff_console.runtime.delegation import Delegations
from handoff_console.runtime.events import (
    InputRequested,
    Recording,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End
from handoff_console.runtime.options import RunOptions, SessionResult, chosen_models, takes_options
from handoff_console.runtime.parts import SessionParts
from handoff_console.runtime.people import People, Suspended
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.taping import read_tape
from handoff_console.runtime.toolbox import Toolbox


@takes_options
async def run(flow: Flow, message: str | HandoffRequest, **options: Any) -> SessionResult:
    """Run a session of one user turn to its end, or to where it needs a person, and record it.

    Args:
        flow: Who may hand off to whom.
        message: What the user says; or a typed request, which the flow's first agent then gets as
            any worker would.
        options: Fields of `RunOptions`: `sink`, `model`, `clock` and so on.

    Raises:
        FlowError: An agent has no model, or a model no agent, before anything is recorded.
        RequestError: The typed request does not fit the flow, or the session id cannot be written,
            before anything is recorded.
        SessionStopped: Only with `on_stop="raise"`.
    """
    session = Session(flow, **options)
    result = await session.answer(message)
    if not result.waiting_for:
        session.close()
    session.raise_if_stopped()
    return result


@takes_options
async def resume(
    flow: Flow,
    recording: Recording,
    *,
    more: "Callable[[Session, SessionResult], Awaitable[SessionResult]] | None" = None,
    **options: Any,
) -> SessionResult:
    """Go on with a session that was suspended or interrupted, from its record.

    What was answered is not asked again, what was done is not done again: the engine runs over the
    recorded answers to where they end, and goes live from there.

    Args:
        flow: The flow it was recorded with.
        recording: The session so far.
        more: Gets the session after its last recorded turn, says what else there is to say, and
            returns the last result; without it the session is closed then.
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
    if more and result:
        result = await more(session, result)
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
        request_ids: Of its turns, for a session that repeats them: effects keep their keys.
        options: Fields of `RunOptions`.
    """

    @takes_options
    def __init__(
        self,
        flow: Flow,
        recording: Recording | None = None,
        *,
        player_of: Callable[[Recorder], Player] | None = None,
        request_ids: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self._request_ids = request_ids
        self._options = options_of = RunOptions(**options)
        clock = options_of.clock
        self.id = options_of.id_of_session()
        tape = read_tape(recording) if recording else None
        self.earlier_messages = list(tape.messages) if tape else []
        """What the user said before, where a recording is gone on with."""
        self._given = tape.given if tape else options_of.state
        recorded = recording.events if recording else ()
        recorder = Recorder(
            options_of.sink, self.id, clock, flow.redaction, recorded, options_of.originals
        )
        player = player_of(recorder) if player_of else Player(recorder, tape)
        self.parts = _parts(flow, options_of, recorder, player)
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
            RequestError: It is no text, or a typed request that does not fit the flow; nothing is
                recorded of it.
        """
        result = await self.answer(message)
        self.parts.recorder.commit()
        return result

    async def answer(self, message: str | HandoffRequest) -> SessionResult:
        """Run one user turn as `say` does, for who closes at once: the end is not committed yet."""
        flow = self.parts.flow
        check_message(flow, message)
        if self._turn == 0:
            self._start()
        self._turn += 1
        repeated = self._request_ids[self._turn - 1 : self._turn]
        self._request_id = repeated[0] if repeated else f"{self.id}/t{self._turn}"
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
        result = await self._until_end(scope, delegations, work(delegations))
        self.parts.recorder.commit()
        return result

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
        recorder.emit(scope, endings.closed(end, self.result_digest, delegations.pool))
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
        return self.parts.recorder.keep_text(result.body()).digest

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
        for key, value in self._given.items():
            parts.state.set(Scope(), key, value)

    def _receive(self, scope: Scope, message: str | HandoffRequest, pool_tokens: int) -> None:
        payload = received(self.parts, scope, message, pool_tokens)
        self.parts.recorder.emit(scope, payload)

    def _suspended(self, scope: Scope, delegations: Delegations) -> SessionResult:
        people, recorder = self.parts.people, self.parts.recorder
        self._warn_of_running_tools(scope)
        recorder.emit(scope, endings.suspended(people))
        recorder.commit(synced=bool(people.approvals))
        return endings.waiting(self.id, people, delegations.pool)

    def _warn_of_running_tools(self, scope: Scope) -> None:
        for warning in endings.left_running(self._toolboxes):
            self.parts.recorder.emit(scope, warning)


def _parts(flow: Flow, options: RunOptions, recorder: Recorder, player: Player) -> SessionParts:
    people = People(
        recorder=recorder,
        player=player,
        now=options.clock.now,
        decisions={decision.approval_id: decision for decision in options.decisions},
        answers=dict(options.answers),
        ask=options.ask,
    )
    return SessionParts(
        flow=flow,
        models=chosen_models(flow, options),
        recorder=recorder,
        state=SessionState(recorder),
        player=player,
        people=people,
        ledger=options.ledger,
        raise_on_stop=options.on_stop == "raise",
        wait_for_answers=options.wait_for_answers,
    )
