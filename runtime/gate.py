"""The gate: every handoff that an agent asks for is judged here, and refused or prepared.

Checks, in this order: target, path (depth, loops, counts), request, pool. What passes is a handoff
that can be opened; what does not is a sentence that the model reads.
"""

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from handoff_console.runtime.agents import Edge
from handoff_console.runtime.asked import Asked, read_asked
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.context import request_message, tool_message
from handoff_console.runtime.contract import HandoffKind, HandoffRequest, ToolCall
from handoff_console.runtime.errors import SessionStopped
from handoff_console.runtime.events import CycleStopped, HandoffRejected, HandoffRequested
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.guards import (
    Refusal,
    TurnCounters,
    as_exception,
    check_path,
    check_trust,
    find_edge,
)
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.models import Model
from handoff_console.runtime.packing import need_to_know, pack
from handoff_console.runtime.placing import Places, hop_path
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.tool import problems
from handoff_console.runtime.worker import Refused


class _Asking(NamedTuple):
    """Who asks for what: the asking handoff, its tool call, and the scope of the handoff to be."""

    by: OpenHandoff
    call: ToolCall
    number: int
    """Which of the reply's handoffs, from 0."""
    scope: Scope
    via: HandoffKind
    asked: Asked


class Gate:
    """Judges the handoffs of one request."""

    def __init__(
        self,
        flow: Flow,
        models: Mapping[str, Model],
        recorder: Recorder,
        pool: Pool,
        state: SessionState,
        player: Player,
    ) -> None:
        self._flow, self._recorder = flow, recorder
        self._pool, self._state, self._player = pool, state, player
        self.places = Places(flow, models, recorder, player)
        self.turn = TurnCounters()
        self.session_workers = 0
        """Calls of earlier turns."""
        self.stopped: SessionStopped | None = None
        """The first stop, for those who want it raised."""

    def call(self, by: OpenHandoff, call: ToolCall, index: int) -> OpenHandoff | Refused:
        """Judge a call."""
        again = "#2" if by.scope.attempt > 1 else ""  # what a second attempt calls is its own
        path = f"{by.scope.path}{again}/{by.steps}.{index}"
        scope = self.places.scope(by.scope, path, parent_id=by.id)
        asking = _Asking(by, call, index, scope, HandoffKind.CALL, read_asked(call))
        return self._judge(asking)

    def transfer(
        self, by: OpenHandoff, call: ToolCall, index: int, *, of: int, promised: int
    ) -> OpenHandoff | Refused:
        """Judge a transfer.

        Args:
            by: The handoff that passes control on.
            call: Its tool call.
            index: Which of the reply's handoffs, from 0.
            of: How many different transfers the reply asks for; several are a fork.
            promised: Tokens that transfers of the same reply will reserve first.
        """
        path = hop_path(by, f".{index}" if of > 1 else "")
        scope = self.places.scope(by.scope, path, parent_id=by.scope.parent_id)
        asking = _Asking(by, call, index, scope, HandoffKind.TRANSFER, read_asked(call))
        return self._judge(asking, promised=promised)

    def has_tokens(self, by: OpenHandoff, tokens: int) -> bool:
        """Say whether a hop after a handoff that has closed could get its grant."""
        return tokens <= self._pool.available(by.scope.parent_id, keep_floor=False)

    def requested(self, handoff: OpenHandoff, reason: str, **place: Any) -> None:
        """Record that a handoff was asked for. `place` says where in the asking handoff."""
        request = self._recorder.keep_text(handoff.request.body())
        handoff.request_digest = request.digest
        self._recorder.emit(
            handoff.scope,
            HandoffRequested(
                source=handoff.source,
                target=handoff.agent.name,
                via=handoff.via,
                reason=reason,
                request=request.digest,
                inputs_hash=handoff.inputs_hash,
                continues=handoff.continues,
                follows=handoff.follows,
                **place,
            ),
        )

    def _judge(self, asking: _Asking, promised: int = 0) -> OpenHandoff | Refused:
        by, call = asking.by, asking.call
        edge = find_edge(by.agent, call["name"])
        if isinstance(edge, Refusal):
            return self._refuse(asking, edge)
        if refusal := self._check(by, edge):
            return self._refuse(asking, refusal)
        request = self._request(asking, edge)
        if isinstance(request, Refusal):
            return self._refuse(asking, request)
        request = self._player.edited_request(asking.scope.path or "", request)
        if refusal := check_trust(by.agent, self._flow.agent(edge.target), request):
            return self._refuse(asking, refusal)
        handoff = self._placed(asking, edge, request)
        if shortage := self._shortage(handoff, by, promised):
            return self._refuse(asking, shortage)
        place = {"call_id": call["id"], "step": by.steps, "index": asking.number}
        self.requested(handoff, asking.asked.reason, **place)
        return handoff

    def _placed(self, asking: _Asking, edge: Edge, request: HandoffRequest) -> OpenHandoff:
        by, target = asking.by, self._flow.agent(edge.target)
        source = by.agent.name
        if asking.via is HandoffKind.CALL:
            request, withheld = need_to_know(self._flow.redaction, edge, request)
            return self.places.prepared(
                asking.scope,
                source,
                target,
                asking.via,
                request,
                bound_at=by.deadline_at,
                depth=by.depth + 1,
                depth_left=by.depth_left - 1,
                ancestors=(*by.ancestors, source),
                withheld=withheld,
                passed_on=[request_message(self._flow, request)],
            )
        edited = functools.partial(self._player.edited_packet, asking.scope.path or "")
        packed = pack(self._flow, self._state, by, edge, request, asking.asked.summary, edited)
        return self.places.prepared(
            asking.scope,
            source,
            target,
            asking.via,
            packed.request,
            bound_at=by.bound_at,
            depth=by.depth,
            depth_left=by.depth_left,
            ancestors=by.ancestors,
            hop=by.hop + 1,
            continues=by.id,
            packet=packed.packet,
            withheld=packed.withheld,
            policy=edge.context,
            confirmed=packed.confirmed,
            passed_on=packed.messages,
            return_to=edge.return_to,
        )

    def _check(self, by: OpenHandoff, edge: Edge) -> Refusal | None:
        return check_path(
            self._flow,
            edge,
            by.agent.name,
            depth_left=by.depth_left,
            ancestors=(*by.ancestors, by.agent.name),
            turn=self.turn,
            session_workers=self.session_workers + self.turn.workers,
        )

    def _request(self, asking: _Asking, edge: Edge) -> HandoffRequest | Refusal:
        asked, target = asking.asked, self._flow.agent(edge.target)
        who = f"{asking.by.agent.name!r} asked {edge.target!r}"
        if "malformed" in asking.call:
            return Refusal("request", f"{who} with arguments that are no JSON object.")
        schema = asking.by.request.output_schema
        if edge.via is HandoffKind.CALL:
            schema = edge.output_schema or target.output_schema
        tools = tuple(tool.name for tool in target.tools)
        try:
            return HandoffRequest(
                task=asked.task,
                inputs=asked.validated(edge.payload),
                allowed_tools=tools if edge.allowed_tools is None else edge.allowed_tools,
                limits=self._flow.limits_of(edge),
                output_schema=schema,
            )
        except ValidationError as error:
            return Refusal("request", f"{who} with an invalid request: {problems(error)}.")
        except ValueError as error:
            return Refusal("request", f"{who} with an invalid request: {error}.")

    def _shortage(self, handoff: OpenHandoff, by: OpenHandoff, promised: int) -> Refusal | None:
        is_call = handoff.via is HandoffKind.CALL
        available = self._pool.available(
            handoff.scope.parent_id, keep_floor=is_call, returning="" if is_call else by.id
        )
        available -= promised
        tokens = handoff.limits.max_tokens
        if tokens <= available:
            return None
        return Refusal(
            "pool",
            f"limit_reached: {tokens} tokens cannot be reserved for {handoff.agent.name!r}; "
            f"{max(available, 0)} can. Answer with what you have.",
        )

    def _refuse(self, asking: _Asking, refusal: Refusal) -> Refused:
        by, call = asking.by, asking.call
        target = call["name"].partition("_to_")[2]
        self._recorder.emit(
            asking.scope,
            HandoffRequested(
                source=by.agent.name,
                target=target,
                via=asking.via,
                reason=asking.asked.reason,
                call_id=call["id"],
                step=by.steps,
                index=asking.number,
            ),
        )
        if refusal.rule == "cycle":
            repeats = self._flow.max_edge_repeats
            stop = CycleStopped(transitions=refusal.transitions, max_edge_repeats=repeats)
            self._recorder.emit(asking.scope, stop)
        self._recorder.emit(
            asking.scope,
            HandoffRejected(
                target=target, rule=refusal.rule, reason=refusal.reason, choices=refusal.choices
            ),
        )
        if refusal.stops and self.stopped is None:
            self.stopped = as_exception(refusal, self._flow, by.agent.name, target)
        shown = {"refused": refusal.rule, "reason": refusal.reason}
        message = tool_message(call["id"], call["name"], shown, fence=False)
        return Refused(message, refusal.rule if refusal.stops else "")
