"""Payloads written and read back; what a newer program wrote is kept."""

import dataclasses
import json

import pytest

from handoff_console.runtime.contract import EndedBy, HandoffKind, Status
from handoff_console.runtime.errors import EventError
from handoff_console.runtime.events import (
    KINDS,
    BudgetCharged,
    EventList,
    ForkJoined,
    HandoffClosed,
    HandoffRejected,
    HandoffRequested,
    Opaque,
    SessionStarted,
    load_payload,
    payload_fields,
    payload_text,
)

CLOSED = HandoffClosed(
    target="billing",
    ended_by=EndedBy.ANSWERED,
    status=Status.OK,
    inputs_hash="0" * 32,
    steps_used=2,
    tokens_used=130,
    duration_seconds=1.5,
)


def test_only_what_differs_from_its_default_is_written():
    assert json.loads(payload_text(CLOSED)) == {
        "target": "billing",
        "ended_by": "answered",
        "status": "ok",
        "inputs_hash": "0" * 32,
        "steps_used": 2,
        "tokens_used": 130,
        "duration_seconds": 1.5,
    }


@pytest.mark.parametrize(
    "payload",
    [
        CLOSED,
        HandoffRequested(
            source="user", target="a", via=HandoffKind.CALL, reason="", request="1" * 32, index=2
        ),
        HandoffRejected(target="a", rule="target", reason="no", choices=("b", "c")),
        ForkJoined(fork_id="f1", handoff_ids=("h2", "h3"), statuses=("ok", "error")),
        BudgetCharged(tokens=5, estimated=True, free=-1, open=0, spent=6),
        SessionStarted(flow="f", flow_digest="2" * 32, models={"a": "rules"}, metadata={"k": "v"}),
    ],
    ids=lambda payload: payload.kind,
)
def test_a_payload_comes_back_as_it_was_written(payload):
    fields = json.loads(payload_text(payload))

    assert load_payload(payload.kind, payload.version, fields) == payload


@pytest.mark.parametrize(("kind", "version"), [("handoff_delegated", 1), ("handoff_closed", 99)])
def test_what_a_newer_program_wrote_is_kept_as_it_came(kind, version):
    fields = {"target": "billing", "mood": "good"}

    loaded = load_payload(kind, version, fields)

    assert (loaded.kind, loaded.version, payload_fields(loaded)) == (kind, version, fields)
    assert loaded == Opaque(kind, version, fields)
    assert loaded != Opaque(kind, version, {})
    assert payload_text(loaded) == '{"mood":"good","target":"billing"}'


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "An event 'budget_refunded' cannot be read: tokens: Field required."),
        (
            {"tokens": "many", "free": 0, "open": 0, "spent": 0},
            "An event 'budget_refunded' cannot be read: tokens: Input should be a valid integer, "
            "unable to parse string as an integer.",
        ),
    ],
)
def test_a_payload_that_does_not_fit_its_kind_names_the_field(fields, sentence):
    with pytest.raises(EventError) as refused:
        load_payload("budget_refunded", 1, fields)

    assert str(refused.value) == sentence


def test_a_payload_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        CLOSED.target = "support"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_is_in_the_past_tense_and_has_a_version(kind):
    past = ("ed", "opened", "stopped", "given", "set", "late", "overdrawn")

    assert kind.endswith(past)
    assert KINDS[kind].version == 1


def test_fields_know_whether_they_name_bodies_or_hold_text():
    assert HandoffClosed.digests == ("result", "inputs_hash", "quarantined")
    assert HandoffClosed.free_text == ("notes",)
    assert SessionStarted.free_text == ("metadata",)


def test_a_list_in_memory_knows_what_a_killed_process_would_have_left():
    sink = EventList()
    sink.keep("d1", b'{"a":1}', "s1")
    sink.keep("d1", b"other", "s1")

    assert sink.body("d1") == {"a": 1}
    assert sink.committed == 0
