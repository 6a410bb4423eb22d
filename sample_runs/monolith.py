"""One agent with twenty tools: what the other flows are there to avoid.

It answers the question of the `support` flow alone, to be compared with it: every step pays for
twenty tool descriptions. `Flow.check()` says that it is probably two agents.

Source: S2, "The Limits of the Monolithic Agent"; S0, "Common mistakes to avoid".
"""

from collections.abc import Callable, Mapping
from typing import Any

from handoff_console.runtime import Agent, Flow, ModelCall, ModelReply, Tool, answer, say, use
from handoff_console.sample_runs import ledger
from handoff_console.sample_runs.charges import explain, last_month
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any, values_of
from handoff_console.sample_runs.sample_flow import SampleFlow

_TABLES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "orders.find": ("Look an order up.", {"ORD-9812": "headphones, bought 2026-11-12"}),
    "orders.status": ("Say where an order is.", {"ORD-9812": "delivered"}),
    "parcels.track": ("Track a parcel.", {"TRK-2204": "out for delivery"}),
    "courier.slots": ("List days on which a courier can come.", {"Berlin": "2026-11-26"}),
    "returns.policy": ("Say whether something can be returned.", {"headphones": "30 days"}),
    "fraud.risk": ("Say how risky an account is.", {"A-77": "low"}),
    "stock.level": ("Say how many of an item there are.", {"headphones": 14}),
    "catalog.search": ("Search the catalogue.", {"headphones": "129.00 EUR"}),
    "prices.quote": ("Make a quote.", {"40 seats": "1,480.00 EUR a month"}),
    "loyalty.points": ("Say how many points a customer has.", {"4812": 310}),
    "vouchers.check": ("Check a voucher.", {"WELCOME": "used"}),
    "accounts.profile": ("Show a customer's profile.", {"4812": "Team since October"}),
    "accounts.addresses": ("List a customer's addresses.", {"4812": "12 Mill Lane"}),
    "tickets.list": ("List open tickets.", {"4812": "none"}),
    "status.incidents": ("List open incidents.", {"production": "INC-204"}),
    "hours.opening": ("Say when a shop is open.", {"Berlin": "9 to 18"}),
}


def _look_up(table: Mapping[str, Any]) -> Callable[[str], Any]:
    def look_up(key: str) -> Any:
        return table.get(key, "not found")

    return look_up


def assistant(call: ModelCall) -> ModelReply | None:
    """Do the work of supervisor, billing and account in one long context."""
    if not has_any(call.text, ("charge", "payment", "paid", "billed")):
        return None
    if error := first_error(call):
        return answer("error", error)
    caller = call.result_of("desk.caller")
    if caller is None:
        return use("desk.caller")
    asked = {"customer_id": caller["customer_id"], **last_month(caller["today"])._asdict()}
    return _next_look_up(call, asked) or _told(call)


def _next_look_up(call: ModelCall, asked: Mapping[str, Any]) -> ModelReply | None:
    pages = values_of(call, "billing.list_payments")
    if not pages or pages[-1]["next_page"]:
        page = pages[-1]["next_page"] if pages else 1
        return use("billing.list_payments", **asked, page=page)
    for name in ("billing.list_invoices", "accounts.get_plan_history"):
        if call.result_of(name) is None:
            return use(name, **asked)
    return None


def _told(call: ModelCall) -> ModelReply:
    pages = values_of(call, "billing.list_payments")
    changes = call.result_of("accounts.get_plan_history")["changes"]
    found = explain([row for page in pages for row in page["payments"]], changes)
    if found is None:
        return say("I looked at all payments of last month: there is no day with two of them.")
    if found.refund_proposal is None:
        return say(found.text)
    return answer("ok", text=found.text, refund_proposal=found.refund_proposal)


flow = Flow(
    "monolith",
    description="One agent with twenty tools and no handoffs, to compare `support` with.",
    examples=("Why was I charged twice last month?",),
    agents=[
        Agent(
            "assistant",
            "You are the assistant of a shop with subscriptions. You know orders, parcels, "
            "returns, fraud, stock, the catalogue, prices, points, vouchers, accounts, tickets, "
            "incidents, opening hours, payments, invoices and plans. Use the right tool. Never "
            "refund: propose it.",
            tools=[
                Tool(ledger.caller, name="desk.caller", inline=True),
                Tool(ledger.list_payments, name="billing.list_payments", inline=True),
                Tool(ledger.list_invoices, name="billing.list_invoices", inline=True),
                Tool(ledger.plan_history, name="accounts.get_plan_history", inline=True),
                *(
                    Tool(_look_up(table), name=name, description=description, inline=True)
                    for name, (description, table) in _TABLES.items()
                ),
            ],
            model=by_rule(assistant),
        )
    ],
)

sample = SampleFlow(flow, title="One agent with twenty tools")
