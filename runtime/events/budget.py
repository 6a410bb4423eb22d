"""Events of the pool. Each carries what was true afterwards: free + open + spent = total."""

from handoff_console.runtime.events.base import Payload, event


@event("budget_reserved")
class BudgetReserved(Payload):
    """A handoff got its grant."""

    tokens: int
    free: int
    """What nobody has reserved or spent; below zero only after an overdraft."""
    open: int
    """The unspent rest of all open grants, each net of what was carved from it."""
    spent: int


@event("budget_charged")
class BudgetCharged(Payload):
    """A model call was paid for."""

    tokens: int
    estimated: bool = False
    """The model did not report its usage."""
    cost: float | None = None
    free: int
    open: int
    spent: int


@event("budget_refunded")
class BudgetRefunded(Payload):
    """A handoff gave back what it did not use."""

    tokens: int
    free: int
    open: int
    spent: int


@event("budget_overdrawn")
class BudgetOverdrawn(Payload):
    """A model used more than was left of its grant: the rest came from the pool."""

    tokens: int
    """By how much."""
    free: int
    open: int
    spent: int
