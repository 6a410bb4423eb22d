"""Every recorded sample, verified, or killed anywhere and resumed, comes out the same."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from handoff_console import sample_runs
from handoff_console.console.commands.recorded_flows import flow_for
from handoff_console.runtime import EventList
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.runtime.taping import read_tape
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.store import reader
from handoff_console.store.db import open_store
from handoff_console.store.exchange.jsonl_import import import_sessions
from handoff_console.store.recordings import recording_of

RECORDED = Path(sample_runs.__file__).parent / "recorded"
KILLING = Path(__file__).parents[1] / "support" / "killing.py"
EVERY = 10
"""Of the moments of a session, every so manieth is one to die at; `make crash` takes all."""


@pytest.fixture(scope="module")
def db(tmp_path_factory) -> Iterator:
    """A store with a key of its own, into which every recorded sample was imported."""
    path = tmp_path_factory.mktemp("samples") / "imported.db"
    with closing(open_store(path, create=True)) as db:
        for recording in RECORDINGS:
            with (RECORDED / f"{recording.name}.jsonl").open("rb") as file:
                import_sessions(db, file, source=recording.name)
        yield db


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_every_handoff_verifies_without_asking_anybody(db, recording):
    so_far = recording_of(db, recording.session_id)
    before = reader.load_events(db, recording.session_id)
    flow = flow_for(so_far).flow
    opened = [e.handoff_id for e in so_far.events if e.kind == "handoff_opened"]

    for handoff_id in opened:
        sink = EventList(reader.digest_key(db))
        alone = recording_of(db, recording.session_id, handoff_id)
        came = asyncio.run(rerun(flow, alone, handoff_id, sink=sink))
        assert came.same_result, handoff_id
        assert (came.live_model_calls, came.live_tool_calls) == (0, 0)
        assert came.first_divergence is None
    assert opened
    assert reader.load_events(db, recording.session_id) == before


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_every_session_continues_unchanged_without_asking_anybody(db, recording):
    so_far = recording_of(db, recording.session_id)
    sink = EventList(reader.digest_key(db))

    came = asyncio.run(rerun(flow_for(so_far).flow, so_far, "h1", mode=Mode.CONTINUE, sink=sink))

    assert (came.live_model_calls, came.live_tool_calls) == (0, 0)
    assert came.same_result


# R30
@pytest.fixture(scope="module")
def killed() -> dict[str, dict[str, int]]:
    """Kill each sample at many of its moments, and go on from what was left."""
    done = subprocess.run(
        [sys.executable, str(KILLING), "--every", str(EVERY), "--jobs", "1"],
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *each, total = map(json.loads, done.stdout.splitlines())
    return {**{one["sample"]: one for one in each}, "": total}


@pytest.mark.parametrize("name", [recording.name for recording in RECORDINGS])
def test_killed_at_any_moment_it_goes_on_to_the_same_end(killed, name):
    found = killed[name]

    wrong = ("events_lost", "effects_lost", "effects_twice", "other_results", "asked_twice")
    wrong += ("unfinished",)
    assert {key: found[key] for key in wrong} == dict.fromkeys(wrong, 0)
    assert found["moments"] >= 3


def test_enough_processes_died(killed):
    assert killed[""]["samples"] == len(RECORDINGS)
    assert killed[""]["deaths"] >= 50


def test_an_answer_is_found_by_its_question_as_if_all_were_looked_through(db):
    tapes = [read_tape(recording_of(db, session)) for session in reader.session_ids(db)]

    for tape in tapes:
        for request in {known.request for known in tape.handoffs.values()}:
            places = [place for place, known in tape.handoffs.items() if known.request == request]
            assert tape.places_by_request[request] == places
        for (path, attempt, *_), result in tape.results.items():
            asked = (path, attempt, result.message.get("name"), result.arguments)
            assert tape.first_results[asked] is next(
                one
                for (at, number, *_), one in tape.results.items()
                if (at, number, one.message.get("name"), one.arguments) == asked
            )
    assert sum(len(tape.results) for tape in tapes) > 50
