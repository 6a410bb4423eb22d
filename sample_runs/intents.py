"""Two questions in one message: two specialists at once, and one answer that holds both.

Source: S2, "Ambiguous Intent in Multi-Domain Questions".
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
    answer,
    hand_over,
    say,
    together,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any
from handoff_console.sample_runs.sample_flow import SampleFlow

_ORDERS = {
    "ORD-9812": "handed to the courier, arrives on Friday",
    "ORD-9877": "being packed",
}
_LATEST = "ORD-9812"


def find_order(order_id: str = "") -> dict[str, Any]:
    """Say where an order is; without a number, the caller's latest."""
    number = order_id or _LATEST
    return {"order_id": number, "state": _ORDERS.get(number)}


def find_article(topic: str) -> dict[str, str]:
    """Look an article of the help pages up."""
    if "iban" in topic.lower() or "bank" in topic.lower():
        return {
            "title": "Changing your bank details",
            "text": "Open Account, then Payments, and choose Change bank details. You will be "
            "asked for a code that we send to your phone.",
        }
    return {
        "title": "Changing your address",
        "text": "Open Account, then Addresses, and choose Change.",
    }


def triage(call: ModelCall) -> ModelReply | None:
    """Hand every question of a message to whom it belongs, several at once."""
    parts = []
    if has_any(call.text, ("where is my order", "order status", "my parcel")):
        parts.append(hand_over("orders", "asks where an order is", task="Say where the order is"))
    if has_any(call.text, ("iban", "bank details", "my address")):
        what = "the address" if has_any(call.text, ("my address",)) else "the bank details"
        parts.append(
            hand_over("account", f"asks how to change {what}", task=f"Say how to change {what}")
        )
    return together(*parts) if parts else None


def orders(call: ModelCall) -> ModelReply:
    """Say where one order is."""
    if error := first_error(call):
        return answer("error", f"I could not look the order up: {error}")
    named = re.search(r"ORD-\d+", call.text)
    order = call.result_of("orders.find")
    if order is None:
        return use("orders.find", order_id=named[0]) if named else use("orders.find")
    if order["state"] is None:
        return answer("not_found", f"there is no order {order['order_id']}")
    return say(f"Your order {order['order_id']} is {order['state']}.")


def account(call: ModelCall) -> ModelReply:
    """Explain what the help pages say."""
    if error := first_error(call):
        return answer("error", f"I could not read the help pages: {error}")
    article = call.result_of("help.find_article")
    if article is None:
        return use("help.find_article", topic=call.request.task)
    return say(f"{article['title']}: {article['text']}")


def aggregator(call: ModelCall) -> ModelReply:
    """Merge what the branches found; say of each who it is from."""
    said = []
    for part in call.inputs["answers"]:
        told = (part["data"] or {}).get("text") or f"could not say: {part['notes']}"
        said.append(f"[{part['agent']}] {told}")
    return say(" ".join(said))


flow = Flow(
    "intents",
    description=(
        "A message with two questions goes to two specialists at once; an aggregator makes one "
        "answer of both."
    ),
    examples=(
        "Where is my order, and how do I change my IBAN?",
        "Where is my order ORD-9877?",
        "How do I change my address?",
    ),
    aggregator="aggregator",
    agents=[
        Agent(
            "triage",
            "You find out what a message asks for. If it asks for several things, hand each to its "
            "specialist in one go.",
            edges=[
                Edge.transfer("orders", "Where an order is."),
                Edge.transfer("account", "How to change something in the account."),
            ],
            model=by_rule(triage),
        ),
        Agent(
            "orders",
            "You say where an order is.",
            tools=[Tool(find_order, name="orders.find", inline=True)],
            model=by_rule(orders),
        ),
        Agent(
            "account",
            "You explain how something is changed in the account.",
            tools=[Tool(find_article, name="help.find_article", inline=True)],
            model=by_rule(account),
        ),
        Agent(
            "aggregator",
            "You make one answer of several, name who each part is from, and leave nothing out.",
            model=by_rule(aggregator),
        ),
    ],
)

sample = SampleFlow(flow, title="Two questions in one message")
