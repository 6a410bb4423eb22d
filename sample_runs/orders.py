"""A broken order: triage hears it in two turns and hands a packet of four lines to fulfilment.

The order's number is looked up, so it is a fact. The card on file is found with it and stays
behind.
Source: S3, example 2 and practice exercise 2.
"""

import re
from typing import Any

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    ModelCall,
    ModelReply,
    Tool,
    hand_over,
    say,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any
from handoff_console.sample_runs.sample_flow import SampleFlow

_ORDERS: dict[str, dict[str, Any]] = {
    "A-1001": {"item": "table lamp", "card_number": "4242 4242 4242 4242"},
    "A-1002": {"item": "wall clock", "card_number": "5555 5555 5555 4444"},
}
"""By number; the cards are those that payment services publish for tests."""
_STOCK = {"table lamp": 6, "wall clock": 0}


def find_order(order_id: str) -> dict[str, Any]:
    """Look an order up, and the card it was paid with."""
    found = _ORDERS.get(order_id)
    return {"order_id": order_id, **found} if found else {"error": f"there is no order {order_id}"}


def stock_of_order(order_id: str) -> dict[str, Any]:
    """Say what was ordered and how many of it are in stock."""
    item = _ORDERS.get(order_id, {}).get("item", "")
    return {"item": item, "in_stock": _STOCK.get(item, 0)}


def triage(call: ModelCall) -> ModelReply | None:
    """Look up the order that is spoken of; hand over once it is clear what is wanted."""
    wanted = has_any(call.text, ("replace", "refund", "money back"))
    number = _number_in(call.text)
    if not wanted and not (number and has_any(call.text, ("broken", "damaged", "cracked"))):
        return None
    if number and call.result_of("orders.find") is None:
        return use("orders.find", order_id=number)
    if error := first_error(call):
        return say(f"I cannot find that order: {error}. Please check the number.")
    if not wanted:
        return say("Sorry to hear that.")
    return hand_over("fulfilment", "the customer says what is wanted", task="Settle the order")


def _number_in(text: str) -> str | None:
    found = re.search(r"\bA-\d{4}\b", text)
    return found[0] if found else None


def fulfilment(call: ModelCall) -> ModelReply:
    """Propose a replacement from what the packet says, without asking for it again."""
    order_id = str(call.packet.facts.get("order_id", "")) if call.packet else ""
    if not order_id:
        return say("Which order is it? Its number begins with A-.")
    if error := first_error(call):
        return say(f"I could not look at the stock: {error}")
    stock = call.result_of("stock.of_order")
    if stock is None:
        return use("stock.of_order", order_id=order_id)
    if not stock["in_stock"]:
        return say(f"We have no {stock['item']} left. I propose your money back for {order_id}.")
    return say(
        f"I propose to send another {stock['item']} for order {order_id}. Nothing has been sent "
        "yet: a person has to approve it."
    )


flow = Flow(
    "orders",
    description=(
        "Triage hears about a broken order in two turns; fulfilment gets a packet of four lines "
        "and asks nothing again."
    ),
    examples=("My order A-1001 arrived broken", "I want a replacement for my order A-1002"),
    agents=[
        Agent(
            "triage",
            "You hear what is wrong with an order and look it up. Once you know what the customer "
            "wants, hand over to fulfilment.",
            tools=[
                Tool(
                    find_order,
                    name="orders.find",
                    inline=True,
                    remembers=("order_id", "card_number"),
                )
            ],
            edges=[Edge.transfer("fulfilment", "Replacements and refunds of an order.")],
            model=by_rule(triage),
        ),
        Agent(
            "fulfilment",
            "You propose a replacement or a refund. The packet says which order it is: never ask "
            "for what stands there. A person approves before anything is sent.",
            tools=[Tool(stock_of_order, name="stock.of_order", inline=True)],
            model=by_rule(fulfilment),
        ),
    ],
)

sample = SampleFlow(flow, title="Four lines instead of a conversation")
