"""The kinds of handoffs, of what goes along with them, and of what tools do."""

from enum import StrEnum


class HandoffKind(StrEnum):
    """The two ways to hand off."""

    CALL = "call"
    """The caller waits and keeps control: a child in the tree."""
    TRANSFER = "transfer"
    """Control moves; the target answers to whoever waited for the sender."""


class ContextPolicy(StrEnum):
    """What goes along with a transfer."""

    PACKET = "packet"
    """Goal, summary and facts; nothing of the conversation."""
    SLICE = "slice"
    """The validated payload and the most recent turns. Source: S2, "Strategy B"."""
    FULL_HISTORY = "full_history"
    """The whole conversation: costly, and it may show what the receiver should not see."""


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    """Changes something of ours."""
    EXTERNAL = "external"
    """Reaches people or systems outside: messages, payments, deployments."""
