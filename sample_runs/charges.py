"""Whether a customer was charged twice, and what to propose: worked out from the books alone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from handoff_console.sample_runs.ledger import PRICES_CENTS
from handoff_console.sample_runs.rules import euros

_Row = Mapping[str, Any]


class Month(NamedTuple):
    """A range of days, as ISO dates."""

    since: str
    until: str


class Explanation(NamedTuple):
    """What a customer is told about a day with two charges."""

    text: str
    refund_proposal: dict[str, Any] | None = None
    """Payment, amount and reason, for a person to approve; None where nothing is owed."""


def last_month(today: str) -> Month:
    """Return the first and the last day of the month before `today`."""
    last = date.fromisoformat(today).replace(day=1) - timedelta(days=1)
    return Month(last.replace(day=1).isoformat(), last.isoformat())


def explain(payments: Sequence[_Row], changes: Sequence[_Row]) -> Explanation | None:
    """Explain the first day with more than one payment; None when there is no such day."""
    by_day: dict[str, list[_Row]] = defaultdict(list)
    for payment in payments:
        by_day[payment["date"]].append(payment)
    for day, charged in sorted(by_day.items()):
        if len(charged) < 2:
            continue
        change = next((change for change in changes if change["date"] == day), None)
        if change:
            return _upgrade(day, charged, change)
        return _duplicate(day, charged)
    return None


def _upgrade(day: str, charged: Sequence[_Row], change: _Row) -> Explanation:
    old, new = change["from_plan"], change["to_plan"]
    upgrade = charged[-1]
    owed = PRICES_CENTS[new] - PRICES_CENTS[old]
    over = upgrade["amount_cents"] - owed
    text = (
        f"There were two payments on {day}: {' and '.join(_shown(row) for row in charged)}. You "
        f"moved from {old} to {new} on that day, which explains the second one: it is the upgrade."
    )
    if over <= 0:
        return Explanation(f"{text} It was prorated correctly, so nothing is owed.")
    return Explanation(
        f"{text} Prorated, the upgrade costs {euros(owed)}; {euros(over)} too much was taken. "
        f"I propose to refund {euros(over)} of {upgrade['payment_id']}. Nothing has been refunded "
        "yet: a person has to approve it first.",
        _proposal(upgrade, over, f"upgrade from {old} to {new} was charged without proration"),
    )


def _duplicate(day: str, charged: Sequence[_Row]) -> Explanation:
    text = f"There were two payments on {day}: {' and '.join(_shown(row) for row in charged)}."
    first, second = charged[0], charged[-1]
    if (first["amount_cents"], first["purpose"]) != (second["amount_cents"], second["purpose"]):
        return Explanation(f"{text} They are for different things, so neither is a double charge.")
    amount = second["amount_cents"]
    return Explanation(
        f"{text} They are for the same thing and no plan change explains the second. I propose to "
        f"refund {euros(amount)} of {second['payment_id']}. Nothing has been refunded yet: a "
        "person has to approve it first.",
        _proposal(second, amount, f"charged twice on {day}"),
    )


def _shown(payment: _Row) -> str:
    return f"{euros(payment['amount_cents'])} ({payment['purpose']}, {payment['payment_id']})"


def _proposal(payment: _Row, amount_cents: int, reason: str) -> dict[str, Any]:
    return {
        "payment_id": payment["payment_id"],
        "amount_cents": amount_cents,
        "reason": reason,
        "needs": "approval by a person",
    }
