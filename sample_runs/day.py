"""The sessions that are recorded: three days of a support desk, most of them uneventful.

The last one that failed is the one the README asks to look into.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from handoff_console.sample_runs import invoices
from handoff_console.sample_runs.recording import Recording


def _on(day: int, clock: str) -> datetime:
    hour, minute = clock.split(":")
    return datetime(2026, 11, day, int(hour), int(minute), tzinfo=UTC)


RECORDINGS: Sequence[Recording] = (
    Recording(
        "frontdesk-refund", "frontdesk", "I need a refund for my last invoice", _on(23, "9:04")
    ),
    Recording(
        "parcels-unknown",
        "parcels",
        "Where is my parcel TRK-5531?",
        _on(23, "10:31"),
        finding="retry_of_not_found",
    ),
    Recording("returns-no-order", "returns", "My order arrived damaged.", _on(23, "13:47")),
    Recording(
        "loyalty-counted",
        "loyalty",
        "How many points do I have? I am customer 4812.",
        _on(23, "16:20"),
    ),
    Recording(
        "parcels-overloaded-model", "parcels", "Where is my parcel TRK-7007?", _on(24, "8:52")
    ),
    Recording(
        "statement-half-a-year",
        "statement",
        "Please prepare my statement for May to October.",
        _on(24, "9:40"),
        finding="starved_pool",
    ),
    Recording(
        "outage-server-down",
        "outage",
        "Production server down since 14:05, nobody can log in!",
        _on(24, "14:12"),
    ),
    Recording(
        "warranty-cracked-lamp",
        "warranty",
        "The glass of my lamp is cracked. I saw it two days after it came.",
        _on(24, "15:02"),
        finding="ping_pong",
    ),
    Recording(
        "tickets-asap",
        "tickets",
        "My invoices are wrong, please fix this asap.",
        _on(24, "16:33"),
        finding="output_rejected_twice",
    ),
    Recording(
        "domains-savings",
        "domains",
        "how much money do i have in my savings account",
        _on(25, "8:40"),
    ),
    Recording("domains-unknown", "domains", "who painted the mona lisa", _on(25, "8:41")),
    Recording("invoices-latest", "invoices", invoices.REQUEST, _on(25, "9:12")),
    Recording(
        "invoices-unknown-customer",
        "invoices",
        "Find the most recent invoices for customer 9999",
        _on(25, "9:30"),
    ),
    Recording(
        "support-charged-twice", "support", "Why was I charged twice last month?", _on(25, "10:05")
    ),
    Recording(
        "support-many-payments",
        "support",
        "I am customer 5120. Why was I charged twice last month?",
        _on(25, "10:20"),
        finding="limit_reached",
    ),
    Recording("support-no-rule", "support", "Can you recommend a restaurant?", _on(25, "10:41")),
    Recording(
        "returns-damaged",
        "returns",
        "My headphones arrived damaged, the order is ORD-9812.",
        _on(25, "11:08"),
    ),
    Recording(
        "loyalty-half-a-count",
        "loyalty",
        "How many points do I have? I am customer 5120.",
        _on(25, "11:30"),
        finding="limit_as_answer",
    ),
    Recording(
        "monolith-charged-twice",
        "monolith",
        "Why was I charged twice last month?",
        _on(25, "13:15"),
    ),
    Recording(
        "disclosure-copy",
        "disclosure",
        "Please send me a copy of all data you hold about me.",
        _on(25, "14:02"),
        finding="tool_denied",
    ),
)
"""Oldest first."""
