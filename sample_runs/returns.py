"""A return of a damaged order: triage → policy → fulfilment, each inside its own boundaries.

Source: S2, "Practical Example: An E-Commerce Returns and Fraud Flow".
"""

import re
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    hand_over,
    say,
    use,
)
from handoff_console.sample_runs.ledger import TODAY
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any
from handoff_console.sample_runs.sample_flow import SampleFlow

RETURN_WINDOW_DAYS = 30

Reason = Literal["damaged_on_arrival", "wrong_item", "changed_mind"]
_REASONS: dict[Reason, tuple[str, ...]] = {
    "damaged_on_arrival": ("damaged", "broken", "cracked", "defective", "scratched"),
    "wrong_item": ("wrong item", "wrong size", "wrong colour", "not what i ordered"),
    "changed_mind": ("return", "send it back", "changed my mind", "don't like"),
}

_ORDERS: dict[str, dict[str, Any]] = {
    "ORD-9812": {"item": "headphones", "account": "A-77", "bought": "2026-11-12"},
    "ORD-9640": {"item": "desk lamp", "account": "A-31", "bought": "2026-09-20"},
    "ORD-9877": {"item": "camera", "account": "A-58", "bought": "2026-11-18"},
}
_RISK = {"A-77": "low", "A-31": "low", "A-58": "high"}
_STOCK = {"headphones": 14, "desk lamp": 0, "camera": 3}


class ReturnCase(BaseModel):
    """What policy has to know."""

    order_id: str
    reason: Reason


class Fulfilment(BaseModel):
    """What fulfilment has to do."""

    order_id: str
    action: Literal["instant_replacement", "refund_on_receipt"]
    return_type: Literal["prepaid_label", "own_cost"]


def find_order(order_id: str) -> dict[str, Any]:
    """Look an order up: the item, its account, the date it was bought."""
    return {"order_id": order_id, "found": order_id in _ORDERS, **_ORDERS.get(order_id, {})}


def risk_profile(order_id: str) -> dict[str, Any]:
    """Look up in the fraud register how risky the account behind an order is."""
    account = _ORDERS.get(order_id, {}).get("account", "")
    return {"order_id": order_id, "risk": _RISK.get(account, "unknown")}


def stock_level(order_id: str) -> dict[str, Any]:
    """Say how many of an order's item are in stock."""
    item = _ORDERS.get(order_id, {}).get("item", "")
    return {"item": item, "in_stock": _STOCK.get(item, 0)}


def courier_slots() -> list[str]:
    """List the next days on which a courier can collect a parcel."""
    return ["2026-11-26", "2026-11-27", "2026-11-30"]


def triage(call: ModelCall) -> ModelReply | None:
    """Find out the order number and why it comes back."""
    words = call.text.lower()
    reason = next((name for name, signs in _REASONS.items() if has_any(words, signs)), None)
    if reason is None:
        return None
    named = re.search(r"ORD-\d+", call.text, re.IGNORECASE)
    if named is None:
        return answer("needs_input", "Which order is it? Its number begins with ORD-.")
    order_id = named[0].upper()
    order = call.result_of("orders.find")
    if order is None:
        return use("orders.find", order_id=order_id)
    if not order["found"]:
        return answer("not_found", f"There is no order {order_id}. Please check the number.")
    # Written out: one of the values is called `reason`, as is the reason of the transfer itself.
    arguments = {
        "reason": f"return of the {order['item']}: {reason}",
        "payload": {"order_id": order_id, "reason": reason},
    }
    return ModelReply(
        tool_calls=({"id": "", "name": "transfer_to_policy", "arguments": arguments},)
    )


def policy(call: ModelCall) -> ModelReply:
    """Check the return window and the account's risk, then decide."""
    if error := first_error(call):
        return answer("error", f"I could not check this return: {error}")
    order_id, reason = call.inputs["order_id"], call.inputs["reason"]
    order = call.result_of("payments.history")
    if order is None:
        return use("payments.history", order_id=order_id)
    risk = call.result_of("fraud.risk_profile")
    if risk is None:
        return use("fraud.risk_profile", order_id=order_id)
    age_days = (date.fromisoformat(TODAY) - date.fromisoformat(order["bought"])).days
    if age_days > RETURN_WINDOW_DAYS:
        return say(
            f"{order_id} was bought {age_days} days ago; returns are possible for "
            f"{RETURN_WINDOW_DAYS} days, so I cannot accept this one."
        )
    if risk["risk"] != "low":
        return say(
            f"A colleague has to look at the return of {order_id} before anything is sent. You "
            "will hear from us within two working days."
        )
    ours = reason != "changed_mind"
    return hand_over(
        "fulfilment",
        f"bought {age_days} days ago, risk low: the return is accepted",
        order_id=order_id,
        action="instant_replacement" if ours else "refund_on_receipt",
        return_type="prepaid_label" if ours else "own_cost",
    )


def fulfilment(call: ModelCall) -> ModelReply:
    """Prepare what is to be sent, as a proposal: nothing is sent without an approval."""
    if error := first_error(call):
        return answer("error", f"I could not prepare this return: {error}")
    stock = call.result_of("stock.level")
    if stock is None:
        return use("stock.level", order_id=call.inputs["order_id"])
    slots = call.result_of("courier.slots")
    if slots is None:
        return use("courier.slots")
    action = call.inputs["action"]
    if action == "instant_replacement" and not stock["in_stock"]:
        action = "refund_on_receipt"
    label = call.inputs["return_type"] == "prepaid_label"
    what = "a replacement at once" if action == "instant_replacement" else "your money back"
    how = "with a label we pay for" if label else "at your own cost"
    return answer(
        "ok",
        text=(
            f"Your return of the {stock['item']} is accepted. I propose {what}; the parcel is to "
            f"be collected on {slots[0]}, {how}. Nothing has been sent or booked yet: a person "
            "has to approve it first."
        ),
        proposal={
            "order_id": call.inputs["order_id"],
            "action": action,
            "return_type": call.inputs["return_type"],
            "collected_on": slots[0],
            "needs": "approval by a person",
        },
    )


def _read(function: Any, name: str) -> Tool:
    return Tool(function, name=name, inline=True)


flow = Flow(
    "returns",
    description=(
        "Triage hands a return to policy, which alone sees payments and the fraud register, and "
        "policy to fulfilment, which proposes what is to be sent."
    ),
    examples=(
        "My headphones arrived damaged, the order is ORD-9812.",
        "I want to return a lamp, order ORD-9640.",
        "The camera of order ORD-9877 arrived broken.",
        "My order arrived damaged.",
    ),
    agents=[
        Agent(
            "triage",
            "You welcome customers who want to return something. Find out the order number and "
            "the reason, then hand over to policy. Ask for the number if it is missing.",
            tools=[_read(find_order, "orders.find")],
            edges=[
                Edge.transfer(
                    "policy",
                    "Decides whether a return is accepted: window of days, risk of the account.",
                    payload=ReturnCase,
                    limits=Limits(max_steps=5, max_tokens=8_000, deadline_seconds=30),
                )
            ],
            model=by_rule(triage),
        ),
        Agent(
            "policy",
            "You decide about returns. An order may come back within 30 days if its account is "
            "of low risk. What we did wrong we replace at once and pay for.",
            tools=[
                _read(find_order, "payments.history"),
                _read(risk_profile, "fraud.risk_profile"),
            ],
            edges=[
                Edge.transfer(
                    "fulfilment",
                    "Prepares replacement, label and courier of a return that was accepted.",
                    payload=Fulfilment,
                    limits=Limits(max_steps=5, max_tokens=8_000, deadline_seconds=30),
                )
            ],
            model=by_rule(policy),
        ),
        Agent(
            "fulfilment",
            "You prepare replacements and labels of accepted returns. You propose; a person "
            "approves before anything is sent or booked.",
            tools=[_read(stock_level, "stock.level"), _read(courier_slots, "courier.slots")],
            model=by_rule(fulfilment),
        ),
    ],
)

sample = SampleFlow(flow, title="Damaged on arrival: two transfers")
