"""Running tools: on the event loop or in a thread that a deadline can leave behind."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.runtime.blame import raised_at
from handoff_console.runtime.clock import in_virtual_time
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.errors import (
    MISTAKES,
    OUTCOME_UNKNOWN,
    OutcomeUnknown,
    ToolError,
    TransientToolError,
    named,
)
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.tool import Tool, Transfer, transfer_as_result

LATE = object()
"""What `by_deadline` returns when the deadline came first."""


@quickly_made
@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool came back with."""

    value: Any = None
    error: str = ""
    """One sentence for the model; empty when it worked."""
    transient: bool = False
    is_unknown: bool = False
    """It writes, and may have done so all the same."""
    raised_at: str = ""
    """Where its code raised what it did not mean to; not for the model."""
    hands_over: bool = False
    """Its value is a transfer that it asks for."""


async def run_tool(tool: Tool, arguments: Mapping[str, Any]) -> ToolOutcome:
    """Call a tool and return its value, or what went wrong as a sentence: a tool never raises.

    Runs as a task of its own: one that is cancelled ends with an outcome that nobody reads.
    """
    try:
        if inspect.iscoroutinefunction(tool.function):
            value = await tool.function(**arguments)
        elif needs_thread(tool):
            value = await in_thread(tool.function, arguments, f"tool {tool.name}")
        else:
            value = tool.function(**arguments)
        if inspect.isawaitable(value):
            value = await value
    except Transfer as transfer:
        value = transfer
    except OutcomeUnknown as error:
        return ToolOutcome(error=_own_words(error), is_unknown=True)
    except ToolError as error:
        transient = isinstance(error, TransientToolError)
        return ToolOutcome(error=_own_words(error), transient=transient)
    except (TimeoutError, ConnectionError) as error:
        return _failed(tool, error, transient=True)
    except (*MISTAKES, GeneratorExit, asyncio.CancelledError) as error:
        return _failed(tool, error, raised_at=raised_at(tool.function, error))
    if isinstance(value, Transfer):
        return ToolOutcome(transfer_as_result(value), hands_over=True)
    return ToolOutcome(value)


def _failed(
    tool: Tool, error: BaseException, *, transient: bool = False, raised_at: str = ""
) -> ToolOutcome:
    """Return the outcome of a tool that did not say itself whether it had done anything."""
    if tool.effect is Effect.READ:
        return ToolOutcome(error=named(error), transient=transient, raised_at=raised_at)
    # Not transient: another attempt of the handoff could not try it again either.
    return ToolOutcome(
        error=f"{named(error)}; {OUTCOME_UNKNOWN}", is_unknown=True, raised_at=raised_at
    )


def needs_thread(tool: Tool) -> bool:
    """Say whether a tool runs in a thread: not in virtual time, of which a thread takes none."""
    is_plain = not inspect.iscoroutinefunction(tool.function)
    return is_plain and not tool.inline and not in_virtual_time()


def in_thread(
    function: Callable[..., Any], arguments: Mapping[str, Any], name: str = "tool"
) -> asyncio.Future[Any]:
    """Run a plain function in a daemon thread of its own.

    Not `asyncio.to_thread`: its pool holds the interpreter's exit until the function ends, so a
    tool that hangs would hang the program.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            value, error = context.run(function, **arguments), None
        except BaseException as raised:  # noqa: BLE001 - handed over to the waiting coroutine
            value, error = None, raised
        try:
            loop.call_soon_threadsafe(_settle, future, value, error)
        except RuntimeError:  # the loop has closed: nobody waits any more
            return

    threading.Thread(target=work, daemon=True, name=name).start()
    return future


async def by_deadline(
    work: Awaitable[Any], seconds: float, on_late: Callable[[Any], None] | None = None
) -> Any:
    """Return what `work` returns, or `LATE` when `seconds` pass first.

    At the deadline the work is left behind, not waited for: a cleanup that takes its time, or a
    thread that hangs, holds nobody up (so no `asyncio.wait_for`).

    Args:
        work: Anything awaitable.
        seconds: From now; none left means that only work which is done already counts.
        on_late: Called with what it returned, should it ever return.

    Raises:
        RuntimeError: The work was cancelled, and not by cancelling this.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()
    # `asyncio.wait` does the same for twice the instructions and one more turn of the loop.
    # A name of its own would be made up for each.
    task = loop.create_task(_hand_over(work, answer, on_late), name="by deadline")
    timer = loop.call_at(loop.time() + max(seconds, 0), _late, loop, answer)
    try:
        found = await answer
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        timer.cancel()
    if found is LATE and on_late is None:
        task.cancel()
    return found


def _late(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Any]) -> None:
    # Two turns of the loop later: what comes at the very moment of the deadline still counts.
    loop.call_soon(loop.call_soon, _settle, answer, LATE, None)


async def _hand_over(
    work: Awaitable[Any], answer: asyncio.Future[Any], on_late: Callable[[Any], None] | None
) -> None:
    """Do the work and give what comes of it to who waits for the answer, or else to `on_late`."""
    try:
        value = await work
    except asyncio.CancelledError:
        if answer.done():
            raise
        # From within: nobody who waits asked for it.
        answer.set_exception(RuntimeError("it was cancelled from within"))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # handed over: nobody waits to the deadline
        if answer.get_loop().is_closed():
            raise
        _settle(answer, None, error)
    else:
        if answer.get_loop().is_closed():
            return
        if on_late is None or not answer.done():
            _settle(answer, value, None)
        elif not answer.cancelled():
            on_late(value)


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif not isinstance(error, Exception) or isinstance(error, StopIteration):
        future.set_exception(RuntimeError(named(error)))
    else:
        future.set_exception(error)


def _own_words(error: ToolError) -> str:
    """Return the sentence a tool means the model to read; what it raised, where that has none."""
    try:
        return str(error) or named(error)
    except Exception:  # noqa: BLE001 - an error of somebody else may be broken itself
        return named(error)


async def run_together(works: Sequence[Coroutine[Any, Any, None]], *, anew: bool = False) -> None:
    """Wait for all; one alone costs no task. Should one raise, the others are cancelled.

    `anew` gives one alone a task as well: its calls then do not stand on top of those that wait for
    it, of which Python allows 1,000.
    """
    if len(works) <= 1 and not anew:
        for work in works:
            await work
        return
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work, name="together")
    except BaseExceptionGroup as raised:
        raise raised.exceptions[0] from None
