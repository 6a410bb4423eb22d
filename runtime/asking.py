"""Asking a model, inside the limits: what is left, the question, the answer, the bill.

Source: S0, step 3.
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

from handoff_console.runtime.billing import Bill
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.canonical import estimate_tokens
from handoff_console.runtime.context import KeptMessage, kept_message
from handoff_console.runtime.contract import MIN_REPLY_TOKENS, Usage
from handoff_console.runtime.counting import count
from handoff_console.runtime.errors import (
    MISTAKES,
    FunctionFailed,
    ModelError,
    ReplayDiverged,
    TransientModelError,
    named,
)
from handoff_console.runtime.events import FirstTokenReceived, ModelCalled, ModelReplied
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End, OpenHandoff, failed, message_of, stopped
from handoff_console.runtime.models import ModelCall, ModelReply, as_reply, terms_of
from handoff_console.runtime.player import LOST, LostReply, Player, as_played
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.tools import LATE, by_deadline


class Reply(NamedTuple):
    """What a model said, and the message that it became."""

    said: ModelReply
    kept: KeptMessage


class _Waiting:
    """An answer that is waited for; its first token counts once, and only while it is."""

    __slots__ = ("_on_first_token", "over")

    def __init__(self, on_first_token: Callable[[], None]) -> None:
        self.over = False
        self._on_first_token = on_first_token

    def first_token(self) -> None:
        if not self.over:
            self.over = True
            self._on_first_token()


class Asker:
    """Asks the models of one request and charges the pool."""

    def __init__(self, flow: Flow, recorder: Recorder, pool: Pool, player: Player) -> None:
        self._flow, self._recorder, self._pool = flow, recorder, pool
        self._player = player
        self._bill = Bill(flow, recorder, pool)

    def limit(self, handoff: OpenHandoff) -> End | None:
        """Return the end of a handoff that has used up a limit; None when it may ask once more."""
        limits = handoff.limits
        if handoff.steps >= limits.max_steps:
            return stopped(handoff, "steps", f"step cap hit: {count(limits.max_steps, 'step')}")
        return self._used_up(handoff)

    def _used_up(self, handoff: OpenHandoff) -> End | None:
        limits = handoff.limits
        if self.seconds_left(handoff) <= 0:
            return _late(handoff)
        if self._bill.is_used_up:
            return stopped(handoff, "cost", f"cost limit hit: {self._flow.max_cost:g}")
        left, estimate = self._tokens_left(handoff), self._estimate(handoff)
        if left - estimate >= MIN_REPLY_TOKENS:
            return None
        if handoff.grant_tokens is None and left < limits.max_tokens - handoff.tokens:
            return stopped(handoff, "pool", f"{self._pool_says(left)}, about {estimate} needed")
        # Notes are a part of the result: with other words, or other commas, what was recorded
        # before would no longer verify.
        return stopped(
            handoff,
            "tokens",
            f"token cap hit: {max(left, 0)} of {limits.max_tokens} left, about {estimate} needed",
        )

    def _pool_says(self, left: int) -> str:
        pool = self._pool
        if left <= 0:
            return "pool empty: 0 tokens left"
        whole = "all its " if pool.free == pool.total else ""  # nobody has spent of it
        return f"pool too small: {whole}{count(left, 'token')} left"

    async def ask(self, handoff: OpenHandoff) -> Reply | End:
        """Ask for the next step; a model that fails for good, or is late, ends the handoff.

        A transient error is no step of its own: the model is asked again as its terms say, each
        try is recorded, and what a failed one cost is charged. So is an answer that died with the
        process, which is nobody's failure and takes away no try.
        """
        handoff.steps += 1
        try_number = lost = 0
        end: End | None
        while True:
            try_number += 1
            estimate, room = self._called(handoff, try_number)
            started = self._recorder.elapsed()
            waiting = _Waiting(lambda: self._first_token(handoff))
            try:
                reply = await self._answer(handoff, room, waiting)
            except LostReply:
                lost += 1
                self._not_replied(handoff, LOST, started, billed=estimate, transient=True)
                end = self._used_up(handoff)
            except ReplayDiverged:
                raise
            except MISTAKES as error:  # a worker's failure is a value, not a crash
                end = await self._failed_try(handoff, error, try_number - lost, estimate, started)
            else:
                if reply is not LATE:
                    return Reply(reply, self._replied(handoff, reply, estimate, started))
                late = "no reply by the deadline"
                self._not_replied(handoff, late, started, billed=estimate, late=True)
                end = _late(handoff)
            finally:
                waiting.over = True
            if end:
                return end

    def _called(self, handoff: OpenHandoff, try_number: int) -> tuple[int, int]:
        """Record that a model is asked; return the estimate and the room for its answer."""
        terms, estimate = terms_of(handoff.model), self._estimate(handoff)
        room = self._tokens_left(handoff) - estimate
        if terms.max_output_tokens is not None:
            room = min(room, terms.max_output_tokens)
        self._recorder.emit(
            handoff.scope,
            ModelCalled(
                step=handoff.steps,
                model=handoff.model.name,
                context=handoff.context.node,
                messages=len(handoff.context.messages),
                settings=self._recorder.keep(terms.recorded).digest if terms.recorded else None,
                estimate_tokens=estimate,
                max_output_tokens=room,
                repair=handoff.rejected_outputs > 0,
                try_number=try_number,
            ),
        )
        self._recorder.commit()
        return estimate, room

    async def _answer(self, handoff: OpenHandoff, room: int, waiting: _Waiting) -> Any:
        """Return what the model says, or said when this was recorded; `LATE` past the deadline."""
        scope, step = handoff.scope, handoff.steps
        played = self._player.reply(scope, step, handoff.context.node)
        handoff.step_played = played is not None
        if played:
            await self._player.step_played(played.at_seconds, played.seconds)
            return as_played(played)
        was_lost = self._player.was_lost(scope, step)
        await self._player.go_live(counts=not was_lost)
        if was_lost:
            raise LostReply
        question = self._question(handoff, room, waiting.first_token)
        said = await by_deadline(handoff.model.reply(question), self.seconds_left(handoff))
        return said if said is LATE else as_reply(said)

    def _question(
        self, handoff: OpenHandoff, room: int, first_token: Callable[[], None]
    ) -> ModelCall:
        return ModelCall(
            flow=self._flow,
            agent=handoff.agent,
            messages=tuple(handoff.context.messages),
            tools=handoff.tools,
            request=handoff.request,
            packet=handoff.packet,
            path=handoff.scope.path or "",
            step=handoff.steps,
            attempt=handoff.scope.attempt,
            max_output_tokens=room,
            first_token=first_token,
        )

    def _first_token(self, handoff: OpenHandoff) -> None:
        self._recorder.emit(handoff.scope, FirstTokenReceived(step=handoff.steps))
        self._recorder.commit()

    def seconds_left(self, handoff: OpenHandoff) -> float:
        """Return the seconds until a handoff's deadline."""
        return handoff.deadline_at - self._recorder.timeline.elapsed()

    def _replied(
        self, handoff: OpenHandoff, reply: ModelReply, estimate: int, started: float
    ) -> KeptMessage:
        kept = kept_message(self._recorder, message_of(handoff, reply))
        usage = reply.usage or Usage(estimate, estimate_tokens(kept.size_bytes), measured=False)
        self._recorder.emit(
            handoff.scope,
            ModelReplied(
                step=handoff.steps,
                reply=kept.digest,
                tool_calls=len(reply.tool_calls),
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                measured=usage.measured,
                finish_reason=reply.finish_reason,
                replayed=handoff.step_played,
                latency_seconds=round(self._recorder.elapsed() - started, 6),
            ),
        )
        self._bill.charge(handoff, usage)
        return kept

    async def _failed_try(
        self,
        handoff: OpenHandoff,
        error: BaseException,
        try_number: int,
        estimate: int,
        started: float,
    ) -> End | None:
        """Record a failed try, and wait for the next one; return the end if there is none."""
        transient = isinstance(error, TransientModelError | TimeoutError | ConnectionError)
        text = (isinstance(error, ModelError) and str(error)) or named(error)
        billed = estimate if isinstance(error, ModelError) and error.billed else 0
        own = error if isinstance(error, FunctionFailed) else None
        where = own.raised_at if own else ""
        self._not_replied(
            handoff, text, started, billed=billed, transient=transient, raised_at=where
        )
        pause_seconds = self._pause_seconds(handoff, error, try_number) if transient else None
        if pause_seconds is None:
            tries = f" {try_number} times" if try_number > 1 else ""
            # Where the model itself may be tried again, the handoff is not: 3 tries stay 3.
            again = transient and terms_of(handoff.model).max_tries == 1
            who = "its function" if own else "the model"
            return failed(handoff, f"{who} failed{tries}: {text}", transient=again)
        self._recorder.commit()
        await self._player.pause(pause_seconds)
        return self._used_up(handoff)

    def _pause_seconds(
        self, handoff: OpenHandoff, error: BaseException, try_number: int
    ) -> float | None:
        """Return how long to wait before the next try; None when none is left or none in time."""
        terms = terms_of(handoff.model)
        if try_number >= terms.max_tries:
            return None
        pause: float | None = getattr(error, "retry_after_seconds", None)
        if pause is None:
            pause = terms.backoff_seconds * 2 ** (try_number - 1)
        key = f"{self._recorder.session_id} {handoff.id} {try_number}"
        pause *= 1 + crc32(key.encode()) / 2**34
        return pause if pause < self.seconds_left(handoff) else None

    def _not_replied(
        self,
        handoff: OpenHandoff,
        error: str,
        started: float,
        *,
        billed: int = 0,
        transient: bool = False,
        late: bool = False,
        raised_at: str = "",
    ) -> None:
        """Record a call without a reply. `billed` is what its input may cost, in tokens."""
        self._recorder.emit(
            handoff.scope,
            ModelReplied(
                step=handoff.steps,
                input_tokens=billed,
                measured=not billed,
                latency_seconds=round(self._recorder.elapsed() - started, 6),
                error=error,
                transient=transient,
                late=late,
                raised_at=raised_at,
                replayed=handoff.step_played,
            ),
        )
        if billed:
            self._bill.charge(handoff, Usage(billed, 0, measured=False))

    def _tokens_left(self, handoff: OpenHandoff) -> int:
        return min(handoff.limits.max_tokens - handoff.tokens, self._pool.rest(handoff.id))

    def _estimate(self, handoff: OpenHandoff) -> int:
        return estimate_tokens(handoff.context.size_bytes + handoff.tools_bytes)


def _late(handoff: OpenHandoff) -> End:
    return stopped(
        handoff, "deadline", f"deadline hit: {count(handoff.limits.deadline_seconds, 'second')}"
    )
