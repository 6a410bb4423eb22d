"""A classifier that answers with a word where a number is wanted, and does it again when told.

Source: S0, step 2: one retry with the validation error appended, then an error result.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    answer,
    delegate,
    say,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import has_any, status_of
from handoff_console.sample_runs.sample_flow import SampleFlow

Category = Literal["billing", "technical", "delivery"]
_SIGNS: dict[Category, tuple[str, ...]] = {
    "billing": ("invoice", "payment", "charge", "refund"),
    "technical": ("error", "crash", "log in", "password", "slow"),
    "delivery": ("parcel", "delivery", "courier", "arrived"),
}
_URGENCY = {"whenever": 1, "this week": 3, "today": 4, "right now": 5}
_NOT_ON_THE_SCALE = ("asap", "urgently", "yesterday")
"""Words that the classifier takes over as they are instead of putting them on the scale."""


class TicketLabel(BaseModel):
    """What the classifier returns."""

    category: Category
    urgency: Annotated[int, Field(ge=1, le=5)]


def desk(call: ModelCall) -> ModelReply | None:
    """Have the message labelled and file it."""
    if not any(has_any(call.text, signs) for signs in _SIGNS.values()):
        return None
    result = call.result_of("delegate_to_classifier")
    if result is None:
        return delegate(
            "classifier",
            "Label the message with a category and an urgency from 1 to 5",
            reason="every message is filed under a label",
            message=call.text,
        )
    if status_of(result) != "ok":
        return answer("error", "Your message could not be filed; a colleague will read it.")
    label = result["data"]
    return say(f"Thank you. We filed this under {label['category']}, urgency {label['urgency']}.")


def classifier(call: ModelCall) -> ModelReply:
    """Label by signal words."""
    message = str(call.inputs.get("message", "")).lower()
    category = next((name for name, signs in _SIGNS.items() if has_any(message, signs)), None)
    if category is None:
        return answer("not_found", "no category fits this message")
    urgency: int | str | None = next((n for word, n in _URGENCY.items() if word in message), None)
    if urgency is None:
        urgency = next((word for word in _NOT_ON_THE_SCALE if word in message), 2)
    return answer("ok", "labelled", category=category, urgency=urgency)


flow = Flow(
    "tickets",
    description=(
        "A classifier labels messages. For some words it answers with the word where a number is "
        "wanted, and gives the same answer when it is told."
    ),
    examples=(
        "My invoices are wrong, please fix this asap.",
        "The app shows an error, I need it to work today.",
    ),
    schemas={"TicketLabel": TicketLabel},
    agents=[
        Agent(
            "desk",
            "You file customers' messages. Have each one labelled, then say under what it was "
            "filed.",
            edges=[
                Edge.call(
                    "classifier",
                    "Labels a message with a category and an urgency.",
                    limits=Limits(max_steps=3, max_tokens=4_000, deadline_seconds=20),
                )
            ],
            model=by_rule(desk),
        ),
        Agent(
            "classifier",
            "You label a message: category billing, technical or delivery, and how urgent it is.",
            model=by_rule(classifier),
            output_schema="TicketLabel",
        ),
    ],
)

sample = SampleFlow(flow, title="A word where a number was wanted")
