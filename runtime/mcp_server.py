"""A running MCP server: started when it is first needed, in a thread of its own.

The SDK's connection belongs to one task and must not be cancelled while it closes; the loops of
sessions end whenever they like. So it has a loop of its own, which ends when nobody calls any more.
"""

import asyncio
import atexit
import contextlib
import logging
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TextIO, cast

from handoff_console.runtime.counting import count
from handoff_console.runtime.errors import (
    OUTCOME_UNKNOWN,
    OutcomeUnknown,
    ToolError,
    TransientToolError,
)
from handoff_console.runtime.mcp_said import content, last_line, printable
from handoff_console.runtime.tracing import HEADER, traceparent

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import RequestParamsMeta

MAX_PAGES = 20
"""Of a server's list of tools."""
STOP_SECONDS = 5.0
"""How long the end of this process waits for a server to stop."""

Check = Callable[[Mapping[str, bool | None]], None]


class Answer(NamedTuple):
    """What a tool of a server came back with."""

    content: Any
    """Its structured content as JSON, or else its text."""
    is_error: bool


class McpServer:
    """A program that is started when it is needed, and again after it has ended."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        start_seconds: float,
        call_seconds: float,
        idle_seconds: float,
    ) -> None:
        self.command, self.environment = tuple(command), dict(environment)
        self.start_seconds, self.call_seconds = start_seconds, call_seconds
        self.idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._running: _Running | None = None

    async def call(
        self, name: str, arguments: Mapping[str, Any], check: Check, *, reads: bool
    ) -> Answer:
        """Call a tool.

        Args:
            name: The tool's.
            arguments: As JSON.
            check: Is shown what the server offers, before it is asked, and may refuse.
            reads: Whether a call that broke off may be made again.

        Raises:
            ToolError: The server refused, or what it answered is not valid.
            OutcomeUnknown: The tool writes, and its call broke off.
            TransientToolError: It did not start, ended, or took too long.
        """
        with self._lock:
            if self._running is None:
                self._running = _Running(self)
            running = self._running
            running.calls += 1
        work = running.call(name, arguments, check, reads=reads)
        try:
            ended = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, running.loop))
        finally:
            with self._lock:
                running.calls -= 1
                idle = running.calls == 0
            if idle:
                running.stop_soon()
        if isinstance(ended, ToolError):
            raise ended
        return ended

    def calls_of(self, running: "_Running") -> int:
        """Return how many calls of a run of the program have not come back."""
        with self._lock:
            return running.calls

    def forget(self, running: "_Running", *, unless_called: bool = False) -> bool:
        """Let the next call start a new one; say whether that was done."""
        with self._lock:
            if unless_called and running.calls:
                return False
            if self._running is running:
                self._running = None
            return True


class _Running:
    """One run of the program, from its start to its end. All but `calls` belongs to its thread."""

    def __init__(self, server: McpServer) -> None:
        self.loop = asyncio.new_event_loop()
        self.calls = 0
        """Calls that have not come back; read and written under the server's lock."""
        self._server = server
        self._offered: dict[str, bool | None] = {}
        self._calling: set[asyncio.Task[Any]] = set()
        self._stop = asyncio.Event()
        self._left = asyncio.Event()
        self._is_exit = False
        self._ready: asyncio.Future[Client] = self.loop.create_future()
        self._thread = threading.Thread(target=self._run, daemon=True, name="MCP server")
        atexit.register(self._end)
        self._thread.start()

    async def call(
        self, name: str, arguments: Mapping[str, Any], check: Check, *, reads: bool
    ) -> Answer | ToolError:
        """Call a tool; errors are returned, since whoever asked may have gone."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._calling.add(task)
        task.add_done_callback(self._calling.discard)
        try:
            client = await self._client()
            check(self._offered)
            return await self._ask(client, name, dict(arguments), reads=reads)
        except asyncio.CancelledError:
            if not self._stop.is_set():
                raise
            return _broke_off("was stopped", name, reads=reads)
        except _Ended as error:
            return _broke_off(str(error), name, reads=reads)
        except ToolError as error:
            return error

    def stop_soon(self) -> None:
        """Stop once nobody has called for a while. May be called from any thread."""

        def left() -> None:
            self._left.set()
            self.loop.call_later(self._server.idle_seconds, self._stop_if_idle)

        with contextlib.suppress(RuntimeError):  # it has ended, and its loop is closed
            self.loop.call_soon_threadsafe(left)

    async def _client(self) -> "Client":
        try:
            # Waited for, not awaited: of those who wait, one that is cancelled cancels no other.
            await asyncio.wait({self._ready}, timeout=self._server.start_seconds)
        except asyncio.CancelledError:
            if not self._stop.is_set():
                raise
        if self._ready.done():
            client = self._ready.result()
            if self._stop.is_set():
                raise TransientToolError("the MCP server ended before it was called")
            return client
        self._server.forget(self)
        self._stop.set()
        raise TransientToolError(
            f"the MCP server had not started after {count(self._server.start_seconds, 'second')}"
        )

    async def _ask(
        self, client: "Client", name: str, arguments: dict[str, Any], *, reads: bool
    ) -> Answer:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        try:
            result = await client.call_tool(
                name, arguments, self._server.call_seconds, meta=_trace()
            )
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                self._server.forget(self)
                self._stop.set()
                raise _Ended("ended") from error
            if error.code == REQUEST_TIMEOUT:
                raise _Ended(
                    f"did not answer for {count(self._server.call_seconds, 'second')}"
                ) from error
            problem = f"the MCP server refused {name!r}: {printable(error.message)}"
            raise ToolError(problem) from error
        except (OSError, RuntimeError, ValueError) as error:
            problem = f"the MCP server gave no valid result of {name!r}"
            if reads:
                raise ToolError(problem) from error
            raise OutcomeUnknown(f"{problem}; {OUTCOME_UNKNOWN}") from error
        return Answer(content(result), result.is_error)

    def _stop_if_idle(self) -> None:
        if self._server.forget(self, unless_called=True):
            self._stop.set()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._serve())
        atexit.unregister(self._end)

    def _end(self) -> None:
        self._is_exit = True
        with contextlib.suppress(RuntimeError):  # it has ended, and its loop is closed
            self.loop.call_soon_threadsafe(self._stop.set)
            # Nor does it wait for those who called: one may have gone without a word.
            self.loop.call_soon_threadsafe(self._left.set)
        self._thread.join(STOP_SECONDS)

    async def _serve(self) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            opening = asyncio.create_task(self._open(said))
            stop = asyncio.create_task(self._stop.wait())
            await asyncio.wait({opening, stop}, return_when=asyncio.FIRST_COMPLETED)
            # At most once, and only while it starts: a second time would break off its closing.
            if not self._ready.done():
                opening.cancel()
            await asyncio.wait({opening})
            stop.cancel()
        self._stop.set()
        self._server.forget(self)
        for call in self._calling:
            call.cancel()
        await self._all_answered()

    async def _all_answered(self) -> None:
        """Wait for those who called before it was forgotten: a call may still be on its way."""
        while not self._is_exit:
            self._left.clear()
            if not self._server.calls_of(self):
                return
            await self._left.wait()

    async def _open(self, said: IO[str]) -> None:
        try:
            async with _client(self._server, said) as client:
                self._offered = await _offered(client)
                self._ready.set_result(client)
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - whatever it is, the tool's caller is told
            if not self._ready.done():
                reason = last_line(said) or printable(str(error)) or type(error).__name__
                problem = f"the MCP server did not start: {reason}"
                self._ready.set_exception(TransientToolError(problem))
                self._ready.exception()  # seen: whoever waited for it may have gone


class _Ended(Exception):
    """A call broke off; the text says what the server did."""


def _trace() -> "RequestParamsMeta | None":
    """Return what tells the server whose call it is; the caller's context came along."""
    return cast("RequestParamsMeta", {HEADER: traceparent()}) if traceparent() else None


def _broke_off(what: str, name: str, *, reads: bool) -> ToolError:
    text = f"the MCP server {what} before {name!r} returned"
    if reads:
        return TransientToolError(text)
    return OutcomeUnknown(f"{text}; {OUTCOME_UNKNOWN}")


def _client(server: McpServer, said: IO[str]) -> "Client":
    from mcp import Client, StdioServerParameters, stdio_client

    program, *arguments = server.command
    parameters = StdioServerParameters(command=program, args=arguments, env=server.environment)
    # The SDK logs what it cannot read, and a server has no business on our terminal.
    logging.getLogger("mcp.client").addHandler(logging.NullHandler())
    return Client(stdio_client(parameters, errlog=cast(TextIO, said)))


async def _offered(client: "Client") -> dict[str, bool | None]:
    """Return what a server has, by name, and whether it says that it only reads."""
    found: dict[str, bool | None] = {}
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            found[tool.name] = tool.annotations.read_only_hint if tool.annotations else None
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
