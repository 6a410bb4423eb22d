"""Questions for what the one who asks had been told, and those that are new."""

import pytest
from support.samples import Ran, ran

from handoff_console.runtime import Flow, Redaction, Tool, answer, delegate, hand_over, say, use
from handoff_console.runtime.agents import Agent, Edge
from handoff_console.store.analysis.findings import Severity, findings
from handoff_console.store.analysis.findings.questions import _asks_for


def find_order(order_id: str) -> dict[str, str]:
    """Look an order up."""
    return {"order_id": order_id}


def desk(reply, **changes) -> Ran:
    """Triage looks the order up and hands over; what fulfilment says is given."""

    def triage(call):
        if not call.results:
            return use("find_order", order_id="A-1001")
        return hand_over("fulfilment", "it is broken")

    flow = Flow(
        "desk",
        [
            Agent(
                "triage",
                tools=[Tool(find_order, inline=True, remembers=("order_id",))],
                edges=[Edge.transfer("fulfilment", "Orders.")],
                model=triage,
            ),
            Agent("fulfilment", model=lambda call: reply),
        ],
        **changes,
    )
    return ran(flow, "My order A-1001 arrived broken")


def asked_again(session: Ran):
    return [finding for finding in session.findings if finding.code == "asked_again"]


@pytest.mark.parametrize(
    "reply",
    [
        say("I am sorry. Which order is it? Its number begins with A-."),
        say("What is your order number?"),
        answer("needs_input", "Please send me your order number."),
    ],
    ids=["in its answer", "as a question", "as needs_input"],
)
def test_a_question_for_a_fact_of_the_packet_is_found_with_its_evidence(reply):  # R65
    session = desk(reply)

    (found,) = asked_again(session)
    assert found.severity is Severity.WARNING
    assert found.agent == "fulfilment"
    assert found.sentence == "fulfilment asked for order_id, which it had been told."
    assert found.evidence[0].reason == "it was told order_id"
    assert len(found.evidence) == 2


@pytest.mark.parametrize(
    "reply",
    [
        say("I propose a replacement for order A-1001."),
        say("Which colour of the order would you like?"),
        say("Is the order complete otherwise?"),
        answer("needs_input", "Where should we send it?"),
    ],
    ids=["no question", "another question", "a question about it", "what nobody has said"],
)
def test_what_is_new_may_be_asked(reply):  # R65
    assert asked_again(desk(reply)) == []


def test_what_stayed_behind_may_be_asked_for():
    hidden = Redaction(keys=frozenset({"order_id"}))

    assert asked_again(desk(say("Which order is it?"), redaction=hidden)) == []


def test_a_worker_that_asks_for_its_own_input_is_found_too():  # R65
    def supervisor(call):
        result = call.result_of("delegate_to_worker")
        if result is None:
            return delegate("worker", "Look it up", customer_id="4812")
        return say("I could not find out.")

    flow = Flow(
        "support",
        [
            Agent("supervisor", edges=[Edge.call("worker", "Looks up.")], model=supervisor),
            Agent(
                "worker", model=lambda call: answer("needs_input", "Which customer is this about?")
            ),
        ],
    )

    (found,) = asked_again(ran(flow, "Why?"))

    assert found.sentence == "worker asked for customer_id, which it had been told."


def test_the_user_may_be_asked_by_the_agent_that_hears_the_request_first():
    flow = Flow("f", [Agent("triage", model=lambda call: say("Which order is it?"))])

    assert asked_again(ran(flow, "It is broken")) == []


def test_without_bodies_nobody_is_accused():
    session = desk(say("Which order is it?"))

    assert "asked_again" not in {found.code for found in findings(session.sink.events)}


@pytest.mark.parametrize(
    ("key", "text", "asks"),
    [
        ("order_id", "Which order is it?", True),
        ("orderId", "What order do you mean?", True),
        ("order_id", "What’s the order number?", True),
        ("serial_number", "Please give us the serial number of the pump.", True),
        ("error_text", "What is the error?", True),
        ("order_id", "What did you order?", False),
        ("order_id", "Which orderly is on duty?", False),
        ("order_id", "I know which order is meant.", False),
        ("id", "What is your id?", True),
        ("name", "In whose name is it?", False),
        ("a.b(c", "What is the a.b(c?", True),
    ],
)
def test_which_questions_ask_for_what_a_key_stands_for(key, text, asks):
    assert _asks_for(key, text) is asks
