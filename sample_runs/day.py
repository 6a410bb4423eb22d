"""The sessions that are recorded: a week at several desks, most of them uneventful.

The last one that failed is the one the README asks to look into.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from handoff_console.runtime import Flow
from handoff_console.runtime.contract import ContextPolicy
from handoff_console.sample_runs import diagnosis, invoices, letters, refunds, research
from handoff_console.sample_runs.people import approves, refuses
from handoff_console.sample_runs.recording import Later, SampleSession


def _on(day: int, clock: str) -> datetime:
    hour, minute = clock.split(":")
    return datetime(2026, 11, day, int(hour), int(minute), tzinfo=UTC)


def _with_all_history() -> Flow:
    return diagnosis.with_context(ContextPolicy.FULL_HISTORY)


_REFUND_LETTER = letters.flow.examples[0]
_EDITED_LETTER = (
    "Dear Ms Okafor, the refund of 19.00 EUR is on its way and should be there by Friday. Please "
    "excuse the trouble. Kind regards, the service desk"
)

RECORDINGS: Sequence[SampleSession] = (
    SampleSession(
        "quarter-three-companies",
        "quarter",
        "Compare Q3 for our three competitors",
        _on(19, "10:02"),
    ),
    SampleSession(
        "newsroom-five-cities",
        "newsroom",
        "I need a story on the election, with all five cities.",
        _on(19, "14:30"),
    ),
    SampleSession(
        "coding-rounding",
        "coding",
        "Some amounts are a cent too low, please fix the rounding.",
        _on(20, "9:15"),
    ),
    SampleSession(
        "research-one-agent", "research_alone", research.flow.examples[0], _on(20, "10:30")
    ),
    SampleSession(
        "research-a-worker-each", "research", research.flow.examples[0], _on(20, "11:05")
    ),
    SampleSession("papers-handoff", "papers", "Is there a paper on handoff?", _on(20, "15:05")),
    SampleSession(
        "briefing-not-sent",
        "briefing",
        "Please brief the team on MCP security.",
        _on(20, "16:10"),
        later=[Later(12, refuses("M. Adeyemi", "not before the numbers are checked"))],
    ),
    SampleSession(
        "frontdesk-refund", "frontdesk", "I need a refund for my last invoice", _on(23, "9:04")
    ),
    SampleSession(
        "parcels-unknown",
        "parcels",
        "Where is my parcel TRK-5531?",
        _on(23, "10:31"),
        finding="retry_of_not_found",
    ),
    SampleSession(
        "hearsay-a-page-gives-orders",
        "hearsay",
        "What does Quickship charge?",
        _on(23, "11:20"),
        later=[Later(3, refuses("M. Adeyemi", "no customer asked for this"))],
    ),
    SampleSession("returns-no-order", "returns", "My order arrived damaged.", _on(23, "13:47")),
    SampleSession(
        "diagnosis-sliced",
        "diagnosis",
        diagnosis.TALK[0],
        _on(23, "14:05"),
        then=diagnosis.TALK[1:],
    ),
    SampleSession(
        "diagnosis-full-history",
        "diagnosis",
        diagnosis.TALK[0],
        _on(23, "14:35"),
        then=diagnosis.TALK[1:],
        variant=_with_all_history,
    ),
    SampleSession(
        "diagnosis-one-agent",
        "diagnosis",
        diagnosis.TALK[0],
        _on(23, "15:05"),
        then=diagnosis.TALK[1:],
        variant=diagnosis.one_agent,
    ),
    SampleSession(
        "loyalty-counted",
        "loyalty",
        "How many points do I have? I am customer 4812.",
        _on(23, "16:20"),
    ),
    SampleSession("switchboard-login", "switchboard", "My login fails", _on(23, "17:05")),
    SampleSession(
        "repairs-four-hops",
        "repairs",
        "The pump in hall 3 stopped last night.",
        _on(24, "8:20"),
    ),
    SampleSession(
        "parcels-overloaded-model", "parcels", "Where is my parcel TRK-7007?", _on(24, "8:52")
    ),
    SampleSession(
        "onboarding-a-step-forgotten",
        "onboarding",
        "Ms Lund starts on Monday, please prepare everything.",
        _on(24, "9:10"),
        finding="plan_step_missed",
    ),
    SampleSession(
        "statement-half-a-year",
        "statement",
        "Please prepare my statement for May to October.",
        _on(24, "9:40"),
        finding="starved_pool",
    ),
    SampleSession(
        "orders-broken-lamp",
        "orders",
        "My order A-1001 arrived broken",
        _on(24, "10:15"),
        then=["I want a replacement"],
    ),
    SampleSession(
        "letters-edited",
        "letters",
        _REFUND_LETTER,
        _on(24, "10:50"),
        later=[Later(25, approves("M. Adeyemi", text=_EDITED_LETTER))],
    ),
    SampleSession(
        "bank-mortgage",
        "bank",
        "I would like a mortgage of 240,000 EUR for 20 years.",
        _on(24, "11:10"),
        then=["And for 15 years?"],
    ),
    SampleSession(
        "letters-expired",
        "letters",
        "Please write to Ms Moreau that the clock is out of stock.",
        _on(24, "12:10"),
        later=[Later(5 * 60)],
    ),
    SampleSession(
        "departments-lamp-back",
        "departments",
        "I sent the lamp of ORD-9640 back. When do I get my money?",
        _on(24, "13:02"),
    ),
    SampleSession(
        "outage-server-down",
        "outage",
        "Production server down since 14:05, nobody can log in!",
        _on(24, "14:12"),
    ),
    SampleSession(
        "warranty-cracked-lamp",
        "warranty",
        "The glass of my lamp is cracked. I saw it two days after it came.",
        _on(24, "15:02"),
        finding="ping_pong",
    ),
    SampleSession(
        "tickets-asap",
        "tickets",
        "My invoices are wrong, please fix this asap.",
        _on(24, "16:33"),
        finding="output_rejected_twice",
    ),
    SampleSession(
        "domains-savings",
        "domains",
        "how much money do i have in my savings account",
        _on(25, "8:40"),
    ),
    SampleSession("domains-unknown", "domains", "who painted the mona lisa", _on(25, "8:41")),
    SampleSession(
        "servicedesk-detour",
        "servicedesk",
        "Can my wife and I share one login?",
        _on(25, "8:44"),
    ),
    SampleSession("invoices-latest", "invoices", invoices.REQUEST, _on(25, "9:12")),
    SampleSession(
        "invoices-unknown-customer",
        "invoices",
        "Find the most recent invoices for customer 9999",
        _on(25, "9:30"),
    ),
    SampleSession(
        "intents-two-questions",
        "intents",
        "Where is my order, and how do I change my IBAN?",
        _on(25, "9:41"),
    ),
    SampleSession(
        "helpdesk-handed-back",
        "helpdesk",
        "My login fails, it says that my account is locked.",
        _on(25, "9:55"),
    ),
    SampleSession(
        "support-charged-twice", "support", "Why was I charged twice last month?", _on(25, "10:05")
    ),
    SampleSession(
        "refunds-approved",
        "refunds",
        refunds.REQUEST,
        _on(25, "10:12"),
        later=[Later(16, approves("M. Adeyemi"))],
    ),
    SampleSession(
        "support-many-payments",
        "support",
        "I am customer 5120. Why was I charged twice last month?",
        _on(25, "10:20"),
        finding="limit_reached",
    ),
    SampleSession(
        "support-no-rule", "support", "Can you recommend a restaurant?", _on(25, "10:41")
    ),
    SampleSession(
        "returns-damaged",
        "returns",
        "My headphones arrived damaged, the order is ORD-9812.",
        _on(25, "11:08"),
    ),
    SampleSession(
        "loyalty-half-a-count",
        "loyalty",
        "How many points do I have? I am customer 5120.",
        _on(25, "11:30"),
        finding="limit_as_answer",
    ),
    SampleSession(
        "monolith-charged-twice",
        "monolith",
        "Why was I charged twice last month?",
        _on(25, "13:15"),
    ),
    SampleSession(
        "helpdesk-a-person",
        "helpdesk",
        "My login fails, and I have tried all your steps twice.",
        _on(25, "13:31"),
    ),
    SampleSession(
        "letters-waiting",
        "letters",
        "Please write to Mr Lindqvist that the lamp comes on Friday.",
        _on(25, "13:50"),
    ),
    SampleSession(
        "disclosure-copy",
        "disclosure",
        "Please send me a copy of all data you hold about me.",
        _on(25, "14:02"),
        finding="tool_denied",
    ),
)
"""Oldest first."""
