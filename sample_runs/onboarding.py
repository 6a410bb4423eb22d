"""A plan of three steps of which two are taken: the third waits for the others and is forgotten.

Source: S4, coordination faults (missed parts); S3, example 3 (the plan is checked as a whole).
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
    ToolError,
    answer,
    delegate,
    say,
    together,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.plans import PlanStep, checked_plan
from handoff_console.sample_runs.rules import first_error, has_any
from handoff_console.sample_runs.sample_flow import SampleFlow

WORKERS = ("accounts", "equipment", "facilities")


class Newcomer(BaseModel):
    """Who starts."""

    person: str


def check_plan(steps: list[PlanStep]) -> list[dict[str, str]]:
    """Check a plan as a whole: every step needs a worker that exists."""
    try:
        return [step.model_dump() for step in checked_plan(steps, WORKERS)]
    except ValueError as error:
        raise ToolError(str(error)) from error


def lead(call: ModelCall) -> ModelReply | None:
    """Plan, have the plan checked, give out what can begin at once, and answer: too early."""
    person = re.search(r"\b((?:Ms|Mr) [A-Z]\w+) starts\b", call.text)
    if person is None:
        return None
    plan = call.result_of("plan.check")
    if plan is None:
        return use("plan.check", steps=_plan(person[1], call.text))
    if not isinstance(plan, list):
        return answer("error", f"Nothing was begun: {plan['error']}.")
    at_once = [step for step in plan if step["worker"] != "facilities"]
    done = {step["worker"]: call.result_of(f"delegate_to_{step['worker']}") for step in at_once}
    if None in done.values():
        return together(
            *(delegate(step["worker"], step["task"], person=person[1]) for step in at_once)
        )
    told = [result["data"]["text"] for result in done.values() if result["status"] == "ok"]
    return say(f"All is ready for {person[1]}: {'; '.join(told)}.")


def _plan(person: str, text: str) -> list[dict[str, str]]:
    plan = [
        {"worker": "accounts", "task": f"Open an account for {person}"},
        {"worker": "equipment", "task": f"Prepare a laptop for {person}"},
    ]
    if not has_any(text, ("from home", "remote")):
        plan.append({"worker": "facilities", "task": f"Make a badge for {person}"})
    return plan


def _does(what: str) -> Any:
    def work(call: ModelCall) -> ModelReply:
        if error := first_error(call):
            return answer("error", error)
        return say(what)

    return work


def _edge(target: str, description: str) -> Edge:
    limits = Limits(max_steps=3, max_tokens=4_000, deadline_seconds=20)
    return Edge.call(target, description, payload=Newcomer, limits=limits)


flow = Flow(
    "onboarding",
    description=(
        "A lead plans what a new colleague needs in three steps, hands out the two that can begin "
        "at once, and answers as if all were done."
    ),
    examples=(
        "Ms Lund starts on Monday, please prepare everything.",
        "Mr Ito starts on Monday and works from home, please prepare everything.",
    ),
    agents=[
        Agent(
            "lead",
            "You prepare the first day of new colleagues. Have your whole plan checked before you "
            "hand out any of it; the badge needs the account and comes last.",
            tools=[Tool(check_plan, name="plan.check", inline=True)],
            edges=[
                _edge("accounts", "Opens accounts."),
                _edge("equipment", "Prepares laptops and telephones."),
                _edge("facilities", "Makes badges and assigns desks."),
            ],
            model=by_rule(lead),
        ),
        Agent("accounts", "You open accounts.", model=by_rule(_does("the account is open"))),
        Agent("equipment", "You prepare laptops.", model=by_rule(_does("the laptop is packed"))),
        Agent("facilities", "You make badges.", model=by_rule(_does("the badge is made"))),
    ],
)

sample = SampleFlow(flow, title="A step of the plan that nobody took")
