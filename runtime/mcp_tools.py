"""Tools of an MCP server, started over stdio: narrow, reading, and not trusted.

Needs the extra `mcp`, which is imported when a tool is first called. What a model is told of a
tool, and what it may pass, stands in the flow: nothing that the server says reaches a prompt but
its results, fenced as data. Source: S3, on workers that are reached over MCP.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from pydantic_core import to_jsonable_python

from handoff_console.runtime.canonical import canonical
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.errors import OUTCOME_UNKNOWN, OutcomeUnknown, ToolError, choices
from handoff_console.runtime.mcp_said import printable
from handoff_console.runtime.mcp_server import Answer, McpServer
from handoff_console.runtime.tool import Tool


def mcp_tools(
    command: Sequence[str],
    *tools: Tool | Callable[..., Any],
    environment: Mapping[str, str] | None = None,
    start_seconds: float = 30.0,
    call_seconds: float = 300.0,
    idle_seconds: float = 60.0,
    max_result_bytes: int = 64_000,
) -> tuple[Tool, ...]:
    """Return tools whose work an MCP server does.

    Each is declared as a function with annotated parameters, a docstring and no body: its name is
    the tool's name at the server. Only what is declared can be called. All of them read, unless
    one is given as `Tool(function, effect=Effect.WRITE)`: then its agent has to be allowed to
    write, and a person has to approve each call. A server that says of a tool declared as reading
    that it changes something is not asked.

    The server starts with the first call, in an environment without this program's keys, serves
    all sessions of this process, and stops when it is idle or the process ends.

    Args:
        command: The program and its arguments; no shell reads it.
        *tools: What may be called.
        environment: Variables for the server, beside PATH, HOME and the like.
        start_seconds: How long it may take until it answers for the first time.
        call_seconds: How long one call may take; the deadline of a handoff mostly comes first.
        idle_seconds: After so long without a call the server is stopped.
        max_result_bytes: A longer result is an error, and not passed on.

    Raises:
        ToolError: The extra `mcp` is not installed.
    """
    if find_spec("mcp") is None:
        raise ToolError(
            "Tools of an MCP server need the extra `mcp`, which is not installed: "
            "pip install 'handoff-console[mcp]'."
        )
    server = McpServer(command, environment or {}, start_seconds, call_seconds, idle_seconds)
    declared = (tool if isinstance(tool, Tool) else Tool(tool) for tool in tools)
    return tuple(
        replace(tool, function=_remote(server, tool, max_result_bytes), untrusted=True)
        for tool in declared
    )


def _remote(server: McpServer, tool: Tool, max_result_bytes: int) -> Callable[..., Any]:
    @functools.wraps(tool.function)
    async def call(**arguments: Any) -> Any:
        given = to_jsonable_python({k: v for k, v in arguments.items() if v is not None})
        answer = await server.call(
            tool.name, given, lambda offered: _check(tool, offered), reads=_reads(tool)
        )
        return _value(tool, answer, max_result_bytes)

    return call


def _reads(tool: Tool) -> bool:
    return tool.effect is Effect.READ


def _check(tool: Tool, offered: Mapping[str, bool | None]) -> None:
    """Refuse a tool that the server does not have, or says more about than was declared.

    Args:
        tool: As it was declared.
        offered: What the server has, by name, and whether it says that it only reads.
    """
    if tool.name not in offered:
        raise ToolError(
            f"the MCP server has no tool {tool.name!r}; it has: {choices(offered, 'none')}."
        )
    if _reads(tool) and offered[tool.name] is False:
        raise ToolError(
            f"the MCP server says that {tool.name!r} changes something, but it is declared as "
            "reading; declare it as Tool(…, effect=Effect.WRITE) if that is intended."
        )


def _value(tool: Tool, answer: Answer, max_result_bytes: int) -> Any:
    if answer.is_error:
        raise ToolError(f"{tool.name!r} failed: {printable(str(answer.content))}")
    size = len(canonical(answer.content))
    if size > max_result_bytes:
        problem = f"{tool.name!r} returned {size} bytes; at most {max_result_bytes} are taken"
        if not _reads(tool):
            raise OutcomeUnknown(f"{problem}; {OUTCOME_UNKNOWN}")
        raise ToolError(f"{problem}. Ask for less.")
    return answer.content
