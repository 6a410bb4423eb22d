"""A whole session: the user's message in, the tree of handoffs it causes, one answer out."""

import asyncio
import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from handoff_console.runtime.answers import answer_text
from handoff_console.runtime.asked import check_request
from handoff_console.runtime.canonical import digest
from handoff_console.runtime.clock import Clock, SystemClock
from handoff_console.runtime.contract import EndedBy, HandoffRequest, HandoffResult, Status
from handoff_console.runtime.delegation import Delegations
from handoff_console.runtime.errors import SessionStopped
from handoff_console.runtime.events import (
    EventList,
    EventSink,
    InputRequested,
    SessionClosed,
    SessionStarted,
    UserMessageReceived,
    WarningRaised,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End
from handoff_console.runtime.models import Model, as_model
from handoff_console.runtime.process import ProcessIdentity, this_process
from handoff_console.runtime.recorder import Recorder, Scope

PREVIEW_CHARACTERS = 200
RUNTIME_VERSION = "1"
"""Changes when the same flow and the same replies would be executed differently."""


@dataclass(frozen=True)
class SessionResult:
    """How a session came out."""

    session_id: str
    result: HandoffResult
    """Of the last hop of the root."""
    reason: str = ""
    """For `limit_reached`, which limit."""
    tokens_used: int = 0
    pool_tokens: int = 0

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


async def run(  # noqa: PLR0913 - each is a port of the runtime, and all have a default
    flow: Flow,
    message: str | HandoffRequest,
    *,
    sink: EventSink | None = None,
    model: Any = None,
    models: Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    session_id: str = "",
    origin: Origin | None = None,
    on_stop: Literal["result", "raise"] = "result",
) -> SessionResult:
    """Run one session to its end and record it.

    Args:
        flow: Who may hand off to whom.
        message: What the user says; or a typed request, which the flow's first agent then gets as
            any worker would.
        sink: Where the events go; without one they are kept in memory and dropped.
        model: The model of every agent, instead of the flow's and the agents' own.
        models: Models by agent name; they come before all others.
        clock: Where the time is read; the machine's by default.
        session_id: Defaults to a new one that sorts by time.
        origin: What is recorded about where the session comes from.
        on_stop: `raise` makes a loop or too many transfers an exception, after the session has been
            closed and recorded; the default makes it a result.

    Raises:
        FlowError: An agent has no model, before anything is recorded.
        RequestError: The typed request does not fit the flow, before anything is recorded.
        SessionStopped: Only with `on_stop="raise"`.
    """
    if isinstance(message, HandoffRequest):
        check_request(flow, message)
    clock = clock or SystemClock()
    chosen = {
        agent.name: as_model(
            (models or {}).get(agent.name) or model or agent.model or flow.model,
            flow.name,
            agent.name,
        )
        for agent in flow.agents
    }
    session = _Session(
        flow,
        sink or EventList(),
        chosen,
        clock,
        session_id or new_session_id(clock),
        origin or Origin(),
        raise_on_stop=on_stop == "raise",
    )
    return await session.run(message)


def new_session_id(clock: Clock) -> str:
    """Return an id that sorts by time and is easy to tell apart: `20261130-094512-k3f9qa`."""
    at = datetime.fromtimestamp(clock.now(), UTC)
    return f"{at:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


class _Session:
    def __init__(
        self,
        flow: Flow,
        sink: EventSink,
        models: Mapping[str, Model],
        clock: Clock,
        session_id: str,
        origin: Origin,
        *,
        raise_on_stop: bool,
    ) -> None:
        self._flow, self._models, self._origin = flow, models, origin
        self._raise_on_stop = raise_on_stop
        self.id = session_id
        self._recorder = Recorder(sink, session_id, clock, flow.redaction)
        self._scope = Scope()

    async def run(self, message: str | HandoffRequest) -> SessionResult:
        delegations = Delegations(
            self._flow, self._models, self._recorder, raise_on_stop=self._raise_on_stop
        )
        self._start()
        turn = 1
        self._scope = Scope(turn=turn, request_id=f"{self.id}/t{turn}")
        self._receive(message)
        try:
            end = await delegations.run_root(self._scope, message)
        except asyncio.CancelledError:
            delegations.cancel_open()
            self._close(delegations, None)
            raise
        self._close(delegations, end)
        if self._raise_on_stop and isinstance(delegations.stopped, SessionStopped):
            raise delegations.stopped
        result = end.result or HandoffResult(status=Status.ERROR, notes="no result")
        return SessionResult(
            self.id, result, end.reason, delegations.pool.spent, delegations.pool.total
        )

    def _start(self) -> None:
        flow, origin = self._flow, self._origin
        process = origin.process or this_process()
        self._recorder.emit(
            self._scope,
            SessionStarted(
                flow=flow.name,
                flow_source=origin.flow_source,
                flow_digest=self._recorder.keep_clean(flow.snapshot),
                prompt_version=flow.prompt_version,
                models={name: model.name for name, model in self._models.items()},
                offline=all(model.offline for model in self._models.values()),
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

    def _receive(self, message: str | HandoffRequest) -> None:
        flow = self._flow
        text = message if isinstance(message, str) else message.task
        body = self._recorder.keep({"role": "user", "content": text})
        self._recorder.emit(
            self._scope,
            UserMessageReceived(
                message=body.digest,
                preview=self._preview(text),
                trace_id=digest(str(self._scope.request_id).encode(), b""),
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
        return self._recorder.redaction.clean_text(beginning)[:PREVIEW_CHARACTERS]

    def _close(self, delegations: Delegations, end: End | None) -> None:
        result = end.result if end else None
        if result and result.status is Status.NEEDS_INPUT:
            question = result.notes or answer_text(result)
            self._recorder.emit(self._scope, InputRequested(question=question))
        for name in delegations.toolbox.running.values():
            self._recorder.emit(
                self._scope,
                WarningRaised(
                    code="tool_left_running",
                    text=f"the tool {name!r} had not returned when the session closed; its "
                    "result, should it come, is lost",
                ),
            )
        delegations.toolbox.closed = True
        pool = delegations.pool
        self._recorder.emit(
            self._scope,
            SessionClosed(
                status=result.status if result else None,
                cancelled=end is None or end.ended_by is EndedBy.CANCELLED,
                reason=end.reason if end else "",
                answer=delegations.result_digest if result else None,
                pool_free=pool.free,
                pool_spent=pool.spent,
            ),
        )
        self._recorder.commit()
