"""What leaves the runtime: numbered, timed, redacted."""

from dataclasses import dataclass

import pytest
from support.sessions import play

from handoff_console.runtime import Agent, Flow, say
from handoff_console.runtime.canonical import digest
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.events import EventList, HandoffRejected, WarningRaised
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.redaction import Redaction


@dataclass
class Customer:
    name: str
    card_number: str


@pytest.fixture
def sink() -> EventList:
    return EventList(b"key")


def record(sink: EventList, work) -> None:
    async def session() -> None:
        work(Recorder(sink, "s1", VirtualClock(), Redaction()))

    run_virtual(session())


def test_events_are_numbered_from_one_without_a_gap(sink):
    def work(recorder):
        for number in range(3):
            recorder.emit(Scope(turn=1), WarningRaised(code="usage_estimated", text=str(number)))

    record(sink, work)

    assert [event.seq for event in sink.events] == [1, 2, 3]
    assert {event.session_id for event in sink.events} == {"s1"}


def test_the_same_body_is_kept_once(sink):
    record(sink, lambda recorder: [recorder.keep({"a": 1}), recorder.keep({"a": 1})])

    assert list(sink.bodies.values()) == [b'{"a":1}']


def test_a_body_is_named_by_the_keyed_digest_of_what_is_written(sink):
    kept = []
    record(sink, lambda recorder: kept.append(recorder.keep({"card_number": "4111"})))

    body = b'{"card_number":"[redacted: card_number]"}'
    assert sink.bodies == {digest(body, b"key"): body}
    assert kept[0].digest == digest(body, b"key")


def test_a_size_is_that_of_what_is_written_so_that_estimates_stay_the_same(sink):
    kept = []
    record(sink, lambda recorder: kept.append(recorder.keep({"card_number": "4111"})))

    assert kept[0].size_bytes == len(b'{"card_number":"[redacted: card_number]"}')


def test_what_is_sensitive_inside_a_value_of_ones_own_type_is_not_written(sink):  # R63
    record(sink, lambda recorder: recorder.keep({"customer": Customer("Ada", "4812-9")}))

    assert list(sink.bodies.values()) == [
        b'{"customer":{"card_number":"[redacted: card_number]","name":"Ada"}}'
    ]


def test_a_hash_of_sensitive_inputs_does_not_depend_on_their_values(sink):
    hashes = []

    def work(recorder):
        hashes.append(recorder.hash_of({"iban": "DE89", "id": 1}))
        hashes.append(recorder.hash_of({"iban": "DE90", "id": 1}))
        hashes.append(recorder.hash_of({"iban": "DE90", "id": 2}))

    record(sink, work)

    assert hashes[0] == hashes[1] != hashes[2]


def test_free_text_of_an_event_is_redacted_and_the_rest_of_it_stays(sink):
    rejected = HandoffRejected(
        target="billing", rule="request", reason="token: abcdef", choices=("billing",)
    )
    record(sink, lambda recorder: recorder.emit(Scope(), rejected))

    (event,) = sink.events
    assert event.payload == HandoffRejected(
        target="billing", rule="request", reason="token: [redacted: token]", choices=("billing",)
    )


@pytest.mark.parametrize("length", range(176, 200, 3))
def test_a_preview_cuts_no_secret_in_half(length):  # R63
    message = "x" * length + " 4111 1111 1111 1111"

    played = play(Flow("one", agents=[Agent("solo", model=lambda call: say("ok"))]), message)

    preview = played.one("user_message_received").preview
    assert preview == ("x" * length + " [redacted: card number]")[:200]
