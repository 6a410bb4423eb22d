"""The smallest triage: the whole conversation goes to a specialist, and triage steps aside.

Passing everything on is a choice of its edges, and visible; the default is a packet.
Source: S4, "See it in code", the handoff.
"""

from handoff_console.runtime import Agent, Edge, Flow, ModelCall, ModelReply, hand_over, say
from handoff_console.runtime.contract import ContextPolicy
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import has_any
from handoff_console.sample_runs.sample_flow import SampleFlow


def triage(call: ModelCall) -> ModelReply | None:
    """Route by a word."""
    if has_any(call.text, ("refund", "invoice")):
        return hand_over("billing", "invoices and refunds are theirs")
    if has_any(call.text, ("login", "log in")):
        return hand_over("tech", "login problems are theirs")
    return None


def billing(call: ModelCall) -> ModelReply:
    """Answer by what the message is about."""
    what = "refund" if has_any(call.text, ("refund",)) else "invoice"
    return say(f"Which {what} is it? Please send the number of the order.")


def tech(call: ModelCall) -> ModelReply:
    """Answer by what the message is about."""
    if has_any(call.text, ("password",)):
        return say("You can set a new password on the page where you log in.")
    return say("What does the page show when your login fails?")


flow = Flow(
    "switchboard",
    description="Triage passes the whole conversation to billing or tech and steps aside.",
    examples=("I need a refund", "My login fails"),
    pool_tokens=30_000,
    agents=[
        Agent(
            "triage",
            "You route questions.",
            description="routes questions",
            edges=[
                Edge.transfer("billing", context=ContextPolicy.FULL_HISTORY),
                Edge.transfer("tech", context=ContextPolicy.FULL_HISTORY),
            ],
            model=by_rule(triage),
        ),
        Agent(
            "billing",
            "You handle invoices and refunds.",
            description="handles invoices and refunds",
            model=by_rule(billing),
        ),
        Agent(
            "tech",
            "You fix login problems.",
            description="fixes login problems",
            model=by_rule(tech),
        ),
    ],
)

sample = SampleFlow(flow, title="The whole conversation goes along")
