import pytest
from support import event_logs
from support.logs import Log

from handoff_console.runtime.events import InputGiven
from handoff_console.store.summary import as_imported, summarise
from handoff_console.store.words import CHARACTERS_INDEXED, match_expression, storable, words_of

DIGEST = "0" * 32


@pytest.mark.parametrize(
    ("make", "outcome", "severity"),
    [
        (event_logs.failed, "error", 0),
        (event_logs.at_its_limit, "limit_reached", 1),
        (event_logs.at_work, "running", 2),
        (event_logs.waiting, "waiting", 2),
        (event_logs.not_found, "not_found", 3),
        (event_logs.charged_twice, "ok", 4),
    ],
)
def test_an_outcome_has_its_place_in_the_inbox(make, outcome, severity):
    summary = summarise(make().events)

    assert (summary.outcome, summary.severity) == (outcome, severity)


def test_a_session_is_as_bad_as_the_worst_of_its_requests():
    log = event_logs.failed().user("And now?")
    root = log.root("triage")
    log.step(root).close(root, "ok").end("ok")
    summary = summarise(log.events)

    assert (summary.outcome, summary.severity, summary.turns) == ("ok", 0, 2)
    assert summary.preview == "Where is parcel 77?"
    assert summary.pool_tokens == 40_000


def test_a_retry_that_worked_leaves_nothing_of_the_first_try():
    log = Log().user("Hello")
    root = log.root("triage")
    log.close(root, "error")
    again = log.retry(root)
    log.step(again).close(again, "ok").end("ok")

    assert summarise(log.events).severity == 4


def test_an_answer_that_cannot_be_trusted_is_no_success():
    log = Log().user("List all invoices")
    root = log.root("supervisor")
    log.step(root)
    child = log.call(root, "invoices")
    log.step(child).close(child, "limit_reached", reason="steps")
    log.step(root, says="All are paid.")
    log.close(root, "ok", values={"text": "All are paid."}).end("ok")
    summary = summarise(log.events, log.body)

    assert "limit_as_answer" in [finding.code for finding in summary.findings]
    assert (summary.outcome, summary.severity) == ("ok", 2)


def test_a_session_that_is_not_closed_has_no_verdict_yet():
    summary = summarise(event_logs.at_work().events)

    assert (summary.verdict, summary.findings, summary.is_closed) == ("", (), False)
    assert (summary.problem_handoff_id, summary.agent_at_fault) == (None, None)


def test_a_session_goes_on_when_everything_it_waits_for_is_there():
    log = event_logs.waiting().ask_user("h1", "And from which day on?")
    states = [summarise(log.events).outcome]
    log.emit("h1", InputGiven(answer=DIGEST))
    states.append(summarise(log.events).outcome)
    log.emit("h1", InputGiven(answer=DIGEST))
    states.append(summarise(log.events).outcome)

    assert states == ["waiting", "waiting", "running"]


def test_a_new_turn_waits_for_nothing():
    log = event_logs.waiting().user("Never mind.")

    assert summarise(log.events).outcome == "running"


@pytest.mark.parametrize(("cancelled", "outcome"), [(True, "cancelled"), (False, "unknown")])
def test_an_end_without_a_result_says_why(cancelled, outcome):
    log = event_logs.at_work().end(None, cancelled=cancelled)
    summary = summarise(log.events)

    assert (summary.outcome, summary.severity, summary.is_closed) == (outcome, 2, True)


def test_what_came_from_a_file_and_is_not_closed_never_will_be():
    closed = as_imported(summarise(event_logs.failed().events))
    broken = as_imported(summarise(event_logs.at_work().events))

    assert (closed.origin, closed.outcome) == ("import", "error")
    assert (broken.origin, broken.outcome, broken.is_closed) == ("import", "incomplete", True)


def test_words_are_what_was_said_and_by_whom():
    log = event_logs.charged_twice()

    assert words_of(log.events, log.body) == (
        "Why was I charged twice last month?",
        "One of the two was a proration.",
        "triage billing",
        "checked",
    )


def test_bodies_that_are_gone_leave_the_words_of_the_events():
    log = event_logs.charged_twice()

    def gone(digest: str) -> None:
        raise KeyError(digest)

    assert words_of(log.events, gone) == ("", "", "triage billing", "checked")


def test_endless_text_is_indexed_up_to_a_limit():
    log = event_logs.failed("x" * (CHARACTERS_INDEXED + 5))

    assert len(words_of(log.events, log.body).message) == CHARACTERS_INDEXED


@pytest.mark.parametrize(
    ("text", "stored"),
    [("plain", "plain"), ("ä€", "ä€"), ("a\0b", "a\N{REPLACEMENT CHARACTER}b"), ("\ud800", "?")],
)
def test_only_what_sqlite_can_hold_is_stored(text, stored):
    assert storable(text) == stored


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("charged twice", '"charged" "twice"*'),
        ("ORD-9812", '"ORD-9812"*'),
        ('say "hi"', '"say" """hi"""*'),
        ("a AND (b*", '"a" "AND" "(b*"*'),
        (" ? ! ", ""),
        ("", ""),
        ("a\0b", '"a" "b"*'),
    ],
)
def test_what_a_person_types_is_no_query_language(typed, query):
    assert match_expression(typed) == query
