"""How a handoff comes out, and what follows from that. Source: S0, step 2."""

from enum import StrEnum


class Status(StrEnum):
    """How a handoff that ran came out. Every status asks for one reaction (`reaction_to`)."""

    OK = "ok"
    """The task is done."""
    NOT_FOUND = "not_found"
    """The thing asked for does not exist: an answer, never a reason to try again."""
    NEEDS_INPUT = "needs_input"
    """A value is missing that only the user or the caller can give."""
    ERROR = "error"
    """It failed; tried once more only when marked transient."""
    LIMIT_REACHED = "limit_reached"
    """Stopped by the runtime; what was gathered so far is incomplete."""


class State(StrEnum):
    """What a handoff is while, or when, it has no result."""

    ASKED_FOR = "asked for"
    """The gate has not decided yet, or it has and its agent has still to take over."""
    WAITING = "waiting"
    """For an approval or an answer by a person."""
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """Its process is gone."""
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """The gate did not let it through."""
    TRANSFERRED = "transferred"
    """It passed control on; the last of the chain has the result."""
    INCOMPLETE = "incomplete"
    """Imports only: the record breaks off."""
    UNKNOWN = "unknown"
    """Imports only: the record does not say."""


WORST_FIRST: tuple[Status | State, ...] = (
    Status.ERROR,
    Status.LIMIT_REACHED,
    State.INTERRUPTED,
    State.REFUSED,
    State.WAITING,
    Status.NEEDS_INPUT,
    State.CANCELLED,
    State.INCOMPLETE,
    State.ASKED_FOR,
    State.RUNNING,
    State.UNKNOWN,
    Status.NOT_FOUND,
    State.TRANSFERRED,
    Status.OK,
)
"""All outcomes, in the order in which they ask for attention."""


class EndedBy(StrEnum):
    """What closed a handoff."""

    ANSWERED = "answered"
    TRANSFERRED = "transferred"
    STOPPED = "stopped"
    """By a limit."""
    FAILED = "failed"
    CANCELLED = "cancelled"


class Reaction(StrEnum):
    """What follows from a result. Source: S0, step 2."""

    CONTINUE = "continue"
    ACCEPT = "accept"
    """Nothing was found, and that is the answer."""
    ASK = "ask"
    """Ask the user, or supply the missing value."""
    RETRY = "retry"
    REPORT = "report"
    """Say that it failed."""
    PRESENT_AS_INCOMPLETE = "present_as_incomplete"
