"""Every edge case of the four routing metrics, as a small event log."""

import dataclasses

import pytest
from support.logs import Log

from handoff_console.runtime.events import FirstTokenReceived, HandoffClosed, SessionStarted
from handoff_console.store.analysis.routing import Routing, routing_of


def figures(log: Log) -> Routing:
    return routing_of(log.events, body=log.body)


def begun() -> tuple[Log, str]:
    log = Log().user("Why was I charged twice?")
    triage = log.root("triage")
    log.step(triage)
    return log, triage


def passed_on(*agents: str, status: str = "ok") -> Log:
    """Triage transfers to the first agent, who transfers to the next, and so on."""
    log, at = begun()
    for agent in agents:
        at = log.transfer(at, agent)
        log.step(at, tokens=50)
    log.close(at, status)
    return log.end(status)


@pytest.mark.parametrize("status", ["ok", "not_found"])
def test_an_answer_by_whoever_got_it_first_is_a_first_pass(status):  # R78
    found = figures(passed_on("billing", status=status))

    assert (found.first_targets, found.first_pass, found.not_eligible) == (("billing",), True, "")
    assert (found.handoffs, found.depth, found.corrective) == (1, 1, 0)
    assert (found.final_agent, found.outcome) == ("billing", status)


def test_a_receiver_that_hands_on_puts_the_route_right():  # R78
    found = figures(passed_on("billing", "account"))

    assert (found.first_targets, found.first_pass) == (("billing",), False)
    assert (found.handoffs, found.corrective, found.ping_pong) == (2, 1, 0)
    assert found.misroute_tokens == 50
    assert found.tokens_used == 200
    assert (found.final_agent, found.handed_on) == ("account", (("billing", "account"),))


def test_of_a_called_worker_that_hands_on_its_receiver_has_it_and_not_the_caller():
    log, supervisor = begun()
    billing = log.call(supervisor, "billing")
    account = log.transfer(billing, "account")
    log.close(account).close(supervisor)

    found = figures(log.end())

    assert (found.final_agent, found.handed_on) == ("triage", (("billing", "account"),))


def test_handing_back_to_triage_is_corrective_and_a_ping_pong():
    found = figures(passed_on("billing", "triage"))

    assert (found.first_pass, found.corrective, found.ping_pong) == (False, 1, 1)


def test_a_loop_counts_each_handoff_once():  # R79
    """triage → a → b → a: the first two were handed on, and the last went straight back."""
    found = figures(passed_on("a", "b", "a"))

    assert (found.first_pass, found.handoffs, found.corrective, found.ping_pong) == (False, 3, 2, 1)
    assert found.handed_on == (("a", "a"),)


def test_nobody_asked_is_not_eligible():
    log, triage = begun()
    log.close(triage, values={"text": "I'll pass you on to billing."})

    found = figures(log.end())

    assert (found.first_targets, found.first_pass, found.not_eligible) == ((), None, "no handoff")
    assert (found.handoffs, found.depth, found.completeness) == (0, 0, None)


def test_a_worker_that_asks_a_helper_has_not_handed_on():
    log, triage = begun()
    billing = log.call(triage, "billing")
    helper = log.call(billing, "ledger", grant=500)
    log.close(helper).close(billing).close(triage)

    found = figures(log.end())

    assert (found.first_pass, found.corrective) == (True, 0)
    assert (found.handoffs, found.depth) == (2, 2)


def test_of_a_fork_every_branch_has_to_pass():  # R78
    log, triage = begun()
    orders, account = log.fork(triage, ["orders", "account"])
    log.close(orders)
    other = log.transfer(account, "fraud")
    log.close(other)
    log.join(triage, [orders, account])
    log.close(triage)

    found = figures(log.end())

    assert found.first_targets == ("orders", "account")
    assert (found.first_pass, found.corrective, found.depth) == (False, 1, 2)


def test_a_fork_whose_branches_answer_is_breadth_and_not_depth():  # R79
    log, triage = begun()
    branches = log.fork(triage, ["orders", "account"])
    for branch in branches:
        log.close(branch)
    log.join(triage, branches)
    log.close(triage)

    found = figures(log.end())

    assert (found.first_pass, found.handoffs, found.depth, found.corrective) == (True, 2, 1, 0)


def test_another_handoff_later_by_the_first_agent_is_not_part_of_the_first():
    log, triage = begun()
    first = log.call(triage, "billing")
    log.close(first).step(triage)
    log.close(log.call(triage, "account")).close(triage)

    found = figures(log.end())

    assert (found.first_targets, found.first_pass, found.handoffs) == (("billing",), True, 2)


def test_a_limit_fails_and_says_nothing_about_the_route():
    found = figures(passed_on("billing", status="limit_reached"))

    assert (found.first_pass, found.route_unknown, found.corrective) == (False, True, 0)


def test_a_limit_after_handing_on_is_a_misroute():
    found = figures(passed_on("billing", "account", status="limit_reached"))

    assert (found.first_pass, found.route_unknown, found.corrective) == (False, False, 1)


def test_an_agent_that_may_not_be_asked_is_invalid_and_the_next_try_counts():
    log, triage = begun()
    log.transfer(triage, "support", refused="target")
    log.step(triage)
    log.close(log.transfer(triage, "billing"))

    found = figures(log.end())

    assert (found.first_invalid, found.first_targets, found.first_pass) == (
        True,
        ("billing",),
        True,
    )
    assert (found.handoffs, found.corrective) == (1, 0)


def test_a_refused_handoff_is_no_handing_on():
    log, triage = begun()
    billing = log.transfer(triage, "billing")
    log.transfer(billing, "account", refused="cycle")
    log.close(billing)

    found = figures(log.end())

    assert (found.first_pass, found.corrective, found.handoffs) == (True, 0, 1)


def test_an_open_question_is_not_eligible():  # R78
    log, triage = begun()
    billing = log.transfer(triage, "billing")
    log.ask_user(billing, "Which order is it?")

    found = figures(log)

    assert (found.first_pass, found.not_eligible) == (None, "waiting")
    assert figures(passed_on("billing", status="needs_input")).not_eligible == "waiting"


def test_what_still_runs_is_not_eligible():
    log, triage = begun()
    log.transfer(triage, "billing")

    found = figures(log)

    assert (found.first_pass, found.not_eligible, found.outcome) == (None, "running", "running")


@pytest.mark.parametrize(
    ("transient", "first_pass", "why"), [(True, None, "transient error"), (False, False, "")]
)
def test_an_error_counts_unless_it_was_a_passing_one(transient, first_pass, why):  # R78
    log = passed_on("billing", status="error")
    closing = next(e for e in reversed(log.events) if isinstance(e.payload, HandoffClosed))
    result = log.keep({"status": "error", "transient": transient})
    log.events[closing.seq - 1] = closing._replace(
        payload=dataclasses.replace(closing.payload, result=result)
    )

    found = figures(log)

    assert (found.first_pass, found.not_eligible) == (first_pass, why)


def test_the_second_try_of_a_passing_error_is_what_counts():
    log, triage = begun()
    first = log.call(triage, "billing")
    log.close(first, "error")
    log.close(log.retry(first)).close(triage)

    found = figures(log.end())

    assert (found.first_pass, found.handoffs) == (True, 1)


def test_a_person_who_is_turned_to_puts_nobody_right():
    found = figures(passed_on("billing", "human"))

    assert (found.first_pass, found.corrective, found.handoffs) == (True, 0, 2)


def test_a_run_by_an_operator_is_left_out():
    log = passed_on("billing")
    started = log.events[0]
    log.events[0] = started._replace(
        payload=dataclasses.replace(
            started.payload, origin="rerun", rerun_of="s-0", rerun_mode="what-if"
        )
    )
    assert isinstance(log.events[0].payload, SessionStarted)

    assert (figures(log).first_pass, figures(log).not_eligible) == (None, "rerun")


def test_a_session_that_was_cut_stays_in_and_says_so():  # R79
    log, triage = begun()
    billing = log.transfer(triage, "billing")
    log.transfer(billing, "account", refused="handoffs")
    log.close(billing, "limit_reached", reason="handoffs")

    found = figures(log.end("limit_reached", reason="handoffs"))

    assert (found.cut, found.handoffs) == (True, 1)
    assert not figures(passed_on("billing")).cut


def with_offer(log: Log, handoff_id: str, target: str, required: object, **other: object) -> None:
    """Let an agent have been offered an edge with values that have to go along."""
    activated = next(
        e for e in log.events if e.kind == "agent_activated" and e.handoff_id == handoff_id
    )
    offer = {
        "name": f"transfer_to_{target}",
        "handoff": {"target": target, "via": "transfer"},
        "parameters": {"properties": {"payload": {"type": "object", "required": required}}},
        **other,
    }
    log.events[activated.seq - 1] = activated._replace(
        payload=dataclasses.replace(activated.payload, tools=log.keep([offer]))
    )


def test_required_values_are_counted_and_empty_ones_are_not_there():  # R80
    log, triage = begun()
    with_offer(log, triage, "billing", ["customer_id", "order_id", "since"])
    inputs = {"customer_id": "4812", "order_id": ""}
    log.close(log.transfer(triage, "billing", task="Look it up", inputs=inputs))

    found = figures(log.end())

    assert (found.required, found.present) == (3, 1)
    assert found.completeness == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "other",
    [
        {"parameters": ["customer_id"]},
        {"parameters": {"properties": {"payload": {"required": None}}}},
        {"parameters": {"properties": {"payload": "customer_id"}}},
        {"handoff": "billing"},
    ],
)
def test_an_offer_of_another_form_requires_nothing(other):
    log, triage = begun()
    with_offer(log, triage, "billing", ["customer_id"], **other)
    log.close(log.transfer(triage, "billing", task="Look it up"))

    assert figures(log.end()).required == 0


def test_nothing_required_is_no_completeness():
    log, triage = begun()
    with_offer(log, triage, "billing", [])
    log.close(log.transfer(triage, "billing", task="Look it up"))

    assert figures(log.end()).completeness is None


def test_asking_for_what_was_told_is_counted():  # R80
    log, triage = begun()
    packet = {"goal": "refund", "facts": {"order_id": "ORD-1"}}
    billing = log.transfer(triage, "billing", packet=packet)
    log.ask_user(billing, "What is your order number?")

    assert figures(log).asked_again == 1

    log, triage = begun()
    billing = log.transfer(triage, "billing", packet={"goal": "refund", "facts": {}})
    log.ask_user(billing, "What is your order number?")

    assert figures(log).asked_again == 0, "nobody had ever said it"


def test_a_transition_lasts_until_the_receiver_begins_to_answer():
    whole = figures(passed_on("billing", "account"))

    assert whole.transition_seconds == (0.6, 0.7)
    assert not whole.streamed


def test_streamed_and_whole_replies_are_not_mixed():  # R81
    log, triage = begun()
    billing = log.transfer(triage, "billing")
    log.emit(billing, FirstTokenReceived(step=1))
    log.step(billing)
    account = log.transfer(billing, "account")
    log.step(account).close(account)

    found = figures(log.end())

    assert (len(found.transition_seconds), found.streamed) == (1, True)


def test_without_bodies_the_route_is_known_and_the_payload_is_not():
    found = routing_of(passed_on("billing", "account").events)

    assert (found.first_pass, found.corrective, found.required) == (False, 1, 0)


def test_the_first_agent_alone_has_only_begun():
    log = Log()

    found = figures(log)

    assert (found.first_targets, found.not_eligible, found.final_agent) == ((), "no handoff", "")
