"""Where the reader is: what clicks, steps and links leave in the address."""

import pytest
from streamlit.testing.v1 import AppTest
from support import recorded
from support.seen import component

from handoff_console.console import queries, state
from handoff_console.console.components import (
    graph_click,
    handoff_card,
    session_header,
    session_list,
    stepper,
    tree,
)


def probe(script):
    """Run a script of a few lines as a page, and return what it left behind."""
    return AppTest.from_string(script, default_timeout=30)


SAYS = """
import streamlit as st
from handoff_console.console import state
{acts}
st.session_state["said"] = {result}
"""


@pytest.mark.parametrize(
    ("acts", "address"),
    [
        ("state.select_handoff('h2')", {"handoff": "h2"}),
        ("state.step_to(7, 'h3')", {"seq": "7", "handoff": "h3"}),
        ("state.step_to(7, 'h3'); state.step_to(None, None)", {"handoff": "h3"}),
        ("state.select_tab('Gate')", {"tab": "Gate"}),
        ("state.select_tab('Gate'); state.select_tab('Request')", {}),
        ("state.select_view('Agents')", {"view": "Agents"}),
        ("state.turn_page(3)", {"page": "3"}),
        ("state.turn_page(1)", {}),
        ("state.follow_run('s-1')", {"run": "s-1"}),
    ],
)
def test_a_choice_stands_in_the_address(acts, address):
    page = probe(SAYS.format(acts=acts, result="None")).run()

    assert not page.exception
    assert dict(page.query_params) == address


def test_the_page_follows_when_the_server_moves_the_reader():
    page = probe(
        SAYS.format(
            acts="state.step_to(3, 'h1'); state.jump_to(9, None)", result="state.cursor_nonce()"
        )
    ).run()

    assert page.session_state["said"] == 1
    assert page.query_params["seq"] == "9"


def test_a_chosen_session_is_left_for_once():
    acts = "state.leave_for('s-1', page='live'); first = state.leaving_for('live')"

    page = probe(SAYS.format(acts=acts, result="(first, state.leaving_for('live'))")).run()

    assert page.session_state["said"] == (("s-1", None), None)


@pytest.mark.parametrize(
    ("module", "name", "value", "reads", "expected"),
    [
        (tree, "selected_in_tree", {"tree": {"selected": "h2"}}, "()", "h2"),
        (tree, "selected_in_tree", {"tree": {"selected": 5}}, "()", None),
        (tree, "selected_in_tree", {}, "()", None),
        (graph_click, "picked_node", {"graph_click": {"picked": "a1"}}, "()", "a1"),
        (session_list, "opened_session", {"session_list": {"opened": "s-1"}}, "()", "s-1"),
        (session_header, "picked_evidence", {"header": {"action": "12"}}, "()", 12),
        (session_header, "picked_evidence", {"header": {"action": "x"}}, "()", None),
        (handoff_card, "picked_seq", {"card_body": {"action": "30"}}, "()", 30),
        (
            stepper,
            "stepped_to",
            {"stepper": {"cursor": {"scope": "s", "seq": 4, "handoff": "h1"}}},
            "('s')",
            (4, "h1"),
        ),
        (
            stepper,
            "stepped_to",
            {"stepper": {"cursor": {"scope": "other", "seq": 4}}},
            "('s')",
            None,
        ),
        (stepper, "stepped_to", {}, "('s')", None),
        (
            stepper,
            "wanted_seq",
            {"stepper": {"window": {"scope": "s", "seq": 9, "nonce": 2}}},
            "('s', 2)",
            9,
        ),
        (
            stepper,
            "wanted_seq",
            {"stepper": {"window": {"scope": "other", "seq": 9, "nonce": 2}}},
            "('s', 2)",
            None,
        ),
        (
            stepper,
            "wanted_seq",
            {"stepper": {"window": {"scope": "s", "seq": 9, "nonce": 1}}},
            "('s', 2)",
            None,
        ),
    ],
)
def test_what_a_component_sends_is_read_with_care(module, name, value, reads, expected):
    page = probe(
        f"import streamlit as st\nimport {module.__name__} as it\n"
        f"st.session_state['said'] = it.{name}{reads}"
    )
    for key, sent in value.items():
        page.session_state[key] = sent

    page.run()

    assert not page.exception
    assert page.session_state["said"] == expected


def test_a_window_of_events_is_around_the_event_that_was_asked_for(store):
    recorded.record(store, [("s-long", recorded.wide(150))])
    record = queries.record(queries.version("s-long"))

    window = queries.steps_around(record, 700)

    assert window.rows[0].seq < 700 < window.rows[-1].seq
    assert len(window.rows) == 600
    assert window.total == record.version.seq


def test_of_a_very_large_session_what_is_said_in_passing_is_not_read(store, monkeypatch):
    monkeypatch.setattr(queries, "READ_WHOLE_EVENTS", 100)
    recorded.record(store, [("s-long", recorded.wide(30, 1))])

    record = queries.record(queries.version("s-long"))

    assert len(record.tree) == 31
    assert record.burn_down.adds_up
    assert record.tree[1].tokens == 37


def test_the_card_at_an_event_is_the_card_of_that_moment(sessions):
    version = queries.version(recorded.FAILED)

    assert queries.card(version, "h3", 5) is None
    assert queries.card(version, "h3", 20).outcome == "running"
    assert queries.card(version, "h3", None).outcome == "limit_reached"
    assert queries.card(version, "nobody", None) is None


def test_the_agents_at_an_event_are_those_that_had_acted(sessions):
    version = queries.version(recorded.FAILED)

    acted = {node.name: node.handoffs for node in queries.agents(version, 8).nodes}

    assert acted == {"triage": 1, "supervisor": 0, "billing": 0, "refunds": 0, "ledger": 0}


def test_a_step_in_the_address_reaches_tree_cursor_and_stepper(screen, sessions):
    page = screen("session", session=recorded.FAILED, seq="20")

    assert [component(page, key)["seq"] for key in ("tree", "stepper", "cursor-pool")] == [20] * 3


def test_the_address_of_a_session_is_safe_to_put_into_a_link():
    assert state.link_to('a&b="c" d') == "session?session=a%26b%3D%22c%22+d"
