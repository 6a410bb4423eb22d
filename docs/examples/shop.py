"""A shop's desk: a call to another agent, a tool, an act that a person approves, a question.

handoff run shop.py:flow --message "Refund ORD-17, please"
"""

import re
from typing import Any

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    Flow,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    delegate,
    hand_over,
    say,
    use,
)

PAID_CENTS = {"ORD-17": 4900}


def find_order(order_id: str) -> dict[str, Any]:
    """Look up what was paid for an order."""
    return {"order_id": order_id, "paid_cents": PAID_CENTS.get(order_id)}


def pay_back(order_id: str, cents: int) -> dict[str, Any]:
    """Pay an order back to the card it was paid with."""
    return {"order_id": order_id, "refunded_cents": cents}


def desk(call: ModelCall) -> ModelReply | None:
    """Ask the books about the order, then ask for the refund, then say what became of it."""
    said = " ".join(one["content"] for one in call.messages if one["role"] == "user")
    if "person" in call.text:
        return hand_over("human", "the customer wants a person")
    if "refund" not in said.lower():
        return None  # no rule for this: the session says so
    order = re.search(r"ORD-\d+", said)
    if order is None:
        return answer("needs_input", "Which order is it?")
    return _refunded(call, order[0])


def _refunded(call: ModelCall, order_id: str) -> ModelReply:
    asked = call.result_of("delegate_to_books")
    if asked is None:
        return delegate("books", "Find what was paid", order_id=order_id)
    if asked["status"] != "ok":
        return say(f"There is no order {order_id}.")
    paid_back = call.result_of("pay_back")
    if paid_back is None:
        return use("pay_back", order_id=order_id, cents=asked["data"]["paid_cents"])
    if "error" in paid_back:  # a person said no, or the tool failed
        return say(f"Nothing was paid back: {paid_back['error']}")
    return say(f"{paid_back['refunded_cents'] / 100:.2f} EUR are on their way.")


def books(call: ModelCall) -> ModelReply:
    """Answer with what the tool found."""
    found = call.result_of("find_order")
    if found is None:
        return use("find_order", order_id=call.inputs["order_id"])
    if found["paid_cents"] is None:
        return answer("not_found")
    return answer("ok", paid_cents=found["paid_cents"])


flow = Flow(
    "shop",
    [
        Agent(
            "desk",
            model=desk,
            tools=[Tool(pay_back, effect=Effect.EXTERNAL)],
            may_write=True,
            edges=[
                Edge.call("books", "What was paid for an order."),
                Edge.transfer("human", "Who wants to speak with a person."),
            ],
        ),
        Agent("books", model=books, tools=[Tool(find_order)]),
    ],
    description="A desk that pays orders back after a person's yes.",
    examples=["Refund ORD-17, please", "I want a refund"],
)
