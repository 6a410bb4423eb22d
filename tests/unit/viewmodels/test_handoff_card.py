"""The card of a handoff: request, gate, result, and what its agent saw."""

from contextlib import closing

import pytest
from support.logs import Log

from handoff_console.console.viewmodels.handoff_card import CARD_KINDS, HandoffCard, handoff_card
from handoff_console.console.viewmodels.seen import GONE, context_view
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import ApprovalDecided, ApprovalRequested
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store import reader
from handoff_console.store.analysis.findings import judgement
from handoff_console.store.db import open_reader


def card_of(log: Log, handoff_id: str) -> HandoffCard:
    judged = judgement(log.events, log.body)
    node = judged.tree.by_id[handoff_id]
    return handoff_card(node, log.events, body=log.body, findings=judged.findings)


def called() -> Log:
    log = Log().user("Why was I charged twice?")
    supervisor = log.root("supervisor")
    billing = log.call(
        supervisor, "billing", task="Find the invoices", inputs={"customer": "4812"}, reason="money"
    )
    log.step(billing, tokens=300)
    return log.close(billing, values={"text": "Two invoices.", "n": 2}, notes="done")


def test_the_request_says_who_asked_for_what_with_which_limits():
    request = card_of(called(), "h2").request

    assert request.route == "supervisor calls billing"
    assert (request.task, request.reason) == ("Find the invoices", "money")
    assert request.inputs == '{\n  "customer": "4812"\n}'
    assert {line.name: line.value for line in request.lines} == {
        "allowed tools": "none",
        "limits": "6 steps · 2,000 tokens · 30.0 s",
        "answers with": "Text",
        "context": "packet",
        "path": "t1/1.0",
    }
    assert (request.origin, request.refusal) == ("", "")


def test_the_users_own_request_passes_no_gate():
    card = card_of(called(), "h1")

    assert card.request.route == "user asks supervisor"
    assert card.gate.checks == ()
    assert card.gate.passed is True


def test_a_gate_that_let_it_through_shows_every_check():
    gate = card_of(called(), "h2").gate

    assert gate.sentence == "Let through with 2,000 tokens reserved."
    assert [(check.name, check.passed) for check in gate.checks] == [
        ("allowed target", True),
        ("depth", True),
        ("no loop", True),
        ("count of calls", True),
        ("valid request", True),
        ("pool", True),
    ]
    assert gate.checks[-1].says == "2,000 tokens reserved, 18,000 free after it"


@pytest.mark.parametrize(
    ("rule", "passed"),
    [
        ("target", [False, None, None, None, None, None]),
        ("depth", [True, False, None, None, None, None]),
        ("pool", [True, True, True, True, True, False]),
        ("trust", [True, True, True, True, True, False, None]),
        ("some_new_rule", [True, False, None, None, None, None, None]),
    ],
)
def test_a_gate_that_refused_shows_where_it_stopped(rule, passed):
    log = Log().user("Help")
    log.call(log.root("triage"), "fraud", refused=rule, choices=("billing",))
    gate = card_of(log, "h2").gate

    assert gate.passed is False
    assert [check.passed for check in gate.checks] == passed
    assert gate.choices == ("billing",)
    assert card_of(log, "h2").result.sentence == "It never began: the gate refused it."
    assert card_of(log, "h2").result.lines == ()


def wanted(log: Log, approval_id: str, tool: str) -> ApprovalRequested:
    return ApprovalRequested(
        approval_id=approval_id,
        step=1,
        index=0,
        tool=tool,
        effect=Effect.EXTERNAL,
        shown=log.keep({}),
        expires_seconds=60.0,
    )


def test_an_approval_is_a_check_of_its_own():
    log = Log().user("Refund me")
    root = log.root("refunds")
    for approval, tool in (("a1", "refund"), ("a2", "mail")):
        log.emit(root, wanted(log, approval, tool))
    log.emit(
        root,
        ApprovalDecided(approval_id="a1", approved=False, decided_by="Ada", proposed=log.keep({})),
    )
    transfer = log.transfer(root, "mailer")
    log.emit(transfer, wanted(log, "a3", "mail"))

    checks = card_of(log, "h2").gate.checks
    assert (checks[-1].name, checks[-1].passed, checks[-1].says) == (
        "approval",
        None,
        "mail waits for a person",
    )


def test_the_result_has_the_answer_the_data_and_what_it_took():
    result = card_of(called(), "h2").result

    assert (result.outcome, result.sentence) == ("ok", "billing answered.")
    assert (result.answer, result.notes) == ("Two invoices.", "done")
    assert '"n": 2' in result.data
    lines = {line.name: line.value for line in result.lines}
    assert (lines["steps"], lines["tokens"]) == ("1 of 6", "300 of 2,000 reserved")
    assert lines["schema check"] == "fits Text"


def test_an_answer_that_is_only_text_is_shown_once():
    log = Log().user("Help")
    log.close(log.root("triage"), values={"text": "Hello."})
    result = card_of(log, "h1").result

    assert (result.answer, result.data) == ("Hello.", "")


def test_a_stop_says_that_what_is_there_is_incomplete():
    log = Log().user("Help")
    log.close(log.root("billing"), "limit_reached", reason="tokens", values={"gathered": [1]})
    card = card_of(log, "h1")

    assert card.result.sentence == (
        "billing was stopped by its token limit; what is here is incomplete."
    )
    assert [finding.code for finding in card.problems] == ["limit_reached"]


def test_rejected_answers_are_told_one_by_one():
    log = Log().user("Help")
    root = log.root("billing")
    log.step(root).reject_output(root, "status is missing")
    log.step(root).reject_output(root, "status is 'fine'", final=True).close(root, "error")
    result = card_of(log, "h1").result

    assert [answer.problem for answer in result.rejected] == [
        "status is missing",
        "status is 'fine'",
    ]
    assert [answer.text for answer in result.rejected] == ["not json", "not json"]
    assert {line.name: line.value for line in result.lines}["schema check"] == (
        "no answer fitted Text, twice"
    )


def test_a_transfer_says_who_answers_instead():
    log = Log().user("Help")
    log.transfer(log.root("triage"), "billing")

    assert card_of(log, "h1").result.sentence == (
        "triage passed control on to h2, which answers instead."
    )
    assert card_of(log, "h2").request.route == "triage hands off to billing"
    assert card_of(log, "h2").result.sentence == (
        "billing has not finished; nothing came back yet."
    )


def test_words_that_are_gone_are_said_to_be_gone():
    log = called()
    log.sink.bodies.clear()
    card = card_of(log, "h2")

    assert card.request.origin == "The request itself is not in this record."
    assert not card.result.is_whole
    assert card.request.task == "money"
    assert card.result.notes == "done"


def test_the_context_is_that_of_the_last_call_up_to_an_event():
    log = called()
    log.step("h1", says="first").step("h1", says="second")
    first_call = next(
        e.seq for e in log.events if e.kind == "model_called" and e.handoff_id == "h1"
    )

    now = context_view(log.events, "h1", log.body)
    assert [call.label for call in now.calls] == ["step 1 · 1 message", "step 2 · 2 messages"]
    assert now.sentence == "Step 2 read 2 messages, 1 of them new since its last call."
    assert [(m.who, m.is_new) for m in now.messages] == [("user", False), ("user", True)]
    assert now.reply is not None
    assert now.reply.text == "second"
    assert now.prompt == "You are supervisor."

    then = context_view(log.events, "h1", log.body, seq=first_call)
    assert (then.seq, then.reply, len(then.messages)) == (first_call, None, 1)


def test_an_agent_that_was_not_asked_yet_saw_nothing():
    log = Log().user("Help")
    log.root("triage")

    seen = context_view(log.events, "h1", log.body)
    assert (seen.sentence, seen.messages, seen.calls) == ("No model was asked yet.", (), ())
    assert context_view(log.events, "h99", log.body).prompt == ""


def test_messages_that_are_gone_are_counted():
    log = called()
    for name in list(log.sink.bodies):
        if b"reads" in log.sink.bodies[name]:
            del log.sink.bodies[name]

    seen = context_view(log.events, "h2", log.body)
    assert seen.messages[0].text == GONE
    assert "the words of 1 are not in this record any more" in seen.sentence


def test_a_long_context_shows_its_ends():
    log = Log().user("Help")
    root = log.root("triage")
    for _ in range(100):
        log.step(root)

    seen = context_view(log.events, "h1", log.body)
    assert (len(seen.messages), seen.left_out) == (60, 40)
    assert seen.messages[0].text == "triage reads 1"
    assert seen.messages[-1].text == "triage reads 100"


def test_a_packet_stands_with_the_context_of_its_receiver():
    log = Log().user("Help")
    log.transfer(
        log.root("triage"),
        "billing",
        packet={"goal": "Help", "summary": "one message", "facts": {"order": "7"}},
        withheld=("card_number",),
    )

    packet = context_view(log.events, "h2", log.body).packet
    assert packet is not None
    assert (packet.goal, packet.summary) == ("Help", "one message")
    assert [(fact.name, fact.fate, fact.after) for fact in packet.facts] == [
        ("card_number", "withheld", ""),
        ("order", "added", "7"),
    ]


def test_a_hostile_session_stays_text():
    hostile = "<script>alert(1)</script>\x1b[31m\u202e\x00" + "x" * 1_000_000
    log = Log().user(hostile)
    root = log.root(hostile)
    log.step(root, says=hostile).close(root, values={"text": hostile, "more": [hostile]})
    card = card_of(log, "h1")
    seen = context_view(log.events, "h1", log.body)

    assert len(card.agent) <= 40
    assert len(card.result.answer) < 21_000
    assert len(card.result.data) < 21_000
    assert seen.reply is not None
    assert len(seen.reply.text) < 7_000
    for text in (card.agent, card.task, card.result.answer, seen.reply.text):
        assert not {"\x1b", "\u202e", "\x00"} & set(text)


def test_the_events_that_a_card_reads_give_the_card_that_all_of_them_give(tmp_path):
    unpack(tmp_path / "samples.db")
    cards = 0
    with closing(open_reader(tmp_path / "samples.db")) as db:
        for session in reader.session_ids(db):
            events = reader.load_events(db, session)
            body = lambda digest: reader.body(db, digest)  # noqa: E731 - for this store
            judged = judgement(events, body)
            read = [event for event in events if event.kind in CARD_KINDS]
            for node in judged.tree.nodes:
                shown = {"body": body, "findings": judged.findings, "currency": "USD"}
                assert handoff_card(node, read, **shown) == handoff_card(node, events, **shown)
                cards += 1
    assert cards == 141
