"""A bank's receptionist finds out what a call is about; the mortgage advisor keeps the call.

The advisor is trusted more than the receptionist, so it checks what it is handed. The caller's next
turn goes to the advisor without passing reception again.
Source: S4, the analogy of the bank; S3, "Privilege confusion".
"""

import re
from typing import Any

from pydantic import BaseModel, PositiveInt

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    HandoffRequest,
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

HIGHEST_LOAN_EUR = 2_000_000
_RATES = {10: 3.4, 15: 3.6, 20: 3.8}
"""Percent a year, by years fixed."""


class LoanWish(BaseModel):
    """What the advisor has to know."""

    amount_eur: PositiveInt
    years: PositiveInt


def interest_rate(years: int) -> dict[str, Any]:
    """Look up the interest rate that is fixed for some years."""
    return {"years": years, "percent": _RATES.get(years)}


def sensible_amount(request: HandoffRequest) -> str | None:
    """Refuse a loan that no mortgage advisor may talk about."""
    amount = request.inputs.get("amount_eur", 0)
    if amount > HIGHEST_LOAN_EUR:
        return f"loans above {HIGHEST_LOAN_EUR:,} EUR are decided by the board"
    return None


def receptionist(call: ModelCall) -> ModelReply | None:
    """Find out what the call is about and put it through."""
    if call.results:
        refused = call.results[-1].value
        return say(f"I cannot put you through: {refused['reason']}")
    if has_any(call.text, ("card", "blocked")):
        return hand_over("cards", "a card is the matter", task="Help with the card")
    if not has_any(call.text, ("mortgage", "loan for a house")):
        return None
    amount, years = _amount(call.text), _years(call.text)
    if amount is None or years is None:
        return answer("needs_input", "How much would you like to borrow, and for how many years?")
    return hand_over(
        "mortgages",
        "the caller asks about a mortgage",
        task="Say what the mortgage would cost",
        amount_eur=amount,
        years=years,
    )


def _amount(text: str) -> int | None:
    found = re.search(r"(\d{1,3}(?:,\d{3})+|\d{4,})", text)
    return int(found[1].replace(",", "")) if found else None


def _years(text: str) -> int | None:
    found = re.search(r"(\d{1,2}) years", text)
    return int(found[1]) if found else None


def mortgages(call: ModelCall) -> ModelReply | None:
    """Say what a mortgage costs; later turns may change the years."""
    said = [message["content"] for message in call.messages if message["role"] == "user"]
    amount = call.inputs.get("amount_eur") or next(filter(None, map(_amount, said)), None)
    years = _years(call.text) or call.inputs.get("years")
    if amount is None or years is None:
        return None
    if error := first_error(call):
        return answer("error", f"I could not look up the rate: {error}")
    rate = call.result_of("rates.fixed")
    if rate is None:
        return use("rates.fixed", years=years)
    if rate["percent"] is None:
        return answer("not_found", f"We fix no rate for {years} years; we do for 10, 15 and 20.")
    first_year = amount * rate["percent"] / 100
    return say(
        f"{amount:,} EUR at {rate['percent']:g} % fixed for {years} years: about "
        f"{first_year:,.0f} EUR of interest in the first year."
    )


def cards(call: ModelCall) -> ModelReply:
    """Say what to do about a card."""
    what = "order a new one" if has_any(call.text, ("lost", "stolen", "new")) else "unblock it"
    return say(f"You can {what} under Cards in the app, at any hour.")


flow = Flow(
    "bank",
    description=(
        "A receptionist puts a call through to the mortgage advisor, who checks what comes in and "
        "keeps the caller for the next turns."
    ),
    examples=(
        "I would like a mortgage of 240,000 EUR for 20 years.",
        "I would like a mortgage of 9,000,000 EUR for 10 years.",
        "My card is blocked.",
    ),
    agents=[
        Agent(
            "receptionist",
            "You find out what a call is about and put it through. You give no advice.",
            edges=[
                Edge.transfer("mortgages", "Loans for houses and flats.", payload=LoanWish),
                Edge.transfer("cards", "Cards that are lost, blocked or new."),
            ],
            model=by_rule(receptionist),
        ),
        Agent(
            "mortgages",
            "You say what a mortgage costs. Rates come from the table alone.",
            tools=[Tool(interest_rate, name="rates.fixed", inline=True)],
            model=by_rule(mortgages),
            trust=2,
            ingress=(sensible_amount,),
        ),
        Agent("cards", "You help with cards.", model=by_rule(cards)),
    ],
)

sample = SampleFlow(flow, title="Put through to the mortgage advisor")
