"""A desk that gives a stopped worker's half count as the answer.

Source: S0, step 2: a result that is limit_reached has to be treated as incomplete.
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
    answer,
    delegate,
    say,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any, status_of, values_of, why
from handoff_console.sample_runs.sample_flow import SampleFlow

_PAGE_ROWS = 3
_POINTS = {
    "4812": [120, 40, 85, 65],
    "5120": [50, 50, 75, 120, 30, 60, 45, 90, 110, 35, 80, 25, 140, 65, 70, 55, 100, 20],
}
"""Points by customer, oldest first, as they were earned."""


class Customer(BaseModel):
    """Whose points to count."""

    customer_id: str


class PointsCounted(BaseModel):
    """What the counter returns."""

    points: int


def list_points(customer_id: str, page: int = 1) -> dict[str, Any]:
    """List the points that a customer earned, a page at a time."""
    rows = _POINTS.get(customer_id, [])
    start = (page - 1) * _PAGE_ROWS
    more = start + _PAGE_ROWS < len(rows)
    return {"earned": rows[start : start + _PAGE_ROWS], "next_page": page + 1 if more else None}


def desk(call: ModelCall) -> ModelReply | None:
    """Have the points counted and say how many there are, whatever the count's status is."""
    if not has_any(call.text, ("points",)):
        return None
    named = re.search(r"customer\D{0,3}(\d+)", call.text, re.IGNORECASE)
    if named is None:
        return answer("needs_input", "Which customer number are you?")
    result = call.result_of("delegate_to_counter")
    if result is None:
        return delegate("counter", "Count the points of the customer", customer_id=named[1])
    if status_of(result) in ("ok", "limit_reached"):
        return say(f"You have {_points_in(result['data'])} points.")
    return answer(status_of(result) if "status" in result else "error", f"{why(result)}.")


def _points_in(found: dict[str, Any]) -> int:
    if "points" in found:
        return int(found["points"])
    pages = [item["result"] for item in found["gathered"] if "result" in item]
    return sum(points for page in pages for points in page["earned"])


def counter(call: ModelCall) -> ModelReply:
    """Read page by page and add up."""
    if error := first_error(call):
        return answer("error", error)
    pages = values_of(call, "loyalty.list_points")
    if not pages or pages[-1]["next_page"]:
        page = pages[-1]["next_page"] if pages else 1
        return use("loyalty.list_points", customer_id=call.inputs["customer_id"], page=page)
    earned = [points for page in pages for points in page["earned"]]
    if not earned:
        return answer("not_found", f"customer {call.inputs['customer_id']} has no points")
    return answer("ok", f"{len(earned)} entries", points=sum(earned))


flow = Flow(
    "loyalty",
    description=(
        "A desk has points counted. When the counter is stopped by its step limit, the desk gives "
        "the half count as the answer and does not say so."
    ),
    examples=(
        "How many points do I have? I am customer 5120.",
        "How many points do I have? I am customer 4812.",
    ),
    schemas={"PointsCounted": PointsCounted},
    agents=[
        Agent(
            "desk",
            "You tell customers how many points they have. Have them counted, then give the "
            "number in one short sentence.",
            edges=[
                Edge.call(
                    "counter",
                    "Counts the points of one customer.",
                    payload=Customer,
                    limits=Limits(max_steps=4, max_tokens=8_000, deadline_seconds=30),
                )
            ],
            model=by_rule(desk),
        ),
        Agent(
            "counter",
            "You count the points of one customer. They come in pages: read on until there is no "
            "next page. You only read.",
            tools=[Tool(list_points, name="loyalty.list_points", inline=True)],
            model=by_rule(counter),
            output_schema="PointsCounted",
        ),
    ],
)

sample = SampleFlow(flow, title="Half a count, given as the whole")
