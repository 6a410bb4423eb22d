"""Networks of agents: forks, clusters, a bank, a newsroom, a chain of four hops."""

from dataclasses import replace

import pytest
from support.samples import ran, shipped, talked

from handoff_console.runtime import ModelCall, ModelReply, Rules, say
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.newsroom import CITIES
from handoff_console.sample_runs.repairs import FACTS
from handoff_console.store.analysis.tree import handoff_tree

# Two questions


def test_two_questions_become_two_branches_and_one_answer_that_cites_both():  # R45 R98
    session = ran("intents", "Where is my order, and how do I change my IBAN?")

    assert session.opened() == [
        ("triage", "orders"), ("triage", "account"), ("runtime", "aggregator"),
    ]  # fmt: skip
    assert session.events("fork_joined")[0].payload.statuses == ("ok", "ok")
    assert "[orders] Your order ORD-9812 is handed to the courier" in session.answer
    assert "[account] Changing your bank details: Open Account" in session.answer
    assert session.status == "ok"
    assert session.findings == ()


def test_the_branches_run_at_the_same_time_and_the_aggregator_after_both():  # R98
    events = shipped("intents-two-questions").events

    agents = {e.handoff_id: e.payload.target for e in events if e.kind == "handoff_opened"}
    opened = {agents[e.handoff_id]: e.elapsed_seconds for e in events if e.kind == "handoff_opened"}
    closed = {agents[e.handoff_id]: e.elapsed_seconds for e in events if e.kind == "handoff_closed"}
    assert max(opened["orders"], opened["account"]) < min(closed["orders"], closed["account"])
    assert opened["aggregator"] >= max(closed["orders"], closed["account"])


def test_the_aggregator_answers_for_the_fork():
    sink = shipped("intents-two-questions")

    tree = handoff_tree(sink.events)
    assert tree.last_of_chain(tree.nodes[0].handoff_id).agent == "aggregator"


def test_one_question_is_an_ordinary_transfer():
    session = ran("intents", "Where is my order ORD-9877?")

    assert session.opened() == [("triage", "orders")]
    assert session.answer == "Your order ORD-9877 is being packed."


def test_a_branch_that_finds_nothing_does_not_hide_the_other():
    session = ran("intents", "Where is my order ORD-1, and how do I change my IBAN?")

    assert "[orders] could not say: there is no order ORD-1" in session.answer
    assert "Changing your bank details" in session.answer


# A cluster


def test_a_cluster_transfers_inside_and_control_comes_back_once():  # R40
    sink = shipped("departments-lamp-back")

    tree = handoff_tree(sink.events, body=sink.body)
    root, *cluster = tree.nodes
    assert [node.agent for node in cluster] == ["returns", "billing", "account"]
    assert {node.parent_id for node in cluster} == {root.handoff_id}
    assert [node.outcome.value for node in cluster] == ["transferred", "transferred", "ok"]
    replies = [e for e in sink.events if e.kind == "model_replied"]
    inside = [e.seq for e in replies if e.handoff_id != root.handoff_id]
    assert [e.seq < min(inside) or e.seq > max(inside) for e in replies if e.seq not in inside] == [
        True,
        True,
    ]


def test_reception_reads_the_answer_of_the_last_of_the_chain_alone():  # R15 R40
    session = ran("departments", "I sent the lamp of ORD-9640 back. When do I get my money?")

    results = [m for m in session.read_by("reception")[-1] if m["role"] == "tool"]
    assert len(results) == 1
    assert "49.00 EUR are due" in results[0]["content"]
    assert "worn" not in str(session.read_by("reception"))
    assert "4900" not in str(session.read_by("reception"))


def test_a_parcel_that_is_not_here_ends_in_the_cluster_s_first_department():
    session = ran("departments", "I sent the camera of ORD-9877 back.")

    assert session.opened() == [("reception", "returns")]
    assert session.answer == "What you sent back for ORD-9877 has not arrived yet."


# A bank


def test_the_mortgage_advisor_keeps_the_call():  # R39 R99
    session = talked(
        "bank", "I would like a mortgage of 240,000 EUR for 20 years.", "And for 15 years?"
    )

    assert [e.payload.target for e in session.events("handoff_opened")] == [
        "receptionist",
        "mortgages",
        "mortgages",
    ]
    assert session.answer == (
        "240,000 EUR at 3.6 % fixed for 15 years: about 8,640 EUR of interest in the first year."
    )


def test_the_advisor_checks_what_reception_hands_over():  # R72
    session = ran("bank", "I would like a mortgage of 9,000,000 EUR for 10 years.")

    assert session.events("handoff_rejected")[0].payload.rule == "ingress"
    assert session.opened() == []
    assert "loans above 2,000,000 EUR are decided by the board" in session.answer


def test_an_advisor_without_a_check_would_be_handed_nothing_and_the_flow_says_so():  # R72
    flow = sample("bank").flow
    unchecked = flow.changed(
        agents=[replace(a, ingress=()) if a.name == "mortgages" else a for a in flow.agents]
    )

    session = ran(unchecked, "I would like a mortgage of 240,000 EUR for 20 years.")

    assert session.events("handoff_rejected")[0].payload.rule == "trust"
    assert unchecked.check() == [
        "The edge 'receptionist' → 'mortgages' is always refused: 'receptionist' (trust 1) is "
        "trusted less than 'mortgages' (trust 2), which checks nothing that comes in. Give it "
        "`ingress` checks."
    ]


# A newsroom


def test_five_reporters_report_at_once_and_the_editor_says_which_city_is_missing():  # R41 R99
    sink = shipped("newsroom-five-cities")

    events = sink.events
    reports = [e for e in events if e.kind == "handoff_closed" and e.parent_id]
    opened = [e.elapsed_seconds for e in events if e.kind == "handoff_opened" and e.parent_id]
    assert len(reports) == len(CITIES) == 5
    assert max(opened) < min(e.elapsed_seconds for e in reports)
    answer = sink.body(events[-1].payload.answer)["data"]["text"]
    assert "Corvey: turnout 58 %" in answer
    assert answer.endswith("Nothing yet from Eschwald (nothing on the wire).")


# Four hops


def test_what_must_not_change_arrives_to_the_letter_after_four_hops():  # R65 R70
    session = ran("repairs", "The pump in hall 3 stopped last night.")

    packets = [session.sink.body(e.payload.packet) for e in session.events("handoff_opened")[1:]]
    assert len(packets) == 4
    assert [{name: packet["facts"][name] for name in FACTS} for packet in packets] == [FACTS] * 4
    assert all(value in session.answer for value in FACTS.values())
    assert session.events("input_requested") == []


def test_the_summaries_on_the_way_do_lose_it():  # R70
    session = ran("repairs", "The pump in hall 3 stopped last night.")

    summaries = [
        session.sink.body(e.payload.packet)["summary"] for e in session.events("handoff_opened")[1:]
    ]
    assert not any(value in " ".join(summaries) for value in FACTS.values())
    assert summaries[-2:] == ["A valve is needed.", "Somebody has to go there."]


def test_no_agent_on_the_way_can_change_a_fact():  # R64 R70
    def liar(call: ModelCall) -> ModelReply:
        reply = sample("repairs").flow.agents_by_name["parts"].model.model._rule(call)
        if reply.tool_calls[0]["name"].startswith("transfer"):
            arguments = reply.tool_calls[0]["arguments"]
            arguments["payload"] = {**arguments["payload"], "serial_number": "PX-0000"}
        return reply

    flow = sample("repairs").flow
    open_edge = [replace(edge, payload=None) for edge in flow.agents_by_name["parts"].edges]
    lying = flow.changed(
        agents=[
            replace(a, model=Rules(liar), edges=open_edge) if a.name == "parts" else a
            for a in flow.agents
        ]
    )

    session = ran(lying, "The pump in hall 3 stopped last night.")

    packet = session.sink.body(session.events("handoff_opened")[3].payload.packet)
    assert packet["facts"]["serial_number"] == FACTS["serial_number"]
    assert "PX-0000" not in session.answer


@pytest.mark.parametrize("name", ["intents", "departments", "bank", "newsroom", "repairs"])
def test_a_worker_that_answers_nonsense_fails_no_session(name):
    flow = sample(name).flow
    last = flow.agents[-1].name
    broken = flow.changed(
        agents=[
            replace(a, model=Rules(lambda call: say("{}"))) if a.name == last else a
            for a in flow.agents
        ]
    )

    session = ran(broken, sample(name).messages[0])

    assert session.sink.events[-1].kind == "session_closed"
