"""Run one handoff of a recorded session again: verify it, change one thing, continue from it.

The same engine as ever, run against recorded answers. A re-run is a session of its own that names
what it repeats; the original is only read. It can narrow what the recording allowed and widens it
only by an explicit edit, which is recorded.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.as_recorded import as_recorded
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.contract import (
    ContextPolicy,
    HandoffKind,
    HandoffRequest,
    HandoffResult,
)
from handoff_console.runtime.delegation import Delegations
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import ReplayDiverged, RequestError
from handoff_console.runtime.events import Recording, SessionStarted, UserMessageReceived
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End
from handoff_console.runtime.models import as_model
from handoff_console.runtime.options import Origin, SessionResult, takes_options
from handoff_console.runtime.people import Approval
from handoff_console.runtime.recorded import (
    RecordedAgain,
    agent_of,
    find_handoff,
    recorded_result,
)
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.rerun_player import Mode, Repeated, RerunPlayer
from handoff_console.runtime.rerun_resumed import ResumedRerunPlayer
from handoff_console.runtime.session import Session
from handoff_console.runtime.tape import Tape
from handoff_console.runtime.taping import read_tape


@dataclass(frozen=True)
class RerunResult:
    """How a re-run came out, and how much of it was real."""

    session: SessionResult
    mode: Mode
    recorded: HandoffResult | None
    """What the recording has as the result; None when it has none."""
    same_result: bool
    """Whether the result is the recorded one, to the byte; where the recorded handoff waits for
    people, whether this one waits for the same."""
    live_model_calls: int
    live_tool_calls: int
    replayed_answers: int
    """Of models and tools together."""
    saved_tokens: int
    first_divergence: dict[str, str] | None
    """Where it first asked for something else: the place, and the digests of both inputs."""


@takes_options
async def rerun(
    flow: Flow,
    recording: Recording,
    handoff_id: str,
    *,
    mode: Mode = Mode.VERIFY,
    edits: Edits | None = None,
    graft: Recording | None = None,
    so_far: Recording | None = None,
    **options: Any,
) -> RerunResult:
    """Run a handoff of a recorded session again, in a session of its own.

    Args:
        flow: The flow, as the user named it; never taken from the recording.
        recording: The session.
        handoff_id: Which of its handoffs, such as `h3`.
        mode: How much is real.
        edits: What is changed about it.
        graft: For `continue`: an earlier re-run of the same handoff, whose answers are taken over.
        so_far: This very re-run until it was suspended or interrupted, to go on with it.
        options: Fields of `RunOptions`.

    Raises:
        RequestError: There is no such handoff, it never began, or an edit is wrong; nothing ran.
        FlowError: An agent of the flow has no model.
    """
    ordered = _ordered(flow, recording, handoff_id, mode, edits or Edits())
    tape = ordered.tape.grafted(ordered.path, read_tape(graft)) if graft else ordered.tape
    players: list[RerunPlayer] = []

    def player_of(recorder: Recorder) -> RerunPlayer:
        repeated = ordered.repeated(tape, graft)
        players.append(
            ResumedRerunPlayer(recorder, repeated, so_far)
            if so_far
            else RerunPlayer(recorder, repeated)
        )
        return players[0]

    options["origin"] = ordered.origin(recording.session_id, options.get("origin", Origin()))
    if so_far:
        options["session_id"] = so_far.session_id
    elif mode is Mode.CONTINUE:
        options.setdefault("state", tape.given)
    request_ids = _request_ids(recording) if mode is Mode.CONTINUE else ()
    session = Session(ordered.flow, so_far, player_of=player_of, request_ids=request_ids, **options)
    if mode is Mode.CONTINUE:
        result = await _whole(session, tape)
    else:
        result = await _alone(session, ordered)
    return _came_out(ordered, session, result, players[0])


class _Ordered(NamedTuple):
    """A re-run that has been checked and can begin."""

    flow: Flow
    """With the prompts that were recorded."""
    recorded: RecordedAgain
    agent: Agent
    request: HandoffRequest
    """As it is to be sent."""
    tape: Tape
    mode: Mode
    edits: Edits
    ended: HandoffResult | None
    """The recorded result of what is run again."""

    @property
    def path(self) -> str:
        return self.recorded.event.path or ""

    def origin(self, session_id: str, given: Origin) -> Origin:
        """Return where the re-run comes from, besides what the caller says of it."""
        return replace(
            given,
            kind="rerun",
            rerun_of=session_id,
            rerun_handoff=self.recorded.event.handoff_id or "",
            rerun_mode=self.mode.value,
            edits=self.edits.described() or None,
        )

    def repeated(self, tape: Tape, graft: Recording | None) -> Repeated:
        """Return what its player has to know."""
        model = self.edits.model
        is_whole = self.mode is Mode.CONTINUE
        return Repeated(
            tape,
            self.mode,
            self.path,
            self.edits,
            since_seconds=0.0 if is_whole else self.recorded.event.elapsed_seconds,
            edited=None if model is None else as_model(model, self.flow.name, self.agent.name),
            packet=self.recorded.packet,
            is_answered=graft is not None and self._has_its_model(graft),
        )

    def _has_its_model(self, graft: Recording) -> bool:
        """Say whether a re-run chose the same model, with the same settings."""
        started = graft.events[0].payload
        changed = isinstance(started, SessionStarted) and started.edits
        chosen = (graft.body(changed) or {}).get("model") if changed else None
        return bool(chosen == self.edits.described().get("model"))


def _ordered(
    flow: Flow, recording: Recording, handoff_id: str, mode: Mode, edits: Edits
) -> _Ordered:
    recorded = find_handoff(recording, handoff_id)
    as_was = as_recorded(flow, recording)
    agent = agent_of(as_was, recorded)
    request = edits.check(as_was, agent, recorded.request, recorded.packet)
    tape = read_tape(recording)
    place = (recorded.event.path or "", recorded.event.attempt)
    if mode is Mode.CONTINUE:
        place = (f"t{len(tape.messages)}", 1)  # the whole session's result
    ended = recorded_result(recording, tape, *place)
    return _Ordered(as_was, recorded, agent, request, tape, mode, edits, ended)


def _came_out(
    ordered: _Ordered, session: Session, result: SessionResult, player: RerunPlayer
) -> RerunResult:
    if ordered.ended:
        recorder = session.parts.recorder
        same = session.result_digest == recorder.hash_of(dict(ordered.ended))
    else:
        same = bool(result.waiting_for) and _waits_for(result) == ordered.recorded.waits_for
    return RerunResult(
        session=result,
        mode=ordered.mode,
        recorded=ordered.ended,
        same_result=same,
        live_model_calls=player.live_models,
        live_tool_calls=player.live_tools,
        replayed_answers=player.played,
        saved_tokens=player.saved_tokens,
        first_divergence=player.first_divergence,
    )


def _waits_for(result: SessionResult) -> set[str]:
    return {
        one.approval_id if isinstance(one, Approval) else one.handoff_id
        for one in result.waiting_for
    }


def _request_ids(recording: Recording) -> list[str]:
    """Return the request ids of a recording's turns, in order."""
    return [
        event.request_id or ""
        for event in recording.events
        if isinstance(event.payload, UserMessageReceived)
    ]


async def _whole(session: Session, tape: Tape) -> SessionResult:
    result = None
    for message in tape.messages:
        result = await session.say(message)
        if result.waiting_for:
            return result
    session.close()
    if result is None:
        raise RequestError("The recording has no message of a user; there is nothing to run.")
    return result


async def _alone(session: Session, ordered: _Ordered) -> SessionResult:
    recorded, edits, request = ordered.recorded, ordered.edits, ordered.request
    opened, event = recorded.opened, recorded.event
    scope = Scope(turn=event.turn, request_id=event.request_id)
    around = recorded.surroundings
    bound_seconds = math.inf if "deadline_seconds" in edits.limits else around.bound_seconds

    async def work(delegations: Delegations) -> End:
        gate = delegations.gate
        around.restore(gate.turn)
        gate.session_workers = around.earlier_workers
        for key, value in around.state:
            session.parts.state.set(scope, key, value)
        handoff = gate.places.prepared(
            gate.places.scope(scope, event.path or "", parent_id=None, attempt=event.attempt),
            opened.source,
            ordered.agent,
            opened.via,
            request,
            bound_at=session.parts.recorder.timeline.elapsed() + bound_seconds,
            depth=opened.depth,
            depth_left=opened.depth_left,
            hop=opened.hop,
            ancestors=around.ancestors,
            continues=opened.continues,
            follows=opened.follows,
            packet=recorded.packet_for(edits),
            policy=ContextPolicy(opened.context_policy),
            withheld=opened.withheld,
            passed_on=recorded.messages_for(ordered.flow, request, edits),
        )
        has_grant = opened.grant_tokens is not None
        return await delegations.run_alone(handoff, "run again", has_grant=has_grant)

    pool = _private_pool(ordered)
    try:
        result = await session.repeat(scope, pool, recorded.message, work)
    except ReplayDiverged:
        session.close()
        raise
    if not result.waiting_for:
        session.close()
    return result


def _private_pool(ordered: _Ordered) -> Pool:
    """Return a pool of the re-run's own: the recorded grant, and what its transfers need after it.

    A root spends from the whole pool, as it did.
    """
    recorded = ordered.recorded
    if recorded.opened.grant_tokens is None:
        return Pool(recorded.pool_tokens, recorded.finish_floor_tokens)
    onward = [
        ordered.flow.limits_of(edge).max_tokens
        for edge in ordered.agent.edges
        if edge.via is HandoffKind.TRANSFER
    ]
    onward_tokens = max(recorded.onward_tokens, *onward, 0)
    return Pool(ordered.request.limits.max_tokens + onward_tokens)
