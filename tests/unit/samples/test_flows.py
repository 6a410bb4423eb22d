"""What every sample flow has in common, and what the rows of the documents ask of each."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.samples import Ran, ran, with_edge

from handoff_console import sample_runs
from handoff_console.runtime import Effect, Limits
from handoff_console.sample_runs import NAMES, flows, invoices, sample

ALL = [(name, message) for name in NAMES for message in sample(name).messages]


def test_every_module_with_a_sample_is_listed():
    folder = Path(sample_runs.__file__).parent
    with_a_sample = {
        path.stem for path in folder.glob("*.py") if "\nsample = " in path.read_text("utf-8")
    }

    assert with_a_sample == set(NAMES)
    assert list(flows()) == list(NAMES)
    assert all(name == flow.flow.name for name, flow in flows().items())


def test_a_name_that_is_no_sample_is_refused():
    with pytest.raises(KeyError, match="nothing"):
        sample("nothing")


def test_the_package_is_imported_without_its_flows():
    code = (
        "import sys, handoff_console.sample_runs\n"
        "print([name for name in sys.modules if name.startswith(('handoff_console.', 'pydantic'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )

    assert done.stdout.strip() == "['handoff_console.sample_runs']"


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_says_what_it_is_and_what_to_try(name):
    shown = sample(name)

    assert shown.title
    assert len(shown.title) <= 50
    assert shown.description.endswith(".")
    assert shown.messages
    assert all(agent.prompt.endswith(".") for agent in shown.flow.agents)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "monolith"])
def test_a_sample_does_nothing_that_is_probably_not_meant(name):
    assert sample(name).flow.check() == []


@pytest.mark.parametrize("name", NAMES)
def test_what_reaches_outside_needs_a_person_and_all_else_only_reads(name):  # R29 R32
    """What would be a write is a proposal in the answer; the coder's runner has a sandbox."""
    tools = [tool for agent in sample(name).flow.agents for tool in agent.tools]

    assert all(tool.needs_approval for tool in tools if tool.effect is Effect.EXTERNAL)
    writes = {tool.name for tool in tools if tool.effect is Effect.WRITE}
    assert writes <= ({"sandbox.run_tests"} if name == "coding" else set())


@pytest.mark.parametrize(("name", "message"), ALL)
def test_every_message_to_try_runs_offline_to_its_end(name, message):  # R85
    session = ran(name, message)

    started, closed = session.sink.events[0].payload, session.sink.events[-1].payload
    assert started.offline
    assert closed.kind == ("session_suspended" if session.result.waiting_for else "session_closed")
    assert session.answer


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("message", ["Purple elephants tango.", "…", "x" * 5_000, "\x00\x1b[31m"])
def test_a_message_that_no_rule_matches_gets_an_honest_answer(name, message):
    session = ran(name, message)

    assert session.answer.startswith("I do not know")
    assert session.status in ("ok", "needs_input")
    assert session.opened() == []
    assert session.findings == ()


# The single worker


def test_the_invoice_request_is_the_document_s_to_the_letter():  # R88
    document = json.loads("""
    {
      "task": "Find the three most recent invoices for the customer",
      "inputs": { "customer_id": "4812" },
      "allowed_tools": ["billing.list_invoices"],
      "limits": { "max_steps": 6, "max_tokens": 8000, "deadline_seconds": 30 },
      "output_schema": "InvoiceLookupResult"
    }
    """)

    session = ran("invoices", invoices.REQUEST)

    assert session.request(0) == document
    assert [row["invoice_id"] for row in session.data()["invoices"]] == [
        "INV-7455",
        "INV-7302",
        "INV-7301",
    ]


def test_one_agent_without_edges_works_through_the_same_runner():  # R87
    flow = sample("invoices").flow

    session = ran("invoices", "Find the two most recent invoices for customer 6033")

    assert [agent.edges for agent in flow.agents] == [()]
    assert session.answer == "The newest: INV-7461, INV-7290."


def test_a_customer_without_invoices_is_not_found():
    assert ran("invoices", "Find the invoices for customer 9999").status == "not_found"


def test_an_invoice_look_up_asks_for_the_customer_it_was_not_given():
    session = ran("invoices", "Find the most recent invoices")

    assert session.status == "needs_input"
    assert session.answer == "Whose invoices? Please give a customer number."


# Charged twice


def test_two_workers_look_up_the_same_customer_and_days_and_a_refund_is_proposed():  # R89
    session = ran("support", "Why was I charged twice last month?")

    asked = {"customer_id": "4812", "since": "2026-10-01", "until": "2026-10-31"}
    assert session.opened() == [("supervisor", "billing"), ("supervisor", "account")]
    assert [session.request(number)["inputs"] for number in (1, 2)] == [asked, asked]
    assert session.events("fork_joined")[0].payload.statuses == ("ok", "ok")
    assert session.status == "ok"
    assert "You moved from Basic to Team on that day" in session.answer
    assert session.answer.endswith(
        "I propose to refund 19.00 EUR of PAY-7302. Nothing has been refunded yet: a person has "
        "to approve it first."
    )
    assert session.data()["refund_proposal"]["amount_cents"] == 1_900
    assert session.findings == ()


def test_workers_of_the_supervisor_may_only_read_and_talk_to_nobody():  # R89
    workers = sample("support").flow.agents[1:]

    assert {worker.name: [tool.name for tool in worker.tools] for worker in workers} == {
        "billing": ["billing.list_invoices", "billing.list_payments"],
        "account": ["accounts.get_plan_history"],
    }
    assert [worker.edges for worker in workers] == [(), ()]


def test_billing_that_hits_its_step_cap_makes_an_answer_that_says_what_is_missing():  # R89
    session = ran("support", "I am customer 5120. Why was I charged twice last month?")

    billing, supervisor = session.events("handoff_closed")[-2:]
    assert (billing.payload.status, billing.payload.reason) == ("limit_reached", "steps")
    assert supervisor.payload.status == "ok"
    assert session.answer.startswith("This is incomplete: the billing check was stopped")
    assert "after 24 payments, up to 2026-10-24" in session.answer
    assert "cannot rule out a double charge" in session.answer


def test_with_more_steps_billing_finds_the_double_charge_it_could_not_reach():
    enough = Limits(max_steps=12, max_tokens=30_000, deadline_seconds=30)

    session = ran(
        with_edge("support", "supervisor", "billing", limits=enough),
        "I am customer 5120. Why was I charged twice last month?",
    )

    assert "two payments on 2026-10-29" in session.answer
    assert session.data()["refund_proposal"]["reason"] == "charged twice on 2026-10-29"


def test_an_ordinary_month_is_no_double_charge():
    session = ran("support", "Was customer 6033 charged twice?")

    assert session.answer == (
        "I looked at all payments of last month: there is no day with two of them."
    )


def test_a_worker_without_its_tool_makes_an_answer_that_says_so():
    session = ran(
        with_edge("support", "supervisor", "billing", allowed_tools=("billing.list_invoices",)),
        "Why was I charged twice last month?",
    )

    assert session.status == "error"
    assert session.answer.startswith("I could not read the payments: tool not allowed")


# Returns


def test_a_damaged_order_takes_two_transfers_with_the_document_s_values():  # R90
    session = ran("returns", "My headphones arrived damaged, the order is ORD-9812.")

    assert session.opened() == [("triage", "policy"), ("policy", "fulfilment")]
    assert session.request(1)["inputs"] == {"order_id": "ORD-9812", "reason": "damaged_on_arrival"}
    second = session.request(2)["inputs"]
    assert second["action"] == "instant_replacement"
    assert second["return_type"] == "prepaid_label"
    assert "Nothing has been sent or booked yet" in session.answer
    assert session.data()["proposal"]["needs"] == "approval by a person"


def test_triage_of_returns_sees_no_label_and_no_fraud_register():  # R90
    session = ran("returns", "My headphones arrived damaged, the order is ORD-9812.")

    offered = session.sink.body(session.events("agent_activated")[0].payload.tools)
    assert [tool["name"] for tool in offered] == ["orders.find", "transfer_to_policy"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("I want to return a lamp, order ORD-9640.", "was bought 66 days ago"),
        ("The camera of order ORD-9877 arrived broken.", "A colleague has to look at"),
        ("Order ORD-1111 arrived broken.", "There is no order ORD-1111"),
        ("My order arrived damaged.", "Which order is it?"),
    ],
)
def test_a_return_that_cannot_go_on_says_why(message, said):
    assert said in ran("returns", message).answer


def test_a_refusal_that_an_answer_tells_has_one_full_stop():
    flow = sample("support").flow.changed(pool_tokens=2_500)

    told = ran(flow, "Why was I charged twice last month?").answer

    assert told.startswith("I could not read the payments: limit_reached: 12000 tokens")
    assert told.endswith("Answer with what you have.")
    assert ".." not in told


# Server down


def test_a_server_that_is_down_is_handed_over_with_its_severity():  # R91
    session = ran("outage", "Production server down since 14:05, nobody can log in!")

    assert session.opened() == [("triage", "tech_support")]
    inputs = session.request(1)["inputs"]
    assert inputs["issue_type"] == "infrastructure_outage"
    assert inputs["severity"] == "critical"


def test_the_target_runs_with_its_own_prompt():  # R91
    session = ran("outage", "server down")

    triage, tech_support = sample("outage").flow.agents
    first_call = session.events("model_called")[1]
    node = session.sink.body(first_call.payload.context)
    read = [session.sink.body(message)["content"] for message in node["messages"]]
    assert read[0].startswith(tech_support.prompt)
    assert not any(triage.prompt in text for text in read)


# Keywords


def test_the_front_desk_prints_the_document_s_lines():  # R92
    session = ran("frontdesk", "I need a refund for my last invoice")

    assert session.lines == [
        "[handoff] triage -> billing (billing question)",
        "[billing] Billing here: I can help with your refund.",
    ]


@pytest.mark.parametrize("message", ["What is the price?", "Send me a quote, please."])
def test_price_and_quote_are_routed_to_sales(message):  # R92
    session = ran("frontdesk", message)

    assert session.lines[0] == "[handoff] triage -> sales (sales question)"
    assert session.lines[1].startswith("[sales] Sales here: I can")


# The one with too many tools


def test_the_single_agent_with_twenty_tools_works_and_is_warned_about():  # R76
    flow = sample("monolith").flow

    session = ran("monolith", "Why was I charged twice last month?")

    assert len(flow.agents[0].tools) == 20
    assert flow.check() == [
        "Agent 'assistant' has 20 tools; with more than 10 it is probably two agents."
    ]
    assert session.data() == ran("support", "Why was I charged twice last month?").data()


# Those with a fault, and what mends it


def only_error(session: Ran) -> str:
    return next(finding.code for finding in session.findings if finding.severity == "error")


def test_more_room_in_the_pool_makes_the_statement():
    asked = "Please prepare my statement for May to October."
    flow = sample("statement").flow

    assert only_error(ran(flow, asked)) == "starved_pool"
    mended = ran(flow.changed(pool_tokens=40_000), asked)

    assert mended.answer.endswith("October 68.00 EUR. In all 199.25 EUR.")
    assert mended.findings == ()


def test_more_steps_make_the_count_of_points_whole():
    asked = "How many points do I have? I am customer 5120."

    half = ran("loyalty", asked)
    whole = ran(with_edge("loyalty", "desk", "counter", limits=Limits(max_steps=8)), asked)

    assert only_error(half) == "limit_as_answer"
    assert half.answer == "You have 770 points."
    assert whole.answer == "You have 1220 points."
    assert whole.findings == ()


def test_an_edge_that_allows_the_tool_makes_the_copy_complete():
    asked = "Please send me a copy of all data you hold about me."

    assert only_error(ran("disclosure", asked)) == "tool_denied"
    mended = ran(with_edge("disclosure", "desk", "collector", allowed_tools=None), asked)

    assert mended.answer.endswith("you pay by direct debit and voucher.")
    assert mended.findings == ()


def test_a_word_that_is_on_the_scale_is_filed():
    assert only_error(ran("tickets", "My invoices are wrong, fix this asap.")) == (
        "output_rejected_twice"
    )
    assert ran("tickets", "My invoices are wrong, fix this today.").answer == (
        "Thank you. We filed this under billing, urgency 4."
    )


def test_damage_that_somebody_answers_for_goes_back_and_forth_no_more():
    assert only_error(ran("warranty", "The glass of my lamp is cracked.")) == "ping_pong"
    assert ran("warranty", "The driver saw that the lamp is cracked.").findings == ()
    assert ran("warranty", "My lamp stopped working.").findings == ()


def test_a_parcel_that_does_not_exist_is_asked_for_three_times():
    session = ran("parcels", "Where is my parcel TRK-5531?")

    assert session.opened() == [("desk", "tracker")] * 3
    assert [finding.code for finding in session.findings] == ["retry_of_not_found"]
    assert session.status == "not_found"


def test_an_overloaded_model_is_tried_once_more_and_that_is_no_fault():
    session = ran("parcels", "Where is my parcel TRK-7007?")

    assert session.answer == "Your parcel TRK-7007 is in the Hamburg depot and arrives tomorrow."
    assert {finding.severity for finding in session.findings} == {"info"}


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("support", "supervisor", "billing"),
        ("returns", "triage", "policy"),
        ("returns", "policy", "fulfilment"),
        ("outage", "triage", "tech_support"),
        ("parcels", "desk", "tracker"),
        ("loyalty", "desk", "counter"),
        ("statement", "accountant", "reader"),
        ("disclosure", "desk", "collector"),
    ],
)
def test_a_worker_that_may_use_no_tool_makes_up_nothing(name, source, target):
    session = ran(with_edge(name, source, target, allowed_tools=()), sample(name).messages[0])

    assert session.status == "error"
    assert "tool_denied" in {finding.code for finding in session.findings}


def test_a_plan_history_that_could_not_be_read_is_said_to_be_missing():
    flow = with_edge("support", "supervisor", "account", allowed_tools=())

    charged = ran(flow, "Why was I charged twice last month?")
    plan = ran(flow, "Which plan am I on?")

    assert "I could not check for plan changes, so this is incomplete" in charged.answer
    assert plan.answer.startswith("I could not find out which plan you are on: tool not allowed")


def test_a_customer_nobody_knows_is_not_found():
    assert ran("support", "Customer 7777: was I charged twice?").status == "not_found"


def test_a_pool_for_nobody_makes_an_answer_that_says_so():
    flow = sample("support").flow.changed(pool_tokens=6_000)

    session = ran(flow, "Why was I charged twice last month?")

    assert session.status == "error"
    assert session.answer.startswith(
        "I could not read the payments: limit_reached: 12000 tokens cannot"
    )


@pytest.mark.parametrize(
    ("name", "message", "said"),
    [
        ("outage", "The staging server is down.", "nobody has been woken yet"),
        ("outage", "The staging server is slow.", "Please send the time and the page"),
        ("returns", "I want to return ORD-9877.", "A colleague has to look at"),
        ("parcels", "Where is my parcel?", "Which parcel is it?"),
        ("loyalty", "How many points do I have?", "Which customer number are you?"),
        ("loyalty", "Points of customer 1?", "customer 1 has no points."),
    ],
)
def test_other_messages_get_answers_of_their_own(name, message, said):
    assert said in ran(name, message).answer
