"""Every rule finds its fault, names the handoff to look at, and stays silent beside it."""

import inspect
import re
from pathlib import Path

import pytest
from support.logs import Log

from handoff_console.runtime import guards, toolbox
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import StateSet
from handoff_console.store.analysis.findings import Finding, Severity, findings, refusals, tools


def found(log: Log, code: str) -> list[Finding]:
    return [finding for finding in findings(log.events, log.body) if finding.code == code]


def only(log: Log, code: str) -> Finding:
    (finding,) = found(log, code)
    seqs = [evidence.seq for evidence in finding.evidence]
    assert seqs == sorted(seqs)
    assert set(seqs) <= {event.seq for event in log.events}
    assert finding.sentence.endswith(".")
    assert finding.advice.endswith(".")
    return finding


def seqs(log: Log, kind: str, handoff_id: str | None = None) -> list[int]:
    return [e.seq for e in log.events if e.kind == kind and handoff_id in (None, e.handoff_id)]


# Healthy sessions


def healthy_transfer() -> Log:
    log = Log().user("Why was I charged twice?")
    triage = log.root("triage")
    log.step(triage)
    billing = log.transfer(triage, "billing")
    log.step(billing).tool(billing, "list_invoices").step(billing)
    return log.close(billing, values={"text": "Two invoices."}).end()


def healthy_fork() -> Log:
    log = Log().user("Why was I charged twice?")
    supervisor = log.root("supervisor")
    log.step(supervisor)
    workers = log.fork(supervisor, ["billing", "account"])
    for worker in workers:
        log.step(worker).close(worker)
    log.join(supervisor, workers)
    return log.step(supervisor).close(supervisor, values={"text": "Proration."}).end()


def healthy_return() -> Log:
    """A → B → A is legal; so is the same transfer in the next turn."""
    log = Log(max_edge_repeats=0)
    for _ in range(2):
        log.user("Help")
        triage = log.root("triage")
        billing = log.transfer(triage, "billing")
        log.close(log.transfer(billing, "triage"))
    return log.end()


def healthy_not_found() -> Log:
    log = Log().user("Where is order 7?")
    supervisor = log.root("supervisor")
    log.close(log.call(supervisor, "orders", task="Find order 7", inputs={"order": 7}), "not_found")
    return log.close(supervisor, "not_found", values={"text": "There is no order 7."}).end(
        "not_found"
    )


def healthy_second_round() -> Log:
    """Other inputs, or another task without inputs, are other questions."""
    log = Log().user("Find a policy")
    supervisor = log.root("supervisor")
    log.close(log.call(supervisor, "search", task="Find the refund policy"), "not_found")
    log.close(log.call(supervisor, "search", task="Find the returns policy"), "ok")
    log.close(log.call(supervisor, "search", task="Find rows", inputs={"of": 1}), "not_found")
    log.close(log.call(supervisor, "search", task="Find rows", inputs={"of": 2}), "ok")
    return log.close(supervisor).end()


def healthy_repair() -> Log:
    """One rejected answer, then one that fits."""
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    billing = log.call(supervisor, "billing")
    log.step(billing).reject_output(billing, "status is missing").step(billing).close(billing)
    return log.close(supervisor).end()


def healthy_tool_error() -> Log:
    log = Log().user("Help")
    billing = log.root("billing")
    log.step(billing).tool(billing, "find", error="no such row").step(billing)
    return log.close(billing).end()


def healthy_question() -> Log:
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    log.close(log.call(supervisor, "refunds"), "needs_input", notes="which order?")
    return log.close(supervisor, "needs_input", values={"text": "Which order?"}).end("needs_input")


@pytest.mark.parametrize(
    "healthy",
    [
        healthy_transfer,
        healthy_fork,
        healthy_return,
        healthy_not_found,
        healthy_second_round,
        healthy_repair,
        healthy_tool_error,
        healthy_question,
    ],
)
def test_a_healthy_session_has_no_findings(healthy):
    log = healthy()

    assert findings(log.events, log.body) == ()
    assert findings(log.events) == ()


def test_a_session_without_events_has_no_findings():
    assert findings([]) == ()


# Loops


def ping_pong(*, answered: bool) -> Log:
    log = Log().user("Help")
    triage = log.root("billing")
    support = log.transfer(triage, "support")
    billing = log.transfer(support, "billing")
    log.step(billing)
    again = log.transfer(billing, "support", refused="cycle")
    log.stop_cycle(again, "billing → support", "support → billing", "billing → support")
    if answered:
        return log.close(billing, values={"text": "Here it is."}).end()
    log.close(billing, "limit_reached", reason="cycle")
    return log.end("limit_reached", "cycle")


def test_a_stopped_loop_is_told_as_the_way_it_went():
    log = ping_pong(answered=False)
    finding = only(log, "ping_pong")

    assert finding.sentence == (
        "billing and support passed the task back and forth: billing → support → billing → "
        "support; the last handoff was refused."
    )
    assert (finding.severity, finding.handoff_id, finding.agent) == (
        Severity.ERROR,
        "h4",
        "billing",
    )
    assert [e.seq for e in finding.evidence] == seqs(log, "cycle_stopped")
    assert found(log, "limit_reached") == []


def test_a_loop_after_which_somebody_answered_is_a_warning():
    assert only(ping_pong(answered=True), "ping_pong").severity is Severity.WARNING


def test_a_loop_that_the_flow_allows_is_a_warning_that_counts():
    log = Log(max_edge_repeats=1).user("Help")
    last = log.root("a")
    for agent in ("b", "a", "b"):
        last = log.transfer(last, agent)
    log.close(last).end()

    finding = only(log, "ping_pong")
    assert finding.severity is Severity.WARNING
    assert "a handed off to b 2 times in one turn" in finding.sentence
    assert [e.seq for e in finding.evidence] == [
        *seqs(log, "handoff_opened", "h2"),
        *seqs(log, "handoff_opened", "h4"),
    ]


def test_a_call_that_would_call_itself_is_no_ping_pong():
    log = Log().user("Help")
    lead = log.root("lead")
    helper = log.call(lead, "helper")
    again = log.call(helper, "lead", refused="cycle")
    log.stop_cycle(again, "lead → helper", "helper → lead")
    log.close(helper).close(lead).end()

    assert found(log, "ping_pong") == []
    finding = only(log, "recursion_refused")
    assert (
        finding.sentence == "A call went round in a circle: lead → helper → lead; it was refused."
    )
    assert (finding.handoff_id, finding.agent) == ("h3", "helper")


# The pool


def starved(*, answered: bool = True) -> Log:
    log = Log(pool_tokens=10_000).user("Help")
    supervisor = log.root("supervisor")
    log.step(supervisor, tokens=500)
    billing = log.call(supervisor, "billing", grant=7_000)
    log.call(supervisor, "account", refused="pool")
    log.call(supervisor, "search", refused="pool")
    log.step(billing, tokens=6_000).close(billing)
    if answered:
        return log.close(supervisor).end()
    return log.close(supervisor, "limit_reached", reason="pool").end("limit_reached", "pool")


def test_an_empty_pool_names_who_went_without_and_who_took_it():
    log = starved()
    finding = only(log, "starved_pool")

    assert finding.sentence == (
        "The pool ran dry: supervisor could not call account when 2,500 of 10,000 tokens were free "
        "(1,000 of them kept for the answer) and 7,000 reserved, and 1 more request met the same."
    )
    assert finding.advice == (
        "Raise pool_tokens of the flow, or lower what is taken from it: billing reserved 7,000 "
        "tokens."
    )
    assert (finding.severity, finding.handoff_id, finding.agent) == (
        Severity.WARNING,
        "h3",
        "supervisor",
    )
    assert [e.seq for e in finding.evidence] == [
        *seqs(log, "budget_reserved", "h2"),
        *seqs(log, "handoff_rejected"),
    ]


def test_a_caller_whose_own_grant_is_too_small_is_not_told_that_the_pool_is_empty():
    log = Log(pool_tokens=50_000).user("Help")
    triage = log.root("triage")
    supervisor = log.transfer(triage, "supervisor", grant=8_000)
    log.call(supervisor, "billing", grant=5_000)
    log.call(supervisor, "search", refused="pool")

    finding = only(log, "starved_pool")
    assert finding.sentence == (
        "supervisor could not call search: of its own grant of 8,000 tokens 3,000 were left."
    )
    assert finding.advice.startswith("Raise max_tokens of the edge to supervisor")


def test_an_empty_pool_that_stopped_the_request_is_an_error_told_once():
    log = starved(answered=False)

    assert only(log, "starved_pool").severity is Severity.ERROR
    assert found(log, "limit_reached") == []


def test_a_full_pool_that_was_just_enough_is_no_finding():
    log = Log(pool_tokens=10_000).user("Help")
    supervisor = log.root("supervisor")
    worker = log.call(supervisor, "billing", grant=10_000)
    log.step(worker, tokens=10_000).close(worker).close(supervisor).end()

    assert findings(log.events, log.body) == ()


def test_an_overdraft_is_worth_knowing():
    log = Log(pool_tokens=10_000).user("Help")
    supervisor = log.root("supervisor")
    worker = log.call(supervisor, "billing", grant=1_000)
    log.step(worker, tokens=1_200).close(worker).close(supervisor).end()

    finding = only(log, "pool_overdrawn")
    assert finding.severity is Severity.INFO
    assert finding.sentence == "billing used 200 tokens more than its grant held."


# Limits


def stopped_worker(answer: str, status: str = "ok", **values: object) -> Log:
    log = Log().user("Why was I charged twice?")
    supervisor = log.root("supervisor")
    billing = log.call(supervisor, "billing")
    for _ in range(6):
        log.step(billing, tokens=50)
    log.close(billing, "limit_reached", reason="steps", notes="step cap hit: 6 steps")
    log.close(supervisor, status, values={"text": answer, **values})
    return log.end(status)


def test_an_incomplete_result_given_as_the_answer_is_an_error_at_the_worker():
    log = stopped_worker("You were charged once.")
    finding = only(log, "limit_as_answer")

    assert finding.sentence == (
        "billing hit its step limit after 6 of 6 steps, and supervisor gave its incomplete result "
        "as the answer."
    )
    assert (finding.severity, finding.handoff_id, finding.agent) == (
        Severity.ERROR,
        "h2",
        "billing",
    )
    assert [e.seq for e in finding.evidence] == [
        *seqs(log, "handoff_closed", "h2"),
        *seqs(log, "handoff_closed", "h1"),
    ]
    assert found(log, "limit_reached") == []


@pytest.mark.parametrize(
    "answer",
    [
        "This is incomplete: the billing check hit its step limit.",
        "Partial result: one invoice seen so far.",
        "I could not check all invoices.",
        "I couldn’t fully verify the second charge.",
        "More invoices may be missing.",
    ],
)
def test_r14_an_answer_that_says_what_is_missing_is_a_warning_only(answer):  # R14
    log = stopped_worker(answer)

    assert found(log, "limit_as_answer") == []
    finding = only(log, "limit_reached")
    assert finding.severity is Severity.WARNING
    assert finding.handoff_id == "h2"
    assert finding.sentence.endswith("; supervisor answered with what there was.")


def test_an_answer_may_also_say_so_under_a_key():
    assert found(stopped_worker("Done.", incomplete=True), "limit_as_answer") == []
    assert found(stopped_worker("Done.", incomplete=False), "limit_as_answer") != []


def test_without_the_words_of_the_answer_nobody_is_accused():
    log = stopped_worker("You were charged once.")

    codes = {finding.code: finding.severity for finding in findings(log.events)}
    assert codes == {"limit_reached": Severity.WARNING}


def test_a_limit_that_a_second_try_made_up_for_is_worth_knowing_only():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    log.close(log.call(supervisor, "billing"), "limit_reached", reason="tokens")
    log.close(log.call(supervisor, "billing"))
    log.close(supervisor, values={"text": "Charged once."}).end()

    assert found(log, "limit_as_answer") == []
    assert only(log, "limit_reached").severity is Severity.INFO


def test_a_request_that_was_stopped_itself_is_an_error():
    log = Log().user("Help")
    triage = log.root("triage")
    billing = log.transfer(triage, "billing")
    log.close(billing, "limit_reached", reason="deadline").end("limit_reached", "deadline")

    finding = only(log, "limit_reached")
    assert (finding.severity, finding.handoff_id) == (Severity.ERROR, "h2")
    assert finding.sentence == (
        "billing ran out of time after 0 of 6 steps, so the request has no complete answer."
    )


# Repeats


def asked_again(*, answered_ok: bool = True) -> Log:
    log = Log().user("Find order 7")
    supervisor = log.root("supervisor")
    for task in ("Find order 7", "Look for order 7 once more"):
        log.close(log.call(supervisor, "orders", task=task, inputs={"order": 7}), "not_found")
    if answered_ok:
        return log.close(supervisor, values={"text": "No such order."}).end()
    return log.close(supervisor, "error").end("error")


def test_the_same_question_after_not_found_is_a_finding_at_the_second_handoff():
    log = asked_again()
    finding = only(log, "retry_of_not_found")

    assert finding.sentence == (
        "supervisor asked orders again for the same thing after it had answered not_found."
    )
    assert (finding.severity, finding.handoff_id, finding.agent) == (
        Severity.WARNING,
        "h3",
        "supervisor",
    )
    assert [e.seq for e in finding.evidence] == [
        *seqs(log, "handoff_closed", "h2"),
        *seqs(log, "handoff_requested", "h3"),
    ]


def test_it_is_an_error_when_the_request_failed_over_it():
    assert only(asked_again(answered_ok=False), "retry_of_not_found").severity is Severity.ERROR


def test_two_asked_at_once_are_no_retry():
    log = Log().user("Find order 7")
    supervisor = log.root("supervisor")
    first = log.call(supervisor, "orders", task="Find 7", inputs={"order": 7})
    second = log.call(supervisor, "orders", task="Find 7", inputs={"order": 7})
    log.close(first, "not_found").close(second, "not_found")
    log.close(supervisor, "not_found").end("not_found")

    assert findings(log.events, log.body) == ()


def test_the_same_question_in_the_next_turn_is_no_retry():
    log = Log()
    for _ in range(2):
        log.user("Find order 7")
        supervisor = log.root("supervisor")
        worker = log.call(supervisor, "orders", task="Find 7", inputs={"order": 7})
        log.close(worker, "not_found").close(supervisor, "not_found")
    log.end("not_found")

    assert findings(log.events, log.body) == ()


def test_r75_the_same_work_done_twice_is_counted():  # R75
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    for _ in range(2):
        worker = log.call(supervisor, "search", task="Find rows", inputs={"of": 1})
        log.step(worker, tokens=300).close(worker)
    log.close(supervisor).end()

    finding = only(log, "duplicate_work")
    assert "search was given the same task 2 times" in finding.sentence
    assert "300 tokens went into the repeats" in finding.sentence


def test_r75_conflicting_values_are_flagged():  # R75
    log = Log().user("Help")
    root = log.root("supervisor")
    log.emit(root, StateSet(key="order", value=log.keep(7)))
    log.emit(root, StateSet(key="order", value=log.keep(8), conflict=True))
    log.close(root).end()

    finding = only(log, "state_conflict")
    assert finding.sentence == "supervisor gave order a second value; the first stays."


# Tools


def test_a_denied_tool_is_a_warning_while_the_agent_finds_another_way():
    log = Log().user("Refund me")
    billing = log.root("billing")
    log.step(billing).deny(billing, "refund").step(billing).close(billing).end()

    finding = only(log, "tool_denied")
    assert finding.sentence == "billing called the tool refund, which it may not use here."
    assert (finding.severity, finding.handoff_id) == (Severity.WARNING, "h1")
    assert [e.seq for e in finding.evidence] == seqs(log, "tool_denied")


def test_an_act_that_may_have_happened_is_to_be_looked_into():
    log = Log().user("Refund me")
    root = log.root("refunds")
    log.step(root).deny(root, "refund", rule="outcome_unknown").step(root).close(root).end()
    finding = only(log, "tool_denied")

    assert finding.sentence.endswith("an act that was begun before and may have happened.")
    assert finding.advice.startswith("Find out whether refund did its work before")


def test_every_rule_that_denies_a_tool_has_words_of_its_own():
    code = Path(inspect.getfile(toolbox)).read_text("utf-8")

    assert set(re.findall(r'Denial\("(\w+)"', code)) == tools._WHY.keys()


def test_a_denied_tool_on_which_the_handoff_wore_itself_out_is_an_error():
    log = Log().user("Refund me")
    billing = log.root("billing")
    for _ in range(3):
        log.step(billing).deny(billing, "refund")
    log.close(billing, "limit_reached", reason="steps").end("limit_reached", "steps")

    finding = only(log, "tool_denied")
    assert finding.severity is Severity.ERROR
    assert "called the tool refund 3 times" in finding.sentence


def test_arguments_that_were_corrected_are_worth_knowing_only():
    log = Log().user("Refund me")
    billing = log.root("billing")
    log.step(billing).deny(billing, "find", rule="arguments").step(billing).close(billing).end()

    assert only(log, "tool_denied").severity is Severity.INFO


def test_an_act_that_a_person_did_not_approve_is_no_fault():  # R33
    log = Log().user("Tell her")
    root = log.root("clerk")
    log.step(root).deny(root, "letters.send", rule="approval")
    log.step(root).close(root, "error", notes="nothing was sent").end("error")

    finding = only(log, "tool_denied")

    assert finding.severity is Severity.INFO
    assert finding.sentence == "clerk called the tool letters.send, which nobody approved."
    assert finding.advice.startswith("If letters.send should run")


@pytest.mark.parametrize(
    ("effect", "severity"), [(Effect.READ, Severity.INFO), (Effect.EXTERNAL, Severity.ERROR)]
)
def test_a_tool_that_came_back_late_matters_by_what_it_did(effect, severity):
    log = Log().user("Help")
    billing = log.root("billing")
    log.step(billing).late(billing, "report", effect).close(billing).end()

    finding = only(log, "late_tool_result")
    assert finding.severity is severity
    assert "came back 2.5 s after it had been given up" in finding.sentence


# Answers


def rejected_twice(*, good_later: bool = False) -> Log:
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    billing = log.call(supervisor, "billing")
    log.step(billing).reject_output(billing, "status is missing")
    log.step(billing).reject_output(billing, "status is 'fine'", final=True)
    log.close(billing, "error", notes="the answer did not fit")
    if good_later:
        log.close(log.call(supervisor, "billing"))
    status = "ok" if good_later else "error"
    return log.close(supervisor, status).end(status)


def test_an_answer_rejected_twice_is_an_error_at_the_worker():
    log = rejected_twice()
    finding = only(log, "output_rejected_twice")

    assert finding.sentence == (
        "billing answered twice in a form that cannot be used: status is 'fine'."
    )
    assert (finding.severity, finding.handoff_id) == (Severity.ERROR, "h2")
    assert [e.seq for e in finding.evidence] == seqs(log, "output_rejected")
    assert found(log, "handoff_failed") == []


def test_it_is_worth_knowing_only_when_another_try_went_well():
    assert only(rejected_twice(good_later=True), "output_rejected_twice").severity is Severity.INFO


def test_a_model_that_failed_is_an_error_when_its_handoff_failed():
    log = Log().user("Help")
    triage = log.root("triage")
    log.step(triage, tokens=0, error="connection refused").close(triage, "error").end("error")

    finding = only(log, "model_failed")
    assert finding.severity is Severity.ERROR
    assert finding.sentence == "The model of triage could not answer: connection refused."
    assert found(log, "handoff_failed") == []


def test_a_model_that_failed_and_was_tried_again_is_worth_knowing_only():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    first = log.call(supervisor, "billing")
    log.step(first, tokens=0, error="busy").close(first, "error")
    log.close(log.retry(first)).close(supervisor).end()

    assert only(log, "model_failed").severity is Severity.INFO


def test_only_the_handoff_that_failed_first_is_named():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    lead = log.call(supervisor, "lead")
    log.close(log.call(lead, "billing", grant=500), "error", notes="the ledger does not answer")
    log.close(lead, "error", notes="billing failed").close(supervisor, "error").end("error")

    finding = only(log, "handoff_failed")
    assert finding.handoff_id == "h3"
    assert finding.sentence == "billing failed: the ledger does not answer."


def test_a_question_that_nobody_passed_on_is_a_warning():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    log.close(log.call(supervisor, "refunds"), "needs_input", notes="which order?")
    log.close(supervisor, values={"text": "Done."}).end()

    finding = only(log, "needs_input_unused")
    assert (finding.handoff_id, finding.agent) == ("h2", "supervisor")


# Refusals


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("target", "target_not_allowed"),
        ("depth", "depth_refused"),
        ("workers", "workers_refused"),
        ("handoffs", "handoffs_refused"),
        ("trust", "trust_refused"),
        ("ingress", "ingress_refused"),
        ("some_new_rule", "some_new_rule_refused"),
    ],
)
def test_every_refusal_has_a_name(rule, code):
    log = Log().user("Help")
    triage = log.root("triage")
    log.call(triage, "fraud", refused=rule).strip()
    log.close(triage).end()

    finding = only(log, code)
    assert (finding.severity, finding.handoff_id, finding.agent) == (
        Severity.WARNING,
        "h2",
        "triage",
    )
    assert finding.sentence.startswith("triage asked for fraud, ")


def test_every_rule_of_the_gate_is_found_by_its_own_name():
    runtime = Path(inspect.getfile(guards)).parent
    code = "".join((runtime / name).read_text("utf-8") for name in ("gate.py", "guards.py"))
    rules = set(re.findall(r'Refusal\(\s*"(\w+)"', code))

    assert {"target", "depth", "trust", "ingress"} <= rules
    assert {refusals.code_of(rule) for rule in rules - {"cycle", "pool"}} == refusals.CODES


def test_an_off_list_target_says_who_is_allowed():
    log = Log().user("Help")
    triage = log.root("triage")
    log.transfer(triage, "fraud", refused="target", choices=("billing", "support"))
    log.close(triage, "error").end("error")

    finding = only(log, "target_not_allowed")
    assert finding.severity is Severity.ERROR
    assert finding.advice == (
        "triage may hand off to billing and support. Add an edge to fraud if the route is intended."
    )


def test_a_request_that_was_corrected_is_worth_knowing_only():
    log = Log().user("Help")
    triage = log.root("triage")
    log.transfer(triage, "billing", refused="request")
    log.close(log.transfer(triage, "billing")).end()

    assert only(log, "request_refused").severity is Severity.INFO


def test_names_from_outside_stay_on_one_short_line():
    log = Log().user("Help")
    triage = log.root("triage")
    log.call(triage, "evil\n\x1b[31m\u202e" + "x" * 1_000_000, refused="target")
    log.close(triage).end()

    sentence = only(log, "target_not_allowed").sentence
    assert len(sentence) < 120
    assert sentence.isprintable()
