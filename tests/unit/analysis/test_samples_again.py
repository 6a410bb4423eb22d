"""Whatever is recorded and run again unchanged compares as the same, to the token."""

import pytest

from handoff_console.runtime import EventList, Origin
from handoff_console.runtime import Recording as Recorded
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.pace import paced
from handoff_console.sample_runs.recording import DIGEST_KEY, SampleSession, record
from handoff_console.store.analysis.diff import compare
from handoff_console.store.analysis.findings import judgement
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.lineage import attempts


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_every_handoff_of_a_sample_verified_compares_as_the_same(recording: SampleSession):
    first = record(recording)
    chosen = sample(recording.flow)
    flow = paced(recording.variant() if recording.variant else chosen.recorded_flow, speed=1)
    original = Record(first.events, first.body)
    opened = [e.handoff_id for e in first.events if e.kind == "handoff_opened" and e.handoff_id]
    for handoff_id in opened:
        sink = EventList(DIGEST_KEY)
        sink.bodies = dict(first.bodies)
        recorded = Recorded(recording.session_id, first.events, first.body)
        options = {"sink": sink, "clock": VirtualClock(), "origin": Origin()}
        run_virtual(rerun(flow, recorded, handoff_id, mode=Mode.VERIFY, **options))
        again = Record(sink.events, sink.body)

        found = compare(original, again)

        assert found.is_same, (handoff_id, found.first_pair)
        assert found.left.tokens_used == found.right.tokens_used
        assert (found.right.ran, found.right.spent_tokens) == (0, 0)
        *_, attempt = attempts(original, [again], handoff_id)
        assert (attempt.mode, attempt.saved_tokens) == ("verify", found.left.tokens_used)
        assert attempt.result == attempts(original, [], handoff_id)[-1].result


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_no_rule_asks_for_a_task_so_that_a_line_in_the_inbox_is_written_without(recording):
    sink = record(recording)

    whole = judgement(sink.events, sink.body)
    lean = judgement(sink.events, sink.body, tasks=False)

    assert (lean.findings, lean.verdict) == (whole.findings, whole.verdict)
