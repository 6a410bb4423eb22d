"""One job split over three workers that run at once; their short results become one answer.

Source: S4, "See it in code", the orchestrator.
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

_Q3 = {"Acme": "revenue up 12%", "Globex": "revenue down 3%", "Initech": "revenue flat"}


class Company(BaseModel):
    """Whose quarter to look up."""

    company: str


def watched_companies() -> list[str]:
    """List the companies that we compare ourselves with."""
    return list(_Q3)


def third_quarter(company: str) -> dict[str, Any]:
    """Look up what a company said about its third quarter."""
    return {"company": company, "found": _Q3.get(company)}


def orchestrator(call: ModelCall) -> ModelReply | None:
    """Ask an analyst for each company, all at once, and list what they found in this order."""
    if not (has_any(call.text, ("compare",)) and has_any(call.text, ("q3", "third quarter"))):
        return None
    companies = call.result_of("watchlist.companies")
    if companies is None:
        return use("watchlist.companies")
    results = values_of(call, "delegate_to_analyst")
    if not results:
        return together(
            *(
                delegate("analyst", f"Say how the third quarter of {name} went", company=name)
                for name in companies
            )
        )
    lines = [
        result["data"]["text"] if status_of(result) == "ok" else f"{name}: unknown ({why(result)})"
        for name, result in zip(companies, results, strict=True)
    ]
    return say("\n- ".join([call.text, *lines]))


def analyst(call: ModelCall) -> ModelReply:
    """Look one company up and answer in one line."""
    if error := first_error(call):
        return answer("error", error)
    quarter = call.result_of("figures.third_quarter")
    company = call.inputs["company"]
    if quarter is None:
        return use("figures.third_quarter", company=company)
    if not quarter["found"]:
        return answer("not_found", f"{company} has published nothing")
    return say(f"{company}: {quarter['found']}")


flow = Flow(
    "quarter",
    description="An orchestrator asks an analyst about each of three companies, all at once.",
    examples=("Compare Q3 for our three competitors",),
    agents=[
        Agent(
            "orchestrator",
            "You compare companies. Ask an analyst about each of them in one go, and list the "
            "answers.",
            tools=[Tool(watched_companies, name="watchlist.companies", inline=True)],
            edges=[
                Edge.call(
                    "analyst",
                    "Says in one line how a company's quarter went.",
                    payload=Company,
                    limits=Limits(max_steps=3, max_tokens=4_000, deadline_seconds=20),
                )
            ],
            model=by_rule(orchestrator),
        ),
        Agent(
            "analyst",
            "You say in one line how one company's quarter went.",
            tools=[Tool(third_quarter, name="figures.third_quarter", inline=True)],
            model=by_rule(analyst),
        ),
    ],
)

sample = SampleFlow(flow, title="Three companies at once")
