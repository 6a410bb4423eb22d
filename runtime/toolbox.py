"""What happens when a model asks for a tool: allowed or not, arguments checked, run, recorded."""

from typing import Any, NamedTuple

from handoff_console.runtime.context import KeptMessage, kept_message, tool_message
from handoff_console.runtime.contract import Effect, ToolCall
from handoff_console.runtime.errors import choices
from handoff_console.runtime.events import ToolCalled, ToolDenied, ToolReturned, ToolReturnedLate
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.state import SessionState
from handoff_console.runtime.tool import Tool
from handoff_console.runtime.tools import LATE, ToolOutcome, by_deadline, run_tool


class Denial(NamedTuple):
    """Why a tool does not run."""

    rule: str
    reason: str


class Toolbox:
    """Runs the tools of one request."""

    def __init__(self, recorder: Recorder, state: SessionState) -> None:
        self._recorder, self._state = recorder, state
        self.running: dict[str, str] = {}
        """Tools that were left behind at a deadline, by call id: their names."""
        self.closed = False
        """Once the session is closed nothing more is recorded."""

    async def use(
        self, handoff: OpenHandoff, call: ToolCall, index: int, said: str, seconds_left: float
    ) -> KeptMessage:
        """Run one tool call and return what the model reads: a value, an error, or a refusal."""
        tool = handoff.agent.tools_by_name.get(call["name"])
        denial = _denied(handoff, call, tool)
        if denial or tool is None:
            return self._deny(handoff, call, index, denial or Denial("unknown", ""))
        try:
            arguments = tool.parse(call["arguments"])
        except ValueError as error:
            reason = f"the arguments of {tool.name!r} do not fit: {error}"
            return self._deny(handoff, call, index, Denial("arguments", reason))
        step = handoff.steps
        self._recorder.emit(
            handoff.scope,
            ToolCalled(
                step=step,
                index=index,
                call_id=call["id"],
                tool=tool.name,
                effect=tool.effect,
                reason=said or f"asked for by {handoff.agent.name} in step {step}",
                arguments=self._recorder.keep(call["arguments"]).digest,
                idempotency_key=self._idempotency_key(handoff, call, tool),
            ),
        )
        # A crash after this line finds the intended effect on the disk.
        self._recorder.commit(synced=tool.effect is not Effect.READ)
        started = self._recorder.elapsed()
        outcome = await by_deadline(
            run_tool(tool, arguments),
            seconds_left,
            lambda late: self._returned_late(handoff, call, index, step, tool, late),
        )
        if outcome is LATE:
            self.running[call["id"]] = tool.name
            outcome = ToolOutcome(error="the tool did not return by the deadline")
        return self._returned(handoff, call, index, tool, outcome, started)

    def _returned(
        self,
        handoff: OpenHandoff,
        call: ToolCall,
        index: int,
        tool: Tool,
        outcome: ToolOutcome,
        started: float,
    ) -> KeptMessage:
        content: Any
        if outcome.error:
            content = {"error": outcome.error}
        else:
            content = outcome.value
            handoff.gathered[handoff.steps, index] = {"tool": tool.name, "result": outcome.value}
        kept = kept_message(self._recorder, tool_message(call["id"], tool.name, content))
        remembered = content if isinstance(content, dict) else {}
        self._recorder.emit(
            handoff.scope,
            ToolReturned(
                step=handoff.steps,
                index=index,
                call_id=call["id"],
                tool=tool.name,
                result=kept.digest,
                error=outcome.error,
                transient=outcome.transient,
                duration_seconds=round(self._recorder.elapsed() - started, 6),
            ),
        )
        for key in tool.remembers:
            if key in remembered:
                self._state.set(handoff.scope, key, remembered[key])
        return kept

    def _returned_late(
        self,
        handoff: OpenHandoff,
        call: ToolCall,
        index: int,
        step: int,
        tool: Tool,
        outcome: ToolOutcome,
    ) -> None:
        self.running.pop(call["id"], None)
        if self.closed:
            return
        content = {"error": outcome.error} if outcome.error else outcome.value
        kept = self._recorder.keep(tool_message(call["id"], tool.name, content))
        self._recorder.emit(
            handoff.scope,
            ToolReturnedLate(
                step=step,
                index=index,
                call_id=call["id"],
                tool=tool.name,
                result=kept.digest,
                effect=tool.effect,
                late_by_seconds=round(self._recorder.clock.elapsed() - handoff.deadline_at, 6),
            ),
        )

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

    def _idempotency_key(self, handoff: OpenHandoff, call: ToolCall, tool: Tool) -> str | None:
        if tool.effect is Effect.READ:
            return None
        return self._recorder.hash_of(
            [handoff.scope.request_id, handoff.request.task, tool.name, call["arguments"]]
        )


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
