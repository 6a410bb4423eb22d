"""The recorded sessions: the same each time, and each shows what it is there to show."""

import pytest

from handoff_console.runtime.contract import State
from handoff_console.runtime.events import EventList, payload_fields
from handoff_console.sample_runs import NAMES
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import SampleSession, record
from handoff_console.store.analysis.findings import Judgement, judgement

FAILED = ("error", "limit_reached")


@pytest.fixture(scope="module")
def recorded() -> dict[str, EventList]:
    return {recording.name: record(recording) for recording in RECORDINGS}


def judged(sink: EventList) -> Judgement:
    return judgement(sink.events, sink.body)


def named(recordings):
    return pytest.mark.parametrize("recording", recordings, ids=[r.name for r in recordings])


def test_the_day_has_every_flow_and_is_neither_empty_nor_endless():
    assert {recording.flow for recording in RECORDINGS} == set(NAMES)
    assert 30 <= len(RECORDINGS) <= 45
    assert len({recording.name for recording in RECORDINGS}) == len(RECORDINGS)
    assert list(RECORDINGS) == sorted(RECORDINGS, key=lambda recording: recording.at)


def test_ids_sort_by_time_and_tell_the_time():
    ids = [recording.session_id for recording in RECORDINGS]

    assert ids == sorted(set(ids))
    assert ids[0].startswith("20261119-100200-")


@named(RECORDINGS)
def test_recording_again_gives_the_same_events_and_bodies(recording: SampleSession, recorded):
    again = record(recording)

    assert again.events == recorded[recording.name].events
    assert again.bodies == recorded[recording.name].bodies


@named([recording for recording in RECORDINGS if not recording.finding])
def test_a_session_without_a_fault_has_no_finding_that_says_otherwise(recording, recorded):
    found = judged(recorded[recording.name])

    assert [f.code for f in found.findings if f.severity != "info"] == []
    assert found.tree.outcome not in FAILED


@named([recording for recording in RECORDINGS if recording.finding])
def test_a_session_with_a_fault_is_judged_by_it(recording, recorded):
    found = judged(recorded[recording.name])

    assert found.findings[0].code == recording.finding
    assert found.verdict.sentence == found.findings[0].sentence


def test_each_of_the_first_findings_has_its_session():
    assert {recording.finding for recording in RECORDINGS} - {""} == {
        "limit_as_answer",
        "limit_reached",
        "output_rejected_twice",
        "ping_pong",
        "plan_step_missed",
        "retry_of_not_found",
        "starved_pool",
        "tool_denied",
    }


def test_a_few_sessions_failed_and_the_last_of_them_leads_to_a_denied_tool(recorded):
    failed = [
        recording
        for recording in RECORDINGS
        if judged(recorded[recording.name]).tree.outcome in FAILED
    ]

    assert [recording.name for recording in failed] == [
        "statement-half-a-year",
        "warranty-cracked-lamp",
        "tickets-asap",
        "disclosure-copy",
    ]
    verdict = judged(recorded["disclosure-copy"]).verdict
    assert verdict.agent == "collector"
    assert verdict.sentence == (
        "collector called the tool payments.list_methods 2 times, which it may not use here."
    )


@named(RECORDINGS)
def test_a_recording_names_no_machine(recording, recorded):
    started = payload_fields(recorded[recording.name].events[0].payload)

    assert started["origin"] == "sample"
    assert started["host"] == "sample"
    assert not {"boot", "pid", "process_started", "python_version", "packages"} & started.keys()
    assert started["metadata"] == {"sample": recording.name}


@named([recording for recording in RECORDINGS if not recording.flow.startswith("research")])
def test_a_recording_took_as_long_as_language_models_would(recording, recorded):
    seconds = recorded[recording.name].events[-1].elapsed_seconds

    assert 0.4 <= seconds <= 30


def test_two_sessions_of_the_demo_wait_for_a_person(recorded):
    waiting = [
        recording.name
        for recording in RECORDINGS
        if judged(recorded[recording.name]).tree.outcome is State.WAITING
    ]

    assert waiting == ["helpdesk-a-person", "letters-waiting"]
