"""At every event of every recorded sample the tree says what the events up to there say."""

import pytest
from support.stepped import outcomes_at

from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import record
from handoff_console.store.analysis.tree import handoff_tree


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_every_handoff_is_at_every_event_what_the_events_so_far_say(recording):
    events = record(recording).events

    for seq in range(len(events) + 1):
        shown = {
            node.handoff_id: str(node.outcome) for node in handoff_tree(events, until_seq=seq).nodes
        }
        assert shown == outcomes_at(events, seq), f"event {seq}"
