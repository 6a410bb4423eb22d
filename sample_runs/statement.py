"""An accountant who asks for more months at once than the pool can pay for.

Source: S0, step 4, "Share the budget across the whole tree".
"""

import calendar
import re

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
    together,
    use,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import euros, first_error, status_of, values_of
from handoff_console.sample_runs.sample_flow import SampleFlow

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_BOOKINGS_CENTS = {
    1: [1_900, 1_240], 2: [1_900], 3: [1_900, 880, 310], 4: [1_900], 5: [1_900, 2_050],
    6: [1_900], 7: [1_900, 460], 8: [1_900], 9: [1_900, 1_115], 10: [1_900, 4_900],
    11: [4_900], 12: [],
}  # fmt: skip


class MonthAsked(BaseModel):
    """Which month to add up."""

    month: int


class MonthTotal(BaseModel):
    """What a reader returns."""

    month: int
    total_cents: int


def bookings(month: int) -> list[int]:
    """List what was booked in a month of this year, in cents."""
    return _BOOKINGS_CENTS.get(month, [])


def accountant(call: ModelCall) -> ModelReply | None:
    """Have every month read in parallel, and make a statement only if none is missing."""
    months = _asked_months(call.text)
    if not months:
        return None
    results = values_of(call, "delegate_to_reader")
    if not results:
        return together(
            *(
                delegate(
                    "reader", f"Add up the bookings of {calendar.month_name[month]}", month=month
                )
                for month in months
            )
        )
    missing = [
        month for month, result in zip(months, results, strict=True) if status_of(result) != "ok"
    ]
    if missing:
        names = ", ".join(calendar.month_name[month] for month in missing)
        return answer("error", f"I could not make your statement: {names} could not be read.")
    total = sum(result["data"]["total_cents"] for result in results)
    lines = [
        f"{calendar.month_name[month]} {euros(result['data']['total_cents'])}"
        for month, result in zip(months, results, strict=True)
    ]
    return answer("ok", text=f"Your statement: {'; '.join(lines)}. In all {euros(total)}.")


def _asked_months(text: str) -> list[int]:
    named = [_MONTHS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _MONTHS]
    if "statement" not in text.lower() or not named:
        return []
    return list(range(named[0], named[-1] + 1))


def reader(call: ModelCall) -> ModelReply:
    """Add a month up."""
    if error := first_error(call):
        return answer("error", error)
    month = call.inputs["month"]
    booked = call.result_of("books.bookings")
    if booked is None:
        return use("books.bookings", month=month)
    notes = f"{calendar.month_name[month]}: {len(booked)} booking{'' if len(booked) == 1 else 's'}"
    return answer("ok", notes, month=month, total_cents=sum(booked))


flow = Flow(
    "statement",
    description=(
        "An accountant asks for every month in parallel. The pool can reserve three of them at a "
        "time, so that a statement of half a year cannot be made."
    ),
    examples=(
        "Please prepare my statement for May to October.",
        "Please prepare my statement for August to October.",
    ),
    pool_tokens=14_000,
    schemas={"MonthTotal": MonthTotal},
    agents=[
        Agent(
            "accountant",
            "You make statements. Have each month added up by a reader, all in one go. A "
            "statement with a missing month is worthless: say which one is missing instead.",
            edges=[
                Edge.call(
                    "reader",
                    "Adds up the bookings of one month.",
                    payload=MonthAsked,
                    limits=Limits(max_steps=4, max_tokens=4_000, deadline_seconds=20),
                )
            ],
            model=by_rule(accountant),
        ),
        Agent(
            "reader",
            "You add up the bookings of one month. You only read.",
            tools=[Tool(bookings, name="books.bookings", inline=True)],
            model=by_rule(reader),
            output_schema="MonthTotal",
        ),
    ],
)

sample = SampleFlow(flow, title="A statement the pool cannot pay for")
