"""The bill of a request: what model calls took from the pool, and what that cost."""

from handoff_console.runtime.budget import Pool
from handoff_console.runtime.contract import Usage
from handoff_console.runtime.counting import count
from handoff_console.runtime.events import BudgetCharged, BudgetOverdrawn, WarningRaised
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.recorder import Recorder


class Bill:
    """Charges the pool of one request and keeps its cost."""

    def __init__(self, flow: Flow, recorder: Recorder, pool: Pool) -> None:
        self._flow, self._recorder, self._pool = flow, recorder, pool
        self._alerted = False
        self.cost = 0.0
        """So far, as far as prices are known, in their currency."""

    @property
    def is_used_up(self) -> bool:
        """Whether the flow's cost limit is reached."""
        return self._flow.max_cost is not None and self.cost >= self._flow.max_cost

    def charge(self, handoff: OpenHandoff, usage: Usage) -> None:
        """Charge one model call to a handoff's grant, or to what is free."""
        handoff.tokens += usage.tokens
        handoff.measured = handoff.measured and usage.measured
        price = self._flow.prices.get(handoff.model.name)
        cost = None
        if price is not None:
            cost = (
                usage.input_tokens * price.input_per_million
                + usage.output_tokens * price.output_per_million
            ) / 1_000_000
            self.cost += cost
        handoff.cost = None if cost is None or handoff.cost is None else handoff.cost + cost
        pool = self._pool
        over = pool.charge(handoff.id, usage.tokens)
        after = {"free": pool.free, "open": pool.open, "spent": pool.spent}
        self._recorder.emit(
            handoff.scope,
            BudgetCharged(tokens=usage.tokens, estimated=not usage.measured, cost=cost, **after),
        )
        if over:
            self._recorder.emit(handoff.scope, BudgetOverdrawn(tokens=over, **after))
        alert = self._flow.alert_tokens
        if alert is not None and pool.spent >= alert and not self._alerted:
            self._alerted = True
            spent = f"the request has spent {count(pool.spent, 'token')}"
            text = f"{spent}; its alert stands at {alert:,}"
            self._recorder.emit(handoff.scope, WarningRaised(code="budget_alert", text=text))
