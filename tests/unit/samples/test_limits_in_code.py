"""Limits hold whatever a prompt says of them, in every sample."""

import pytest

from handoff_console.runtime import EventList, context
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import record


def endings(log: EventList) -> list[tuple[str, str, str, int]]:
    """How each handoff ended, whichever of several at once was the first."""
    return sorted(
        (
            str(event.handoff_id),
            event.payload.status,
            event.payload.reason,
            event.payload.steps_used,
        )
        for event in log.events
        if event.kind == "handoff_closed"
    )


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)  # R23
def test_without_the_sentence_about_limits_every_handoff_ends_as_with_it(recording, monkeypatch):
    told = endings(record(recording))

    monkeypatch.setattr(context, "limits_sentence", lambda limits: "")

    assert endings(record(recording)) == told


def test_the_sentence_about_limits_is_in_what_most_samples_send():
    sent = [
        any(b"Limits: " in body for body in record(recording).bodies.values())
        for recording in RECORDINGS
    ]

    assert sum(sent) > len(sent) / 2
