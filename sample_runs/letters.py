"""A clerk who writes to customers, and sends nothing that a person has not read.

Source: S3, "Require human approval for irreversible or external actions", practice exercise 3.
"""

import re
from typing import Any

from handoff_console.runtime import (
    Agent,
    Effect,
    Flow,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    say,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error
from handoff_console.sample_runs.sample_flow import SampleFlow

APPROVAL_SECONDS = 4 * 3_600.0
"""A letter that nobody has read after four hours is not sent."""

_CUSTOMERS = {
    "okafor": {"name": "Ms Okafor", "address": "a.okafor@mail.example"},
    "lindqvist": {"name": "Mr Lindqvist", "address": "lindqvist@post.example"},
    "moreau": {"name": "Ms Moreau", "address": "j.moreau@courrier.example"},
}


def find_customer(name: str) -> dict[str, Any]:
    """Find a customer's name and address."""
    return _CUSTOMERS.get(name.lower(), {"error": f"there is no customer {name}"})


def send_letter(to: str, subject: str, text: str) -> dict[str, Any]:
    """Send an e-mail to a customer. Here none leaves the machine."""
    return {"sent": True, "to": to, "subject": subject, "text": text}


def clerk(call: ModelCall) -> ModelReply | None:
    """Find the customer, propose the letter, and report what became of it."""
    asked = re.search(
        r"\b(?:write to|tell) (?:m[rs]s?\.? )?(\w+) that (.+?)\.?$",
        call.text.strip(),
        re.IGNORECASE,
    )
    if asked is None:
        return None
    customer = call.result_of("customers.find")
    if customer is None:
        return use("customers.find", name=asked[1])
    sent = call.result_of("letters.send")
    if sent is None:
        if error := first_error(call):
            return answer("not_found", f"I wrote nothing: {error}.")
        return use(
            "letters.send",
            to=customer["address"],
            subject="About your order",
            text=f"Dear {customer['name']}, {asked[2]}. Kind regards, the service desk",
        )
    if sent.get("sent"):
        return say(f"I wrote to {customer['name']}: “{sent['text']}”")
    return say(f"Nothing was sent to {customer['name']}: {sent.get('error', 'no reason given')}")


flow = Flow(
    "letters",
    description=(
        "A clerk proposes a letter and waits: it is sent as a person approves or edits it, and not "
        "at all after a no, or after four hours without an answer."
    ),
    examples=(
        "Please tell Ms Okafor that the refund of 19.00 EUR is on its way.",
        "Please write to Mr Lindqvist that the lamp comes on Friday.",
    ),
    agents=[
        Agent(
            "clerk",
            "You write short letters to customers. A person reads each one before it is sent; say "
            "afterwards what was really sent.",
            tools=[
                Tool(find_customer, name="customers.find", inline=True),
                Tool(
                    send_letter,
                    name="letters.send",
                    effect=Effect.EXTERNAL,
                    approval_seconds=APPROVAL_SECONDS,
                    inline=True,
                ),
            ],
            model=by_rule(clerk),
            may_write=True,
        )
    ],
)

sample = SampleFlow(flow, title="A letter that a person has to approve")
