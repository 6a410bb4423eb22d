"""What answers in a re-run that waited for a person: its own record, then as in any re-run."""

from typing import Any

from handoff_console.runtime.contract import Message
from handoff_console.runtime.events import (
    ApprovalDecided,
    ModelReplied,
    Recording,
    ReplayDiverged,
    ToolReturned,
)
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.rerun_player import Repeated, RerunPlayer
from handoff_console.runtime.tape import BegunAct, RecordedReply, RecordedResult
from handoff_console.runtime.taping import read_tape
from handoff_console.runtime.tool import Tool


class ResumedRerunPlayer(RerunPlayer):
    """Gives the answers of a re-run that goes on.

    What it was told before is not asked again, whether that was recorded or real.

    Args:
        recorder: Of the re-run's own session.
        repeated: What is run again.
        so_far: The re-run itself, until it was suspended or interrupted.
    """

    def __init__(self, recorder: Recorder, repeated: Repeated, so_far: Recording) -> None:
        super().__init__(recorder, repeated)
        own = read_tape(so_far)
        self._own_ids = own.handoff_ids
        self._own = Player(recorder, own)
        self._last_id = max(self._last_id, self._own.last_handoff_number)
        self._gives_own = False
        for event in so_far.events:
            match event.payload:
                case ModelReplied(replayed=True) as reply:
                    self.played += 1
                    self.saved_tokens += reply.input_tokens + reply.output_tokens
                case ToolReturned(replayed=True):
                    self.played += 1
                    self.played_tools += 1
                case ModelReplied():
                    self.live_models += 1
                case ToolReturned():
                    self.live_tools += 1
                case ReplayDiverged(place=place, recorded=recorded, asked=asked):
                    self._left.add((event.path, event.attempt))
                    shown = {"place": place, "recorded": recorded, "asked": asked}
                    self.first_divergence = self.first_divergence or shown
                case _:
                    pass

    def handoff_id(self, path: str, attempt: int) -> str:
        """Return the id of a handoff: as this re-run has it, as recorded, or the next one."""
        if not self._own_ids.get((path, attempt)):
            return super().handoff_id(path, attempt)
        known = self._tape.handoff_ids.get((path, attempt))
        if known:
            known.popleft()
        return self._own.handoff_id(path, attempt)

    def reply(self, scope: Scope, step: int, context: str) -> RecordedReply | None:
        """Return what this re-run was told, or what answers in its mode."""
        own = self._own.reply(scope, step, context)
        self._gives_own = own is not None
        if own is None:
            return super().reply(scope, step, context)
        waiting = self._tape.replies.get((scope.path, scope.attempt, step))
        if waiting and waiting[0].context == context:
            waiting.popleft()
        return own

    def was_lost(self, scope: Scope, step: int) -> bool:
        """Say, once, that this re-run asked a model and its process ended before the answer."""
        return self._own.was_lost(scope, step)

    def result(
        self, scope: Scope, step: int, index: int, tool: Tool, arguments: str
    ) -> RecordedResult | None:
        """Return what this re-run was told, or what answers in its mode."""
        own = self._own.result(scope, step, index, tool, arguments)
        self._gives_own = own is not None
        return own or super().result(scope, step, index, tool, arguments)

    def begun(self, scope: Scope, step: int, index: int) -> BegunAct | None:
        """Return the tool call that this re-run had begun and not ended."""
        return self._own.begun(scope, step, index)

    def answer(self, handoff_id: str) -> Message | None:
        """Return what a person answered, in this re-run or in the recording."""
        theirs, own = super().answer(handoff_id), self._own.answer(handoff_id)
        return own or theirs

    def decision(
        self, approval_id: str, shown: str
    ) -> tuple[ApprovalDecided, dict[str, Any]] | None:
        """Return what was decided in this re-run, or where its mode takes recorded decisions."""
        return self._own.decision(approval_id, shown) or super().decision(approval_id, shown)

    def requested_at(self, approval_id: str) -> float | None:
        """Return when this re-run asked for an approval."""
        return self._own.requested_at(approval_id)

    async def step_played(self, at_seconds: float, seconds: float) -> None:
        """Take the recorded time as passed, by the clock of the record that it is in."""
        if self._gives_own:
            await self._own.step_played(at_seconds, seconds)
        else:
            await super().step_played(at_seconds, seconds)

    async def go_live(self, *, counts: bool = True) -> None:
        """Wait until nothing of its own record can be played, then let time run."""
        await self._own.go_live(counts=False)
        await super().go_live(counts=counts)
