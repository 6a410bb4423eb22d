"""A network of two levels: reception calls a cluster, whose agents transfer among themselves.

Control comes back to reception once, when the last of the chain has an answer.
Source: S2, "The Hierarchical Network".
"""

import re
from typing import Any

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
    delegate,
    hand_over,
    say,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import euros, first_error, has_any, status_of, why
from handoff_console.sample_runs.sample_flow import SampleFlow

_PARCELS: dict[str, dict[str, Any]] = {
    "ORD-9640": {"item": "desk lamp", "arrived": "2026-11-17", "paid_cents": 4_900},
    "ORD-9877": {"item": "camera", "arrived": None, "paid_cents": 38_900},
}
_ACCOUNTS = {"ORD-9640": {"pays_by": "closed bank account"}, "ORD-9877": {"pays_by": "card"}}
_LIMITS = Limits(max_steps=4, max_tokens=8_000, deadline_seconds=30)


class OrderCase(BaseModel):
    """The order that is spoken of."""

    order_id: str


class RefundDue(OrderCase):
    """What is to be paid back, and where to, as far as it is known."""

    amount_cents: int


def returned_parcel(order_id: str) -> dict[str, Any]:
    """Say whether what was ordered has come back, and what had been paid for it."""
    return {"order_id": order_id, **_PARCELS.get(order_id, {"arrived": None})}


def way_of_payment(order_id: str) -> dict[str, Any]:
    """Say how an order was paid."""
    return {"order_id": order_id, **_ACCOUNTS.get(order_id, {"pays_by": "unknown"})}


def reception(call: ModelCall) -> ModelReply | None:
    """Find out whose matter it is, call that department, and pass its answer on."""
    number = re.search(r"ORD-\d+", call.text, re.IGNORECASE)
    about_return = has_any(call.text, ("sent it back", "back", "return"))
    about_payment = has_any(call.text, ("refund", "money", "pay"))
    if number is None or not (about_return or about_payment):
        return None
    department = "returns" if about_return else "billing"
    result = call.result_of(f"delegate_to_{department}")
    if result is None:
        return delegate(
            department,
            "Settle the customer's request about the order",
            reason=f"a matter of {department}",
            order_id=number[0].upper(),
        )
    match status_of(result):
        case "ok":
            return say(result["data"]["text"])
        case "not_found":
            return answer("not_found", f"{why(result)}.")
        case _:
            return answer("error", f"Our {department} could not settle this: {why(result)}.")


def returns(call: ModelCall) -> ModelReply:
    """See whether the parcel is here; the money is billing's matter."""
    if error := first_error(call):
        return answer("error", error)
    order_id = call.inputs["order_id"]
    parcel = call.result_of("returns.parcel")
    if parcel is None:
        return use("returns.parcel", order_id=order_id)
    if not parcel["arrived"]:
        return say(f"What you sent back for {order_id} has not arrived yet.")
    return hand_over(
        "billing",
        "the parcel is here, the money is due",
        task=f"Pay back what was paid for {order_id}",
        order_id=order_id,
        amount_cents=parcel["paid_cents"],
    )


def billing(call: ModelCall) -> ModelReply:
    """See where the money can go; an account that is closed is account's matter."""
    if error := first_error(call):
        return answer("error", error)
    order_id = call.inputs["order_id"]
    way = call.result_of("payments.way")
    if way is None:
        return use("payments.way", order_id=order_id)
    if "amount_cents" not in call.inputs:
        return say(f"You paid for {order_id} by {way['pays_by']}. Has it been sent back to us?")
    amount = euros(call.inputs["amount_cents"])
    if "closed" in way["pays_by"]:
        return hand_over(
            "account",
            "the account that was paid from is closed",
            task=f"Find out where {amount} can go",
            order_id=order_id,
            amount_cents=call.inputs["amount_cents"],
        )
    return say(f"I propose to pay {amount} for {order_id} back to the {way['pays_by']}.")


def account(call: ModelCall) -> ModelReply:
    """Say how the customer names a new account."""
    amount = euros(call.inputs["amount_cents"])
    return say(
        f"Your parcel of {call.inputs['order_id']} is here and {amount} are due. The account you "
        "paid from is closed: please enter a new one under Account, Payments. The money is then "
        "paid out; nothing has been paid yet."
    )


flow = Flow(
    "departments",
    description=(
        "Reception calls a cluster of returns, billing and account, which hand over to each other; "
        "control comes back once, with the answer."
    ),
    examples=(
        "I sent the lamp of ORD-9640 back. When do I get my money?",
        "I sent the camera of ORD-9877 back.",
        "How will my refund for ORD-9877 be paid?",
    ),
    agents=[
        Agent(
            "reception",
            "You receive customers. Call the department whose matter it is and pass its answer on "
            "as it is.",
            edges=[
                Edge.call("returns", "What was sent back.", payload=OrderCase, limits=_LIMITS),
                Edge.call("billing", "What was paid.", payload=OrderCase, limits=_LIMITS),
            ],
            model=by_rule(reception),
        ),
        Agent(
            "returns",
            "You know what was sent back. Money is a matter of billing.",
            tools=[Tool(returned_parcel, name="returns.parcel", inline=True)],
            edges=[
                Edge.transfer(
                    "billing",
                    "Money that is due for a return.",
                    payload=RefundDue,
                    limits=_LIMITS.model_copy(update={"max_tokens": 6_000}),
                )
            ],
            model=by_rule(returns),
        ),
        Agent(
            "billing",
            "You know what was paid and how. Changing an account is a matter of account.",
            tools=[Tool(way_of_payment, name="payments.way", inline=True)],
            edges=[
                Edge.transfer(
                    "account",
                    "A refund that has nowhere to go.",
                    payload=RefundDue,
                    limits=_LIMITS.model_copy(update={"max_tokens": 5_000}),
                )
            ],
            model=by_rule(billing),
        ),
        Agent(
            "account",
            "You explain how customers change what stands in their account.",
            model=by_rule(account),
        ),
    ],
)

sample = SampleFlow(flow, title="A cluster that answers as one")
