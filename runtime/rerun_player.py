"""What answers in a re-run: the recording, a model, a tool, or nobody. One rule a mode."""

from enum import StrEnum
from typing import Any, NamedTuple

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.context import tool_message
from handoff_console.runtime.contract import (
    Effect,
    HandoffRequest,
    HandoffResult,
    Packet,
    Status,
)
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import ReplayDiverged
from handoff_console.runtime.events import ApprovalDecided, is_within
from handoff_console.runtime.events import ReplayDiverged as DivergedEvent
from handoff_console.runtime.models import Model
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.tape import (
    BegunAct,
    RecordedHandoff,
    RecordedReply,
    RecordedResult,
    Tape,
)
from handoff_console.runtime.tool import Tool

NOT_RECORDED = "no answer to this call is recorded, and this re-run asks no tool for it"


class Mode(StrEnum):
    """How much of a re-run is real."""

    VERIFY = "verify"
    """Nothing: all answers are recorded ones, and the result has to be the recorded one."""
    WHAT_IF = "what-if"
    """The model; tools and calls answer as recorded, and writes are refused."""
    LIVE_READS = "live-reads"
    """The model, the calls, and tools that only read."""
    LIVE = "live"
    """All; a write only after a fresh approval, and a done one gives its original result."""
    CONTINUE = "continue"
    """The whole session: recorded answers where the question is the same, real ones elsewhere."""


class Repeated(NamedTuple):
    """What is run again, and how."""

    tape: Tape
    """The recorded answers."""
    mode: Mode
    """How much is real."""
    path: str
    """The handoff that is run again."""
    edits: Edits
    """What was changed about it."""
    since_seconds: float
    """When it was opened in the recording: there its time begins."""
    edited: Model | None
    """The model that the operator chose for it; None leaves its own."""
    packet: Packet | None = None
    """What came along with it."""
    is_answered: bool = False
    """The tape has the answers that the chosen model gave there."""


class RerunPlayer(Player):
    """Gives the answers of a re-run.

    Args:
        recorder: Of the re-run's own session.
        repeated: What is run again.
    """

    def __init__(self, recorder: Recorder, repeated: Repeated) -> None:
        super().__init__(recorder, repeated.tape)
        self._mode, self._path, self._edits = repeated.mode, repeated.path, repeated.edits
        self._since, self._edited = repeated.since_seconds, repeated.edited
        self._packet = repeated.packet
        self._is_answered = repeated.is_answered
        self._left: set[tuple[str | None, int]] = set()
        """Handoffs whose questions are no longer the recorded ones."""
        self.played_tools = 0
        self.live_models = 0
        self.live_tools = 0
        self.saved_tokens = 0
        """What the answers that were not asked for again had taken."""
        self.first_divergence: dict[str, str] | None = None
        recorder.timeline.play_to(0.0)

    def reply(self, scope: Scope, step: int, context: str) -> RecordedReply | None:
        """Return the recorded answer to a model call, where this mode takes it."""
        found = self._reply(scope, step, context)
        if found is None:
            self.live_models += 1
        else:
            self.saved_tokens += found.usage.tokens
        return found

    def _reply(self, scope: Scope, step: int, context: str) -> RecordedReply | None:
        if self._mode not in (Mode.VERIFY, Mode.CONTINUE):
            return None
        if self._is_model_new(scope):
            return None
        waiting = self._tape.replies.get((scope.path, scope.attempt, step))
        where = f"step {step}"
        if (scope.path, scope.attempt) in self._left:
            return None
        if waiting and waiting[0].context == context:
            return waiting.popleft()
        if waiting:
            self._other(scope, where, waiting[0].context, context)
        else:
            self._nothing(scope, where, context)
        return None

    def was_lost(self, scope: Scope, step: int) -> bool:  # noqa: ARG002
        """Say that nothing was lost: this is another session."""
        return False

    def begun(self, scope: Scope, step: int, index: int) -> BegunAct | None:
        """Return the begun call of the recording, where this run goes on with its request."""
        return super().begun(scope, step, index) if self._mode is Mode.CONTINUE else None

    def result(
        self, scope: Scope, step: int, index: int, tool: Tool, arguments: str
    ) -> RecordedResult | None:
        """Return the recorded answer to a tool call, or a refusal, where this mode takes it."""
        found = self._pretended(scope, step, index, tool)
        found = found or self._result(scope, step, index, tool, arguments)
        if found is None:
            self.live_tools += 1
        else:
            self.played_tools += 1
        return found

    def _result(
        self, scope: Scope, step: int, index: int, tool: Tool, arguments: str
    ) -> RecordedResult | None:
        if self._mode in (Mode.VERIFY, Mode.CONTINUE):
            return self._result_of_record(scope, step, index, arguments)
        if self._mode in (Mode.LIVE, Mode.LIVE_READS) and tool.effect is Effect.READ:
            return None
        if self._mode is Mode.LIVE:
            return None if self._is_armed(tool) else self._same_call(scope, tool, arguments)
        return self._same_call(scope, tool, arguments) or _refused(tool)

    def _result_of_record(
        self, scope: Scope, step: int, index: int, arguments: str
    ) -> RecordedResult | None:
        known = self._tape.results.get((scope.path, scope.attempt, step, index))
        where = f"step {step}, call {index}"
        if known and known.arguments == arguments:
            return known
        if (scope.path, scope.attempt) in self._left:
            return None
        if known:
            self._other(scope, where, known.arguments, arguments)
        else:
            self._nothing(scope, where, arguments)
        return None

    def child(self, scope: Scope, request: str) -> RecordedHandoff | None:
        """Return how a call ended, in the mode that runs no calls; an error where none is known."""
        if self._mode is not Mode.WHAT_IF:
            return None
        for path, attempt in self._tape.places_by_request.get(request, ()):
            if is_within(path, self._path):
                ended = self._tape.chain_end(path or "", attempt)
                if ended:
                    return ended
        missing = HandoffResult(status=Status.ERROR, notes=NOT_RECORDED)
        return RecordedHandoff(scope.handoff_id or "", request, "", missing, None)

    def edited_request(self, path: str, request: HandoffRequest) -> HandoffRequest:
        """Return the request as the operator changed it, at the place that is run again."""
        return self._edits.request(request) if path == self._path else request

    def edited_packet(self, path: str, packet: Packet) -> Packet:
        """Return the packet as the operator changed it, at the place that is run again."""
        if path != self._path:
            return packet
        if self._packet is None:
            return self._edits.packet_alone(packet)
        return self._edits.packet_anew(packet, self._packet)

    def edited_agent(self, path: str, agent: Agent) -> Agent:
        """Return the agent as the operator changed it, at the place that is run again."""
        return self._edits.agent(agent) if path == self._path else agent

    def edited_model(self, path: str, model: Model) -> Model:
        """Return the model that the operator chose, at the place that is run again."""
        return self._edited if self._edited and path == self._path else model

    def asks_before(self, scope: Scope, tool: Tool, arguments: str) -> bool:
        """Say whether a person has to approve: every write that will really happen, and afresh."""
        if self.is_denied(scope, tool):
            return True
        if self._mode is Mode.VERIFY:
            return tool.needs_approval
        if self._mode in (Mode.WHAT_IF, Mode.LIVE_READS):
            return False
        writes = tool.needs_approval or tool.effect is not Effect.READ
        return writes and (self._is_armed(tool) or not self._same_call(scope, tool, arguments))

    def is_denied(self, scope: Scope, tool: Tool) -> bool:
        """Say whether the operator pretends a no, at the place that is run again."""
        return scope.path == self._path and tool.name in self._edits.denied

    def decision(
        self, approval_id: str, shown: str
    ) -> tuple[ApprovalDecided, dict[str, Any]] | None:
        """Return a recorded decision about the very same act; never for a live one."""
        if self._mode is Mode.LIVE or self._tape.shown.get(approval_id) != shown:
            return None
        return super().decision(approval_id, shown)

    def requested_at(self, approval_id: str) -> float | None:  # noqa: ARG002
        """Return nothing: what this run asks for is asked for now."""
        return None

    def namespace(self, tool: Tool) -> str:
        """Set apart the effects that the operator wants to happen again."""
        return self._recorder.session_id if self._is_armed(tool) else ""

    def _is_armed(self, tool: Tool) -> bool:
        return tool.name in self._edits.armed

    async def step_played(self, at_seconds: float, seconds: float) -> None:
        """Take the recorded time as passed."""
        self.played += 1
        timeline = self._recorder.timeline
        if timeline.is_played:
            timeline.play_to(max(at_seconds - self._since, 0.0))
        else:
            timeline.skip(seconds)

    async def go_live(self, *, counts: bool = True) -> None:
        """Let time run; nothing has to be waited for, since this session's events are its own."""
        self._live = True
        self._recorder.go_live()
        self.asked_live += counts

    def _is_model_new(self, scope: Scope) -> bool:
        if self._edited is None or self._is_answered or self._mode is Mode.VERIFY:
            return False
        return scope.path == self._path

    def _pretended(self, scope: Scope, step: int, index: int, tool: Tool) -> RecordedResult | None:
        pretended = self._edits.tool_results
        if not pretended or scope.path != self._path:
            return None
        for name in (f"{step}.{index}", tool.name):
            if name in pretended:
                message = tool_message("", tool.name, pretended[name])
                return RecordedResult("", message, "", False, False, 0.0, 0.0)
        return None

    def _same_call(self, scope: Scope, tool: Tool, arguments: str) -> RecordedResult | None:
        """Return the answer to the very same call, wherever this handoff made it.

        A live model may ask in another step; the question is the same, so the answer is.
        """
        call = (scope.path, scope.attempt, tool.name, arguments)
        return self._tape.first_results.get(call)

    def _nothing(self, scope: Scope, where: str, asked: str) -> None:
        if self._mode is Mode.VERIFY:
            self._diverge(scope, where, "", asked)
            raise ReplayDiverged(f"{scope.path} {where}")
        self._left.add((scope.path, scope.attempt))

    def _other(self, scope: Scope, where: str, recorded: str, asked: str) -> None:
        self._diverge(scope, where, recorded, asked)
        if self._mode is Mode.VERIFY:
            raise ReplayDiverged(f"{scope.path} {where}")
        self._left.add((scope.path, scope.attempt))

    def _diverge(self, scope: Scope, where: str, recorded: str, asked: str) -> None:
        place = f"{scope.path} {where}"
        shown: dict[str, Any] = {"place": place, "recorded": recorded, "asked": asked}
        self.first_divergence = self.first_divergence or shown
        self._recorder.emit(scope, DivergedEvent(**shown))


def _refused(tool: Tool) -> RecordedResult:
    message = tool_message("", tool.name, {"error": NOT_RECORDED})
    return RecordedResult("", message, NOT_RECORDED, False, False, 0.0, 0.0)
