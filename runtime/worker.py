"""One agent's loop inside its limits: ask, act, answer. The model decides; this code enforces.

Source: S0, step 3.
"""

from collections.abc import Collection, Coroutine, Sequence
from typing import Any, NamedTuple, Protocol

from handoff_console.runtime.answers import read_answer
from handoff_console.runtime.asking import Asker, Reply
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.context import KeptMessage, kept_message, tool_message
from handoff_console.runtime.contract import TEXT, EndedBy, HandoffResult, Message, ToolCall
from handoff_console.runtime.events import OutputRejected
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.guards import asks_for_handoff
from handoff_console.runtime.handoff import End, OpenHandoff, answered, failed, stopped
from handoff_console.runtime.people import Suspended
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.toolbox import Toolbox
from handoff_console.runtime.tools import run_together

REPEATS = "repeats"
"""Why a handoff is stopped that asks for the same again and again, though it is refused."""


_DEEP = 16
"""Calls that may nest on one stack; each takes some ten of Python's 1,000."""


class Refused(NamedTuple):
    """A handoff that did not pass the gate."""

    message: Message
    """What the model reads."""
    stops: str = ""
    """The rule, when asking again ends the handoff."""


class Delegation(Protocol):
    """What the worker needs of the session: to judge handoffs, and to run calls."""

    def judge_call(self, asking: OpenHandoff, call: ToolCall, index: int) -> OpenHandoff | Refused:
        """Gate and reserve a call, without waiting."""
        ...

    def judge_transfer(
        self, asking: OpenHandoff, call: ToolCall, index: int, *, of: int, promised: int
    ) -> OpenHandoff | Refused:
        """Gate a transfer: one `of` several, after some that will reserve `promised` tokens."""
        ...

    def fork(self, asking: OpenHandoff, calls: Sequence[OpenHandoff]) -> str:
        """Mark calls as decided together; return the fork's id."""
        ...

    async def run_call(self, handoff: OpenHandoff) -> HandoffResult:
        """Run a judged call to its result."""
        ...

    def joined(
        self,
        asking: OpenHandoff,
        fork_id: str,
        calls: Sequence[OpenHandoff],
        statuses: Sequence[str],
    ) -> None:
        """Record that all calls of a fork came back."""
        ...


class _Acts:
    """What one reply asked for, and what came of it so far, by the call's place in the reply."""

    __slots__ = (
        "answers", "calls", "handoffs", "is_suspended", "names", "refused", "results", "said",
        "stop", "transfers",
    )  # fmt: skip

    def __init__(self, message: Message) -> None:
        self.calls = list(message.get("tool_calls", ()))
        self.said = message["content"]
        self.answers: dict[int, KeptMessage] = {}
        self.results: dict[int, HandoffResult] = {}
        self.stop = ""
        self.refused: frozenset[str] = frozenset()
        self.is_suspended = False
        self.names = names = [call["name"] for call in self.calls]
        self.handoffs = tuple([i for i, name in enumerate(names) if asks_for_handoff(name)])
        self.transfers = tuple([i for i in self.handoffs if names[i].startswith("transfer")])

    def ask_for(self, index: int, transfer: ToolCall) -> None:
        """Take a transfer that the tool of a call asks for as if the reply had asked for it."""
        self.calls[index] = transfer
        self.transfers = tuple(sorted((*self.transfers, index)))


class Worker:
    """Runs the agents of one request."""

    def __init__(
        self,
        flow: Flow,
        recorder: Recorder,
        asker: Asker,
        toolbox: Toolbox,
        delegation: Delegation,
        *,
        raise_on_stop: bool = False,
    ) -> None:
        self._flow, self._recorder = flow, recorder
        self._asker, self._toolbox, self._delegation = asker, toolbox, delegation
        self._raise_on_stop = raise_on_stop

    async def work(self, handoff: OpenHandoff) -> End:
        """Run a handoff until it answers, passes control on, or is stopped."""
        while True:
            if end := self._asker.limit(handoff):
                return end
            reply = await self._asker.ask(handoff)
            if isinstance(reply, End):
                return reply
            if reply.said.tool_calls:
                end = await self._act(handoff, reply.kept)
            else:
                end = self._answer(handoff, reply)
            if end:
                return end

    async def _act(self, handoff: OpenHandoff, reply: KeptMessage) -> End | None:
        """Run what a reply asks for: tools and calls together, then its transfers."""
        acts = _Acts(reply.message)
        opened = self._judge_calls(handoff, acts)
        fork_id = ""
        if len(opened) > 1:
            fork_id = self._delegation.fork(handoff, list(opened.values()))
        works: list[Coroutine[Any, Any, None]] = [
            self._use(handoff, acts, index)
            for index in range(len(acts.calls))
            if index not in acts.handoffs
        ]
        works += [self._call(handoff, acts, index, judged) for index, judged in opened.items()]
        await run_together(works, anew=handoff.depth % _DEEP == _DEEP - 1)
        if acts.is_suspended:
            raise Suspended
        if fork_id:
            statuses = [acts.results[index].status.value for index in opened]
            self._delegation.joined(handoff, fork_id, list(opened.values()), statuses)
        for (_, index), transfer in handoff.asked_by_tools.items():
            acts.ask_for(index, transfer)
        handoff.asked_by_tools.clear()
        if accepted := self._judge_transfers(handoff, acts):
            return End(ended_by=EndedBy.TRANSFERRED, transfers=accepted)
        handoff.context.append(reply, *(acts.answers[index] for index in sorted(acts.answers)))
        handoff.refused |= acts.refused
        return self._told_to_stop(handoff, acts.stop) if acts.stop else None

    def _judge_calls(self, handoff: OpenHandoff, acts: _Acts) -> dict[int, OpenHandoff]:
        """Judge and reserve all calls in their order, before anything is waited for."""
        opened = {}
        for number, index in enumerate(acts.handoffs):
            if index in acts.transfers:
                continue
            judged = self._delegation.judge_call(handoff, acts.calls[index], number)
            if isinstance(judged, Refused):
                self._refuse(handoff, acts, index, judged)
            else:
                opened[index] = judged
        return opened

    def _judge_transfers(self, handoff: OpenHandoff, acts: _Acts) -> list[OpenHandoff]:
        """Judge the transfers, once all tools of the same reply are done.

        The same transfer asked for twice is one; different ones are a fork.
        """
        different = _different(acts)
        accepted: list[OpenHandoff] = []
        refused: Refused | None = None
        for number, index in enumerate(acts.transfers):
            if index not in different:
                if refused:  # the same again: every call is answered
                    self._refuse(handoff, acts, index, refused)
                continue
            promised = sum(other.limits.max_tokens for other in accepted)
            judged = self._delegation.judge_transfer(
                handoff, acts.calls[index], number, of=len(different), promised=promised
            )
            if isinstance(judged, Refused):
                refused = judged
                self._refuse(handoff, acts, index, judged)
            else:
                accepted.append(judged)
        return accepted

    def _refuse(self, handoff: OpenHandoff, acts: _Acts, index: int, refused: Refused) -> None:
        call = acts.calls[index]
        message: Message = {
            **refused.message,
            "tool_call_id": call["id"],
            "name": acts.names[index],
        }
        acts.answers[index] = kept_message(self._recorder, message)
        asked = canonical_text([call["name"], call["arguments"]])
        # Whoever asks for the very same once more has not read the answer, and will not.
        repeats = REPEATS if asked in handoff.refused and asked not in acts.refused else ""
        acts.refused |= {asked}
        acts.stop = refused.stops or repeats or acts.stop

    def _told_to_stop(self, handoff: OpenHandoff, rule: str) -> End | None:
        if rule == REPEATS and handoff.told_to_stop:
            return stopped(handoff, rule, "stopped: it asked again for what had been refused twice")
        if handoff.told_to_stop or (self._raise_on_stop and rule != REPEATS):
            return stopped(handoff, rule, f"stopped: {rule} limit of the flow")
        handoff.told_to_stop = True
        return None

    async def _use(self, handoff: OpenHandoff, acts: _Acts, index: int) -> None:
        left = self._asker.seconds_left(handoff)
        try:
            answer = await self._toolbox.use(handoff, acts.calls[index], index, acts.said, left)
        except Suspended:  # the others of the same reply go on
            acts.is_suspended = True
            return
        acts.answers[index] = answer

    async def _call(
        self, handoff: OpenHandoff, acts: _Acts, index: int, judged: OpenHandoff
    ) -> None:
        call = acts.calls[index]
        try:
            result = acts.results[index] = await self._delegation.run_call(judged)
        except Suspended:
            acts.is_suspended = True
            return
        shown: dict[str, Any] = {
            "status": result.status.value,
            "data": result.data,
            "notes": result.notes,
            "steps_used": result.steps_used,
        }
        handoff.gathered[handoff.steps, index] = {"worker": judged.agent.name, "result": shown}
        message = tool_message(call["id"], call["name"], shown)
        acts.answers[index] = kept_message(self._recorder, message)

    def _answer(self, handoff: OpenHandoff, reply: Reply) -> End | None:
        name = handoff.request.output_schema
        read = read_answer(
            reply.said.text,
            None if name == TEXT else self._flow.schemas[name],
            steps_used=handoff.steps,
            max_bytes=self._flow.max_result_bytes,
        )
        if isinstance(read, HandoffResult):
            handoff.last_reply = reply.kept
            return answered(read)
        final = handoff.rejected_outputs > 0 or handoff.steps >= handoff.limits.max_steps
        handoff.rejected_outputs += 1
        output = reply.kept.digest
        self._recorder.emit(
            handoff.scope,
            OutputRejected(step=handoff.steps, output=output, problem=read, final=final),
        )
        if final:
            # Not even a part of it goes to the caller: it may be anything. Source: S0, step 2.
            notes = f"the answer did not fit {name}; only the operator can read it"
            return failed(handoff, notes, quarantined=output)
        told = f"Your answer was not accepted: {read}"
        handoff.context.append(
            reply.kept, kept_message(self._recorder, {"role": "user", "content": told})
        )
        return None


def _different(acts: _Acts) -> Collection[int]:
    """Return the transfers of a reply, of those that are the same the first."""
    if len(acts.transfers) <= 1:
        return acts.transfers
    first = {
        canonical_text([acts.calls[index]["name"], acts.calls[index]["arguments"]]): index
        for index in reversed(acts.transfers)
    }
    return first.values()
