"""An MCP server over stdio that misbehaves as its first argument says."""

import os
import signal
import sys

if sys.argv[1:] == ["crash"]:
    sys.exit("first line\n\x1b[31mno database\x07")
if sys.argv[1:] == ["silent"]:
    sys.stdin.read()
    sys.exit()

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations

server = MCPServer("odd")


@server.tool()
def whoami() -> dict[str, int]:
    """Return the process id."""
    return {"pid": os.getpid()}


@server.tool()
def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool()
def called_by(ctx: Context) -> str:
    """Return what the caller said of the trace that it belongs to."""
    return str((ctx.request_context.meta or {}).get("traceparent"))


@server.tool()
def variables() -> list[str]:
    """Return the names of the environment's variables."""
    return sorted(os.environ)


@server.tool()
def fail() -> str:
    """Raise an error."""
    raise ValueError("the shelf is empty")


@server.tool()
async def hang() -> str:
    """Never return."""
    await anyio.sleep_forever()
    return ""


@server.tool()
def die() -> str:
    """End the server in the middle of the call."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@server.tool(annotations=ToolAnnotations(read_only_hint=False))
def publish(text: str) -> str:
    """Change something."""
    return f"published {text}"


if __name__ == "__main__":
    server.run()
