"""Specialists who hand back what is not theirs, and turn to a person where they are at an end.

Source: S4, "Hand back or escalate when needed (to triage, or to a human)".
"""

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
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any
from handoff_console.sample_runs.sample_flow import SampleFlow

_LOGIN = ("log in", "login", "password")
_LOCKED_BY_BILLING = ("unpaid", "locked", "suspended")
_IN_VAIN = ("twice", "again and again", "nothing helps", "speak to a person")


def known_steps(topic: str) -> dict[str, Any]:
    """Look up what the help pages advise."""
    return {"topic": topic, "steps": ["set a new password", "clear the cookies of the page"]}


def open_invoices() -> dict[str, Any]:
    """List what the caller has not paid."""
    return {"open": ["INV-7455"], "account": "locked until it is paid"}


def triage(call: ModelCall) -> ModelReply | None:
    """Send login problems to tech; what tech hands back is billing's."""
    if call.packet and call.packet.from_agent == "tech":
        return hand_over("billing", "tech found a locked account", task="Say why it is locked")
    if has_any(call.text, _LOGIN):
        return hand_over("tech", "a login fails", task="Help with the login")
    if has_any(call.text, ("invoice", "refund")):
        return hand_over("billing", "an invoice is asked about", task="Answer about the invoice")
    return None


def tech(call: ModelCall) -> ModelReply:
    """Help with logins; hand back what is no technical matter, turn to a person at the end."""
    if has_any(call.text, _LOCKED_BY_BILLING):
        return hand_over("triage", "the account is locked, which is no technical fault")
    if error := first_error(call):
        return answer("error", f"I could not read the help pages: {error}")
    known = call.result_of("help.steps")
    if known is None:
        return use("help.steps", topic="login")
    if has_any(call.text, _IN_VAIN):
        return hand_over(
            "human",
            "the customer has tried all known steps",
            task="How can this customer get in again?",
        )
    return say(f"Please {' and then '.join(known['steps'])}.")


def billing(call: ModelCall) -> ModelReply:
    """Answer from the open invoices."""
    if error := first_error(call):
        return answer("error", f"I could not see your invoices: {error}")
    found = call.result_of("invoices.open")
    if found is None:
        return use("invoices.open")
    return say(f"{', '.join(found['open'])} is not paid, so your account is {found['account']}.")


flow = Flow(
    "helpdesk",
    description=(
        "Tech hands back to triage what is no technical fault, and turns to a person when all that "
        "is known was tried; the session then waits."
    ),
    examples=(
        "My login fails",
        "My login fails, it says that my account is locked.",
        "My login fails, and I have tried all your steps twice.",
    ),
    agents=[
        Agent(
            "triage",
            "You send each matter to the specialist it belongs to.",
            description="Whatever turns out to be somebody else's matter.",
            edges=[
                Edge.transfer("tech", "Logins and passwords."),
                Edge.transfer("billing", "Invoices and accounts that are locked."),
            ],
            model=by_rule(triage),
        ),
        Agent(
            "tech",
            "You help with logins. Hand back what is no technical fault. When all known steps were "
            "tried, turn to a person.",
            tools=[Tool(known_steps, name="help.steps", inline=True)],
            edges=[
                Edge.transfer("triage"),
                Edge.transfer(
                    "human", "When all known steps were tried in vain.", return_to="triage"
                ),
            ],
            model=by_rule(tech),
        ),
        Agent(
            "billing",
            "You answer questions about invoices.",
            tools=[Tool(open_invoices, name="invoices.open", inline=True)],
            model=by_rule(billing),
        ),
    ],
)

sample = SampleFlow(flow, title="Handed back, and on to a person")
