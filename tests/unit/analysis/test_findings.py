"""Every rule finds its fault, names the handoff to look at, and stays silent beside it."""

import dataclasses
import inspect
import json
import re
from pathlib import Path

import pytest
from support.logs import Log

from handoff_console.runtime import denials, guards, toolbox
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


def codes(log: Log) -> list[str]:
    return [finding.code for finding in findings(log.events, log.body)]


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


def test_only_a_pool_with_no_more_than_what_is_kept_for_the_answer_ran_dry():
    log = Log(pool_tokens=10_000).user("Help")
    supervisor = log.root("supervisor")
    log.step(supervisor, tokens=500)
    log.call(supervisor, "billing", grant=8_500)
    log.call(supervisor, "account", refused="pool")

    assert only(log, "starved_pool").sentence == (
        "The pool ran dry: supervisor could not call account when 1,000 of 10,000 tokens were "
        "free (1,000 of them kept for the answer) and 8,500 reserved."
    )


def test_a_pool_that_has_too_little_names_who_went_without_and_who_took_it():
    log = starved()
    finding = only(log, "starved_pool")

    assert finding.sentence == (
        "Too few tokens were left: supervisor could not call account when 2,500 of 10,000 tokens "
        "were free (1,000 of them kept for the answer) and 7,000 reserved, and 1 more request met "
        "the same."
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


def test_a_handoff_that_ran_out_of_time_names_the_tool_that_took_it():
    log = Log().user("Help")
    root = log.root("billing")
    log.step(root).tool(root, "find").tool(root, "report", error="no answer", seconds=0.8)
    returned = log.sink.events[-1].seq
    log.close(root, "limit_reached", reason="deadline").end("limit_reached", "deadline")

    finding = only(log, "limit_reached")

    assert "(its tool report took 0.8 s of 1.0 s), so the request" in finding.sentence
    assert finding.advice.startswith("Find out what report waited for")
    first = finding.evidence[0]
    assert (first.seq, first.reason) == (returned, "its tool report took 0.8 s")


def test_a_handoff_that_ran_out_of_time_names_its_slow_model_or_the_agent_it_waited_for():
    slow = Log().user("Help")
    root = slow.root("billing")
    slow.step(root).step(root, seconds=0.9)
    slow.close(root, "limit_reached", reason="deadline").end("limit_reached", "deadline")
    waited = Log().user("Help")
    root = waited.root("supervisor")
    worker = waited.call(root, "search")
    for _ in range(30):
        waited.step(worker, seconds=0)
    waited.close(worker)
    waited.close(root, "limit_reached", reason="deadline").end("limit_reached", "deadline")

    assert "(its model in step 2 took 0.9 s of 1.0 s)" in only(slow, "limit_reached").sentence
    assert "(search took " in only(waited, "limit_reached").sentence


def test_a_handoff_whose_time_went_into_many_small_things_names_none():
    log = Log().user("Help")
    root = log.root("billing")
    for _ in range(8):
        log.step(root, seconds=0.05).tool(root, "find", seconds=0.05)
    log.close(root, "limit_reached", reason="deadline").end("limit_reached", "deadline")

    assert " took " not in only(log, "limit_reached").sentence


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


def test_a_tool_that_the_agent_does_not_have_is_to_be_given_to_it_or_not_named():
    log = Log().user("Refund me")
    root = log.root("billing")
    log.step(root).deny(root, "refnud", rule="unknown").step(root).close(root).end()
    finding = only(log, "tool_denied")

    assert finding.sentence == "billing called the tool refnud, which does not exist."
    assert "Give it refnud if it is meant to have it" in finding.advice


def test_every_rule_that_denies_a_tool_has_words_of_its_own():
    code = "".join(Path(inspect.getfile(it)).read_text("utf-8") for it in (denials, toolbox))

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


def test_a_no_that_a_person_said_is_told_as_one_with_who_said_it_and_why():
    log = Log().user("Tell her")
    root = log.root("clerk")
    log.step(root).decide(root, "denied", by="Kim", note="the wrong person")
    decided = log.sink.events[-1].seq
    log.deny(root, "letters.send", rule="approval").step(root).close(root).end()

    finding = only(log, "tool_denied")

    assert finding.severity is Severity.INFO
    assert finding.sentence == "clerk called the tool letters.send, and a person said no."
    assert finding.advice.startswith("Nothing, if that no was meant")
    assert [(at.seq, at.reason) for at in finding.evidence] == [
        (decided, "Kim said no: the wrong person")
    ]


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("expired", "which nobody approved in time"),
        ("stale", "which was approved as something else than it asked for by then"),
        ("invalid", "which was approved with arguments that do not fit"),
    ],
)
def test_an_approval_that_did_not_count_says_why(reason, why):
    log = Log().user("Tell her")
    root = log.root("clerk")
    log.step(root).decide(root, reason).deny(root, "letters.send", rule="approval")
    denied = log.sink.events[-1].seq
    log.step(root).close(root).end()

    finding = only(log, "tool_denied")

    assert finding.sentence == f"clerk called the tool letters.send, {why}."
    assert finding.advice.startswith("If letters.send should run")
    assert [at.seq for at in finding.evidence] == [denied]


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


@pytest.mark.parametrize(
    ("reads_prompt", "how"),
    [
        (True, "Show the shape of the answer in the prompt of billing"),
        (
            False,
            "Correct the rules of billing, which reads no prompt, to answer in the right shape",
        ),
        (
            None,
            "Show the shape of the answer in the prompt of billing, or in its rules where it reads "
            "none",
        ),
    ],
    ids=["a language model", "rules", "not in what was read"],
)
def test_the_advice_after_a_rejected_answer_fits_who_answered(reads_prompt, how):
    log = rejected_twice()
    activated = [event for event in log.events if event.kind == "agent_activated"]
    for event in activated:
        at = log.events.index(event)
        if reads_prompt is None:
            del log.events[at]
        else:
            payload = dataclasses.replace(event.payload, reads_prompt=reads_prompt)
            log.events[at] = event._replace(payload=payload)

    assert only(log, "output_rejected_twice").advice == (
        f"{how}, or ask it for less; the rejected answers are in quarantine, for you to read."
    )


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


def test_a_function_that_failed_is_named_with_its_file_and_line_and_no_model_is_blamed():
    log = Log().user("Help")
    triage = log.root("triage")
    log.step(triage, tokens=0, error="KeyError: 'order'", raised_at="desk.py, line 8")
    log.close(triage, "error").end("error")

    finding = only(log, "model_failed")
    assert (
        finding.sentence == "The function of triage failed at desk.py, line 8: KeyError: 'order'."
    )
    assert finding.advice == "Correct it there, and send the message again."


@pytest.mark.parametrize(
    ("status", "severity"), [("ok", Severity.INFO), ("error", Severity.WARNING)]
)
def test_a_tool_whose_code_failed_is_named_with_its_file_and_line(status, severity):
    log = Log().user("Help")
    triage = log.root("triage")
    for _ in range(2):
        log.step(triage).tool(
            triage, "look_up", error="ValueError: no key", raised_at="desk.py, line 4"
        )
    log.close(triage, status).end(status)

    finding = only(log, "tool_failed")
    assert (finding.severity, len(finding.evidence)) == (severity, 2)
    assert finding.sentence == (
        "The tool look_up of triage failed 2 times at desk.py, line 4: ValueError: no key."
    )


def test_a_tool_that_says_what_is_wrong_has_not_failed():
    log = Log().user("Help")
    triage = log.root("triage")
    log.step(triage).tool(triage, "look_up", error="there is no such customer")
    log.close(triage).end()

    assert found(log, "tool_failed") == []


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


PLAN = [
    {"worker": "accounts", "task": "Open an account"},
    {"worker": "equipment", "task": "Prepare a laptop"},
    {"worker": "facilities", "task": "Make a badge"},
]
STAFF = {
    "agents": [
        {
            "name": "lead",
            "edges": [{"target": step["worker"], "via": "call"} for step in PLAN],
            "tools": [{"name": "send_email"}],
        }
    ]
}


def planned(*asked: str, plan: object = PLAN, told: str = "All is ready.") -> Log:
    """A lead that has its plan checked, asks some workers, and answers."""
    log = Log(flow=STAFF).user("Ms Lund starts on Monday")
    lead = log.root("lead")
    log.step(lead).tool(lead, "plan.check", json.dumps(plan)).step(lead)
    for worker in asked:
        log.close(log.call(lead, worker))
    return log.step(lead).close(lead, values={"text": told}).end()


def test_r75_a_step_of_the_plan_that_nobody_took_is_named():  # R75
    found = only(planned("accounts", "equipment"), "plan_step_missed")

    assert found.severity is Severity.WARNING
    assert (found.handoff_id, found.agent) == ("h1", "lead")
    assert found.sentence == (
        "lead planned a step for facilities (Make a badge) and never took it; its answer does not "
        "say so."
    )
    assert [e.reason for e in found.evidence] == [
        "it planned 3 steps",
        "facilities: Make a badge",
        "lead answered and did not say that anything is missing",
    ]


def test_r75_steps_are_counted_for_each_worker():
    plan = [{"agent": "accounts", "task": f"Open account {number}"} for number in range(3)]

    assert only(planned("accounts", plan=plan), "plan_step_missed").sentence == (
        "lead planned 2 steps for accounts and never took them; its answer does not say so."
    )


@pytest.mark.parametrize(
    "log",
    [
        planned("accounts", "equipment", "facilities"),
        planned("accounts", "equipment", told="The badge is not ready yet."),
        planned("accounts", "equipment", told="Account and laptop; facilities comes tomorrow."),
        planned("accounts", "equipment", plan=PLAN[:2]),
        planned("accounts", "equipment", plan=[*PLAN[:2], {"worker": "Ana", "task": "Call her"}]),
        planned("accounts", "equipment", plan=[{"date": "2026-11-30"}, {"date": "2026-12-01"}]),
        planned("accounts", "equipment", plan="accounts, equipment, facilities"),
        planned(),
    ],
    ids=[
        "all taken", "says it is not all", "names it", "shorter plan", "unknown worker", "no plan",
        "a text", "nobody was asked",
    ],
)  # fmt: skip
def test_r75_a_plan_that_was_kept_or_owned_up_to_is_no_fault(log):  # R75
    assert codes(log) == []


def test_r75_a_step_that_was_refused_or_denied_was_not_forgotten():
    log = Log(flow=STAFF).user("Ms Lund starts on Monday")
    lead = log.root("lead")
    plan = [*PLAN[:2], {"worker": "send_email", "task": "Write to her"}]
    log.step(lead).tool(lead, "plan.check", json.dumps(plan)).step(lead)
    for worker in ("accounts", "equipment"):
        log.close(log.call(lead, worker))
    log.step(lead).deny(lead, "send_email", "approval").step(lead)
    log.close(lead, values={"text": "All is ready."}).end()

    assert "plan_step_missed" not in codes(log)


def test_r75_the_last_plan_is_the_one_that_counts():
    log = Log(flow=STAFF).user("Ms Lund starts on Monday")
    lead = log.root("lead")
    log.step(lead).tool(lead, "plan.check", json.dumps(PLAN)).step(lead)
    log.tool(lead, "plan.check", json.dumps(PLAN[:2])).step(lead)
    for worker in ("accounts", "equipment"):
        log.close(log.call(lead, worker))
    log.step(lead).close(lead, values={"text": "All is ready."}).end()

    assert codes(log) == []


def test_r75_without_bodies_nobody_is_accused():
    assert findings(planned("accounts", "equipment").events) == ()
