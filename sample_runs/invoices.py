"""One worker behind a typed request, and nobody to hand off to.

Source: S0, step 1; its takeaway "Start with a single worker behind this interface".
"""

import re
from typing import Any

from pydantic import BaseModel

from handoff_console.runtime import (
    Agent,
    Flow,
    HandoffRequest,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    use,
)
from handoff_console.sample_runs import ledger
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error
from handoff_console.sample_runs.sample_flow import SampleFlow

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


class InvoiceLookupResult(BaseModel):
    """What the worker returns."""

    customer_id: str
    invoices: list[dict[str, Any]]


def billing(call: ModelCall) -> ModelReply:
    """Look the invoices up and return as many of the newest as the task says."""
    task = call.request.task
    if "invoice" not in task.lower():
        return answer(
            "needs_input", "I do not know how to help with that: I only look up invoices."
        )
    if error := first_error(call):
        return answer("error", error)
    named = re.search(r"customer\D{0,3}(\d+)", task, re.IGNORECASE)
    customer = str(call.inputs.get("customer_id") or (named[1] if named else ""))
    if not customer:
        return answer("needs_input", "Whose invoices? Please give a customer number.")
    invoices = call.result_of("billing.list_invoices")
    if invoices is None:
        return use("billing.list_invoices", customer_id=customer)
    if not invoices:
        return answer("not_found", f"there are no invoices of customer {customer}")
    wanted = next((n for word, n in _NUMBERS.items() if f" {word} " in task), len(invoices))
    newest = invoices[:wanted]
    numbers = ", ".join(invoice["invoice_id"] for invoice in newest)
    return answer("ok", f"The newest: {numbers}.", customer_id=customer, invoices=newest)


flow = Flow(
    "invoices",
    description="One worker that looks up invoices: a typed request in, a typed result out.",
    examples=(
        "Find the three most recent invoices for customer 4812",
        "Find the most recent invoices for customer 9999",
    ),
    pool_tokens=20_000,
    schemas={"InvoiceLookupResult": InvoiceLookupResult},
    agents=[
        Agent(
            "billing",
            "You look up invoices of one customer and return the newest. You only read.",
            tools=[
                Tool(ledger.list_invoices, name="billing.list_invoices", inline=True),
                Tool(ledger.list_payments, name="billing.list_payments", inline=True),
            ],
            model=by_rule(billing),
            output_schema="InvoiceLookupResult",
        )
    ],
)

REQUEST = HandoffRequest(
    task="Find the three most recent invoices for the customer",
    inputs={"customer_id": "4812"},
    allowed_tools=("billing.list_invoices",),
    limits=Limits(max_steps=6, max_tokens=8_000, deadline_seconds=30),
    output_schema="InvoiceLookupResult",
)
"""The request of S0, step 1."""

sample = SampleFlow(flow, title="Invoice lookup: a single worker", request=REQUEST)
