"""Five agents in a chain, each telling the next one less; what the host knows arrives whole.

The summaries erode from hop to hop, as they do. The serial number, the exact error text and the
time of the failure are session state: the last agent has them to the letter.
Source: S2, "Context Erosion (The Telephone-Game Effect)".
"""

from typing import Any

from pydantic import BaseModel

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

FACTS = {
    "serial_number": "PX-7710-00482-B",
    "error_text": 'E-0417: Δp 2.31 bar < 2.40 bar @ inlet "B" (retry 3/3)',
    "failed_at": "2026-11-24T03:12:07.418Z",
}
"""What must not change by a character on the way."""


class Part(BaseModel):
    """The part that is to be replaced."""

    part: str


class Visit(Part):
    """When somebody can be there."""

    day: str


def last_failure(machine: str) -> dict[str, Any]:
    """Read a machine's last failure from its log."""
    return {"machine": machine, **FACTS}


def manual_entry(error_text: str) -> dict[str, str]:
    """Look an error up in the manual."""
    code = error_text.partition(":")[0]
    return {"code": code, "cause": "worn inlet valve", "part": "V-204"}


def stock_of_part(part: str) -> dict[str, Any]:
    """Say how many of a part are in stock."""
    return {"part": part, "in_stock": 3}


def free_days() -> list[str]:
    """List the days on which a technician is free."""
    return ["2026-11-26", "2026-11-30"]


def intake(call: ModelCall) -> ModelReply | None:
    """Read the machine's log and hand over what happened."""
    if not (has_any(call.text, ("pump",)) and has_any(call.text, ("stopped", "error", "fail"))):
        return None
    if error := first_error(call):
        return answer("error", f"I could not read the log: {error}")
    if call.result_of("machines.last_failure") is None:
        return use("machines.last_failure", machine="pump, hall 3")
    return hand_over(
        "diagnostics",
        "the cause has to be found",
        summary="The pump of hall 3 stopped at night with an error about its inlet pressure.",
    )


def diagnostics(call: ModelCall) -> ModelReply:
    """Find the cause in the manual, by the error's exact text."""
    if error := first_error(call):
        return answer("error", f"I could not read the manual: {error}")
    entry = call.result_of("manual.entry")
    if entry is None:
        return use("manual.entry", error_text=_known(call, "error_text"))
    return hand_over(
        "parts",
        f"cause: {entry['cause']}",
        summary="A pump has a pressure error; a valve is worn.",
        part=entry["part"],
    )


def parts(call: ModelCall) -> ModelReply:
    """See whether the part is there."""
    if error := first_error(call):
        return answer("error", f"I could not look at the stock: {error}")
    if call.result_of("parts.stock") is None:
        return use("parts.stock", part=call.inputs["part"])
    return hand_over(
        "field_service", "the part is in stock", summary="A valve is needed.", **call.inputs
    )


def field_service(call: ModelCall) -> ModelReply:
    """Find a day."""
    if error := first_error(call):
        return answer("error", f"I could not find a day: {error}")
    days = call.result_of("calendar.free_days")
    if days is None:
        return use("calendar.free_days")
    return hand_over(
        "workshop",
        "a technician is free",
        summary="Somebody has to go there.",
        part=call.inputs["part"],
        day=days[0],
    )


def workshop(call: ModelCall) -> ModelReply:
    """Write the work order from the facts of the packet."""
    lines = [f"{name}: {_known(call, name)}" for name in FACTS]
    lines += [f"part: {call.inputs['part']}", f"day: {call.inputs['day']}"]
    return say("Work order (a draft, nothing is booked)\n" + "\n".join(lines))


def _known(call: ModelCall, name: str) -> str:
    facts = call.packet.facts if call.packet else {}
    return str(facts.get(name, "unknown"))


def _tool(function: Any, name: str, **fields: Any) -> Tool:
    return Tool(function, name=name, inline=True, **fields)


flow = Flow(
    "repairs",
    description=(
        "Five agents in a chain, whose summaries lose more at each of four hops; serial number, "
        "error text and time of failure arrive to the letter, as session state."
    ),
    examples=("The pump in hall 3 stopped last night.",),
    max_handoffs=4,
    agents=[
        Agent(
            "intake",
            "You take in failures of machines. Read the log, then hand over to diagnostics.",
            tools=[_tool(last_failure, "machines.last_failure", remembers=tuple(FACTS))],
            edges=[Edge.transfer("diagnostics", "Failures whose cause is not known.")],
            model=by_rule(intake),
        ),
        Agent(
            "diagnostics",
            "You find the cause of a failure in the manual.",
            tools=[_tool(manual_entry, "manual.entry")],
            edges=[Edge.transfer("parts", "A part that has to be replaced.", payload=Part)],
            model=by_rule(diagnostics),
        ),
        Agent(
            "parts",
            "You see whether a part is in stock.",
            tools=[_tool(stock_of_part, "parts.stock")],
            edges=[Edge.transfer("field_service", "A part that is in stock.", payload=Part)],
            model=by_rule(parts),
        ),
        Agent(
            "field_service",
            "You find a day on which a technician is free.",
            tools=[_tool(free_days, "calendar.free_days")],
            edges=[Edge.transfer("workshop", "A visit that has a day.", payload=Visit)],
            model=by_rule(field_service),
        ),
        Agent(
            "workshop",
            "You write the work order. Copy serial number, error text and time as they stand.",
            model=by_rule(workshop),
        ),
    ],
)

sample = SampleFlow(flow, title="Four hops, and nothing lost")
