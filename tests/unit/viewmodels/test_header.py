"""The top of a session's page: what was asked, how it ended, why, and what it took."""

from support.logs import Log

from handoff_console.console.viewmodels.header import SessionHeader, session_header
from handoff_console.runtime.contract import State
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.findings import judgement


def header_of(log: Log, **options: object) -> SessionHeader:
    return session_header(
        log.events, judgement(log.events, log.body), ledgers(log.events), **options
    )


def failed() -> Log:
    log = Log(pool_tokens=20_000).user("Why was I charged twice?\nSince May.")
    triage = log.root("triage")
    log.step(triage, tokens=200)
    supervisor = log.transfer(triage, "supervisor", grant=9_000)
    billing = log.call(supervisor, "billing")
    log.call(supervisor, "fraud", refused="target")
    log.step(billing, tokens=300).close(billing, "limit_reached", reason="steps")
    return log.close(supervisor, values={"text": "Charged once."}).end()


def test_the_verdict_and_its_evidence_come_with_the_handoff_to_look_at():
    log = failed()
    header = header_of(log, body=log.body)

    assert header.verdict.startswith("billing hit its step limit after 1 of 6 steps")
    assert (header.severity, header.problem_handoff_id) == ("error", "h3")
    assert header.advice != ""
    assert len(header.chips) == 2
    assert {chip.seq for chip in header.chips} <= {event.seq for event in log.events}
    assert header.other_findings == 1


def test_the_request_stands_on_one_line_and_in_full():
    log = failed()

    assert header_of(log, body=log.body).request == "Why was I charged twice? Since May."
    assert header_of(log, body=log.body).request_in_full == "Why was I charged twice?\nSince May."
    assert header_of(log).request == "Why was I charged twice? Since May."


def test_it_says_what_the_session_took():
    header = header_of(failed())

    assert header.used_share == 0.025
    assert header.pool == "500 of 20,000 tokens"
    assert header.counts == "1 transfer · 1 call · 1 refused"
    assert header.duration == "2.6 s"
    assert header.started == "2026-01-05 09:00:00 UTC"
    assert (header.flow, header.is_over) == ("support", True)


def test_one_agent_alone_made_no_handoff():
    log = Log().user("Hello")
    log.close(log.root("triage")).end()

    assert header_of(log).counts == "no handoff"
    assert header_of(log).chips == ()
    assert (header_of(log).advice, header_of(log).next_step) == ("", "")


def test_a_session_that_only_began_has_a_header_too():
    header = header_of(Log())

    assert (header.request, header.pool, header.outcome, header.is_over) == (
        "",
        "no pool",
        "running",
        False,
    )
    assert session_header([], judgement([]), ()).session_id == ""


def test_somebody_who_knows_that_the_process_is_gone_is_believed():
    log = Log().user("Hello")
    log.root("triage")

    header = header_of(log, outcome=State.INTERRUPTED)
    assert (header.outcome, header.is_over) == ("interrupted", True)
    assert header.next_step == f"To go on where it stopped: handoff resume {header.session_id}"


def test_a_session_that_nobody_decided_for_in_time_says_how_it_goes_on():
    log = Log().user("Hello")
    log.ask_user(log.root("triage"), "Which order?")

    late = judgement(log.events, log.body, too_late=True)
    header = session_header(log.events, late, ledgers(log.events))
    assert header.verdict == (
        "Nobody decided in time, which is a no; the session can go on with it."
    )
    assert header.next_step == "Press “Go on” below: the agent is told so."


def test_a_waiting_session_says_how_it_goes_on():
    log = Log().user("Hello")
    log.ask_user(log.root("triage"), "Which order?")

    assert header_of(log).next_step == "Settle it below, and the session goes on."
