"""What a rule says is wrong, and the evidence it says it on."""

from dataclasses import dataclass
from enum import StrEnum

RULES_VERSION = 6
"""Counts up when a rule changes what it finds; findings stamped with another one are rebuilt."""


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """The request failed, or its answer cannot be trusted, because of this."""
    WARNING = "warning"
    """Something went wrong and was survived, or cost more than it had to."""
    INFO = "info"
    """Worth knowing; nothing was harmed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An event that shows it, and what it shows."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a session."""

    code: str
    """The rule, as a fixed word: `ping_pong`, `starved_pool`, …"""
    severity: Severity
    handoff_id: str | None
    """The handoff to look at first; None when it concerns none."""
    agent: str
    """Whose doing it is; empty when nobody's."""
    turn: int
    evidence: tuple[Evidence, ...]
    """At least one, by seq."""
    sentence: str
    """What happened, in plain words."""
    advice: str
    """What to do about it."""
