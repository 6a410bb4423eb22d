"""An editor, five cities, five short reports at once, one story.

Source: S4, the analogy of the newspaper.
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
    together,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any, status_of, values_of, why
from handoff_console.sample_runs.sample_flow import SampleFlow

CITIES = ("Aalby", "Brunnsted", "Corvey", "Dornach-Süd", "Eschwald")
"""Invented, as is the election."""

_WIRE = {
    "Aalby": ("71 %", "queues until the evening"),
    "Brunnsted": ("64 %", "a recount in two districts"),
    "Corvey": ("58 %", "the lowest turnout in twenty years"),
    "Dornach-Süd": ("69 %", "a mayor confirmed by 212 votes"),
}


class City(BaseModel):
    """Where to report from."""

    city: str


class CityReport(BaseModel):
    """What a reporter sends back."""

    city: str
    turnout: str
    note: str


def wire_reports(city: str) -> dict[str, Any]:
    """Read what came over the wire from a city."""
    turnout, note = _WIRE.get(city, (None, ""))
    return {"city": city, "turnout": turnout, "note": note}


def editor(call: ModelCall) -> ModelReply | None:
    """Send a reporter to each city at once and write the story from what they send back."""
    if not has_any(call.text, ("election",)):
        return None
    reports = values_of(call, "delegate_to_reporter")
    if not reports:
        return together(
            *(
                delegate("reporter", f"Report on the election in {city}", city=city)
                for city in CITIES
            )
        )
    told, missing = [], []
    for city, report in zip(CITIES, reports, strict=True):
        if status_of(report) == "ok":
            told.append(f"{city}: turnout {report['data']['turnout']}, {report['data']['note']}.")
        else:
            missing.append(f"{city} ({why(report)})")
    story = " ".join(told)
    return say(f"{story} Nothing yet from {', '.join(missing)}." if missing else story)


def reporter(call: ModelCall) -> ModelReply:
    """Report from one city in one line."""
    if error := first_error(call):
        return answer("error", error)
    city = call.inputs["city"]
    found = call.result_of("wire.reports")
    if found is None:
        return use("wire.reports", city=city)
    if found["turnout"] is None:
        return answer("not_found", "nothing on the wire")
    return answer("ok", f"{city} reported", **found)


flow = Flow(
    "newsroom",
    description=(
        "An editor sends a reporter to each of five cities at once and writes the story from five "
        "short reports."
    ),
    examples=("I need a story on the election, with all five cities.",),
    schemas={"CityReport": CityReport},
    agents=[
        Agent(
            "editor",
            "You write stories. Send a reporter to each city in one go, write from their reports "
            "alone, and say which city is missing.",
            edges=[
                Edge.call(
                    "reporter",
                    "Reports from one city.",
                    payload=City,
                    limits=Limits(max_steps=3, max_tokens=4_000, deadline_seconds=20),
                )
            ],
            model=by_rule(editor),
        ),
        Agent(
            "reporter",
            "You report from one city: turnout, and one thing worth knowing.",
            tools=[Tool(wire_reports, name="wire.reports", inline=True)],
            model=by_rule(reporter),
            output_schema="CityReport",
        ),
    ],
)

sample = SampleFlow(flow, title="An editor and five reporters")
