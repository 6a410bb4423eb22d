"""The view models on a session that the runtime itself recorded."""

import asyncio
from typing import Any

import pytest

from handoff_console.console.viewmodels.agent_graph import agent_graph
from handoff_console.console.viewmodels.burn_down import burn_down
from handoff_console.console.viewmodels.handoff_card import handoff_card
from handoff_console.console.viewmodels.seen import context_view
from handoff_console.console.viewmodels.stepper import StepGuide
from handoff_console.console.viewmodels.tree import tree_rows
from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.contract import Limits
from handoff_console.runtime.events import EventList
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.models import Scripted, answer, delegate, hand_over, say, together, use
from handoff_console.runtime.session import run
from handoff_console.runtime.tool import Tool, Transfer
from handoff_console.store.analysis.asked_with import asked_with, sender_of
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.findings import judgement
from handoff_console.store.analysis.tree import handoff_tree


def list_invoices(customer: str) -> str:
    """List the invoices of a customer."""
    return f"two invoices of {customer}"


@pytest.fixture(scope="module")
def sink() -> EventList:
    large = Limits(max_tokens=16_000)
    small = Limits(max_tokens=4_000)
    flow = Flow(
        "support",
        [
            Agent("triage", "Route.", edges=[Edge.transfer("supervisor", "money", limits=large)]),
            Agent(
                "supervisor",
                "Answer.",
                edges=[
                    Edge.call("billing", "invoices", limits=small),
                    Edge.call("search", "policies", limits=small),
                ],
            ),
            Agent("billing", "Look up.", tools=[Tool(list_invoices, inline=True)]),
            Agent("search", "Search."),
        ],
    )
    script = {
        "triage": [hand_over("supervisor", "money", customer="4812")],
        "supervisor": [
            together(
                delegate("billing", "List the invoices", customer="4812"),
                delegate("search", "Find the policy"),
                delegate("fraud", "Check for fraud"),
            ),
            say("Proration."),
        ],
        "billing": [use("list_invoices", customer="4812"), answer(total=2, notes="both seen")],
        "search": [answer("not_found", "no such policy")],
    }
    sink = EventList(b"key")
    asyncio.run(run(flow, "Why was I charged twice?", sink=sink, model=Scripted(script)))
    return sink


def test_the_outline_is_that_of_the_session(sink):
    judged = judgement(sink.events, sink.body)
    rows = tree_rows(judged.tree, ledgers=ledgers(sink.events), findings=judged.findings)

    assert [(row.depth, row.agent, row.outcome, row.note or row.end_note) for row in rows] == [
        (0, "triage", "transferred", ""),
        (0, "supervisor", "ok", "transfer 1"),
        (1, "billing", "ok", ""),
        (1, "search", "not_found", ""),
        (1, "fraud", "refused", "not allowed"),
    ]


def test_a_card_has_the_request_the_gate_and_the_result_in_full(sink):
    node = handoff_tree(sink.events, body=sink.body).by_id["h3"]
    card = handoff_card(node, sink.events, body=sink.body)

    assert (card.request.task, card.request.origin) == ("List the invoices", "")
    assert {line.name: line.value for line in card.request.lines}["allowed tools"] == (
        "list_invoices"
    )
    assert [check.passed for check in card.gate.checks] == [True] * 6
    assert card.result.data == '{\n  "total": 2\n}'
    assert card.result.notes == "both seen"


def test_an_agents_context_has_its_own_prompt_tools_and_new_messages(sink):
    seen = context_view(sink.events, "h3", sink.body)

    assert seen.prompt == "Look up."
    assert seen.tools == ("list_invoices: List the invoices of a customer.",)
    assert [message.who for message in seen.messages] == [
        "system",
        "user",
        "assistant",
        "tool list_invoices",
    ]
    assert seen.messages[2].calls == ('list_invoices {"customer": "4812"}',)
    assert "two invoices of 4812" in seen.messages[3].text
    assert seen.sentence == "Step 2 read 4 messages, 2 of them new since its last call."
    assert not seen.reads_prompt


def test_a_transfer_shows_its_packet(sink):
    packet = context_view(sink.events, "h2", sink.body).packet

    assert packet is not None
    assert packet.goal == "Why was I charged twice?"
    assert [(fact.name, fact.after) for fact in packet.facts] == [("customer", "4812")]


def test_the_graph_has_every_edge_of_the_flow_and_the_refused_one(sink):
    graph = agent_graph(handoff_tree(sink.events), sink.events, body=sink.body)
    names = {node.key: node.name for node in graph.nodes}

    assert {(names[e.source], names[e.target], e.look, e.via) for e in graph.edges} == {
        ("triage", "supervisor", "used", "transfer"),
        ("supervisor", "billing", "used", "call"),
        ("supervisor", "search", "used", "call"),
        ("supervisor", "fraud", "refused", "call"),
    }


def test_every_event_can_be_stepped_to_and_the_pool_adds_up(sink):
    judged, books = judgement(sink.events, sink.body), ledgers(sink.events)
    window = StepGuide(judged.tree, books, judged.findings).window(sink.events)

    assert [row.seq for row in window.rows] == list(range(1, len(sink.events) + 1))
    assert all(row.kind and row.what for row in window.rows)
    shown = burn_down(books)
    assert shown.adds_up
    assert shown.points[-1].open == 0


def test_a_refused_request_is_shown_as_it_was_asked_for_with_who_refused_it_and_what_was_allowed(
    sink,
):
    node = handoff_tree(sink.events, body=sink.body).by_id["h5"]
    asked = next(e for e in sink.events if e.handoff_id == "h5").payload
    sender = [event for event in sink.events if event.handoff_id == sender_of(node)]
    call = asked_with(asked, sender, sink.body)

    request = handoff_card(node, sink.events, body=sink.body, call=call).request

    assert (request.route, request.task) == ("supervisor calls fraud", "Check for fraud")
    assert request.refusal.startswith("The gate refused it: 'supervisor' may not")
    assert request.choices == ("billing", "search")
    assert request.origin == (
        "As supervisor asked for it in step 1; the runtime completes only what it lets through."
    )


def test_a_refused_transfer_of_a_tool_is_shown_with_what_the_tool_asked_for():
    def classify(text: str) -> Any:
        """Find out who is responsible."""
        return Transfer("tech", "the server is down", severity="critical")

    flow = Flow(
        "desk",
        [
            Agent(
                "desk",
                tools=[Tool(classify, inline=True)],
                model=lambda call: say("I cannot.") if call.results else use("classify", text="x"),
            )
        ],
    )
    sink = EventList(b"key")
    asyncio.run(run(flow, "Help", sink=sink))
    asked = next(e for e in sink.events if e.handoff_id == "h2").payload

    call = asked_with(asked, sink.events, sink.body)

    assert call == {
        "id": asked.call_id,
        "name": "transfer_to_tech",
        "arguments": {"reason": "the server is down", "payload": {"severity": "critical"}},
    }
    assert asked_with(asked, sink.events, None) is None


def test_what_was_asked_with_is_not_known_where_the_reply_is_gone(sink):
    asked = next(e for e in sink.events if e.handoff_id == "h5").payload

    assert asked_with(asked, [], sink.body) is None
    assert asked_with(asked, sink.events, None) is None
