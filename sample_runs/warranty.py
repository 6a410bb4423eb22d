"""Two desks whose borders leave a gap: each is sure that the other one is responsible.

Source: S2, "The Infinite Ping-Pong Cycle".
"""

from handoff_console.runtime import Agent, Edge, Flow, ModelCall, ModelReply, hand_over, say
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import has_any
from handoff_console.sample_runs.sample_flow import SampleFlow

_VISIBLE = ("crack", "scratch", "dent", "broken", "damaged")
_AT_DELIVERY = ("at delivery", "courier", "driver", "on the doorstep")
_DEFECT = ("stopped working", "does not work", "doesn't work", "won't turn on", "no longer")


def intake(call: ModelCall) -> ModelReply | None:
    """Send visible damage to shipping and everything that fails to warranty."""
    if has_any(call.text, _VISIBLE):
        return hand_over("shipping", "something is visibly damaged")
    if has_any(call.text, _DEFECT):
        return hand_over("warranty", "something has stopped working")
    return None


def shipping(call: ModelCall) -> ModelReply:
    """Answer for damage that was noted at delivery; nothing else is a matter of transport."""
    if has_any(call.text, _AT_DELIVERY):
        return say(
            "Shipping here: the courier answers for damage noted at delivery. I propose a "
            "replacement; a person has to approve it."
        )
    return hand_over("warranty", "the damage was not noted at delivery, so it is no transport case")


def warranty(call: ModelCall) -> ModelReply:
    """Answer for what stopped working; visible damage is no defect of the product."""
    if has_any(call.text, _VISIBLE):
        return hand_over("shipping", "the damage is visible, so it is no defect of the product")
    return say(
        "Warranty here: what stops working within two years is repaired. Please send it to us; "
        "the label is in your account."
    )


flow = Flow(
    "warranty",
    description=(
        "Shipping and warranty hand visible damage that nobody noted at delivery to each other, "
        "until the runtime stops them."
    ),
    examples=(
        "The glass of my lamp is cracked. I saw it two days after it came.",
        "The courier handed me a dented box and the lamp in it is broken.",
        "My lamp stopped working after a week.",
    ),
    agents=[
        Agent(
            "intake",
            "You receive complaints about products and pass them to the desk that is responsible.",
            edges=[
                Edge.transfer("shipping", "Products that are visibly damaged."),
                Edge.transfer("warranty", "Products that have stopped working."),
            ],
            model=by_rule(intake),
        ),
        Agent(
            "shipping",
            "You handle transport damage that was noted at delivery. Everything else belongs to "
            "warranty.",
            edges=[Edge.transfer("warranty", "Whatever is no transport damage.")],
            model=by_rule(shipping),
        ),
        Agent(
            "warranty",
            "You handle products that have stopped working. Visible damage belongs to shipping.",
            edges=[Edge.transfer("shipping", "Visible damage.")],
            model=by_rule(warranty),
        ),
    ],
)

sample = SampleFlow(flow, title="Two desks, nobody responsible")
