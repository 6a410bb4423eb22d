"""Routing by keywords: triage, billing, support and sales.

Source: S3, example 1 and practice exercise 1.
"""

from handoff_console.runtime import Agent, Edge, Flow, ModelCall, ModelReply, hand_over, say
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import has_any
from handoff_console.sample_runs.sample_flow import SampleFlow


def triage(call: ModelCall) -> ModelReply | None:
    """Route by the first keyword that matches; greet who only greets."""
    if has_any(call.text, ("refund", "invoice")):
        return hand_over("billing", "billing question")
    if has_any(call.text, ("error", "crash")):
        return hand_over("support", "technical issue")
    if has_any(call.text, ("price", "quote")):
        return hand_over("sales", "sales question")
    words = call.text.lower().strip(" .!?").split()
    if words and words[0].strip(",") in ("hello", "hi", "hey"):
        return say("Hello! How can I help?")
    return None


def billing(call: ModelCall) -> ModelReply:
    """Answer by what the message is about."""
    what = "refund" if has_any(call.text, ("refund",)) else "invoice"
    return say(f"Billing here: I can help with your {what}.")


def support(call: ModelCall) -> ModelReply:
    """Answer by what the message is about."""
    what = "crash" if has_any(call.text, ("crash",)) else "error"
    return say(f"Support here: let's debug that {what}.")


def sales(call: ModelCall) -> ModelReply:
    """Answer by what the message is about."""
    what = "make you a quote" if has_any(call.text, ("quote",)) else "tell you our prices"
    return say(f"Sales here: I can {what}.")


flow = Flow(
    "frontdesk",
    description="Triage routes by keywords to billing, support or sales, answering nothing itself.",
    examples=(
        "I need a refund for my last invoice",
        "The app shows an error when I log in",
        "Could you send me a quote for 40 seats?",
        "Hello",
    ),
    pool_tokens=30_000,
    agents=[
        Agent(
            "triage",
            "Route the user to the right specialist.",
            edges=[
                Edge.transfer("billing", "Refunds and invoices."),
                Edge.transfer("support", "Errors and crashes."),
                Edge.transfer("sales", "Prices and quotes."),
            ],
            model=by_rule(triage),
        ),
        Agent("billing", "Answer billing questions.", model=by_rule(billing)),
        Agent("support", "Fix technical problems.", model=by_rule(support)),
        Agent("sales", "Answer questions about prices, and make quotes.", model=by_rule(sales)),
    ],
)

sample = SampleFlow(flow, title="Keyword routing to three specialists")
