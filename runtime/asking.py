"""Asking a model, inside the limits: what is left, the question, the answer, the bill.

Source: S0, step 3.
"""

from typing import NamedTuple

from handoff_console.runtime.budget import Pool
from handoff_console.runtime.canonical import estimate_tokens
from handoff_console.runtime.context import KeptMessage, kept_message
from handoff_console.runtime.contract import Message, Usage
from handoff_console.runtime.errors import ModelError, TransientModelError
from handoff_console.runtime.events import (
    BudgetCharged,
    BudgetOverdrawn,
    ModelCalled,
    ModelReplied,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import End, OpenHandoff, failed, stopped
from handoff_console.runtime.models import ModelCall, ModelReply
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.tools import LATE, by_deadline

MIN_REPLY_TOKENS = 16
"""A model is not asked when less than this is left for its answer."""


class Reply(NamedTuple):
    """What a model said, and the message that it became."""

    said: ModelReply
    kept: KeptMessage


class Asker:
    """Asks the models of one request and charges the pool."""

    def __init__(self, flow: Flow, recorder: Recorder, pool: Pool) -> None:
        self._flow, self._recorder, self._pool = flow, recorder, pool
        self._cost = 0.0

    def limit(self, handoff: OpenHandoff) -> End | None:
        """Return the end of a handoff that has used up a limit; None when it may ask once more."""
        limits = handoff.limits
        if handoff.steps >= limits.max_steps:
            return stopped(handoff, "steps", f"step cap hit: {limits.max_steps} steps")
        if self.seconds_left(handoff) <= 0:
            return stopped(
                handoff, "deadline", f"deadline hit: {limits.deadline_seconds:g} seconds"
            )
        if self._flow.max_cost is not None and self._cost >= self._flow.max_cost:
            return stopped(handoff, "cost", f"cost limit hit: {self._flow.max_cost:g}")
        left, estimate = self._tokens_left(handoff), self._estimate(handoff)
        if left - estimate >= MIN_REPLY_TOKENS:
            return None
        if handoff.grant_tokens is None and left < limits.max_tokens - handoff.tokens:
            return stopped(
                handoff, "pool", f"pool empty: {max(left, 0)} tokens left, about {estimate} needed"
            )
        return stopped(
            handoff,
            "tokens",
            f"token cap hit: {max(left, 0)} of {limits.max_tokens} left, about {estimate} needed",
        )

    async def ask(self, handoff: OpenHandoff) -> Reply | End:
        """Ask for the next step; a model that fails, or is late, ends the handoff."""
        handoff.steps += 1
        estimate = self._estimate(handoff)
        room = self._tokens_left(handoff) - estimate
        self._recorder.emit(
            handoff.scope,
            ModelCalled(
                step=handoff.steps,
                model=handoff.model.name,
                context=handoff.context.node,
                messages=len(handoff.context.messages),
                estimate_tokens=estimate,
                max_output_tokens=room,
                repair=handoff.rejected_outputs > 0,
            ),
        )
        self._recorder.commit()
        call = ModelCall(
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
        )
        started = self._recorder.elapsed()
        try:
            reply = await by_deadline(handoff.model.reply(call), self.seconds_left(handoff))
        except Exception as error:  # noqa: BLE001 - a worker's failure is a value, not a crash
            return self._model_failed(handoff, error, started)
        if reply is LATE:
            self._replied_late(handoff, estimate, started)
            return stopped(
                handoff, "deadline", f"deadline hit: {handoff.limits.deadline_seconds:g} seconds"
            )
        return Reply(reply, self._replied(handoff, reply, estimate, started))

    def seconds_left(self, handoff: OpenHandoff) -> float:
        """Return the seconds until a handoff's deadline."""
        return handoff.deadline_at - self._recorder.clock.elapsed()

    def _replied(
        self, handoff: OpenHandoff, reply: ModelReply, estimate: int, started: float
    ) -> KeptMessage:
        kept = kept_message(self._recorder, _as_message(handoff, reply))
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
                latency_seconds=round(self._recorder.elapsed() - started, 6),
            ),
        )
        self._charge(handoff, usage)
        return kept

    def _replied_late(self, handoff: OpenHandoff, estimate: int, started: float) -> None:
        usage = Usage(estimate, 0, measured=False)
        self._recorder.emit(
            handoff.scope,
            ModelReplied(
                step=handoff.steps,
                input_tokens=usage.input_tokens,
                measured=False,
                latency_seconds=round(self._recorder.elapsed() - started, 6),
                error="no reply by the deadline",
            ),
        )
        self._charge(handoff, usage)

    def _model_failed(self, handoff: OpenHandoff, error: Exception, started: float) -> End:
        transient = isinstance(error, TransientModelError | TimeoutError | ConnectionError)
        text = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
        self._recorder.emit(
            handoff.scope,
            ModelReplied(
                step=handoff.steps,
                latency_seconds=round(self._recorder.elapsed() - started, 6),
                error=text,
                transient=transient,
            ),
        )
        return failed(handoff, f"the model failed: {text}", transient=transient)

    def _charge(self, handoff: OpenHandoff, usage: Usage) -> None:
        handoff.tokens += usage.tokens
        handoff.measured = handoff.measured and usage.measured
        price = self._flow.prices.get(handoff.model.name)
        cost = None
        if price is not None:
            cost = (
                usage.input_tokens * price.input_per_million
                + usage.output_tokens * price.output_per_million
            ) / 1_000_000
            self._cost += cost
        handoff.cost = None if cost is None or handoff.cost is None else handoff.cost + cost
        pool = self._pool
        over = pool.charge(handoff.id, usage.tokens)
        after = {"free": pool.free, "open": pool.open, "spent": pool.spent}
        self._recorder.emit(
            handoff.scope,
            BudgetCharged(tokens=usage.tokens, estimated=not usage.measured, cost=cost, **after),
        )
        if over:
            self._recorder.emit(handoff.scope, BudgetOverdrawn(tokens=over, **after))

    def _tokens_left(self, handoff: OpenHandoff) -> int:
        return min(handoff.limits.max_tokens - handoff.tokens, self._pool.rest(handoff.id))

    def _estimate(self, handoff: OpenHandoff) -> int:
        return estimate_tokens(handoff.context.size_bytes + handoff.tools_bytes)


def _as_message(handoff: OpenHandoff, reply: ModelReply) -> Message:
    message: Message = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        ids = [call["id"] for call in reply.tool_calls]
        keep = all(ids) and len(set(ids)) == len(ids)
        message["tool_calls"] = [
            call if keep else {**call, "id": f"{handoff.id}.{handoff.steps}.{index}"}
            for index, call in enumerate(reply.tool_calls)
        ]
    return message
