"""Labelled sessions become cases; what an offline router is unsure of is labelled first."""

import pytest

from handoff_console.console.commands.guesses import offline_guess, routable_agents
from handoff_console.console.commands.labelled_cases import (
    labelled_case,
    labelled_cases,
    relabelled_cases,
)
from handoff_console.runtime import Agent, Edge, Flow
from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.routed_sessions import FirstMessage

FLOW = Flow(
    "desk",
    agents=[
        Agent(
            "triage",
            edges=[Edge.transfer("billing"), Edge.transfer("orders", "Parcels and deliveries")],
            threshold=0.2,
        ),
        Agent("billing", description="Charges", examples=["Why was I charged twice?"]),
        Agent("orders", description="not read: the edge says it"),
    ],
    model="offline:bm25",
)


def request(text: str, session_id: str = "s-1") -> FirstMessage:
    return FirstMessage(session_id, "desk", text)


@pytest.mark.parametrize(
    ("label", "expected", "expected_all", "expect"),
    [
        ("billing", ("billing",), (), Expect.ROUTE),
        ("billing or orders", ("billing", "orders"), (), Expect.ROUTE),
        ("billing + orders", (), ("billing", "orders"), Expect.ROUTE),
        ("direct", (), (), Expect.DIRECT),
        ("abstain", (), (), Expect.ABSTAIN),
    ],
)
def test_a_label_becomes_what_a_case_expects_and_is_read_as_the_same_label(
    label, expected, expected_all, expect
):
    case = labelled_case(request("Hello"), label)

    assert (case.expected, case.expected_all, case.expect) == (expected, expected_all, expect)
    assert case.label == label
    assert case.case_id == case.source == "s-1"


def test_only_labelled_sessions_become_cases_and_a_text_only_once():
    requests = [request("Hello", "s-1"), request("Bye", "s-2"), request("Hello", "s-3")]

    cases = labelled_cases(requests, {"s-1": "billing", "s-3": "orders"})

    assert [(case.case_id, case.text) for case in cases] == [("s-1", "Hello")]


def test_an_offline_router_reads_edges_descriptions_and_examples():
    guess = offline_guess(FLOW)

    assert routable_agents(FLOW) == {"billing": "Charges", "orders": "Parcels and deliveries"}
    assert guess("where is my parcel") == "orders"
    assert guess("charged again") == "billing"
    assert guess("what is the capital of France") == "abstain"


def test_cases_take_the_labels_that_people_agree_on_and_keep_their_own_where_nobody_spoke():
    cases = (
        RouteCase("c1", "My bill", ("orders",), note="hard"),
        RouteCase("c2", "My parcel", ("orders",)),
        RouteCase("c3", "My card", ("billing",)),
        RouteCase("c4", "Hello"),
        RouteCase("c5", "Weather?"),
    )
    said = {"c1": {"billing"}, "c3": {"fraud", "billing"}, "c5": {"abstain"}}

    assert relabelled_cases(cases, said) == (
        RouteCase("c1", "My bill", ("billing",), note="hard"),
        RouteCase("c2", "My parcel", ("orders",)),
        RouteCase("c5", "Weather?", expect=Expect.ABSTAIN),
    )
