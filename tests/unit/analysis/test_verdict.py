"""The verdict: one sentence, and the handoff of the cause rather than of the last symptom."""

import time
from dataclasses import replace

import pytest
from support.logs import Log

from handoff_console.runtime.contract import Effect
from handoff_console.store.analysis.findings import (
    RULES,
    Severity,
    Verdict,
    findings,
    judgement,
    verdict,
)


def judged(log: Log, **options: bool) -> Verdict:
    return verdict(log.events, findings(log.events, log.body), **options)


def test_a_worker_at_its_step_limit_is_selected_not_its_supervisor():
    log = Log().user("Why was I charged twice?")
    supervisor = log.root("supervisor")
    billing = log.call(supervisor, "billing")
    log.step(billing).close(billing, "limit_reached", reason="steps")
    log.close(supervisor, "limit_reached", reason="steps").end("limit_reached", "steps")

    assert (judged(log).handoff_id, judged(log).agent) == ("h2", "billing")
    assert judged(log).severity is Severity.ERROR


def test_a_denied_tool_explains_the_step_limit_that_came_of_it():
    log = Log().user("Refund me")
    supervisor = log.root("supervisor")
    billing = log.call(supervisor, "billing")
    for _ in range(3):
        log.step(billing).deny(billing, "refund")
    log.close(billing, "limit_reached", reason="steps")
    log.close(supervisor, "error").end("error")

    assert judged(log).sentence.startswith("billing called the tool refund 3 times")


def test_with_nothing_wrong_it_says_who_answered_and_how():
    log = Log().user("Help")
    triage = log.root("triage")
    billing = log.transfer(triage, "billing")
    log.close(log.call(billing, "ledger", grant=500)).close(billing).end()

    assert judged(log) == Verdict(
        "billing answered after 1 transfer and with 1 call; nothing stands out.",
        "h2",
        None,
        Severity.INFO,
    )


def test_not_found_is_an_answer():
    log = Log().user("Help")
    log.close(log.root("orders"), "not_found").end("not_found")

    assert judged(log).sentence == "orders found nothing, and that is the answer."
    assert judged(log).severity is Severity.INFO


def test_needs_input_is_said_plainly():
    log = Log().user("Help")
    log.close(log.root("orders"), "needs_input").end("needs_input")
    assert judged(log).sentence == "orders needs a value from the user to go on."

    log = Log().user("Help")
    log.close(log.root("orders"), "needs_input", notes="which order?").end("needs_input")
    assert judged(log).sentence == "orders needs a value from the user: which order?"


def test_a_running_session_says_who_is_at_work():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    log.step(log.call(supervisor, "billing"))

    assert judged(log) == Verdict("billing is at work in step 1.", "h2", None, Severity.INFO)


def test_an_interrupted_session_says_who_was_cut_off():
    log = Log().user("Help")
    log.step(log.root("billing"))

    assert judged(log, interrupted=True).sentence == (
        "The process went away while billing was at work in step 1."
    )
    assert judged(log, interrupted=True).severity is Severity.ERROR


def test_of_an_imported_session_without_an_end_it_is_said_that_its_record_breaks_off():
    log = Log().user("Help")
    log.ask_user(log.call(log.root("supervisor"), "refunds"), "Which order?")

    assert judged(log, imported=True) == Verdict(
        "The record breaks off before the session ended.", "h2", None, Severity.WARNING
    )


def test_a_waiting_session_says_what_for():
    log = Log().user("Help")
    log.ask_user(log.root("refunds"), "Which order?")

    assert judged(log).sentence == "refunds waits: Which order?"


def test_a_cancelled_session_says_where_it_was():
    log = Log().user("Help")
    log.step(log.root("billing"))
    log.end(None, cancelled=True)

    assert judged(log).sentence == "Cancelled while billing was at work in step 1."


def test_a_session_without_events_has_a_verdict_too():
    assert verdict([], []) == Verdict("Nothing has happened yet.", None, None, Severity.INFO)


def test_the_worst_of_several_turns_is_told():
    log = Log().user("One")
    log.close(log.root("billing"), "error", notes="ledger down").user("Two")
    log.close(log.root("triage")).end()

    assert judged(log).handoff_id == "h1"


def test_one_reading_gives_the_same_as_three():
    log = Log().user("Help")
    triage = log.root("triage")
    log.call(triage, "fraud", refused="target")
    log.close(triage).end()

    whole = judgement(log.events, log.body)
    assert whole.findings == findings(log.events, log.body)
    assert whole.verdict == judged(log)
    assert len(whole.tree.nodes) == 2


def test_every_rule_says_what_it_finds():
    assert all(rule.find.__doc__ for rule in RULES)


def test_a_long_session_is_judged_in_about_the_time_its_tree_takes():
    log = Log(pool_tokens=10**9).user("Go")
    supervisor = log.root("supervisor")
    for number in range(3_000):
        worker = log.call(supervisor, "worker", task="Do", inputs={"n": number})
        log.step(worker).close(worker, "not_found" if number % 3 else "ok")
    log.close(supervisor).end()

    started = time.process_time()
    findings(log.events, log.body)
    assert time.process_time() - started < 3.0


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("no_rule", "no rule matches the message"),
        ("no_match", "no description fits the message best"),
    ],
)
def test_an_offline_worker_that_knew_no_answer_is_said_to_know_none(reason, why):
    log = Log().user("Tell me a joke")
    triage = log.root("triage")
    log.step(triage, says="I do not know.", finish_reason=reason).close(triage).end()

    found = judgement(log.events, log.body).verdict

    assert found.sentence == f"triage answered that it does not know: {why}."
    assert found.severity is Severity.INFO


def test_an_answer_in_spite_of_a_tool_that_failed_names_the_tool():
    log = Log().user("Help")
    triage = log.root("triage")
    log.step(triage).tool(triage, "look", error="ValueError: no key", raised_at="desk.py, line 4")
    log.step(triage, says="Sorry.").close(triage).end()

    assert judgement(log.events, log.body).verdict.sentence == (
        "triage answered, though the tool look of triage failed at desk.py, line 4: "
        "ValueError: no key."
    )


@pytest.mark.parametrize(
    ("effect", "doubt"),
    [(Effect.READ, ""), (Effect.EXTERNAL, "; nobody knows whether it was done")],
)
def test_an_interrupted_session_names_the_tool_that_did_not_come_back(effect, doubt):
    log = Log().user("Help")
    billing = log.root("billing")
    log.step(billing).tool(billing, "pay_back")
    returned = log.sink.events.pop()
    called = log.sink.events[-1]
    assert (called.kind, returned.kind) == ("tool_called", "tool_returned")
    log.sink.events[-1] = called._replace(payload=replace(called.payload, effect=effect))

    assert judged(log, interrupted=True).sentence == (
        f"The process went away while billing was calling pay_back in step 1{doubt}."
    )
    assert judged(log).sentence == "billing is calling pay_back in step 1."

    log.end(None, cancelled=True)
    assert judged(log).sentence == (
        f"Cancelled while billing was calling pay_back in step 1{doubt}."
    )


def test_an_interrupted_session_says_that_its_model_had_not_answered():
    log = Log().user("Help")
    billing = log.root("billing")
    log.step(billing)
    while log.sink.events[-1].kind != "model_called":
        log.sink.events.pop()

    assert judged(log, interrupted=True).sentence == (
        "The process went away while billing waited for its model in step 1."
    )
    assert judged(log).sentence == "billing waits for its model in step 1."


def test_a_session_that_was_answered_and_goes_on_is_at_no_work():
    log = Log().user("Help")
    log.close(log.root("triage"))

    assert judged(log).sentence == "triage answered; the session is open for another message."
    assert judged(log, interrupted=True).sentence == (
        "triage had answered when the process went away."
    )


def test_an_open_session_says_how_it_came_to_its_last_answer():
    log = Log().user("I want a refund")
    log.close(log.transfer(log.root("triage"), "billing"))

    assert judged(log).sentence == (
        "billing answered after 1 transfer; the session is open for another message."
    )


def test_an_open_session_that_had_no_answer_says_so():
    unknown = Log().user("zork")
    triage = unknown.root("triage")
    unknown.step(triage, says="I do not know.", finish_reason="no_rule").close(triage)
    missing = Log().user("Where is it?")
    missing.close(missing.root("tracker"), "not_found")

    assert judged(unknown).sentence == (
        "triage answered that it does not know: no rule matches the message. "
        "The session is open for another message."
    )
    assert judged(missing).sentence == (
        "tracker found nothing, and that is the answer. The session is open for another message."
    )


def test_an_open_session_whose_agent_needs_a_value_says_which():
    log = Log().user("I want a refund")
    log.close(log.root("desk"), "needs_input", notes="Which order is it?")

    assert judged(log).sentence == (
        "desk needs a value from the user: Which order is it? The session is open for it."
    )


def test_large_counts_have_their_thousands_apart():
    log = Log(pool_tokens=10**9).user("Go")
    root = log.root("lead")
    for _ in range(1_200):
        log.close(log.call(root, "worker"))
    log.close(root).end()

    assert judged(log).sentence == "lead answered with 1,200 calls; nothing stands out."
