"""Plays a tape to the engine, and lets it go live only where the tape has nothing left to say."""

import asyncio
from bisect import bisect_left
from itertools import chain
from typing import Any

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.contract import HandoffRequest, Message, Packet
from handoff_console.runtime.errors import (
    FunctionFailed,
    ModelError,
    ReplayDiverged,
    TransientModelError,
)
from handoff_console.runtime.events import ApprovalDecided
from handoff_console.runtime.events import ReplayDiverged as DivergedEvent
from handoff_console.runtime.models import Model, ModelReply
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.tape import (
    BegunAct,
    RecordedHandoff,
    RecordedReply,
    RecordedResult,
    Tape,
    last_id,
)
from handoff_console.runtime.tool import Tool
from handoff_console.runtime.tools import LATE

IDLE_TURNS = 50
"""Loop turns without a played answer after which nothing can be played any more. A branch needs at
most a few from one answer to its next question."""


_BLANK = Tape()
"""Of sessions that are run for the first time; nothing is ever put on it."""

LOST = "the process ended before the reply came"
"""The error of a model call that is asked again after a resume."""


class LostReply(Exception):
    """A recorded model call has no answer; it is charged as estimated and asked again."""


def as_played(recorded: RecordedReply) -> Any:
    """Return what a recorded model call came back with, or `LATE`.

    Raises:
        LostReply: The record says that its answer was lost.
        ModelError: The model failed; `TransientModelError` where it was asked again.
    """
    if recorded.error == LOST:
        raise LostReply
    if recorded.late:
        return LATE
    if recorded.raised_at:
        raise FunctionFailed(recorded.error, recorded.raised_at)
    if recorded.error:
        kind = TransientModelError if recorded.transient else ModelError
        raise kind(recorded.error, billed=recorded.usage.tokens > 0)
    reply = recorded.reply or {"role": "assistant", "content": ""}
    return ModelReply(
        text=reply["content"],
        tool_calls=tuple(reply.get("tool_calls", ())),
        usage=recorded.usage,
        finish_reason=recorded.finish_reason,
    )


class Player:
    """Gives recorded answers; without a tape it has none, and everything is live."""

    def __init__(self, recorder: Recorder, tape: Tape | None = None) -> None:
        self._recorder = recorder
        self._live = tape is None
        self.played = 0
        """Answers taken from the tape so far."""
        self.asked_live = 0
        """Models and tools that were really asked."""
        self._last_id = self.last_handoff_number = 0
        self._moments: list[float] = []
        """Of the answers that are still to be played."""
        self._tape = _BLANK
        if tape is not None:
            self._insert(tape)

    def _insert(self, tape: Tape) -> None:
        self._tape = tape
        self._last_id = self.last_handoff_number = last_id(
            chain.from_iterable(self._tape.handoff_ids.values())
        )
        replies = chain.from_iterable(self._tape.replies.values())
        self._moments = sorted(
            [reply.at_seconds for reply in replies]
            + [result.at_seconds for result in self._tape.results.values()]
        )

    def handoff_id(self, path: str, attempt: int) -> str:
        """Return the id of a handoff: as recorded, or the next one."""
        known = self._tape.handoff_ids.get((path, attempt))
        if known:
            return known.popleft()
        self._last_id += 1
        return f"h{self._last_id}"

    def reply(self, scope: Scope, step: int, context: str) -> RecordedReply | None:
        """Return the recorded answer to a model call; None when there is none.

        Raises:
            ReplayDiverged: The record answers another question there.
        """
        waiting = self._tape.replies.get((scope.path, scope.attempt, step))
        if not waiting:
            return None
        found = waiting.popleft()
        self._same(scope, f"step {step}", found.context, context)
        return found

    def was_lost(self, scope: Scope, step: int) -> bool:
        """Say, once, that the record has this model call without an answer."""
        place = (scope.path, scope.attempt, step)
        lost = place in self._tape.unanswered
        self._tape.unanswered.discard(place)
        return lost

    def result(
        self,
        scope: Scope,
        step: int,
        index: int,
        tool: Tool,  # noqa: ARG002 - a re-run decides by what the tool does
        arguments: str,
    ) -> RecordedResult | None:
        """Return the recorded answer to a tool call; None when the tool is to run.

        Raises:
            ReplayDiverged: The record answers another call there.
        """
        found = self._tape.results.get((scope.path, scope.attempt, step, index))
        if found:
            self._same(scope, f"step {step}, call {index}", found.arguments, arguments)
        return found

    def begun(self, scope: Scope, step: int, index: int) -> BegunAct | None:
        """Return the tool call that the record has the beginning of, and no end.

        Its key was made from what it was really called with, which the record may hold redacted.
        """
        return self._tape.running.get((scope.path, scope.attempt, step, index))

    def answer(self, handoff_id: str) -> Message | None:
        """Return what a person answered to a handoff's question, if the record has it."""
        waiting = self._tape.answers.get(handoff_id)
        return waiting.popleft() if waiting else None

    def child(self, scope: Scope, request: str) -> RecordedHandoff | None:  # noqa: ARG002
        """Return the recorded end of a whole call, where it is not to be run again."""
        return None

    def edited_request(self, path: str, request: HandoffRequest) -> HandoffRequest:  # noqa: ARG002
        """Return a request as it is to be sent."""
        return request

    def edited_packet(self, path: str, packet: Packet) -> Packet:  # noqa: ARG002
        """Return a packet as it is to go along."""
        return packet

    def edited_agent(self, path: str, agent: Agent) -> Agent:  # noqa: ARG002
        """Return an agent as it is to work at a place in the tree."""
        return agent

    def edited_model(self, path: str, model: Model) -> Model:  # noqa: ARG002
        """Return the model that is to be asked at a place in the tree."""
        return model

    def asks_before(self, scope: Scope, tool: Tool, arguments: str) -> bool:  # noqa: ARG002
        """Say whether a person has to approve a tool call with these arguments (a digest)."""
        return tool.needs_approval

    def is_denied(self, scope: Scope, tool: Tool) -> bool:  # noqa: ARG002
        """Say whether a person is to have said no, whatever is recorded."""
        return False

    def decision(
        self,
        approval_id: str,
        shown: str,  # noqa: ARG002
    ) -> tuple[ApprovalDecided, dict[str, Any]] | None:
        """Return what was decided about an act, and the arguments, if the record has it."""
        return self._tape.decisions.get(approval_id)

    def requested_at(self, approval_id: str) -> float | None:
        """Return when an approval was asked for, in seconds since 1970, if that is recorded."""
        return self._tape.requested_at.get(approval_id)

    def namespace(self, tool: Tool) -> str:  # noqa: ARG002
        """Return what sets the effects of this run apart from others; empty does not."""
        return ""

    async def step_played(self, at_seconds: float, seconds: float) -> None:  # noqa: ARG002
        """Give a recorded answer: when it came, and how long it took.

        It waits for what came earlier in other branches. Time only goes forward: a branch that ran
        ahead would take it from the others, and their deadlines would come out differently. What
        nobody asks for again is not waited for.
        """
        idle, seen = 0, self.played
        while idle < IDLE_TURNS and self._moments and self._moments[0] < at_seconds:
            await asyncio.sleep(0)
            idle = idle + 1 if seen == self.played else 0
            seen = self.played
        del self._moments[: bisect_left(self._moments, at_seconds) + 1]
        self.played += 1
        self._recorder.timeline.play_to(at_seconds)

    async def pause(self, seconds: float) -> None:
        """Wait, unless this is played: the recording has the wait in its times."""
        if self._live:
            await asyncio.sleep(seconds)

    async def go_live(self, *, counts: bool = True) -> None:
        """Wait until nothing more can be played, then let time run.

        Events carry what was true afterwards, so nothing new may be recorded while another branch
        still has recorded answers to come to.

        Args:
            counts: A model or a tool is really asked then.
        """
        if not self._live:
            idle, seen = 0, self.played
            while idle < IDLE_TURNS and not self._live:
                await asyncio.sleep(0)
                idle = idle + 1 if seen == self.played else 0
                seen = self.played
            if not self._live:
                self._live = True
                self._recorder.go_live()
        self.asked_live += counts

    def _same(self, scope: Scope, where: str, recorded: str, asked: str) -> None:
        if recorded == asked:
            return
        place = f"{scope.path} {where}"
        self._recorder.emit(scope, DivergedEvent(place=place, recorded=recorded, asked=asked))
        raise ReplayDiverged(place)
