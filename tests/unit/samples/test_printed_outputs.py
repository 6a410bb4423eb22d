"""What the source documents print, reproduced to the letter from recorded events."""

import pytest
from support.samples import Ran, ran, shipped, talked

from handoff_console.runtime import EventList
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.people import refuses
from handoff_console.store.analysis.printed import (
    answer_lines,
    packet_lines,
    result_lines,
    route_lines,
)

TWO_TURNS = ("My order A-1001 arrived broken", "I want a replacement")


def lines(form, session: Ran | EventList) -> list[str]:
    sink = session.sink if isinstance(session, Ran) else session
    return form(sink.events, sink.body)


# A packet of four lines


def test_the_packet_of_the_broken_order_has_the_document_s_four_lines():  # R61 R93
    session = talked("orders", *TWO_TURNS)

    assert session.sink.body(session.events("state_set")[0].payload.value) == {"order_id": "A-1001"}
    assert lines(packet_lines, session) == [
        "Handoff from triage to fulfilment",
        "Goal: My order A-1001 arrived broken",
        "Summary: 3 messages so far; last user message: I want a replacement",
        "Facts: order_id=A-1001",
    ]


def test_fulfilment_reads_exactly_these_lines_and_asks_nothing_again():  # R65 R93
    session = talked("orders", *TWO_TURNS)

    read = session.read_by("fulfilment")[0]
    assert [message["role"] for message in read] == ["system", "user"]
    assert read[1]["content"].splitlines()[:4] == lines(packet_lines, session)
    assert session.answer.startswith("I propose to send another table lamp for order A-1001.")
    assert "?" not in session.answer


def test_the_card_that_was_found_with_the_order_stays_behind():  # R63 R93
    session = talked("orders", *TWO_TURNS)

    opened = session.events("handoff_opened")[-1].payload
    assert opened.withheld == ("card_number",)
    assert "4242" not in str(session.read_by("fulfilment"))
    assert b"4242" not in b"".join(session.sink.bodies.values())
    assert "4242" not in str(session.sink.events)


def test_an_order_that_does_not_exist_is_no_fact():
    session = ran("orders", "My order A-9999 arrived broken")

    assert session.answer == (
        "I cannot find that order: there is no order A-9999. Please check the number."
    )


# An orchestrator, two workers, an e-mail


def test_the_briefing_prints_the_approval_first_and_the_results_in_the_plan_s_order():  # R94
    session = ran("briefing", "Please brief the team on MCP security.", ask=refuses("nobody"))

    assert lines(result_lines, session) == [
        "APPROVAL NEEDED: send_email -> report to team",
        "<result worker='researcher'>notes on MCP security</result>",
        "<result worker='fact_checker'>checked claims about MCP security</result>",
        "<result worker='send_email'>skipped (not approved)</result>",
    ]
    assert session.answer.endswith("No e-mail was sent: nobody approved it.")
    assert [e.payload.tool for e in session.events("tool_called")] == ["plan.check"]


def test_the_recorded_briefing_prints_the_same():  # R94
    live = ran("briefing", "Please brief the team on MCP security.", ask=refuses("nobody"))

    assert lines(result_lines, shipped("briefing-not-sent")) == lines(result_lines, live)


def test_the_two_workers_of_the_briefing_work_at_the_same_time():  # R41 R94
    events = shipped("briefing-not-sent").events

    opened = [e.elapsed_seconds for e in events if e.kind == "handoff_opened" and e.parent_id]
    closed = [e.elapsed_seconds for e in events if e.kind == "handoff_closed" and e.parent_id]
    assert len(opened) == 2
    assert max(opened) < min(closed)


def test_a_plan_with_a_worker_nobody_knows_is_refused_before_anything_runs():  # R43
    session = ran(
        "briefing", "Please brief us on prompt injection and have the astrologer look at it."
    )

    assert session.answer == (
        "Nothing was begun: unknown workers: astrologer; there are: fact_checker, researcher, "
        "send_email."
    )
    assert session.opened() == []
    assert session.events("approval_requested") == []


# Three companies, and the smallest triage


def test_the_comparison_of_three_companies_prints_the_document_s_lines():  # R42 R97
    session = ran("quarter", sample("quarter").messages[0])

    assert lines(answer_lines, session) == [
        "Compare Q3 for our three competitors",
        "- Acme: revenue up 12%",
        "- Globex: revenue down 3%",
        "- Initech: revenue flat",
    ]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            "I need a refund",
            "'I need a refund': triage -> handoff to billing (handles invoices and refunds)",
        ),
        ("My login fails", "'My login fails': triage -> handoff to tech (fixes login problems)"),
    ],
)
def test_the_smallest_triage_prints_the_document_s_lines(message, line):  # R97
    assert lines(route_lines, ran("switchboard", message)) == [line]


def test_the_whole_conversation_goes_along_where_an_edge_says_so():  # R59
    session = talked("switchboard", "Hello there", "My login fails")

    system, *history = session.read_by("tech")[0]
    assert system["content"] == "You fix login problems."
    assert [message["role"] for message in history] == ["user", "assistant", "user"]
    assert [history[0]["content"], history[2]["content"]] == ["Hello there", "My login fails"]
    assert {e.payload.context_policy for e in session.events("handoff_opened")[2:]} == {
        "full_history"
    }
