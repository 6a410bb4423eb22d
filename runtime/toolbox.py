"""What happens when a model asks for a tool: allowed or not, approved or not, run once, recorded.

Source: S0 steps 3 and 5, S3 example 3.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.runtime.acts import Acts
from handoff_console.runtime.canonical import as_json
from handoff_console.runtime.context import KeptMessage, kept_message, tool_message
from handoff_console.runtime.contract import Effect, ToolCall, tool_value, transfer_of_result
from handoff_console.runtime.denials import Denial, denied
from handoff_console.runtime.errors import choices
from handoff_console.runtime.events import ToolCalled, ToolDenied, ToolReturned, ToolReturnedLate
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.ledger import EffectLedger
from handoff_console.runtime.people import People
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.redaction import redacted_names
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.tape import RecordedResult
from handoff_console.runtime.tool import Tool
from handoff_console.runtime.tools import LATE, ToolOutcome, by_deadline, needs_thread, run_tool

NOT_IN_TIME = "the tool did not return by the deadline"


@quickly_made
@dataclass(frozen=True, slots=True)
class _Use:
    """One tool call: who asks, where in the reply, and what with."""

    handoff: OpenHandoff
    call: ToolCall
    step: int
    index: int
    tool: Tool
    arguments: Mapping[str, Any]
    """As they will be executed: the person who approved may have edited them."""
    parsed: Mapping[str, Any] | None
    """The same, as the tool takes them; None where a person may have edited them."""
    arguments_digest: str
    key: str | None
    """Of the effect, for all but reads."""
    approval_id: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """What tells it from all other calls of the session."""
        return self.handoff.id, self.call["id"]


class Toolbox:
    """Runs the tools of one request."""

    def __init__(
        self,
        recorder: Recorder,
        state: SessionState,
        player: Player,
        people: People,
        ledger: EffectLedger,
    ) -> None:
        self._recorder, self._state = recorder, state
        self._player, self._people = player, people
        self._acts = Acts(recorder, player, ledger)
        self.running: dict[tuple[str, str], str] = {}
        """Tools that were left behind, by handoff and call: their names."""
        self.closed = False
        """Once the session is closed nothing more is recorded."""

    async def use(
        self, handoff: OpenHandoff, call: ToolCall, index: int, said: str, seconds_left: float
    ) -> KeptMessage:
        """Run one tool call and return what the model reads: a value, an error, or a refusal.

        Raises:
            Suspended: It waits for a person.
        """
        tool = handoff.agent.tools_by_name.get(call["name"])
        denial = denied(handoff, call, tool)
        if denial or tool is None:
            return self._deny(handoff, call, index, denial or Denial("unknown", ""))
        try:
            parsed: Mapping[str, Any] | None = tool.parse(call["arguments"])
        except ValueError as error:
            reason = f"the arguments of {tool.name!r} do not fit: {error}"
            return self._deny(handoff, call, index, Denial("arguments", reason))
        arguments, approval_id = call["arguments"], None
        asked = self._recorder.keep(arguments).digest
        if self._player.asks_before(handoff.scope, tool, asked):
            decided, arguments = self._people.decide(handoff, call, index, tool)
            approval_id = decided.approval_id
            if not decided.approved:
                why = f"{tool.name!r} did not run: a person has to approve it ({decided.reason})."
                return self._deny(handoff, call, index, Denial("approval", why))
            asked, parsed = self._recorder.keep(arguments).digest, None
        key = self._acts.key(handoff, tool, arguments, index)
        step = handoff.steps
        use = _Use(handoff, call, step, index, tool, arguments, parsed, asked, key, approval_id)
        return await self._run(use, said, seconds_left)

    async def _run(self, use: _Use, said: str, seconds_left: float) -> KeptMessage:
        handoff, tool = use.handoff, use.tool
        self._recorder.emit(
            handoff.scope,
            ToolCalled(
                step=use.step,
                index=use.index,
                call_id=use.call["id"],
                tool=tool.name,
                effect=tool.effect,
                reason=said or f"asked for by {handoff.agent.name} in step {use.step}",
                arguments=use.arguments_digest,
                idempotency_key=use.key,
                approval_id=use.approval_id,
            ),
        )
        recorded = self._player.result(
            handoff.scope, use.step, use.index, tool, use.arguments_digest
        )
        if recorded:
            return await self._play(use, recorded)
        await self._player.go_live()
        if told := self._told_without_running(use):
            return told
        return await self._act(use, seconds_left)

    async def _act(self, use: _Use, seconds_left: float) -> KeptMessage:
        """Run the function, and leave it where it does not come back in time."""
        tool = use.tool
        if use.key:
            self._acts.begin(use.key)
        # A crash after this line finds the intended effect on the disk.
        self._recorder.commit(synced=tool.effect is not Effect.READ)
        started = self._recorder.elapsed()
        arguments = tool.parse(use.arguments) if use.parsed is None else use.parsed
        try:
            outcome = await by_deadline(
                run_tool(tool, arguments),
                seconds_left,
                lambda late: self._returned_late(use, late),
            )
        except asyncio.CancelledError:
            if needs_thread(tool):  # which nothing can stop
                self.running[use.place] = tool.name
            raise
        if outcome is LATE:
            self.running[use.place] = tool.name
            outcome = ToolOutcome(error=NOT_IN_TIME, is_unknown=use.key is not None)
            return self._returned(use, outcome, started, late=True)
        if use.key:
            self._acts.ended(use.key, outcome)
        return self._returned(use, outcome, started)

    def _told_without_running(self, use: _Use) -> KeptMessage | None:
        """Return what the model reads where the tool may not run; None where it may."""
        if use.key and (known := self._acts.done(use.key)):
            return self._returned(use, known, self._recorder.elapsed(), from_ledger=True)
        if use.key and self._acts.may_have_happened(use.key):
            return self._deny_unknown(use)
        # Asked for before a resume: the record has only that there was a value.
        if use.handoff.step_played and (names := redacted_names(use.arguments)):
            return self._deny_redacted(use, names)
        return None

    async def _play(self, use: _Use, recorded: RecordedResult) -> KeptMessage:
        started = self._recorder.elapsed()
        await self._player.step_played(recorded.at_seconds, recorded.seconds)
        message = recorded.message
        value = None if recorded.error else tool_value(message)
        outcome = ToolOutcome(
            value,
            recorded.error,
            recorded.transient,
            is_unknown=recorded.outcome_unknown,
            raised_at=recorded.raised_at,
            # A record that came from elsewhere may say so of anything.
            hands_over=recorded.hands_over and isinstance(value, dict),
        )
        if use.key:
            self._acts.played(use.key, outcome)
        return self._returned(use, outcome, started, late=recorded.late, replayed=True)

    def _returned(
        self,
        use: _Use,
        outcome: ToolOutcome,
        started: float,
        *,
        late: bool = False,
        from_ledger: bool = False,
        replayed: bool = False,
    ) -> KeptMessage:
        handoff, tool = use.handoff, use.tool
        content: Any = {"error": outcome.error} if outcome.error else as_json(outcome.value)
        if outcome.hands_over:
            asked = transfer_of_result(use.call["id"], content)
            handoff.asked_by_tools[use.step, use.index] = asked
        elif not outcome.error:
            handoff.gathered[use.step, use.index] = {"tool": tool.name, "result": content}
        kept = kept_message(self._recorder, tool_message(use.call["id"], tool.name, content))
        self._recorder.emit(
            handoff.scope,
            ToolReturned(
                step=use.step,
                index=use.index,
                call_id=use.call["id"],
                tool=tool.name,
                result=kept.digest,
                error=outcome.error,
                transient=outcome.transient,
                late=late,
                outcome_unknown=outcome.is_unknown,
                raised_at=outcome.raised_at,
                hands_over=outcome.hands_over,
                from_ledger=from_ledger,
                replayed=replayed,
                untrusted=tool.untrusted,
                duration_seconds=round(self._recorder.elapsed() - started, 6),
            ),
        )
        remembered = content if isinstance(content, dict) else {}
        for name in tool.remembers:
            if name in remembered:
                self._state.set(handoff.scope, name, remembered[name])
        return kept

    def _returned_late(self, use: _Use, outcome: ToolOutcome) -> None:
        self.running.pop(use.place, None)
        if use.key:
            self._acts.ended(use.key, outcome)
        if self.closed:
            return
        content = {"error": outcome.error} if outcome.error else outcome.value
        kept = self._recorder.keep(tool_message(use.call["id"], use.tool.name, content))
        late_by = self._recorder.timeline.elapsed() - use.handoff.deadline_at
        self._recorder.emit(
            use.handoff.scope,
            ToolReturnedLate(
                step=use.step,
                index=use.index,
                call_id=use.call["id"],
                tool=use.tool.name,
                result=kept.digest,
                effect=use.tool.effect,
                late_by_seconds=round(late_by, 6),
            ),
        )

    def _deny_unknown(self, use: _Use) -> KeptMessage:
        reason = (
            f"{use.tool.name!r} did not run: the same act was begun before, and nobody knows "
            "whether it happened. A person has to find out."
        )
        denial = Denial("outcome_unknown", reason)
        return self._deny(use.handoff, use.call, use.index, denial)

    def _deny_redacted(self, use: _Use, names: Sequence[str]) -> KeptMessage:
        reason = (
            f"{use.tool.name!r} did not run: the record does not hold what it was to be called "
            f"with ({choices(names)}). A person has to supply it."
        )
        return self._deny(use.handoff, use.call, use.index, Denial("redacted", reason))

    def _deny(
        self, handoff: OpenHandoff, call: ToolCall, index: int, denial: Denial
    ) -> KeptMessage:
        shown = {"error": denial.reason}
        refusal = tool_message(call["id"], call["name"], shown, fence=False)
        kept = kept_message(self._recorder, refusal)
        self._recorder.emit(
            handoff.scope,
            ToolDenied(
                step=handoff.steps,
                index=index,
                call_id=call["id"],
                tool=call["name"],
                rule=denial.rule,
                reason=denial.reason,
                result=kept.digest,
                allowed=handoff.request.allowed_tools,
            ),
        )
        return kept
