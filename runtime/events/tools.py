"""Events of tools."""

from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events.base import Digest, FreeText, Payload, event


@event("tool_called")
class ToolCalled(Payload):
    """A tool is about to run; for a write, this is on the disk before anything happens."""

    step: int
    index: int
    """Which call of the reply, from 0."""
    call_id: str
    tool: str
    effect: Effect = Effect.READ
    reason: FreeText
    """What the model said beside the call, or which step of whom it was."""
    arguments: Digest
    idempotency_key: str | None = None
    """For writes: the same for every attempt of the same act."""
    approval_id: str | None = None
    """The yes it runs on."""


@event("tool_returned")
class ToolReturned(Payload):
    """A tool came back, with a value or an error; either is what the model reads."""

    step: int
    index: int
    call_id: str
    tool: str
    result: Digest
    """The message that the model reads."""
    error: FreeText = ""
    transient: bool = False
    late: bool = False
    """It had not returned by the deadline."""
    outcome_unknown: bool = False
    """It writes, failed without saying that it did nothing, and may have done so all the same."""
    raised_at: str = ""
    """Where it raised what is no `ToolError`: `desk.py, line 8`. The model does not read this."""
    hands_over: bool = False
    """The result is a transfer that the tool asks for, in its agent's name."""
    from_ledger: bool = False
    """This very act was done before; the original result, nothing was done again."""
    replayed: bool = False
    """Taken from a recording: the tool did not run."""
    untrusted: bool = False
    """It came from a program of somebody else, such as an MCP server."""
    duration_seconds: float


@event("tool_denied")
class ToolDenied(Payload):
    """A tool did not run: it is not allowed here, does not exist, or its arguments do not fit."""

    step: int
    index: int
    call_id: str
    tool: FreeText
    """As it was asked for."""
    rule: str
    """`not_allowed`, `unknown`, `arguments`, `approval`, `redacted`, or `outcome_unknown`."""
    reason: FreeText
    """One sentence, as the model reads it."""
    result: Digest
    allowed: tuple[str, ...] = ()


@event("tool_returned_late")
class ToolReturnedLate(Payload):
    """A tool that was given up at a deadline came back after all; nobody reads its result."""

    step: int
    index: int
    call_id: str
    tool: str
    result: Digest
    effect: Effect = Effect.READ
    late_by_seconds: float
