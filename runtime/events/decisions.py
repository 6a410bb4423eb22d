"""Events of approvals and of replay."""

from handoff_console.runtime.events.base import Digest, FreeText, Payload, event


@event("approval_requested")
class ApprovalRequested(Payload):
    """An act waits for a person."""

    approval_id: str
    tool: str
    shown: Digest
    """Exactly what the person is shown."""
    expires_seconds: float | None = None


@event("approval_decided")
class ApprovalDecided(Payload):
    """A person decided, or the time ran out, which is a no."""

    approval_id: str
    approved: bool
    decided_by: FreeText = ""
    shown: Digest
    executed: Digest | None = None
    """The arguments that were approved, where they were edited."""
    note: FreeText = ""


@event("replay_diverged")
class ReplayDiverged(Payload):
    """A re-run asked for something else than was recorded at the same place."""

    place: str
    recorded: Digest
    asked: Digest
