"""A desk that does not take not_found for an answer, and a worker that is tried once more rightly.

Source: S0, step 2: not_found is an answer; only an error marked transient may be retried.
"""

import re
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
    TransientModelError,
    answer,
    delegate,
    say,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, status_of, values_of, why
from handoff_console.sample_runs.sample_flow import SampleFlow

_TIMES_ASKED = 3
_PARCELS = {
    "TRK-2204": {"where": "in the van", "arrives": "today before 18:00"},
    "TRK-7007": {"where": "in the Hamburg depot", "arrives": "tomorrow"},
}
_OVERLOADED_ONCE = {"TRK-7007"}
"""Parcels whose first look-up meets an overloaded model, to show what a retry is for."""


class Parcel(BaseModel):
    """Which parcel to find."""

    number: str


class ParcelFound(BaseModel):
    """What the tracker returns."""

    number: str
    where: str
    arrives: str


def track(number: str) -> dict[str, Any]:
    """Say where a parcel is and when it arrives."""
    return {"number": number, "found": number in _PARCELS, **_PARCELS.get(number, {})}


def desk(call: ModelCall) -> ModelReply | None:
    """Ask the tracker, and ask again when it found nothing."""
    named = re.search(r"TRK-\d+", call.text, re.IGNORECASE)
    if named is None:
        if "parcel" in call.text.lower():
            return answer("needs_input", "Which parcel is it? Its number begins with TRK-.")
        return None
    number = named[0].upper()
    results = values_of(call, "delegate_to_tracker")
    found_nothing = bool(results) and status_of(results[-1]) == "not_found"
    if not results or (found_nothing and len(results) < _TIMES_ASKED):
        reason = "not found, so try again" if results else "the customer asks for it"
        return delegate("tracker", "Find out where the parcel is", reason=reason, number=number)
    last = results[-1]
    if status_of(last) == "ok":
        found = last["data"]
        return say(f"Your parcel {number} is {found['where']} and arrives {found['arrives']}.")
    if found_nothing:
        return answer("not_found", f"We do not know a parcel {number}. Please check the number.")
    return answer("error", f"I could not find out where {number} is: {why(last)}.")


def tracker(call: ModelCall) -> ModelReply:
    """Look the parcel up."""
    if error := first_error(call):
        return answer("error", error)
    number = call.inputs["number"]
    if number in _OVERLOADED_ONCE and call.attempt == 1:
        raise TransientModelError("the model is overloaded, try again")
    found = call.result_of("parcels.track")
    if found is None:
        return use("parcels.track", number=number)
    if not found["found"]:
        return answer("not_found", f"there is no parcel {number}")
    return answer("ok", "found", number=number, where=found["where"], arrives=found["arrives"])


flow = Flow(
    "parcels",
    description=(
        "A desk has parcels tracked. It asks three times for a parcel that does not exist; an "
        "overloaded model is rightly tried once more."
    ),
    examples=(
        "Where is my parcel TRK-5531?",
        "Where is my parcel TRK-2204?",
        "Where is my parcel TRK-7007?",
    ),
    schemas={"ParcelFound": ParcelFound},
    agents=[
        Agent(
            "desk",
            "You tell customers where their parcel is. Ask the tracker. If it finds nothing, "
            "make sure by asking again.",
            edges=[
                Edge.call(
                    "tracker",
                    "Finds one parcel by its number.",
                    payload=Parcel,
                    limits=Limits(max_steps=3, max_tokens=4_000, deadline_seconds=20),
                )
            ],
            model=by_rule(desk),
        ),
        Agent(
            "tracker",
            "You find one parcel by its number. You only read.",
            tools=[Tool(track, name="parcels.track", inline=True)],
            model=by_rule(tracker),
            output_schema="ParcelFound",
        ),
    ],
)

sample = SampleFlow(flow, title="Asked three times for what does not exist")
