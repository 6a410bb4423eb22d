"""Triage and second-line support: "server down".

Source: S2, "Implementing a Handoff Mechanism in Python", without its fault: here the target runs
with its own prompt.
"""

import re
from typing import Any, Literal

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
    hand_over,
    say,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any
from handoff_console.sample_runs.sample_flow import SampleFlow

_INCIDENTS: dict[str, dict[str, str]] = {
    "production": {
        "incident": "INC-204",
        "since": "2026-11-24 14:05",
        "cause": "a switch in rack 7 failed",
        "back": "2026-11-24 15:30",
    }
}


class Issue(BaseModel):
    """What second-line support has to know."""

    issue_type: Literal["infrastructure_outage", "performance"]
    severity: Literal["critical", "minor"]
    context_notes: str
    system: str


def open_incidents(system: str) -> dict[str, Any]:
    """List the open incident of a system, if there is one."""
    return {"system": system, "open": system in _INCIDENTS, **_INCIDENTS.get(system, {})}


def triage(call: ModelCall) -> ModelReply | None:
    """Tell an outage from a slow system, and hand both over."""
    text = call.text.lower()
    system = "staging" if "staging" in text else "production"
    if re.search(r"(server|system|site)\b.*\bdown\b|\bdown\b.*\b(server|system|site)", text):
        return hand_over(
            "tech_support",
            "complete downtime is reported",
            issue_type="infrastructure_outage",
            severity="critical",
            context_notes=f"The customer reports complete downtime of the {system} server.",
            system=system,
        )
    if has_any(text, ("slow", "lag", "takes long", "timeout")):
        return hand_over(
            "tech_support",
            "a slow system is reported",
            issue_type="performance",
            severity="minor",
            context_notes=f"The customer reports slow answers of the {system} server.",
            system=system,
        )
    return None


def tech_support(call: ModelCall) -> ModelReply:
    """Look for an open incident and answer by severity."""
    if error := first_error(call):
        return answer("error", f"I could not check for incidents: {error}")
    system = call.inputs["system"]
    found = call.result_of("status.incidents")
    if found is None:
        return use("status.incidents", system=system)
    if found["open"]:
        return say(
            f"This is {found['incident']}: {found['cause']}. The {system} server is affected since "
            f"{found['since']} and should be back by {found['back']}."
        )
    if call.inputs["severity"] == "critical":
        return say(
            f"I see no open incident of the {system} server, so this is new. I propose to wake the "
            "engineer on duty; nobody has been woken yet."
        )
    return say(
        f"I see no open incident of the {system} server. Please send the time and the page of a "
        "slow answer, and I will look into it."
    )


flow = Flow(
    "outage",
    description="Triage hands a server that is down to second-line support, with its severity.",
    examples=(
        "Production server down since 14:05, nobody can log in!",
        "The staging server is down.",
        "Your site is slow today.",
    ),
    agents=[
        Agent(
            "triage",
            "You are the triage assistant. Find out what kind of problem it is and hand it over; "
            "you solve nothing yourself.",
            edges=[
                Edge.transfer(
                    "tech_support",
                    "Second line: servers that are down or slow.",
                    payload=Issue,
                    limits=Limits(max_steps=4, max_tokens=6_000, deadline_seconds=30),
                )
            ],
            model=by_rule(triage),
        ),
        Agent(
            "tech_support",
            "You are the technical specialist. Solve bugs and server problems. Look for an open "
            "incident first.",
            tools=[Tool(open_incidents, name="status.incidents", inline=True)],
            model=by_rule(tech_support),
        ),
    ],
)

sample = SampleFlow(flow, title="Server down: one transfer")
