"""What happens when a model asks for a tool: allowed or not, approved or not, run once, recorded.

Source: S0 steps 3 and 5, S3 example 3.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.context import KeptMessage, kept_message, tool_message, tool_value
from handoff_console.runtime.contract import Effect, ToolCall
from handoff_console.runtime.errors import choices
from handoff_console.runtime.events import ToolCalled, ToolDenied, ToolReturned, ToolReturnedLate
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.ledger import EffectLedger
from handoff_console.runtime.people import People
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.tape import RecordedResult
from handoff_console.runtime.tool import Tool
from handoff_console.runtime.tools import LATE, ToolOutcome, by_deadline, needs_thread, run_tool

NOT_IN_TIME = "the tool did not return by the deadline"


class Denial(NamedTuple):
    """Why a tool does not run."""

    rule: str
    reason: str


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
        self._player, self._people, self._ledger = player, people, ledger
        self._acts: Counter[str] = Counter()
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
        denial = _denied(handoff, call, tool)
        if denial or tool is None:
            return self._deny(handoff, call, index, denial or Denial("unknown", ""))
        try:
            tool.parse(call["arguments"])
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
        key = self._key(handoff, tool, arguments)
        use = _Use(handoff, call, handoff.steps, index, tool, arguments, key, approval_id)
        return await self._run(use, said, seconds_left)

    async def _run(self, use: _Use, said: str, seconds_left: float) -> KeptMessage:
        handoff, tool = use.handoff, use.tool
        kept = self._recorder.keep(use.arguments)
        self._recorder.emit(
            handoff.scope,
            ToolCalled(
                step=use.step,
                index=use.index,
                call_id=use.call["id"],
                tool=tool.name,
                effect=tool.effect,
                reason=said or f"asked for by {handoff.agent.name} in step {use.step}",
                arguments=kept.digest,
                idempotency_key=use.key,
                approval_id=use.approval_id,
            ),
        )
        recorded = self._player.result(handoff.scope, use.step, use.index, tool, kept.digest)
        if recorded:
            return await self._play(use, recorded)
        await self._player.go_live()
        if use.key:
            known = self._ledger.find(use.key)
            if known:
                return self._returned(
                    use, ToolOutcome(known.result), self._recorder.elapsed(), from_ledger=True
                )
            if self._ledger.is_open(use.key):
                return self._unknown(use)
            self._ledger.begin(use.key, self._recorder.session_id)
        # A crash after this line finds the intended effect on the disk.
        self._recorder.commit(synced=tool.effect is not Effect.READ)
        started = self._recorder.elapsed()
        try:
            outcome = await by_deadline(
                run_tool(tool, tool.parse(use.arguments)),
                seconds_left,
                lambda late: self._returned_late(use, late),
            )
        except asyncio.CancelledError:
            if needs_thread(tool):  # which nothing can stop
                self.running[use.place] = tool.name
            raise
        if outcome is LATE:
            self.running[use.place] = tool.name
            return self._returned(use, ToolOutcome(error=NOT_IN_TIME), started, late=True)
        self._note(use, outcome)
        return self._returned(use, outcome, started)

    async def _play(self, use: _Use, recorded: RecordedResult) -> KeptMessage:
        started = self._recorder.elapsed()
        await self._player.step_played(recorded.at_seconds, recorded.seconds)
        message = recorded.message
        value = None if recorded.error else tool_value(message)
        outcome = ToolOutcome(value, recorded.error, recorded.transient)
        return self._returned(use, outcome, started, late=recorded.late, replayed=True)

    def _note(self, use: _Use, outcome: ToolOutcome) -> None:
        if use.key is None:
            return
        if outcome.error:
            self._ledger.failed(use.key)
        else:
            self._ledger.done(use.key, outcome.value)

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
        content: Any = {"error": outcome.error} if outcome.error else _as_json(outcome.value)
        if not outcome.error:
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
        self._note(use, outcome)
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

    def _unknown(self, use: _Use) -> KeptMessage:
        reason = (
            f"{use.tool.name!r} did not run: the same act was begun before, and nobody knows "
            "whether it happened. A person has to find out."
        )
        denial = Denial("outcome_unknown", reason)
        return self._deny(use.handoff, use.call, use.index, denial)

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

    def _key(self, handoff: OpenHandoff, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        """Return the key of an act: the same for every attempt, counted where it is repeated."""
        if tool.effect is Effect.READ:
            return None
        scope = handoff.scope
        act = [scope.request_id, handoff.request.task, tool.name, dict(arguments)]
        if namespace := self._player.namespace(tool):
            act.append(namespace)
        within = self._recorder.hash_of([*act, scope.path, scope.attempt])
        self._acts[within] += 1
        return self._recorder.hash_of([*act, self._acts[within]])


def _as_json(value: Any) -> Any:
    """Return what a tool returned as others will see it: a set or an object is none of theirs."""
    return value if isinstance(value, str) else json.loads(canonical_text(value))


def _denied(handoff: OpenHandoff, call: ToolCall, tool: Tool | None) -> Denial | None:
    allowed = handoff.request.allowed_tools
    may = f"it may call: {choices(allowed, 'none')}"
    who = handoff.agent.name
    if tool is None:
        return Denial("unknown", f"tool not allowed: {who!r} has no tool {call['name']!r}; {may}.")
    if tool.name not in allowed:
        return Denial("not_allowed", f"tool not allowed: {who!r} asked for {tool.name!r}; {may}.")
    if "malformed" in call:
        return Denial("arguments", f"the arguments of {tool.name!r} are no JSON object.")
    return None
