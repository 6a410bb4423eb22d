"""Events of approvals and of replay."""

from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events.base import Digest, FreeText, Payload, event


@event("approval_requested")
class ApprovalRequested(Payload):
    """An act waits for a person."""

    approval_id: str
    step: int
    index: int
    """Which call of the reply, from 0."""
    tool: str
    effect: Effect
    shown: Digest
    """Exactly what the person is shown and what a yes is bound to: tool, arguments, who asks."""
    expires_seconds: float
    """After so long without an answer it is a no."""


@event("approval_decided")
class ApprovalDecided(Payload):
    """A person decided, or the time ran out, which is a no."""

    approval_id: str
    approved: bool
    decided_by: FreeText = ""
    reason: str = ""
    """Why it is a no: `denied`, `expired`, `stale` (it was given for something else), `invalid`
    (edited arguments that do not fit)."""
    proposed: Digest
    """The arguments as the agent asked."""
    approved_arguments: Digest | None = None
    """The arguments that will be executed; other than proposed where the person edited them."""
    note: FreeText = ""


@event("replay_diverged")
class ReplayDiverged(Payload):
    """A re-run asked for something else than was recorded at the same place."""

    place: str
    recorded: Digest
    asked: Digest
