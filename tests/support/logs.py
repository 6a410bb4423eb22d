"""Event logs by hand: what a runtime would have written, said in a line a step.

The pool's law (free + open + spent = total) holds after every step; a test that wants a broken
record changes the events afterwards.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from handoff_console.runtime.canonical import canonical, digest
from handoff_console.runtime.contract import Effect, EndedBy, HandoffKind, Status
from handoff_console.runtime.events import (
    AgentActivated,
    ApprovalDecided,
    BudgetCharged,
    BudgetOverdrawn,
    BudgetRefunded,
    BudgetReserved,
    CycleStopped,
    Event,
    EventList,
    ForkJoined,
    ForkOpened,
    HandoffClosed,
    HandoffOpened,
    HandoffRejected,
    HandoffRequested,
    InputRequested,
    ModelCalled,
    ModelReplied,
    OutputRejected,
    Payload,
    SessionClosed,
    SessionStarted,
    ToolCalled,
    ToolDenied,
    ToolReturned,
    ToolReturnedLate,
    UserMessageReceived,
)

SESSION = "s-1"
SECONDS_AN_EVENT = 0.1
START = 1_767_603_600.0  # 2026-01-05 09:00 UTC


@dataclasses.dataclass
class Open:
    """A handoff that the log knows."""

    handoff_id: str
    parent_id: str | None
    path: str
    agent: str
    attempt: int = 1
    hop: int = 0
    depth: int = 0
    steps: int = 0
    calls: int = 0
    tokens_used: int = 0
    context: str | None = None
    messages: int = 0


class Log:
    """A session's events as they come, with the bodies they name."""

    def __init__(self, *, flow: Any = None, pool_tokens: int = 20_000, max_edge_repeats: int = 0):
        self.sink = EventList(b"key")
        self.events = self.sink.events
        self.pool_tokens, self.max_edge_repeats = pool_tokens, max_edge_repeats
        self.handoffs: dict[str, Open] = {}
        self.turn = 0
        self.free = self.spent = 0
        self.grants: dict[str, int] = {}
        self.carved_from: dict[str, str | None] = {}
        self.emit(
            None,
            SessionStarted(
                flow="support",
                flow_digest=self.keep(flow or {"name": "support"}),
                models={},
                metadata={},
            ),
        )

    def body(self, name: str) -> Any:
        return self.sink.body(name)

    def keep(self, value: Any) -> str:
        name = digest(canonical(value), self.sink.digest_key)
        self.sink.keep(name, canonical(value), SESSION)
        return name

    def emit(self, handoff_id: str | None, payload: Payload, like: Open | None = None) -> Event:
        seq = len(self.events) + 1
        about = like or self.handoffs.get(handoff_id or "")
        seconds = round((seq - 1) * SECONDS_AN_EVENT, 6)
        event = Event(
            session_id=SESSION,
            seq=seq,
            at=START + seconds,
            elapsed_seconds=seconds,
            turn=self.turn,
            request_id=f"r{self.turn}" if self.turn else None,
            handoff_id=handoff_id,
            parent_id=about.parent_id if about else None,
            path=about.path if about else None,
            attempt=about.attempt if about else 1,
            payload=payload,
        )
        self.sink.append(event)
        return event

    # The user and the root

    def user(self, text: str) -> "Log":
        self.turn += 1
        self.free, self.spent, self.grants = self.pool_tokens, 0, {}
        payload = UserMessageReceived(
            message=self.keep({"role": "user", "content": text}),
            preview=text[:200],
            trace_id=f"{self.turn:032x}",
            pool_tokens=self.pool_tokens,
            finish_floor_tokens=1_000,
            max_handoffs=6,
            max_edge_repeats=self.max_edge_repeats,
            max_workers=10,
            depth=1,
        )
        self.emit(None, payload)
        return self

    def root(self, agent: str) -> str:
        return self._ask(Open("", None, f"t{self.turn}", agent), "user", reason="the user asked")

    # Handoffs

    def call(self, caller: str, agent: str, **said: Any) -> str:
        by = self.handoffs[caller]
        path = f"{by.path}/{max(by.steps, 1)}.{by.calls}"
        by.calls += 1
        made = Open("", caller, path, agent, depth=by.depth + 1)
        return self._ask(made, by.agent, grant=said.pop("grant", 2_000), **said)

    def retry(self, first: str, **said: Any) -> str:
        was = self.handoffs[first]
        made = dataclasses.replace(was, attempt=2, steps=0, calls=0, tokens_used=0, context=None)
        source = self.handoffs[was.parent_id or first].agent
        return self._ask(made, source, grant=said.pop("grant", 2_000), follows=first, **said)

    def transfer(self, sender: str, agent: str, **said: Any) -> str:
        by = self.handoffs[sender]
        stem = by.path.rpartition("~")[0] if by.hop else by.path
        made = Open("", by.parent_id, f"{stem}~{by.hop + 1}", agent, hop=by.hop + 1, depth=by.depth)
        return self._ask(
            made,
            by.agent,
            via=HandoffKind.TRANSFER,
            grant=said.pop("grant", 2_000),
            step=by.steps,
            continues=sender,
            **said,
        )

    def fork(self, caller: str, agents: Sequence[str], grant: int = 2_000) -> list[str]:
        made = [self.call(caller, agent, grant=grant, opened=False) for agent in agents]
        fork_id = f"f{made[0]}"
        self.emit(caller, ForkOpened(fork_id=fork_id, handoff_ids=tuple(made)))
        for handoff_id in made:
            self._open(self.handoffs[handoff_id], "", HandoffKind.CALL, grant, fork_id=fork_id)
        return made

    def join(self, caller: str, handoff_ids: Sequence[str]) -> None:
        statuses = tuple("ok" for _ in handoff_ids)
        fork_id = f"f{handoff_ids[0]}"
        self.emit(
            caller, ForkJoined(fork_id=fork_id, handoff_ids=tuple(handoff_ids), statuses=statuses)
        )

    def _ask(
        self,
        made: Open,
        source: str,
        *,
        via: HandoffKind = HandoffKind.CALL,
        task: str = "",
        inputs: Mapping[str, Any] | None = None,
        reason: str = "it is theirs",
        step: int = 0,
        grant: int | None = None,
        refused: str = "",
        choices: tuple[str, ...] = (),
        continues: str | None = None,
        follows: str | None = None,
        opened: bool = True,
        packet: Mapping[str, Any] | None = None,
        **links: Any,
    ) -> str:
        made.handoff_id = handoff_id = f"h{len(self.handoffs) + 1}"
        self.handoffs[handoff_id] = made
        request = {"task": task, "inputs": inputs or {}, "limits": {"max_tokens": grant}}
        asked = HandoffRequested(
            source=source,
            target=made.agent,
            via=via,
            step=step,
            reason=reason,
            request=self.keep(request) if task else None,
            inputs_hash=self.keep(inputs or {}) if task else None,
            # As a runtime does: a transfer that is refused continues nothing.
            continues=None if refused else continues,
            follows=follows,
        )
        self.emit(handoff_id, asked)
        if refused:
            reason = f"{source} may not: {refused}."
            rejected = HandoffRejected(
                target=made.agent, rule=refused, reason=reason, choices=choices
            )
            self.emit(handoff_id, rejected)
            return handoff_id
        if continues:
            self.close(continues, None, to=handoff_id)
        if grant is not None:
            self._reserve(handoff_id, made.parent_id, grant)
        if opened:
            self._open(
                made,
                source,
                via,
                grant,
                packet=packet,
                continues=continues,
                follows=follows,
                **links,
            )
        return handoff_id

    def _open(
        self,
        made: Open,
        source: str,
        via: HandoffKind,
        grant: int | None,
        packet: Mapping[str, Any] | None = None,
        **links: Any,
    ) -> None:
        payload = HandoffOpened(
            source=source,
            target=made.agent,
            via=via,
            depth=made.depth,
            depth_left=max(0, 1 - made.depth),
            hop=made.hop,
            hops=made.hop,
            grant_tokens=grant,
            max_steps=6,
            max_tokens=grant or 8_000,
            deadline_seconds=30.0,
            packet=self.keep(packet) if packet else None,
            **links,
        )
        self.emit(made.handoff_id, payload)
        self.emit(
            made.handoff_id,
            AgentActivated(
                agent=made.agent, prompt=self.keep(f"You are {made.agent}."), model="scripted",
                tools=self.keep([]),
            ),
        )  # fmt: skip

    def close(
        self,
        handoff_id: str,
        status: str | None = "ok",
        *,
        notes: str = "",
        values: Any = None,
        reason: str = "",
        to: str | None = None,
    ) -> "Log":
        made = self.handoffs[handoff_id]
        ended_by = EndedBy.TRANSFERRED if to else EndedBy.ANSWERED
        if status == "limit_reached":
            ended_by = EndedBy.STOPPED
        elif status == "error":
            ended_by = EndedBy.FAILED
        result = {"status": status, "data": values, "notes": notes}
        payload = HandoffClosed(
            target=made.agent,
            ended_by=ended_by,
            status=Status(status) if status else None,
            result=self.keep(result) if status else None,
            reason=reason,
            notes=notes,
            transferred_to=to,
            inputs_hash=self.keep({}),
            steps_used=made.steps,
            tokens_used=made.tokens_used,
            duration_seconds=1.0,
        )
        self.emit(handoff_id, payload)
        if handoff_id in self.grants:
            self._refund(handoff_id)
        return self

    def end(self, status: str | None = "ok", reason: str = "", cancelled: bool = False) -> "Log":
        payload = SessionClosed(
            status=Status(status) if status else None,
            cancelled=cancelled,
            reason=reason,
            pool_free=self.free,
            pool_spent=self.spent,
        )
        self.emit(None, payload)
        return self

    # Work

    def step(
        self,
        handoff_id: str,
        tokens: int = 100,
        says: str = "",
        error: str = "",
        raised_at: str = "",
        finish_reason: str = "",
        seconds: float = 0.1,
    ) -> "Log":
        made = self.handoffs[handoff_id]
        made.steps, made.calls = made.steps + 1, 0
        made.messages += 1
        message = self.keep({"role": "user", "content": f"{made.agent} reads {made.messages}"})
        made.context = self.keep({"previous": made.context, "messages": [message]})
        called = ModelCalled(
            step=made.steps, model="scripted", context=made.context, messages=made.messages,
            estimate_tokens=tokens, max_output_tokens=500,
        )  # fmt: skip
        self.emit(handoff_id, called)
        reply = None if error else self.keep({"role": "assistant", "content": says})
        replied = ModelReplied(
            step=made.steps,
            reply=reply,
            input_tokens=tokens,
            latency_seconds=seconds,
            error=error,
            raised_at=raised_at,
            finish_reason=finish_reason,
        )
        self.emit(handoff_id, replied)
        if tokens:
            self._charge(handoff_id, tokens)
        return self

    def tool(
        self,
        handoff_id: str,
        tool: str,
        value: Any = "done",
        error: str = "",
        raised_at: str = "",
        seconds: float = 0.1,
    ) -> "Log":
        made = self.handoffs[handoff_id]
        call = {"step": made.steps, "index": 0, "call_id": f"c{len(self.events)}", "tool": tool}
        self.emit(handoff_id, ToolCalled(reason="it helps", arguments=self.keep({}), **call))
        result = self.keep({"role": "tool", "content": str(value)})
        self.emit(
            handoff_id,
            ToolReturned(
                result=result, error=error, raised_at=raised_at, duration_seconds=seconds, **call
            ),
        )
        return self

    def deny(self, handoff_id: str, tool: str, rule: str = "not_allowed") -> "Log":
        made = self.handoffs[handoff_id]
        reason = f"{made.agent} may not call {tool}."
        payload = ToolDenied(
            step=made.steps, index=0, call_id=f"c{len(self.events)}", tool=tool, rule=rule,
            reason=reason, result=self.keep(reason),
        )  # fmt: skip
        self.emit(handoff_id, payload)
        return self

    def decide(self, handoff_id: str, reason: str = "", by: str = "", note: str = "") -> "Log":
        """Decide about the first act of the step; a reason is a no."""
        place = f"{handoff_id}.{self.handoffs[handoff_id].steps}.0"
        decided = ApprovalDecided(
            approval_id=place, approved=not reason, decided_by=by, reason=reason, note=note,
            proposed=self.keep({}),
        )  # fmt: skip
        self.emit(handoff_id, decided)
        return self

    def late(self, handoff_id: str, tool: str, effect: Effect = Effect.READ) -> "Log":
        payload = ToolReturnedLate(
            step=1, index=0, call_id="c1", tool=tool, result=self.keep("late"), effect=effect,
            late_by_seconds=2.5,
        )  # fmt: skip
        self.emit(handoff_id, payload)
        return self

    def reject_output(self, handoff_id: str, problem: str, final: bool = False) -> "Log":
        steps = self.handoffs[handoff_id].steps
        output = self.keep({"role": "assistant", "content": "not json"})
        self.emit(
            handoff_id, OutputRejected(step=steps, output=output, problem=problem, final=final)
        )
        return self

    def stop_cycle(self, handoff_id: str, *transitions: str) -> "Log":
        self.emit(
            handoff_id,
            CycleStopped(transitions=transitions, max_edge_repeats=self.max_edge_repeats),
        )
        return self

    def ask_user(self, handoff_id: str, question: str) -> "Log":
        self.emit(handoff_id, InputRequested(question=question))
        return self

    # The pool

    def rest(self, handoff_id: str) -> int:
        """What it may still spend or carve a grant from."""
        return self.grants.get(handoff_id, self.free)

    @property
    def _figures(self) -> dict[str, int]:
        return {"free": self.free, "open": sum(self.grants.values()), "spent": self.spent}

    def _reserve(self, handoff_id: str, parent_id: str | None, tokens: int) -> None:
        assert tokens <= self.rest(parent_id or ""), "a runtime would have refused this grant"
        carved_from = parent_id if parent_id in self.grants else None
        if carved_from:
            self.grants[carved_from] -= tokens
        else:
            self.free -= tokens
        self.carved_from[handoff_id], self.grants[handoff_id] = carved_from, tokens
        self.emit(handoff_id, BudgetReserved(tokens=tokens, **self._figures))

    def _charge(self, handoff_id: str, tokens: int) -> None:
        made = self.handoffs[handoff_id]
        made.tokens_used += tokens
        left = self.grants.get(handoff_id)
        paid = tokens if left is None else min(tokens, left)
        if left is None:
            self.free -= tokens
        else:
            self.grants[handoff_id] -= paid
            self.free -= tokens - paid
        self.spent += tokens
        self.emit(handoff_id, BudgetCharged(tokens=tokens, **self._figures))
        if paid < tokens:
            self.emit(handoff_id, BudgetOverdrawn(tokens=tokens - paid, **self._figures))

    def _refund(self, handoff_id: str) -> None:
        tokens = self.grants.pop(handoff_id)
        carved_from = self.carved_from[handoff_id]
        if carved_from in self.grants:
            self.grants[carved_from] += tokens
        else:
            self.free += tokens
        self.emit(handoff_id, BudgetRefunded(tokens=tokens, **self._figures))


def random_log(choices: Sequence[int]) -> Log:
    """Grow a session by whatever the numbers say."""
    log = Log(pool_tokens=1_000_000).user("Go")
    open_now = [log.root("a0")]
    for number, choice in enumerate(choices):
        handoff_id = open_now[choice % len(open_now)]
        match choice % 7:
            case 0 | 1:
                grant = log.rest(handoff_id) // 2
                open_now.append(log.call(handoff_id, f"a{number}", grant=grant))
            case 2:
                open_now.remove(handoff_id)
                open_now.append(log.transfer(handoff_id, f"a{number}", grant=0))
            case 3:
                log.call(handoff_id, "nobody", refused="target")
            case 4:
                log.step(handoff_id, tokens=choice % 900)
            case 5 if len(open_now) > 1:
                open_now.remove(handoff_id)
                log.close(handoff_id)
            case 6:
                log.transfer(handoff_id, "nobody", refused="cycle")
            case _:
                pass
        if not open_now:
            break
    return log
