import asyncio

import pytest

from handoff_console.runtime import Agent, Edge, EventList, Flow, run
from handoff_console.runtime.models.splitting import parts_of


def routed(message: str, model: str = "offline:bm25-split") -> list[str]:
    edges = [
        Edge.transfer("orders", "Parcels, deliveries, tracking."),
        Edge.transfer("billing", "Invoices, charges, payments."),
    ]
    answers = [Agent(name, model=lambda call: "done") for name in ("orders", "billing")]
    flow = Flow("desk", [Agent("triage", edges=edges, model=model), *answers])
    sink = EventList()
    asyncio.run(run(flow, message, sink=sink))
    return [e.payload.target for e in sink.events if e.kind == "handoff_opened"][1:]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Where is my parcel, and why did you charge me?", 2),
        ("Where is my parcel? Please send the invoice again.", 2),
        ("Where is my parcel and thanks", 1),
        ("Where is my parcel", 1),
        ("", 0),
    ],
)
def test_a_message_is_taken_apart_where_a_part_ends(text, parts):
    assert len(parts_of(text)) == parts


def test_each_part_goes_to_its_agent_in_order():
    assert routed("Which payments are open? Also my tracking is stuck") == ["billing", "orders"]


def test_parts_for_one_agent_stay_together():
    assert routed("Where is my parcel, and is the tracking right?") == ["orders"]


def test_a_message_of_one_part_is_routed_as_ever():
    assert (
        routed("Where is my parcel") == routed("Where is my parcel", "offline:bm25") == ["orders"]
    )


def test_parts_that_nobody_is_for_are_left_out():
    assert routed("Hello over there, where is my parcel today?") == ["orders"]
    assert routed("Hello over there, how do you do today?") == []
