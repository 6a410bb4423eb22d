"""A flow of a user's own that is changed after it was recorded, in a file that it keeps."""

from pathlib import Path

SHOP = '''\
"""One takes the message, one looks the invoices up and lets them be checked."""

from pydantic import BaseModel

from handoff_console.runtime import Agent, Edge, Flow, Limits, Rules, Tool
from handoff_console.runtime import answer, delegate, hand_over, say, use


class Receipt(BaseModel):
    total: int


class Case(BaseModel):
    customer: str


def invoices(customer: str) -> list:
    """List a customer's invoices."""
    return [{"id": "i1", "amount": 30}, {"id": "i2", "amount": 30}]


def triage(call):
    return hand_over("billing", "money", customer="5120")


def billing(call):
    if not call.results:
        return use("invoices", customer=str(call.inputs.get("customer")))
    if call.result_of("delegate_to_checker") is None:
        return delegate("checker", "Is i2 a double?")
    return say("Invoice i2 was charged twice.")


def checker(call):
    return answer(total=30)


mine = Rules(triage, name="mine")
flow = Flow(
    "shop",
    agents=[
        Agent("triage", "Route.", model=triage, edges=[
            Edge.transfer("billing", "About money.", payload=Case),
        ]),
        Agent("billing", "Bill.", model=billing, tools=[Tool(invoices)], edges=[
            Edge.call("checker", "To be sure.", limits=Limits(max_tokens=3_000)),
        ]),
        Agent("checker", "Check.", model=checker, output_schema="Receipt"),
    ],
    schemas={"Receipt": Receipt},
)
'''


def shop(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write the flow into a folder, as `shop.py`, with each first text replaced by the second."""
    text = SHOP
    for was, now in changes:
        assert was in text
        text = text.replace(was, now)
    path = folder / "shop.py"
    path.write_text(text)
    return path
