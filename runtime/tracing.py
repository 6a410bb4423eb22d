"""One trace of a request, also where its work is done by another program.

Remote calls pass on a `traceparent` as the W3C defines it: the trace of the request, which its
record has as `trace_id`, and the handoff that called. Source: S4, on tracing across agents.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from handoff_console.runtime.canonical import digest

HEADER = "traceparent"
"""As it is called in the headers of HTTP and in the `_meta` of MCP."""
_SPAN_DIGITS = 16

_CURRENT: ContextVar[str] = ContextVar(HEADER, default="")


def trace_id(request_id: str) -> str:
    """Return the trace of a request as 32 hexadecimal digits; the same whenever it is run."""
    return digest(request_id.encode(), b"")


def traceparent() -> str:
    """Return what a call to another program passes on; empty outside of a handoff."""
    return _CURRENT.get()


@contextmanager
def traced(request_id: str, handoff_id: str) -> Iterator[None]:
    """Say that what is called in here, and in tasks and threads begun here, is of a handoff."""
    span = digest(f"{request_id} {handoff_id}".encode(), b"")[:_SPAN_DIGITS]
    before = _CURRENT.set(f"00-{trace_id(request_id)}-{span}-01")
    try:
        yield
    finally:
        _CURRENT.reset(before)
