"""The job of `research` done by one agent: a page a company, one after the other.

More pages would not fit, so it reads the beginning of each pricing page, and again all of those
whose beginning has no price. Where a page has none at all it takes the last price it has read: with
everything in one context it loses track of who said what.
Source: S4, "A research assistant that went parallel"; S3, "Start with the simplest design".
"""

from collections.abc import Mapping, Sequence

from handoff_console.runtime import Agent, Flow, Limits, ModelCall, ModelReply, Tool, answer, use
from handoff_console.sample_runs.competitors import (
    competitor_names,
    monthly_price,
    price_in,
    read_page,
)
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.research import LARGE, PRICES, wants_prices
from handoff_console.sample_runs.rules import first_error, values_of
from handoff_console.sample_runs.sample_flow import SampleFlow

EXCERPT_CHARACTERS = 90


def analyst(call: ModelCall) -> ModelReply | None:
    """Read page after page, the ones without a price twice, then write the table."""
    if not wants_prices(call.text):
        return None
    if error := first_error(call):
        return answer("error", error)
    companies = call.result_of("market.competitors")
    if companies is None:
        return use("market.competitors")
    pages = values_of(call, "web.read")
    if len(pages) < len(companies):
        url = _address(companies[len(pages)])
        return use("web.read", url=url, characters=EXCERPT_CHARACTERS)
    again = [page["url"] for page in pages[: len(companies)] if not price_in(page["text"])]
    done = len(pages) - len(companies)
    if done < len(again):
        return use("web.read", url=again[done])
    return _table(companies, pages)


def _address(company: str) -> str:
    return f"https://{company.lower()}.example/pricing"


def _table(companies: Sequence[str], pages: Sequence[Mapping[str, str]]) -> ModelReply:
    """Make the table from whatever was read last that looks like a price."""
    known: dict[str, float] = {}
    last = 0.0
    for page in pages:
        found = price_in(page["text"])
        if found:
            last = found[0] if found[1] == "month" else monthly_price(found[0])
        known[page["url"]] = last
    prices = {name: known[_address(name)] for name in companies}
    lines = ["company | EUR a seat and month"]
    lines += [f"{name} | {price:g}" for name, price in prices.items()]
    return answer("ok", f"{len(pages)} pages read", text="\n".join(lines), prices=prices)


flow = Flow(
    "research_alone",
    description=(
        "One agent reads a page for each of fifteen competitors, one after the other, to be "
        "compared with `research`: 24 minutes at a model's pace, and two prices are wrong."
    ),
    examples=("Summarise how our 15 competitors price their enterprise plans.",),
    limits=Limits(max_steps=60, max_tokens=1_000_000, deadline_seconds=3_600),
    pool_tokens=400_000,
    prices=PRICES,
    currency="USD",
    agents=[
        Agent(
            "analyst",
            "You find out how companies price their enterprise plans, and make a table.",
            tools=[
                Tool(competitor_names, name="market.competitors", inline=True),
                Tool(read_page, name="web.read", inline=True),
            ],
            model=by_rule(analyst, name=LARGE, longest_seconds=30),
        )
    ],
)

sample = SampleFlow(flow, title="Fifteen companies, one agent")
