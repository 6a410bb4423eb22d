"""Run one handoff of a recorded session again: verify it, change one thing, continue from it.

The same engine as ever, run against recorded answers. A re-run is a session of its own that names
what it repeats; the original is only read. It can narrow what the recording allowed and widens it
only by an explicit edit, which is recorded.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from handoff_console.runtime.agents import HUMAN, Agent
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.contract import (
    ContextPolicy,
    HandoffKind,
    HandoffRequest,
    HandoffResult,
)
from handoff_console.runtime.delegation import Delegations
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import ReplayDiverged, RequestError, choices
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End
from handoff_console.runtime.models import as_model
from handoff_console.runtime.options import Origin, SessionResult
from handoff_console.runtime.people import Approval
from handoff_console.runtime.recorded import (
    RecordedAgain,
    find_handoff,
    recorded_result,
    with_recorded_prompts,
)
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.rerun_player import Mode, Repeated, RerunPlayer
from handoff_console.runtime.rerun_resumed import ResumedRerunPlayer
from handoff_console.runtime.session import Session
from handoff_console.runtime.tape import Recording, Tape


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
    edits = edits or Edits()
    recorded = find_handoff(recording, handoff_id)
    path = recorded.event.path or ""
    as_was = with_recorded_prompts(flow, recording)
    if recorded.opened.target not in {HUMAN, *as_was.agents_by_name}:
        raise RequestError(
            f"The flow {flow.name!r} has no agent {recorded.opened.target!r} any more; it has: "
            f"{choices(as_was.agents_by_name)}."
        )
    agent = as_was.agent(recorded.opened.target)
    request = edits.check(as_was, agent, recorded.request)
    tape = Tape.of(recording)
    place = (path, recorded.event.attempt)
    if mode is Mode.CONTINUE:
        place = (f"t{len(tape.messages)}", 1)  # the whole session's result
    ended = recorded_result(recording, tape, *place)
    if graft:
        tape = tape.grafted(path, Tape.of(graft))
    edited = as_model(edits.model, flow.name, agent.name) if edits.model is not None else None
    since = 0.0 if mode is Mode.CONTINUE else recorded.event.elapsed_seconds
    players: list[RerunPlayer] = []

    def player_of(recorder: Recorder) -> RerunPlayer:
        repeated = Repeated(tape, mode, path, edits, since, edited)
        players.append(
            ResumedRerunPlayer(recorder, repeated, so_far)
            if so_far
            else RerunPlayer(recorder, repeated)
        )
        return players[0]

    origin = replace(
        options.pop("origin", Origin()),
        kind="rerun",
        rerun_of=recording.session_id,
        rerun_handoff=handoff_id,
        rerun_mode=mode.value,
        edits=edits.described() or None,
    )
    if so_far:
        options["session_id"] = so_far.session_id
    session = Session(as_was, so_far, player_of=player_of, origin=origin, **options)
    if mode is Mode.CONTINUE:
        result = await _whole(session, tape)
    else:
        result = await _alone(session, recorded, edits, agent, request)
    player = players[0]
    if ended:
        recorder = session.parts.recorder
        same = session.result_digest == recorder.hash_of(ended.model_dump(mode="json"))
    else:
        same = bool(result.waiting_for) and _waits_for(result) == recorded.waits_for
    return RerunResult(
        session=result,
        mode=mode,
        recorded=ended,
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


async def _alone(
    session: Session, recorded: RecordedAgain, edits: Edits, agent: Agent, request: HandoffRequest
) -> SessionResult:
    opened, event = recorded.opened, recorded.event
    flow = session.parts.flow
    scope = Scope(turn=event.turn, request_id=event.request_id)
    around = recorded.surroundings
    bound_seconds = math.inf if "deadline_seconds" in edits.limits else around.bound_seconds

    async def work(delegations: Delegations) -> End:
        gate = delegations.gate
        around.restore(gate.turn)
        gate.session_workers = around.earlier_workers
        for key, value in around.state:
            session.parts.state.set(scope, key, value)
        handoff = gate.prepared(
            gate.scope(scope, event.path or "", parent_id=None, attempt=event.attempt),
            opened.source,
            agent,
            opened.via,
            request,
            bound_at=session.parts.recorder.timeline.elapsed() + bound_seconds,
            depth=opened.depth,
            depth_left=opened.depth_left,
            hop=opened.hop,
            ancestors=around.ancestors,
            continues=opened.continues,
            follows=opened.follows,
            packet=recorded.packet,
            policy=ContextPolicy(opened.context_policy),
            withheld=opened.withheld,
            passed_on=recorded.messages_for(flow, request, edits),
        )
        has_grant = opened.grant_tokens is not None
        return await delegations.run_alone(handoff, "run again", has_grant=has_grant)

    pool = _private_pool(flow, recorded, agent, request)
    try:
        result = await session.repeat(scope, pool, recorded.message, work)
    except ReplayDiverged:
        session.close()
        raise
    if not result.waiting_for:
        session.close()
    return result


def _private_pool(
    flow: Flow, recorded: RecordedAgain, agent: Agent, request: HandoffRequest
) -> Pool:
    """Return a pool of the re-run's own: the recorded grant, and what its transfers need after it.

    A root spends from the whole pool, as it did.
    """
    if recorded.opened.grant_tokens is None:
        return Pool(recorded.pool_tokens, recorded.finish_floor_tokens)
    onward = [
        flow.limits_of(edge).max_tokens for edge in agent.edges if edge.via is HandoffKind.TRANSFER
    ]
    onward_tokens = max(recorded.onward_tokens, *onward, 0)
    return Pool(request.limits.max_tokens + onward_tokens)
