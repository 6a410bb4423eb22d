"""A supervisor with two read-only workers answers "Why was I charged twice last month?".

Source: S0, "A worked example".
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
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
    say,
    together,
    use,
)
from handoff_console.sample_runs import ledger
from handoff_console.sample_runs.charges import explain, last_month
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any, status_of, values_of, why
from handoff_console.sample_runs.sample_flow import SampleFlow


class CustomerRange(BaseModel):
    """A customer, and the days that are asked about."""

    customer_id: str
    since: date
    until: date


class PaymentsFound(BaseModel):
    """What the billing worker returns."""

    payments: list[dict[str, Any]]
    invoices: list[dict[str, Any]]


class PlanHistory(BaseModel):
    """What the account worker returns."""

    plan: str
    changes: list[dict[str, Any]]


def supervisor(call: ModelCall) -> ModelReply | None:
    """Ask both workers for the same customer and days, then decide what to tell the customer."""
    if call.result_of("delegate_to_account") is not None:
        return _told(call)
    about_charges = has_any(call.text, ("charge", "payment", "paid", "billed"))
    if not about_charges and not has_any(call.text, ("plan", "subscription")):
        return None
    caller = call.result_of("desk.caller")
    if caller is None:
        return use("desk.caller")
    named = re.search(r"customer\D{0,3}(\d+)", call.text, re.IGNORECASE)
    customer = named[1] if named else caller["customer_id"]
    days = last_month(caller["today"])._asdict()
    account = delegate(
        "account",
        "Return the customer's plan and any changes in the date range",
        reason="a plan change may explain a charge",
        customer_id=customer,
        **days,
    )
    if not about_charges:
        return account
    billing = delegate(
        "billing",
        "Return the payments of the customer in the date range",
        reason="the charges have to be looked up",
        customer_id=customer,
        **days,
    )
    return together(billing, account)


def _told(call: ModelCall) -> ModelReply:
    billing, account = (call.result_of(f"delegate_to_{name}") for name in ("billing", "account"))
    if billing is None:
        if status_of(account) != "ok":
            return say(f"I could not find out which plan you are on: {why(account)}.")
        return say(f"You are on the plan {account['data']['plan']}.")
    match status_of(billing):
        case "ok":
            return _explained(billing["data"]["payments"], account)
        case "limit_reached":
            return say(_partly(billing))
        case "not_found":
            return answer("not_found", "I found no payment of that customer in the last month.")
        case _:
            return answer("error", f"I could not read the payments: {why(billing)}.")


def _explained(payments: Sequence[Mapping[str, Any]], account: Mapping[str, Any]) -> ModelReply:
    changes = (account.get("data") or {}).get("changes", ())
    found = explain(payments, changes)
    if found is None:
        return say("I looked at all payments of last month: there is no day with two of them.")
    text = found.text
    if status_of(account) not in ("ok", "not_found"):
        text += f" I could not check for plan changes, so this is incomplete: {why(account)}."
    if found.refund_proposal is None:
        return say(text)
    return answer("ok", text=text, refund_proposal=found.refund_proposal)


def _partly(billing: Mapping[str, Any]) -> str:
    """Say what is known and what is not, instead of asserting what nothing backs up."""
    payments = [
        payment
        for found in billing["data"]["gathered"]
        if found.get("tool") == "billing.list_payments"
        for payment in found["result"]["payments"]
    ]
    why_not = f"the billing check was stopped ({why(billing)})"
    if not payments:
        return f"I cannot say yet: {why_not} before it had read any payment."
    last = payments[-1]["date"]
    double = explain(payments, ())
    so_far = double.text if double else "No day among them has two payments."
    return (
        f"This is incomplete: {why_not} after {len(payments)} payments, up to {last}. {so_far} "
        f"What was charged after {last} I could not check, so I cannot rule out a double charge."
    )


def billing(call: ModelCall) -> ModelReply:
    """Read payments page by page, then the invoices."""
    if error := first_error(call):
        return answer("error", error)
    pages = values_of(call, "billing.list_payments")
    if not pages or pages[-1]["next_page"]:
        page = pages[-1]["next_page"] if pages else 1
        return use("billing.list_payments", **call.inputs, page=page)
    payments = [payment for page in pages for payment in page["payments"]]
    if not payments:
        return answer("not_found", "no payment in this range of dates")
    invoices = call.result_of("billing.list_invoices")
    if invoices is None:
        return use("billing.list_invoices", **call.inputs)
    notes = f"{len(payments)} payments and {len(invoices)} invoices"
    return answer("ok", notes, payments=payments, invoices=invoices)


def account(call: ModelCall) -> ModelReply:
    """Read the plan history."""
    if error := first_error(call):
        return answer("error", error)
    history = call.result_of("accounts.get_plan_history")
    if history is None:
        return use("accounts.get_plan_history", **call.inputs)
    if not history["plan"]:
        return answer("not_found", f"there is no customer {call.inputs['customer_id']}")
    count = len(history["changes"])
    return answer("ok", f"{count} plan change{'' if count == 1 else 's'}", **history)


flow = Flow(
    "support",
    description=(
        "A supervisor asks two read-only workers in parallel, compares what they found, and "
        "proposes a refund instead of making one."
    ),
    examples=(
        "Why was I charged twice last month?",
        "I am customer 5120. Why was I charged twice last month?",
        "Which plan am I on?",
    ),
    schemas={"PaymentsFound": PaymentsFound, "PlanHistory": PlanHistory},
    agents=[
        Agent(
            "supervisor",
            "You answer customers' questions about what they were charged. Ask billing for the "
            "payments and account for plan changes, for the same customer and days, in one go. "
            "Say only what their results back up. If a result is limit_reached, say that your "
            "answer is incomplete and what was not checked. Never refund: propose it.",
            tools=[Tool(ledger.caller, name="desk.caller", inline=True)],
            edges=[
                Edge.call(
                    "billing",
                    "Looks up payments and invoices of one customer in a range of dates.",
                    payload=CustomerRange,
                    limits=Limits(max_steps=6, max_tokens=12_000, deadline_seconds=30),
                ),
                Edge.call(
                    "account",
                    "Looks up the plan of one customer and its changes in a range of dates.",
                    payload=CustomerRange,
                    limits=Limits(max_steps=4, max_tokens=6_000, deadline_seconds=30),
                ),
            ],
            model=by_rule(supervisor),
        ),
        Agent(
            "billing",
            "You return the payments and invoices of one customer in a range of dates. Payments "
            "come in pages: read on until there is no next page. You only read.",
            tools=[
                Tool(ledger.list_invoices, name="billing.list_invoices", inline=True),
                Tool(ledger.list_payments, name="billing.list_payments", inline=True),
            ],
            model=by_rule(billing),
            output_schema="PaymentsFound",
        ),
        Agent(
            "account",
            "You return the plan of one customer and its changes in a range of dates. You only "
            "read.",
            tools=[Tool(ledger.plan_history, name="accounts.get_plan_history", inline=True)],
            model=by_rule(account),
            output_schema="PlanHistory",
        ),
    ],
)

sample = SampleFlow(flow, title="Charged twice? A supervisor and two workers")
