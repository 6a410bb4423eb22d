"""Fifteen invented competitors, what their pages say about prices, and the tools that read them.

Two of them publish no price: it stands only in a record of a public tender.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from handoff_console.runtime import ToolError
from handoff_console.sample_runs.pace import lasting

SEARCH_SECONDS, READ_SECONDS = 15.0, 75.0
"""Pages are rendered as a person would see them, at the slow pace that sites ask for."""


class Competitor(NamedTuple):
    """What is true of a competitor's enterprise plan."""

    plan: str
    price_eur: float
    """For a seat and month."""
    minimum_seats: int
    contract: str
    shown: str = "month"
    """Where and how its page gives the price: `month`, `year`, `late` (far down), or `nowhere`."""


COMPETITORS: Mapping[str, Competitor] = {
    "Aldermere": Competitor("Enterprise", 42.0, 50, "1 year"),
    "Brayford": Competitor("Scale", 39.0, 25, "1 year"),
    "Corvane": Competitor("Enterprise", 55.0, 100, "2 years", "year"),
    "Dunholt": Competitor("Business Plus", 31.5, 20, "monthly"),
    "Eskdale": Competitor("Enterprise", 48.0, 50, "1 year", "late"),
    "Farrowby": Competitor("Organisation", 36.0, 30, "1 year", "year"),
    "Glimmen": Competitor("Enterprise", 61.0, 150, "3 years", "nowhere"),
    "Hartwold": Competitor("Premium", 44.0, 40, "1 year"),
    "Istrand": Competitor("Enterprise", 29.0, 10, "monthly"),
    "Jorvane": Competitor("Corporate", 52.5, 75, "2 years"),
    "Kelmoor": Competitor("Enterprise", 47.0, 50, "1 year", "year"),
    "Lindqvale": Competitor("Unlimited", 58.0, 100, "2 years"),
    "Marrowick": Competitor("Enterprise", 33.0, 25, "1 year", "nowhere"),
    "Nethersole": Competitor("Group", 40.0, 35, "1 year", "late"),
    "Oakhanger": Competitor("Enterprise", 45.5, 60, "1 year"),
}


def competitor_names() -> list[str]:
    """List the competitors that we watch."""
    return list(COMPETITORS)


@lasting(SEARCH_SECONDS)
def search_web(company: str, about: str = "pricing") -> list[str]:
    """Search the web for a company's pages about something; returns addresses, best first."""
    if company not in COMPETITORS:
        raise ToolError(f"nothing was found about {company!r}")
    host = f"https://{company.lower()}.example"
    if "tender" in about:
        return [f"https://tenders.example/{company.lower()}"]
    return [f"{host}/pricing", f"{host}/terms", f"{host}/news"]


@lasting(READ_SECONDS)
def read_page(url: str, characters: int = 0) -> dict[str, str]:
    """Read a page; of a long one only its first characters, where a number is given."""
    site, _, page = url.removeprefix("https://").rpartition("/")
    name = page if site == "tenders.example" else site.partition(".")[0]
    company = next((known for known in COMPETITORS if known.lower() == name), None)
    if company is None:
        raise ToolError(f"there is no page {url}")
    text = _page(company, "tender" if site == "tenders.example" else page)
    return {"url": url, "text": text[:characters] if characters else text}


def monthly_price(eur_per_year: float) -> float:
    """Convert a price for a year into one for a month."""
    return round(eur_per_year / 12, 2)


def price_in(text: str) -> tuple[float, str] | None:
    """Return the price for a seat that stands in a text, in EUR, and for `month` or `year`."""
    found = re.search(r"(\d+(?:\.\d+)?) EUR per seat and (month|year)", text)
    return (float(found[1]), found[2]) if found else None


def _page(company: str, page: str) -> str:
    facts = COMPETITORS[company]
    match page:
        case "pricing":
            return _pricing(company, facts)
        case "terms":
            return (
                f"{company} terms. {facts.plan}: at least {facts.minimum_seats} seats, contract: "
                f"{facts.contract}. Notice has to be given sixty days before the end. Data stays "
                "in the European Union."
            )
        case "news":
            return (
                f"{company} news. Prices of the {facts.plan} plan stay as they are until the end "
                "of next year. The audit log now goes back two years."
            )
        case _:
            return (
                f"Public tender, awarded to {company}: plan {facts.plan}, "
                f"{facts.price_eur:g} EUR per seat and month, {facts.minimum_seats * 4} seats."
            )


def _pricing(company: str, facts: Competitor) -> str:
    price = f"{facts.price_eur:g} EUR per seat and month, billed once a year"
    if facts.shown == "year":
        price = f"{facts.price_eur * 12:g} EUR per seat and year"
    if facts.shown == "nowhere":
        price = "price on request, talk to our sales team"
    offer = f"{facts.plan}: {price}. "
    praise = "Single sign-on, roles, an audit log, our own data centres, a person to call. "
    body = praise + offer if facts.shown == "late" else offer + praise
    return (
        f"{company} plans. {body}Starter is free for three people. Team is paid by card each "
        "month and can be left at any time."
    )
