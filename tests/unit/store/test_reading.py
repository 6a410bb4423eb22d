import pytest
from support import event_logs

from handoff_console.store import reader
from handoff_console.store.errors import SessionAmbiguous, SessionUnknown, StoreDamaged


@pytest.fixture
def recorded(sink):
    return event_logs.write(sink, "s-1", event_logs.charged_twice())


def test_a_range_of_events_can_be_read(recorded, reading):
    some = reader.load_events(reading, "s-1", after_seq=3, until_seq=6)

    assert some == recorded[3:6]


@pytest.mark.parametrize(
    ("last", "expected"), [(2, slice(-2, None)), (0, slice(0, 0)), (99, slice(None))]
)
def test_the_end_of_a_session_can_be_read(recorded, reading, last, expected):
    assert reader.load_events(reading, "s-1", last=last) == recorded[expected]


def test_events_of_some_kinds_can_be_read(recorded, reading):
    kinds = {"model_called", "model_replied"}

    assert reader.load_events(reading, "s-1", kinds=kinds) == [
        event for event in recorded if event.kind in kinds
    ]
    assert reader.load_events(reading, "s-1", kinds=()) == []


def test_events_of_one_handoff_can_be_read(recorded, reading):
    assert (
        reader.load_events(reading, "s-1", handoff_id="h2", last=3)
        == [event for event in recorded if event.handoff_id == "h2"][-3:]
    )


def test_the_last_event_is_told_without_reading_the_others(recorded, reading):
    assert reader.last_seq(reading, "s-1") == 19
    assert reader.last_seq(reading, "nobody") == 0


def test_a_session_is_closed_when_its_end_is_its_last_event(sink, reading):
    event_logs.write(sink, "s-1", event_logs.failed())
    event_logs.write(sink, "s-2", event_logs.at_work())

    assert [reader.is_closed(reading, name) for name in ("s-1", "s-2")] == [True, False]


@pytest.mark.parametrize(
    "ask", [reader.load_events, reader.session_key, reader.is_closed, reader.resolve_session]
)
def test_an_unknown_session_is_named(recorded, reading, ask):
    with pytest.raises(SessionUnknown) as raised:
        ask(reading, "nobody")

    assert str(raised.value) == (
        "There is no session 'nobody' in this store; `handoff list` shows those there are."
    )


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("20260105-090000-aaaa", "20260105-090000-aaaa"),
        ("20260105", "20260105-090000-aaaa"),
        ("aaaa", "20260105-090000-aaaa"),
        ("20260106-1", "20260106-100000-bbbb"),
        ("20260106", "20260106"),
    ],
)
def test_the_beginning_or_the_end_of_an_id_is_enough(sink, reading, asked, found):
    for name in ("20260105-090000-aaaa", "20260106-100000-bbbb", "20260106"):
        event_logs.write(sink, name, event_logs.failed())

    assert reader.resolve_session(reading, asked) == found


@pytest.mark.parametrize("asked", ["", "%", "_"])
def test_signs_of_a_pattern_are_no_pattern(recorded, reading, asked):
    with pytest.raises(SessionUnknown):
        reader.resolve_session(reading, asked)


def test_an_ambiguous_id_lists_up_to_five_candidates(sink, reading):
    for number in range(7):
        event_logs.write(sink, f"s-{number}", event_logs.failed())

    with pytest.raises(SessionAmbiguous) as raised:
        reader.resolve_session(reading, "s-")

    assert str(raised.value) == (
        "'s-' fits several sessions: s-0, s-1, s-2, s-3, s-4 and 2 more; give more of the id."
    )


def test_a_body_that_is_not_there_is_a_key_error(recorded, reading):
    with pytest.raises(KeyError):
        reader.body(reading, "0" * 32)
    with pytest.raises(KeyError):
        reader.body(reading, "no digest")
    assert reader.body_text(reading, "0" * 32) is None


def test_many_bodies_are_read_in_one_go_and_those_that_are_gone_are_left_out(recorded, reading):
    asked = [e.payload.request for e in recorded if e.kind == "handoff_requested"]
    digests = [digest for digest in asked if digest]

    found = reader.bodies(reading, [*digests, *digests, "0" * 32, "no digest"])

    assert found == {digest: reader.body(reading, digest) for digest in digests}
    assert reader.bodies(reading, []) == {}


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("payload", "{", "Event 2 of session 's-1' cannot be read"),
        (
            "payload",
            "{}",
            "An event 'user_message_received' cannot be read: message: Field required",
        ),
        ("request", 9, "Event 2 of session 's-1' belongs to request 9, which the session does not"),
    ],
)
def test_a_damaged_event_is_named(sink, reading, column, value, says):
    event_logs.write(sink, "s-1", event_logs.failed())
    sink.db.execute(f"update events set {column} = ? where seq = 2", (value,))

    with pytest.raises(StoreDamaged, match=says):
        reader.load_events(reading, "s-1")


def test_a_fresh_store_is_of_generation_zero_and_lost_nothing(db):
    assert (reader.generation(db), reader.last_deleted(db)) == (0, 0)
    assert list(reader.session_ids(db)) == []
