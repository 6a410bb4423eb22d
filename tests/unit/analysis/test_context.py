"""What an agent saw, message by message, and what went along with a transfer."""

from support.logs import Log

from handoff_console.runtime.events import EventList, context_chain
from handoff_console.store.analysis.context import (
    Fate,
    contexts,
    model_calls,
    packet_change,
)


def two_steps() -> tuple[Log, str]:
    log = Log().user("Help")
    triage = log.root("triage")
    log.step(triage, says="first answer").step(triage, says="second answer")
    return log, triage


def test_a_model_read_all_messages_along_the_chain_oldest_first():
    log, triage = two_steps()
    first, second = contexts(log.events, triage, log.body)

    assert [m.content for m in first.messages] == ["triage reads 1"]
    assert [m.content for m in second.messages] == ["triage reads 1", "triage reads 2"]
    assert (second.step, second.model, second.is_whole) == (2, "scripted", True)
    assert second.reply is not None
    assert (second.reply.role, second.reply.content) == ("assistant", "second answer")


def test_what_is_new_since_the_previous_call_is_marked():
    log, triage = two_steps()
    first, second = contexts(log.events, triage, log.body)

    assert [m.is_new for m in first.messages] == [True]
    assert [m.is_new for m in second.messages] == [False, True]


def test_contexts_are_given_as_they_were_at_an_event():
    log, triage = two_steps()
    called = model_calls(log.events, triage)[0]

    (first,) = contexts(log.events, triage, log.body, until_seq=called.seq)
    assert first.reply is None
    assert model_calls(log.events, triage, until_seq=1) == ()
    assert contexts(log.events, "h99", log.body) == ()


def test_a_message_that_is_gone_is_marked_not_guessed():
    log, triage = two_steps()
    name = contexts(log.events, triage, log.body)[1].messages[1].digest
    del log.sink.bodies[name]

    gone = contexts(log.events, triage, log.body)[1].messages[1]
    assert (gone.is_gone, gone.role, gone.content) == (True, "", "")


def test_a_chain_that_breaks_says_that_it_is_not_whole():
    log, triage = two_steps()
    context = model_calls(log.events, triage)[0].payload.context
    del log.sink.bodies[context]

    second = contexts(log.events, triage, log.body)[1]
    assert not second.is_whole
    assert [m.content for m in second.messages] == ["triage reads 2"]


def test_a_chain_that_leads_back_into_itself_ends():
    sink = EventList()
    sink.bodies["a"] = b'{"previous": "b", "messages": ["m1"]}'
    sink.bodies["b"] = b'{"previous": "a", "messages": ["m2", 7]}'

    assert context_chain("a", sink.body) == (("m2", "m1"), False)


def test_a_chain_of_ten_thousand_steps_needs_no_recursion():
    bodies: dict[str, object] = {"0": {"previous": None, "messages": ["m0"]}}
    for n in range(1, 10_000):
        bodies[str(n)] = {"previous": str(n - 1), "messages": [f"m{n}"]}

    digests, is_whole = context_chain("9999", bodies.__getitem__)
    assert is_whole
    assert digests[:2] == ("m0", "m1")
    assert len(digests) == 10_000


def test_a_packet_shows_what_was_kept_changed_dropped_and_added():
    log = Log().user("Help")
    triage = log.root("triage")
    billing = log.transfer(
        triage, "billing", packet={"facts": {"order": 1, "serial": "X", "card": 9}}
    )
    log.transfer(
        billing, "refunds", packet={"facts": {"order": 1, "serial": "Y", "reason": "late"}}
    )
    opened = next(e for e in log.events if e.kind == "handoff_opened" and e.handoff_id == "h3")
    assert opened.payload.continues == "h2"

    change = packet_change(log.events, "h3", log.body)
    assert change is not None
    assert [(f.name, f.fate, f.before, f.after) for f in change.facts] == [
        ("card", Fate.DROPPED, 9, None),
        ("order", Fate.KEPT, 1, 1),
        ("reason", Fate.ADDED, None, "late"),
        ("serial", Fate.CHANGED, "X", "Y"),
    ]


def test_facts_that_stayed_behind_on_purpose_are_told_from_dropped_ones():
    log = Log().user("Help")
    log.transfer(
        log.root("triage"), "billing", packet={"facts": {"order": 1}}, withheld=("card_number",)
    )

    change = packet_change(log.events, "h2", log.body)
    assert change is not None
    assert [(f.name, f.fate) for f in change.facts] == [
        ("card_number", Fate.WITHHELD),
        ("order", Fate.ADDED),
    ]


def test_what_only_the_sender_says_is_told_from_facts():
    log = Log().user("Help")
    packet = {"facts": {"order": 1}, "claimed": {"order": 1, "amount": 20}}
    log.transfer(log.root("triage"), "billing", packet=packet)

    change = packet_change(log.events, "h2", log.body)
    assert change is not None
    assert [(f.name, f.is_claimed) for f in change.facts] == [("amount", True), ("order", False)]


def test_a_call_has_no_packet():
    log = Log().user("Help")
    log.call(log.root("supervisor"), "billing")

    assert packet_change(log.events, "h2", log.body) is None
    assert packet_change(log.events, "h99", log.body) is None
