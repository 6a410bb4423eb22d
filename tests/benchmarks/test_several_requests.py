"""Messages that ask for several things, and the values that go along, on public data.

Run with `HANDOFF_DATA=FOLDER make bench ARGS=tests/benchmarks/test_several_requests.py`.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest
from pydantic import create_model
from support.routing_data import rows

from handoff_console.runtime import Agent, Edge, EventList, Flow, hand_over, run, say
from handoff_console.store.analysis.routing import routing_of

pytestmark = pytest.mark.benchmark

ROUTERS = ("offline:bm25", "offline:wordllama")


def chosen(flow: Flow, text: str) -> set[str]:
    """Return whom the first agent hands a message to."""
    sink = EventList()
    asyncio.run(run(flow, text, sink=sink))
    return {e.payload.target for e in sink.events if e.kind == "handoff_opened"} - {"triage"}


def desk(descriptions: dict[str, str], router: str) -> Flow:
    edges = [Edge.transfer(name, said) for name, said in descriptions.items()]
    answers = [Agent(name, model=lambda call: say("done")) for name in descriptions]
    triage = Agent("triage", edges=edges, model=router)
    return Flow("desk", [triage, *answers], pool_tokens=500_000, max_handoffs=20)


def coverage(found: list[tuple[set[str], set[str]]]) -> str:
    """Return what share of the wanted agents was reached, and how often exactly these."""
    reached = sum(len(went & wanted) / len(wanted) for went, wanted in found) / len(found)
    exact = sum(went == wanted for went, wanted in found) / len(found)
    more = sum(bool(went - wanted) for went, wanted in found) / len(found)
    return f"{100 * reached:.1f} % reached, {100 * exact:.1f} % exactly, {100 * more:.1f} % others"


@pytest.mark.parametrize("router", ROUTERS)
def test_messages_with_two_requests_of_multidogo(router):
    turns: dict[str, list[tuple[str, set[str]]]] = {}
    names: dict[str, set[str]] = {}
    for row in rows("multidogo", "conversations.jsonl"):
        for turn in row["customer_turns"]:
            tasks = set(turn["task_intents"])
            names.setdefault(row["department"], set()).update(tasks)
            if len(tasks) > 1:
                turns.setdefault(row["department"], []).append((turn["text"], tasks))
    for name in (router, f"{router}-split"):
        found = []
        for department, asked in turns.items():
            flow = desk({task: spoken(task) for task in sorted(names[department])}, name)
            found += [(chosen(flow, text), wanted) for text, wanted in asked]
        print(f"\nmultidogo, {name}: {len(found)} messages, {coverage(found)}")


_WORDS = (
    "get seat info order pizza burger drink check balance bill change claim status report lost "
    "card stolen book ticket flight cancel view boarding pass dispute charge update address "
    "transfer money "
    "view replace service start stop expense software phone account open close file new policy "
    "proof insurance information quote internet tv reset password checking saving sign up number "
    "deal salad breakfast dinner side ice cream upgrade seat"
).split()


def spoken(task: str) -> str:
    """Return the name of a task, which is words written together, as words."""
    found, rest = [], task
    while rest:
        word = next((w for w in sorted(_WORDS, key=len, reverse=True) if rest.startswith(w)), "")
        found.append(word or rest)
        rest = rest[len(word) :] if word else ""
    return " ".join(found)


@pytest.mark.parametrize("router", ROUTERS)
def test_messages_with_two_modules_of_nlupp(router):
    root = Path(os.environ.get("HANDOFF_DATA", ""), "nlupp", "ontology.json")
    examples = [row for row in rows("nlupp", "examples.jsonl") if len(row["intents"]) == 2]
    intents = json.loads(root.read_text("utf-8"))["intents"]
    descriptions = {name: intents[name]["description"] for name in sorted(intents)}
    for name in (router, f"{router}-split"):
        flow = desk(descriptions, name)
        found = [(chosen(flow, row["text"]), set(row["intents"])) for row in examples]
        print(f"\nnlupp, {name}: {len(found)} messages, {coverage(found)}")


def test_payload_completeness_on_the_service_switches_of_sgd():
    """What goes along when a service is switched: the message's own values, or all known ones."""
    switches = [row for row in rows("sgd", "handoffs.jsonl") if row["required_slots"]]
    here = {"user_at_handoff"}
    known = here | {"carried_from_other_service", "carried_same_service", "possibly_carried"}
    for name, sources in (("the message alone", here), ("the message and what is known", known)):
        required = present = complete = 0
        for row in switches:
            events, body = switched(row, sources)
            found = routing_of(events, body=body)
            required, present = required + found.required, present + found.present
            complete += found.required == found.present
        print(
            f"\nsgd, {name}: {len(switches)} handoffs, {100 * present / required:.1f} % of "
            f"{required} required values, {100 * complete / len(switches):.1f} % complete"
        )


def switched(row, sources):
    """Run the handoff of one switch with the values of these sources; the others are empty."""
    names = row["required_slots"]
    values = {
        name: row["parameters"][name]["value"]
        if row["parameters"].get(name, {}).get("source") in sources
        else ""
        for name in names
    }
    payload = create_model("Values", **dict.fromkeys(names, (str, ...)))
    target = row["to_service"]
    flow = Flow(
        "switch",
        [
            Agent(
                "triage",
                edges=[Edge.transfer(target, "A service.", payload=payload)],
                model=lambda call: hand_over(target, "it is theirs", **values),
            ),
            Agent(target, model=lambda call: say("done")),
        ],
    )
    sink = EventList()
    asyncio.run(run(flow, row["utterance"] or "go on", sink=sink))
    return sink.events, sink.body
