"""A service desk of six, made for comparing prompt versions: `prompts/servicedesk/v1` to `v4`.

Triage routes by the words of the descriptions alone. The specialists do not read them: each knows
what is its own, and hands on what is plainly another one's. So a better prompt version shows in
fewer detours, not only in the labels. `datasets/servicedesk.jsonl` has 240 labelled requests.
"""

from functools import lru_cache

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Rules,
    hand_over,
    say,
)
from handoff_console.runtime.models import Ranking
from handoff_console.sample_runs.sample_flow import SampleFlow

SPECIALISTS = {
    "billing": (
        "Invoices, payments, prices and subscriptions: what was charged and why, ways to pay, "
        "receipts, discounts, plans.",
        "invoice bill billing billed charge charged payment pay paid price cost fee tax receipt "
        "subscription plan voucher discount instalment debit statement euros dollars premium",
    ),
    "orders": (
        "Orders on their way: where a parcel is, delivery dates and addresses, shipping costs, "
        "stock, changing or cancelling an order before it ships.",
        "order ordered parcel package delivery deliver delivered shipping ship shipped tracking "
        "courier stock warehouse transit customs arrive express pick",
    ),
    "returns": (
        "Sending things back: returns, exchanges and refunds, damaged or wrong items, warranty "
        "claims, return labels.",
        "return returned refund refunded exchange back broken wrong warranty guarantee label "
        "scratch scratched cracked small large packaging credit",
    ),
    "technical": (
        "Technical problems and how-to questions: errors, crashes, installation, connections, "
        "devices, the app and the website.",
        "app error crash crashes website install update wifi bluetooth screen device api browser "
        "sync upload export router printer firmware button page integration reset",
    ),
    "account": (
        "The customer's own profile: logging in, passwords, email and address changes, users and "
        "permissions, privacy, closing an account.",
        "password profile login log sign email username surname account membership workspace "
        "newsletter permission rights admin data factor merge locked",
    ),
    "fraud": (
        "Security incidents: stolen cards, purchases or logins that the customer did not make, "
        "phishing messages, scams, hacked accounts.",
        "fraud scam stolen hacked phishing suspicious fake unknown somebody someone pin genuine "
        "counterfeit trace caller tricked leak freeze block",
    ),
}
"""What triage may read of each by default, and the words by which it knows its own."""

MARGIN = 0.15
"""By how much another one has to fit better before a specialist hands on."""


@lru_cache(maxsize=1)
def _own_words() -> Ranking:
    return Ranking({name: own for name, (_, own) in SPECIALISTS.items()})


def specialist(call: ModelCall) -> ModelReply:
    """Answer what is one's own; hand on, once, what is plainly somebody else's."""
    name = call.agent.name
    scores = {item.target: item.score for item in _own_words().scores(call.text)}
    best = max(scores, key=lambda other: (scores[other], other == name))
    came_from = call.packet.from_agent if call.packet else ""
    theirs = scores[best] > scores[name] * (1 + MARGIN)
    if theirs and best != came_from and came_from == "triage":
        return hand_over(best, f"this is for {best}, not for {name}")
    return say(f"{name} here: this one is for me. (This sample routes; nothing else was done.)")


_SPECIALIST = Rules(specialist)
_LIMITS = Limits(max_steps=2, max_tokens=4_000, deadline_seconds=10)


def _agent(name: str) -> Agent:
    others = [Edge.transfer(other, limits=_LIMITS) for other in SPECIALISTS if other != name]
    return Agent(
        name,
        f"You take requests about {name}. Hand on what is plainly somebody else's.",
        description=SPECIALISTS[name][0],
        edges=others,
        model=_SPECIALIST,
    )


flow = Flow(
    "servicedesk",
    description=(
        "Triage routes to six specialists by their descriptions (bm25); a specialist hands on what "
        "is plainly another one's. Made for comparing prompt versions."
    ),
    examples=(
        "The tracking page hasn't moved for five days",
        "Why was I charged more than last month?",
        "Somebody logged in to my account, and it was not me",
    ),
    pool_tokens=30_000,
    agents=[
        Agent(
            "triage",
            "You take every message first. Hand it to the one colleague who is for it; if it asks "
            "for several things, hand each to its colleague in one go. Answer greetings and thanks "
            "yourself. If nobody is for it, say so and hand it to nobody.",
            edges=[Edge.transfer(name, limits=_LIMITS) for name in SPECIALISTS],
            model="offline:bm25",
        ),
        *(_agent(name) for name in SPECIALISTS),
    ],
)

sample = SampleFlow(flow, title="A service desk, for comparing prompt versions")
