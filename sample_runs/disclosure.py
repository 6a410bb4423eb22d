"""A worker whose prompt asks for a tool that the edge to it does not allow.

Source: S0, step 3: reject any tool call that is not in allowed_tools.
"""

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
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import has_any, status_of
from handoff_console.sample_runs.sample_flow import SampleFlow

_PROFILES = {
    "4812": {"name": "Ines Falk", "address": "12 Mill Lane", "customer_since": "2024-03-08"}
}
_METHODS = {"4812": [{"method": "direct debit", "bank": "Harbour Bank"}, {"method": "voucher"}]}
_TRIES = 2


class DataAsked(BaseModel):
    """Whose data to collect, and how much of it."""

    customer_id: str
    everything: bool


class DataFound(BaseModel):
    """What the collector returns."""

    profile: dict[str, Any]
    payment_methods: list[dict[str, Any]]


def profile(customer_id: str) -> dict[str, Any]:
    """Show name, address and age of an account."""
    return _PROFILES.get(customer_id, {})


def payment_methods(customer_id: str) -> list[dict[str, Any]]:
    """List how a customer pays."""
    return _METHODS.get(customer_id, [])


def desk(call: ModelCall) -> ModelReply | None:
    """Have the data collected and hand it out only when all of it is there."""
    everything = has_any(call.text, ("all data", "all my data", "all the data", "everything"))
    if not everything and not has_any(call.text, ("address", "my data", "profile")):
        return None
    result = call.result_of("delegate_to_collector")
    if result is None:
        return delegate(
            "collector",
            "Collect the data that is held about the customer",
            reason="the customer asks for a copy",
            customer_id="4812",
            everything=everything,
        )
    if status_of(result) != "ok":
        return answer("error", "I cannot send you a copy yet: part of your data could not be read.")
    found = result["data"]
    text = f"We hold: {', '.join(f'{key} {value}' for key, value in found['profile'].items())}"
    ways = [method["method"] for method in found["payment_methods"]]
    return say(f"{text}; you pay by {' and '.join(ways)}." if ways else f"{text}.")


def collector(call: ModelCall) -> ModelReply:
    """Collect the profile and, when everything is asked for, how the customer pays."""
    customer = call.inputs["customer_id"]
    found = call.result_of("crm.profile")
    if found is None:
        return use("crm.profile", customer_id=customer)
    if "error" in found:
        return answer("error", f"the profile could not be read: {found['error']}")
    if not found:
        return answer("not_found", f"nothing is held about customer {customer}")
    if not call.inputs["everything"]:
        return answer("ok", "the profile", profile=found, payment_methods=[])
    return _with_payment_methods(call, found)


def _with_payment_methods(call: ModelCall, found: dict[str, Any]) -> ModelReply:
    answers = [item.value for item in call.results if item.name == "payments.list_methods"]
    if not answers or ("error" in answers[-1] and len(answers) < _TRIES):
        return use("payments.list_methods", customer_id=call.inputs["customer_id"])
    if "error" in answers[-1]:
        return answer("error", "the payment methods could not be read, so the copy has a gap")
    return answer("ok", "all of it", profile=found, payment_methods=answers[-1])


flow = Flow(
    "disclosure",
    description=(
        "A customer wants a copy of all data. The collector's prompt tells it to read payment "
        "methods, and the edge to it does not allow that tool."
    ),
    examples=(
        "Please send me a copy of all data you hold about me.",
        "Which address do you have for me?",
    ),
    schemas={"DataFound": DataFound},
    agents=[
        Agent(
            "desk",
            "You send customers the data that is held about them. Have it collected. A copy with "
            "a gap must not go out.",
            edges=[
                Edge.call(
                    "collector",
                    "Collects the data that is held about one customer.",
                    payload=DataAsked,
                    allowed_tools=("crm.profile",),
                    limits=Limits(max_steps=5, max_tokens=6_000, deadline_seconds=20),
                )
            ],
            model=by_rule(desk),
        ),
        Agent(
            "collector",
            "You collect the data that is held about one customer: the profile from crm.profile "
            "and, when everything is asked for, the payment methods from payments.list_methods.",
            tools=[
                Tool(profile, name="crm.profile", inline=True),
                Tool(payment_methods, name="payments.list_methods", inline=True),
            ],
            model=by_rule(collector),
            output_schema="DataFound",
        ),
    ],
)

sample = SampleFlow(flow, title="A tool the prompt wants and the edge forbids")
