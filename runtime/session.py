"""A whole session: what the user says in, the tree of handoffs it causes, one answer out."""

import asyncio
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Literal

from handoff_console.runtime.agents import HUMAN
from handoff_console.runtime.answers import answer_text
from handoff_console.runtime.asked import check_request
from handoff_console.runtime.canonical import digest
from handoff_console.runtime.clock import Clock, SystemClock
from handoff_console.runtime.contract import EndedBy, HandoffRequest, HandoffResult, Message, Status
from handoff_console.runtime.delegation import Delegations, SessionParts
from handoff_console.runtime.errors import FlowError, choices
from handoff_console.runtime.events import (
    EventList,
    EventSink,
    InputRequested,
    SessionClosed,
    SessionResumed,
    SessionStarted,
    SessionSuspended,
    UserMessageReceived,
    WarningRaised,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End
from handoff_console.runtime.ledger import EffectLedger, MemoryLedger
from handoff_console.runtime.models import Model, as_model
from handoff_console.runtime.people import Approval, Decision, People, Question, Suspended
from handoff_console.runtime.player import Player
from handoff_console.runtime.process import ProcessIdentity, this_process
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.tape import Recording, Tape
from handoff_console.runtime.toolbox import Toolbox

PREVIEW_CHARACTERS = 200
RUNTIME_VERSION = "1"
"""Changes when the same flow and the same replies would be executed differently."""


@dataclass(frozen=True)
class SessionResult:
    """How a request came out, or what it waits for."""

    session_id: str
    result: HandoffResult
    """Of the last hop of the root; while it waits, `needs_input` with what for."""
    reason: str = ""
    """For `limit_reached`, which limit."""
    tokens_used: int = 0
    pool_tokens: int = 0
    waiting_for: tuple[Approval | Question, ...] = ()
    """Who has to be asked before the session can go on (`resume`)."""

    @property
    def status(self) -> Status:
        """The result's status."""
        return self.result.status

    @property
    def answer(self) -> str:
        """What the user is shown."""
        return answer_text(self.result)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a session comes from; recorded, never acted on."""

    flow_source: str = ""
    """`support`, or `file.py:name`."""
    kind: str = "run"
    """`run`, `batch` or `sample`."""
    metadata: Mapping[str, str] | None = None
    seed: int | None = None
    process: ProcessIdentity | None = None
    """Defaults to this process."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a session is run; every field has a sound default."""

    sink: EventSink = field(default_factory=EventList)
    """Where the events go; by default they are kept in memory and dropped."""
    model: Any = None
    """The model of every agent, instead of the flow's and the agents' own."""
    models: Mapping[str, Any] = field(default_factory=dict)
    """Models by agent name; they come before all others."""
    clock: Clock = field(default_factory=SystemClock)
    session_id: str = ""
    """Defaults to a new one that sorts by time."""
    origin: Origin = field(default_factory=Origin)
    on_stop: Literal["result", "raise"] = "result"
    """`raise` makes a loop or too many transfers an exception, after it has been recorded."""
    ledger: EffectLedger = field(default_factory=MemoryLedger)
    """Where effects are noted, so that none is done twice."""
    ask: Callable[[Approval | Question], Decision | str | None] | None = None
    """Asked at once when a person is needed; without it, or with None as its answer, the session is
    suspended."""
    decisions: Sequence[Decision] = ()
    """Made since the session was suspended."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Given since the session was suspended, by the handoff that asked."""
    wait_for_answers: bool = False
    """A question of the last hop waits for the user; otherwise it is the request's result."""


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


def new_session_id(clock: Clock) -> str:
    """Return an id that sorts by time and is easy to tell apart: `20261130-094512-1f3c9a2b`."""
    at = datetime.fromtimestamp(clock.now(), UTC)
    return f"{at:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


class Session:
    """A conversation: one or more user turns, each a request with a pool of its own.

    Args:
        flow: Who may hand off to whom.
        recording: What it recorded so far, to go on with it.
        options: Fields of `RunOptions`.
    """

    def __init__(self, flow: Flow, recording: Recording | None = None, **options: Any) -> None:
        self._options = options_of = RunOptions(**options)
        clock = options_of.clock
        self.id = options_of.session_id or new_session_id(clock)
        tape = Tape.of(recording) if recording else None
        self.earlier_messages = list(tape.messages) if tape else []
        """What the user said before, where a recording is gone on with."""
        recorded = recording.events if recording else ()
        recorder = Recorder(options_of.sink, self.id, clock, flow.redaction, recorded)
        player = Player(recorder, tape)
        people = People(
            recorder=recorder,
            player=player,
            tape=tape or Tape(),
            now=clock.now,
            decisions={decision.approval_id: decision for decision in options_of.decisions},
            answers=options_of.answers,
            ask=options_of.ask,
        )
        self._parts = SessionParts(
            flow=flow,
            models=_models(flow, options_of),
            recorder=recorder,
            state=SessionState(recorder),
            player=player,
            people=people,
            ledger=options_of.ledger,
            raise_on_stop=options_of.on_stop == "raise",
            wait_for_answers=options_of.wait_for_answers,
        )
        self._turn, self._workers = 0, 0
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
        flow, recorder = self._parts.flow, self._parts.recorder
        if isinstance(message, HandoffRequest):
            check_request(flow, message)
        if self._turn == 0:
            self._start()
        self._turn += 1
        scope = Scope(turn=self._turn, request_id=f"{self.id}/t{self._turn}")
        self._receive(scope, message)
        delegations = self._delegations = Delegations(self._parts, self._workers)
        self._toolboxes.append(delegations.toolbox)
        agent = flow.agents_by_name[self._next_agent]
        try:
            self._end = await delegations.run_root(scope, message, agent, self._history)
        except Suspended:
            return self._suspended(scope, delegations)
        except asyncio.CancelledError:
            delegations.openings.cancel_all()
            self._end = None
            self.close()
            raise
        self._workers += delegations.gate.turn.workers
        result = self._end.result or HandoffResult(status=Status.ERROR, notes="no result")
        text = message if isinstance(message, str) else message.task
        self._history += [
            {"role": "user", "content": text},
            {"role": "assistant", "content": answer_text(result)},
        ]
        if delegations.last:
            self._next_agent = delegations.last.return_to or delegations.last.agent.name
            self._next_agent = flow.start if self._next_agent == HUMAN else self._next_agent
        recorder.commit()
        pool = delegations.pool
        return SessionResult(self.id, result, self._end.reason, pool.spent, pool.total)

    def close(self) -> None:
        """End the session; nothing is recorded of it afterwards."""
        delegations, recorder = self._delegations, self._parts.recorder
        if delegations is None:
            return
        scope = Scope(turn=self._turn, request_id=f"{self.id}/t{self._turn}")
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
                answer=delegations.openings.result_digest if result else None,
                pool_free=pool.free,
                pool_spent=pool.spent,
            ),
        )
        recorder.commit()

    def raise_if_stopped(self) -> None:
        """Raise what stopped the last request, for those who asked for it.

        Raises:
            SessionStopped: With `on_stop="raise"`, when a loop or too many transfers ended it.
        """
        stopped = self._delegations.stopped if self._delegations else None
        if self._parts.raise_on_stop and stopped:
            raise stopped

    def _start(self) -> None:
        parts, options = self._parts, self._options
        flow, origin = parts.flow, options.origin
        process = origin.process or this_process()
        if self._resumes:
            where = process._asdict()
            where["process_started"] = where.pop("started")
            parts.recorder.emit(Scope(), SessionResumed(**where))
        parts.recorder.emit(
            Scope(),
            SessionStarted(
                flow=flow.name,
                flow_source=origin.flow_source,
                flow_digest=parts.recorder.keep_clean(flow.snapshot),
                prompt_version=flow.prompt_version,
                models={agent.name: parts.models[agent.name].name for agent in flow.agents},
                offline=all(model.offline for model in parts.models.values()),
                seed=origin.seed,
                origin=origin.kind,
                metadata=dict(origin.metadata or {}),
                host=process.host,
                boot=process.boot,
                pid=process.pid,
                process_started=process.started,
                runtime_version=RUNTIME_VERSION,
                python_version=platform.python_version(),
            ),
        )

    def _receive(self, scope: Scope, message: str | HandoffRequest) -> None:
        flow, recorder = self._parts.flow, self._parts.recorder
        text = message if isinstance(message, str) else message.task
        recorder.emit(
            scope,
            UserMessageReceived(
                message=recorder.keep({"role": "user", "content": text}).digest,
                preview=self._preview(text),
                typed=isinstance(message, HandoffRequest),
                trace_id=digest(str(scope.request_id).encode(), b""),
                pool_tokens=flow.pool_tokens,
                finish_floor_tokens=flow.finish_floor_tokens,
                max_handoffs=flow.max_handoffs,
                max_edge_repeats=flow.max_edge_repeats,
                max_workers=flow.max_workers,
                depth=flow.depth,
                max_cost=flow.max_cost,
            ),
        )

    def _preview(self, text: str) -> str:
        # Redacted before it is cut: half a secret is recognised by nobody.
        beginning = text[: 10 * PREVIEW_CHARACTERS]
        return self._parts.recorder.redaction.clean_text(beginning)[:PREVIEW_CHARACTERS]

    def _suspended(self, scope: Scope, delegations: Delegations) -> SessionResult:
        people, recorder = self._parts.people, self._parts.recorder
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
            self._parts.recorder.emit(scope, warning)


def _models(flow: Flow, options: RunOptions) -> dict[str, Model]:
    for name in options.models:
        if name not in flow.agents_by_name:
            known = choices(flow.agents_by_name)
            mistake = f"a model is given for {name!r}, which is no agent of it; there are: {known}."
            raise FlowError(flow.name, [mistake])
    chosen = {}
    for agent in flow.agents:
        named = options.models.get(agent.name) or options.model or agent.model or flow.model
        chosen[agent.name] = as_model(named, flow.name, agent.name)
    chosen[HUMAN] = as_model(_nobody, flow.name, HUMAN)
    return chosen


def _nobody(call: Any) -> None:
    """Stand in for the model of the person that every flow may turn to."""
