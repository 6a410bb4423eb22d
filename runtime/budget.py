"""One pool of tokens for a whole request: reserve before, charge while, refund after.

The law, after every step: `free + open + spent == total`. Source: S0, step 4.
"""

from dataclasses import dataclass

from handoff_console.runtime.counting import count
from handoff_console.runtime.errors import BudgetError


@dataclass(slots=True)
class _Grant:
    parent: str | None
    tokens: int
    spent: int = 0
    carved: int = 0

    @property
    def rest(self) -> int:
        return self.tokens - self.spent - self.carved


class Pool:
    """The tokens that all handoffs of one request share.

    The root holds no grant: it spends what is free. Every other handoff holds one, carved from the
    grant of the handoff that called it, or from what is free under the root.

    Args:
        total: Input plus output, of all model calls together.
        finish_floor: What calls may not reserve, so that the root can still answer.
    """

    def __init__(self, total: int, finish_floor: int = 0) -> None:
        self.total = total
        self.finish_floor = finish_floor
        self.free = total
        """Neither reserved nor spent; below zero only after an overdraft."""
        self.open = 0
        """What the open grants still hold."""
        self.spent = 0
        self._grants: dict[str, _Grant] = {}

    def rest(self, handoff_id: str) -> int:
        """Return what a handoff may still spend: the rest of its grant; for the root, all free."""
        grant = self._grants.get(handoff_id)
        return self.free if grant is None else grant.rest

    def holds(self, handoff_id: str | None) -> bool:
        """Say whether a handoff holds a grant now; the root never does."""
        return handoff_id in self._grants

    def available(self, parent: str | None, *, keep_floor: bool, returning: str = "") -> int:
        """Return how much could be reserved under `parent`.

        Args:
            parent: The calling handoff; None, or one without a grant, draws from what is free.
            keep_floor: Leave the finish floor alone. A transfer may take it: its target answers.
            returning: A handoff that will be refunded first.
        """
        back = self._grants[returning].rest if returning in self._grants else 0
        if parent in self._grants:
            return self._grants[parent].rest + back
        return self.free - (self.finish_floor if keep_floor else 0) + back

    def reserve(
        self, handoff_id: str, parent: str | None, tokens: int, *, keep_floor: bool = True
    ) -> None:
        """Set tokens aside for a handoff that is about to start: all of them or none.

        Raises:
            BudgetError: There are not so many, or the handoff holds a grant already.
        """
        if handoff_id in self._grants:
            raise BudgetError(f"Handoff {handoff_id!r} holds a grant already; refund it first.")
        available = self.available(parent, keep_floor=keep_floor)
        if tokens > available or tokens < 0:
            raise BudgetError(
                f"Handoff {handoff_id!r} asked for {count(tokens, 'token')}; "
                f"{max(available, 0):,} of {self.total:,} can be reserved. Ask for less or make "
                "the pool larger."
            )
        if parent in self._grants:
            self._grants[parent].carved += tokens
        else:
            self.free -= tokens
            self.open += tokens
        self._grants[handoff_id] = _Grant(parent, tokens)

    def charge(self, handoff_id: str, tokens: int) -> int:
        """Pay for a model call that is done, and return by how much it went over.

        What a grant does not hold is taken from what is free, even below zero: the call happened.
        """
        grant = self._grants.get(handoff_id)
        covered = min(tokens, self.rest(handoff_id)) if grant or self.free > 0 else 0
        covered = max(covered, 0)
        over = tokens - covered
        if grant is None:
            self.free -= tokens
        else:
            grant.spent += covered
            self.open -= covered
            self.free -= over
        self.spent += tokens
        return over

    def refund(self, handoff_id: str) -> int | None:
        """Take back what a handoff did not use; None when it held no grant.

        It goes to the grant it was carved from while that is open, else to what is free.
        """
        grant = self._grants.pop(handoff_id, None)
        if grant is None:
            return None
        rest = grant.rest
        if grant.parent in self._grants:
            self._grants[grant.parent].carved -= rest
        else:
            self.free += rest
            self.open -= rest
        return rest
