"""The other half of a proposal: a cashier pays money back, once, after a person has said yes.

Workers and supervisors of `support` only propose a refund; this is the separate step that makes it.
Source: S0, step 5 and "A worked example"; S3, on approval for what cannot be undone.
"""

import re
from typing import Any

from handoff_console.runtime import (
    Agent,
    Effect,
    Flow,
    HandoffRequest,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    say,
    use,
)
from handoff_console.sample_runs import ledger
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import euros, first_error
from handoff_console.sample_runs.sample_flow import SampleFlow


def find_payment(payment_id: str) -> dict[str, Any]:
    """Look a payment up by its id."""
    for customer_id in ledger.CUSTOMERS:
        page: int | None = 1
        while page:
            found = ledger.list_payments(customer_id, page=page)
            page = found["next_page"]
            for row in found["payments"]:
                if row["payment_id"] == payment_id:
                    return {"found": True, "customer_id": customer_id, **row}
    return {"found": False, "payment_id": payment_id}


def pay_back(payment_id: str, amount_cents: int) -> dict[str, Any]:
    """Pay a part of a payment back. Here no money moves."""
    return {"refunded_cents": amount_cents, "payment_id": payment_id}


def cashier(call: ModelCall) -> ModelReply | None:
    """Check the payment, ask for the refund, and report what became of it."""
    asked = _asked(call)
    if asked is None:
        return None
    payment_id, _ = asked
    done = call.result_of("payments.refund")
    if done is None:
        return _checked(call, *asked)
    if "refunded_cents" in done:
        return say(f"{euros(done['refunded_cents'])} of {payment_id} were paid back.")
    return say(f"Nothing was paid back: {done['error']}")


def _checked(call: ModelCall, payment_id: str, amount_cents: int) -> ModelReply:
    """Ask for the refund of a payment that is there and large enough."""
    if error := first_error(call):
        return answer("error", f"Nothing was paid back: {error}")
    payment = call.result_of("payments.find")
    if payment is None:
        return use("payments.find", payment_id=payment_id)
    if not payment["found"]:
        return answer("not_found", f"There is no payment {payment_id}.")
    if amount_cents > payment["amount_cents"]:
        return answer("error", f"{payment_id} was only {euros(payment['amount_cents'])}.")
    return use("payments.refund", payment_id=payment_id, amount_cents=amount_cents)


def _asked(call: ModelCall) -> tuple[str, int] | None:
    if call.inputs:
        return str(call.inputs["payment_id"]), int(call.inputs["amount_cents"])
    payment = re.search(r"PAY-\d+", call.text)
    amount = re.search(r"(\d+)\.(\d\d) EUR", call.text)
    if payment is None or amount is None or "refund" not in call.text.lower():
        return None
    return payment[0], int(amount[1]) * 100 + int(amount[2])


REQUEST = HandoffRequest(
    task="Pay the proposed amount back",
    inputs={"payment_id": "PAY-7302", "amount_cents": 1_900},
    allowed_tools=("payments.find", "payments.refund"),
    limits=Limits(max_steps=4, max_tokens=8_000, deadline_seconds=30),
)
"""What `support` proposes for the customer who was charged twice."""

flow = Flow(
    "refunds",
    description=(
        "A cashier makes the refund that another session has proposed: after a person has said "
        "yes, and only once."
    ),
    examples=("Please refund 19.00 EUR of PAY-7302.",),
    agents=[
        Agent(
            "cashier",
            "You make refunds that were proposed. Check the payment first; a person approves each "
            "refund before it is made.",
            tools=[
                Tool(find_payment, name="payments.find", inline=True),
                Tool(
                    pay_back,
                    name="payments.refund",
                    effect=Effect.EXTERNAL,
                    approval_seconds=24 * 3_600,
                    inline=True,
                ),
            ],
            model=by_rule(cashier),
            may_write=True,
        )
    ],
)

sample = SampleFlow(flow, title="The refund, after a yes", request=REQUEST)
