"""Ten agents, and a triage that routes by the words of their descriptions alone.

Made for many requests at once: `handoff run domains --input FILE`. Nothing here learned from any
labelled request; descriptions and examples say in plain words what each domain is about.
"""

from typing import NamedTuple

from handoff_console.runtime import Agent, Edge, Flow, Limits, ModelCall, ModelReply, Rules, say
from handoff_console.sample_runs.sample_flow import SampleFlow


class Domain(NamedTuple):
    """What one agent is for."""

    description: str
    examples: tuple[str, ...]


DOMAINS = {
    "banking": Domain(
        "Bank accounts: the balance of a checking or savings account, transfers of money between "
        "accounts, deposits, withdrawals, transactions and statements, paying bills, account and "
        "routing numbers, ordering checks, PIN, fraud, frozen or blocked accounts, interest on "
        "savings, how much was spent.",
        (
            "how much money is in my checking account",
            "transfer 100 dollars from savings to checking",
            "pay my electric bill",
            "when is my bill due",
            "my bank account is blocked",
            "show my last transactions",
        ),
    ),
    "credit_cards": Domain(
        "Credit cards: applying for a new card, credit score and credit limit, rewards and cash "
        "back points, annual fee, interest rate and APR, a card that was declined, lost, stolen "
        "or damaged, a replacement card, expiration date, using a card abroad.",
        (
            "raise the limit of my visa card",
            "what is my credit score",
            "report a stolen credit card",
            "why was my card declined",
            "when does my mastercard expire",
            "how many reward points did my card earn",
        ),
    ),
    "kitchen_and_dining": Domain(
        "Cooking and eating: recipes, ingredients and what can replace them, how long to cook or "
        "bake something, calories and nutrition, whether food has gone bad, ideas for a meal, "
        "breakfast, lunch and dinner, restaurants, their reviews, menus and table reservations.",
        (
            "find a recipe for chicken soup",
            "how long do I boil eggs",
            "reserve a table for four at an italian restaurant",
            "how many calories are in a slice of pizza",
            "can I use butter instead of oil",
            "is this milk still healthy to drink",
        ),
    ),
    "home": Domain(
        "The household: smart home lights, lamps, thermostat and heating, door locks, music and "
        "songs in the living room, lists of things to do or buy, chores, reminders, the family's "
        "calendar and events, orders and deliveries for the house.",
        (
            "turn off the lights in the bedroom",
            "add laundry to my to do list",
            "remind me to take out the trash",
            "play the next song",
            "put a birthday on my calendar",
            "set the thermostat to 70 degrees",
        ),
    ),
    "auto_and_commute": Domain(
        "Cars and the daily way: gas and fuel, tires and tire pressure, oil, engine, battery, a "
        "car that will not start, repair and maintenance at the mechanic, mileage, traffic, "
        "driving directions and distance, commute by bus, train or taxi, parking.",
        (
            "how is the traffic on the way to work",
            "how much gas is left in my car",
            "my tire is flat",
            "when is the next oil change due",
            "give me directions to the airport",
            "call me a taxi or an uber ride",
        ),
    ),
    "travel": Domain(
        "Trips: booking flights and hotels, flight status, luggage and carry-on rules, passport, "
        "visa and vaccines for a country, travel warnings, exchange rates and foreign currency, "
        "translation into a foreign language, time zones, car rental, sights for tourists and "
        "vacation destinations.",
        (
            "book a flight to paris",
            "find a hotel near the beach",
            "has my plane landed",
            "do I need a visa for japan",
            "how do you say thank you in spanish",
            "where is my suitcase, the airline lost it",
        ),
    ),
    "utility": Domain(
        "Small everyday tools: alarms, timers and the time, today's date, the weather forecast, "
        "calculating and maths, converting units and measurements, spelling, definitions and "
        "synonyms of words, rolling dice, flipping a coin, phone calls and text messages, finding "
        "the phone.",
        (
            "set a timer for ten minutes",
            "wake me at seven, set an alarm",
            "will it rain tomorrow",
            "what is 15 percent of 80",
            "how many feet are in a mile",
            "how do you spell necessary",
            "flip a coin",
            "text my mom that I am late",
        ),
    ),
    "work": Domain(
        "The job: vacation days and paid time off requests, salary, payday, paycheck and direct "
        "deposit, income taxes and tax forms, health insurance and benefits, retirement plan, "
        "scheduling meetings and meeting rooms with the boss and colleagues, office.",
        (
            "request a day off",
            "how many vacation days do I have left",
            "when do I get paid",
            "schedule a meeting with my manager",
            "is there a free meeting room",
            "change my health insurance plan",
            "how much federal tax do I pay",
        ),
    ),
    "small_talk": Domain(
        "Chat for its own sake: greetings, hello and goodbye, thanks, how are you, jokes and fun "
        "facts, personal questions to the assistant: age, birthplace, hobbies, job, pets, what it "
        "likes, whether it is human, a robot or real, the meaning of life.",
        (
            "hello, nice to meet you",
            "tell me a joke",
            "tell me something interesting",
            "thank you so much",
            "how old are you",
            "are you a real person",
            "goodbye, talk to you later",
        ),
    ),
    "meta": Domain(
        "The assistant itself and how it works: its settings and their reset, changing its name, "
        "its language, accent, voice, volume and how fast it speaks, the user's name, connecting "
        "a device, repeating what was said, canceling or confirming, yes, no, maybe.",
        (
            "change your language to german",
            "speak slower please",
            "can you repeat that",
            "turn the volume up",
            "call me by my nickname",
            "no, cancel that",
            "yes, that is correct",
            "go back to factory settings",
        ),
    ),
}


def specialist(call: ModelCall) -> ModelReply:
    """Accept whatever was handed over: this sample is about who gets a request."""
    name = call.agent.name.replace("_", " ")
    return say(f"{name} here: this one is for me. (This sample routes; nothing else was done.)")


_SPECIALIST = Rules(specialist)
"""One for all ten, made once: sessions by the thousand need not ask what a function takes."""

_LIMITS = Limits(max_steps=2, max_tokens=2_000, deadline_seconds=10)

flow = Flow(
    "domains",
    description=(
        "Triage routes by the words of ten handoff descriptions (bm25). Where nothing matches, or "
        "two match equally well, it says that it does not know."
    ),
    examples=(
        "how much money do i have in my savings account",
        "my tire is flat",
        "who painted the mona lisa",
    ),
    pool_tokens=12_000,
    agents=[
        Agent(
            "triage",
            "Hand each request to the agent whose description fits it. If none fits, say so.",
            edges=[Edge.transfer(name, limits=_LIMITS) for name in DOMAINS],
            model="offline:bm25",
        ),
        *(
            Agent(
                name,
                f"You take requests about {name.replace('_', ' ')}.",
                description=domain.description,
                examples=domain.examples,
                model=_SPECIALIST,
            )
            for name, domain in DOMAINS.items()
        ),
    ],
)

sample = SampleFlow(flow, title="Ten domains, routed by their descriptions")
