"""One handoff run again: verified, changed, continued; the original only read."""

import asyncio
from typing import Any

import pytest
from support.towns import Journal, Town

from handoff_console.runtime import Decision, EventList, Recording, RequestError, run, say
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import ReplayDiverged
from handoff_console.runtime.rerun import RerunResult, rerun
from handoff_console.runtime.rerun_player import Mode


class Again:
    """A recorded session of a town, and re-runs of it in a fresh town."""

    def __init__(self) -> None:
        self.first = Town()
        self.journal = Journal(self.first)
        self.result = asyncio.run(run(self.first.flow(), "Go.", sink=self.journal))
        self.before = list(self.journal.events)
        self.town = Town()
        self.sink = EventList()
        self.sink.bodies.update(self.journal.bodies)

    @property
    def recording(self) -> Recording:
        return Recording(self.result.session_id, self.before, self.journal.body)

    def run(self, handoff_id: str, mode: Mode, **options: Any) -> RerunResult:
        """Run one handoff again, in a town where nobody has been asked yet."""
        self.town = Town()
        self.sink = EventList()
        self.sink.bodies.update(self.journal.bodies)
        flow = self.town.flow()
        return asyncio.run(
            rerun(flow, self.recording, handoff_id, mode=mode, sink=self.sink, **options)
        )

    @property
    def rerun_recording(self) -> Recording:
        session_id = self.sink.events[0].session_id
        return Recording(session_id, list(self.sink.events), self.sink.body)

    def handoff(self, path: str) -> str:
        return next(
            e.handoff_id or "" for e in self.before if e.kind == "handoff_opened" and e.path == path
        )


@pytest.fixture(scope="module")
def again() -> Again:
    return Again()


PATHS = ["t1", "t1/1.0", "t1/1.1", "t1/1.2", "t1/1.2/1.0", "t1/1.2~1"]


@pytest.mark.parametrize("path", PATHS)
def test_verify_asks_nobody_and_gives_the_recorded_result_to_the_byte(again, path):
    came = again.run(again.handoff(path), Mode.VERIFY)

    assert came.same_result
    assert (came.live_model_calls, came.live_tool_calls) == (0, 0)
    assert (again.town.asked, again.town.looked, again.town.written) == (0, 0, [])
    assert came.first_divergence is None


@pytest.mark.parametrize("path", PATHS)
def test_a_rerun_keeps_the_law_of_the_pool_and_leaves_the_original_alone(again, path):
    for mode in (Mode.VERIFY, Mode.WHAT_IF, Mode.LIVE_READS):
        again.run(again.handoff(path), mode)
        total = 0
        for event in again.sink.events:
            if event.kind == "user_message_received":
                total = event.payload.pool_tokens
            if event.kind.startswith("budget_"):
                payload = event.payload
                assert payload.free + payload.open + payload.spent == total
        assert again.sink.events[-1].kind == "session_closed"
    assert again.journal.events == again.before


def test_what_if_asks_the_model_and_answers_its_tools_and_calls_as_recorded(again):
    came = again.run(again.handoff("t1/1.2"), Mode.WHAT_IF)

    assert came.live_model_calls == 4  # the middle twice, and the clerk it passes on to
    assert (again.town.looked, again.town.written) == (0, [])
    replayed = [
        e.path for e in again.sink.events if e.kind == "handoff_closed" and e.payload.replayed
    ]
    assert replayed == ["t1/1.2/1.0"]


def test_what_if_refuses_what_was_not_asked_before(again):
    came = again.run(again.handoff("t1/1.0"), Mode.WHAT_IF, edits=Edits(inputs={"name": "new"}))

    assert again.town.looked == 0
    (returned,) = (e.payload for e in again.sink.events if e.kind == "tool_returned")
    assert returned.error.startswith("no answer to this call is recorded")
    assert came.live_model_calls == 2


def test_live_reads_run_tools_that_read(again):
    again.run(again.handoff("t1/1.0"), Mode.LIVE_READS, edits=Edits(inputs={"name": "new"}))

    (returned,) = (e.payload for e in again.sink.events if e.kind == "tool_returned")
    assert again.town.looked == 1
    assert "new is here" in again.sink.body(returned.result)["content"]


def test_a_write_that_is_done_gives_its_original_result(again):
    came = again.run(again.handoff("t1/1.2~1"), Mode.LIVE)

    assert (again.town.written, came.session.waiting_for) == ([], ())
    (returned,) = (e.payload for e in again.sink.events if e.kind == "tool_returned")
    assert "noted 7" in again.sink.body(returned.result)["content"]


def test_an_armed_write_happens_again_after_a_fresh_approval(again):
    handoff_id = again.handoff("t1/1.2~1")
    edits = Edits(armed=("note",))
    came = again.run(handoff_id, Mode.LIVE, edits=edits)
    assert again.town.written == []
    (waiting,) = came.session.waiting_for
    assert waiting.tool == "note"

    yes = Decision(approval_id=waiting.approval_id, approved=True, shown=waiting.shown)
    again.run(handoff_id, Mode.LIVE, edits=edits, ask=lambda _: yes)

    assert again.town.written == [7]


@pytest.mark.parametrize("mode", [Mode.WHAT_IF, Mode.LIVE_READS, Mode.LIVE, Mode.CONTINUE])
def test_a_pretended_no_is_what_the_model_reads_and_nothing_is_written(again, mode):
    came = again.run(again.handoff("t1/1.2~1"), mode, edits=Edits(denied=("note",)))

    (decided,) = (e.payload for e in again.sink.events if e.kind == "approval_decided")
    assert (decided.approved, decided.reason, decided.decided_by) == (False, "denied", "")
    assert decided.note == "pretended by a re-run"
    (denied,) = (e.payload for e in again.sink.events if e.kind == "tool_denied")
    assert (denied.tool, denied.rule) == ("note", "approval")
    assert (again.town.written, came.session.waiting_for) == ([], ())


def test_only_a_tool_that_the_agent_has_can_be_denied(again):
    with pytest.raises(RequestError, match="has no tool 'mail'; it has: note"):
        again.run(again.handoff("t1/1.2~1"), Mode.WHAT_IF, edits=Edits(denied=("mail",)))


def test_a_pretended_tool_result_is_what_the_model_reads(again):
    edits = Edits(tool_results={"look": "nobody is here"})
    again.run(again.handoff("t1/1.0"), Mode.WHAT_IF, edits=edits)

    (returned,) = (e.payload for e in again.sink.events if e.kind == "tool_returned")
    assert (returned.replayed, returned.error) == (True, "")
    assert "nobody is here" in again.sink.body(returned.result)["content"]


def test_another_model_answers_at_that_place_alone(again):
    edits = Edits(model=lambda call: say("I was asked instead."))
    came = again.run(again.handoff("t1/1.0"), Mode.WHAT_IF, edits=edits)

    assert came.session.answer == "I was asked instead."
    assert again.town.asked == 0


def test_continue_without_a_change_asks_nobody(again):
    came = again.run("h1", Mode.CONTINUE)

    assert came.same_result
    assert again.town.asked == again.town.looked == 0


def test_continue_goes_live_exactly_where_an_input_changed(again):
    edits = Edits(inputs={"name": "new"})
    handoff_id = again.handoff("t1/1.0")
    alone = again.run(handoff_id, Mode.LIVE_READS, edits=edits)
    graft = again.rerun_recording

    came = again.run(handoff_id, Mode.CONTINUE, edits=edits, graft=graft)

    assert alone.live_model_calls == 2
    assert came.live_model_calls == 1  # the supervisor reads another result
    assert (again.town.asked, again.town.looked, again.town.written) == (1, 0, [])
    assert came.first_divergence is not None
    assert came.first_divergence["place"] == "t1 step 2"
    assert came.session.answer == "ok, ok, ok"


def test_continue_without_a_graft_runs_the_changed_handoff_too(again):
    came = again.run(again.handoff("t1/1.0"), Mode.CONTINUE, edits=Edits(inputs={"name": "new"}))

    assert came.live_model_calls == 3
    assert again.town.looked == 1
    assert again.town.written == []


def test_a_changed_prompt_makes_verify_say_where_it_parts(again):
    with pytest.raises(ReplayDiverged, match=r"at t1/1\.0 step 1"):
        again.run(again.handoff("t1/1.0"), Mode.VERIFY, edits=Edits(prompt="Something else."))

    (diverged,) = (e.payload for e in again.sink.events if e.kind == "replay_diverged")
    assert diverged.place == "t1/1.0 step 1"
    assert diverged.recorded != diverged.asked


def test_a_rerun_names_what_it_repeats_and_what_was_changed(again):
    handoff_id = again.handoff("t1/1.0")
    again.run(handoff_id, Mode.WHAT_IF, edits=Edits(inputs={"name": "new"}))

    started = again.sink.events[0].payload
    assert (started.origin, started.rerun_of) == ("rerun", again.result.session_id)
    assert (started.rerun_handoff, started.rerun_mode) == (handoff_id, "what-if")
    assert again.sink.body(started.edits) == {"inputs": {"name": "new"}}
    request_ids = {e.request_id for e in again.sink.events if e.request_id}
    assert request_ids == {f"{again.result.session_id}/t1"}


@pytest.mark.parametrize(
    ("handoff_id", "edits", "said"),
    [
        ("h99", Edits(), "has no handoff 'h99'; it has: h1, h2"),
        ("h2", Edits(task="two\nlines"), "task: the task has several lines"),
        ("h2", Edits(limits={"max_step": 3}), "There is no limit 'max_step'; there are: deadline_"),
        ("h2", Edits(allowed_tools=("shell",)), "has no tool 'shell'; it has: look"),
        ("h2", Edits(tool_results={"shell": 1}), "has no tool 'shell'; it has: look"),
        ("h2", Edits(output_schema="Nothing"), "There is no schema 'Nothing'; there are: Text"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_in_one_sentence_and_nothing_runs(
    again, handoff_id, edits, said
):
    with pytest.raises(RequestError) as raised:
        again.run(handoff_id, Mode.WHAT_IF, edits=edits)

    assert said in str(raised.value)
    assert again.sink.events == []


def test_a_handoff_that_was_refused_cannot_be_run_again():
    town = Town()
    journal = Journal(town)
    flow = town.flow().changed(pool_tokens=9_500)
    result = asyncio.run(run(flow, "Go.", sink=journal))
    refused = next(e.handoff_id for e in journal.events if e.kind == "handoff_rejected")
    recording = Recording(result.session_id, list(journal.events), journal.body)

    said = rf"{refused}' was refused and never began, .* run 'h\d+' \(\w+\), which asked for it"
    with pytest.raises(RequestError, match=said):
        asyncio.run(rerun(flow, recording, refused or ""))


def test_a_rerun_that_waited_goes_on_and_asks_nobody_twice(again):
    handoff_id = again.handoff("t1/1.2~1")
    edits = Edits(armed=("note",))
    waiting = again.run(handoff_id, Mode.LIVE, edits=edits)
    so_far, asked_before = again.rerun_recording, again.town.asked
    (act,) = waiting.session.waiting_for
    yes = Decision(approval_id=act.approval_id, approved=True, shown=act.shown)

    came = asyncio.run(
        rerun(
            again.town.flow(), again.recording, handoff_id, mode=Mode.LIVE, so_far=so_far,
            edits=Edits.recorded({"armed": ["note"]}), decisions=[yes], sink=again.sink,
        )
    )  # fmt: skip

    assert (asked_before, again.town.asked, again.town.written) == (1, 2, [7])
    assert came.session.answer == "noted"
    assert (came.live_model_calls, came.live_tool_calls) == (2, 1)
    events = again.sink.events
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert [e.kind for e in events].count("session_started") == 1
    assert [e.kind for e in events].count("handoff_opened") == 1
    assert events[-1].kind == "session_closed"
    assert again.journal.events == again.before


@pytest.mark.parametrize("mode", [Mode.LIVE, Mode.CONTINUE])
def test_a_rerun_goes_on_from_everything_it_had_recorded_when_its_process_ended(again, mode):
    handoff_id = again.handoff("t1/1.2")
    edits = Edits(inputs={"name": "new"}, task="Ask further still.")
    whole = again.run(handoff_id, mode, edits=edits)
    record = list(again.sink.events)
    for cut in range(3, len(record)):
        left = EventList()
        left.bodies.update(again.sink.bodies)
        left.events.extend(record[:cut])
        so_far = Recording(record[0].session_id, record[:cut], left.body)
        town = Town()
        came = asyncio.run(
            rerun(
                town.flow(), again.recording, handoff_id, mode=mode, so_far=so_far, edits=edits,
                sink=left,
            )
        )  # fmt: skip

        assert came.session.status == whole.session.status, cut
        heard = sum(e.kind == "model_replied" and not e.payload.replayed for e in record[:cut])
        assert town.asked == whole.live_model_calls - heard, cut
        assert came.first_divergence == whole.first_divergence, cut
        opened = [e.handoff_id for e in left.events if e.kind == "handoff_opened"]
        closed = [e.handoff_id for e in left.events if e.kind == "handoff_closed"]
        assert sorted(opened) == sorted(closed), cut
        assert len(set(opened)) == len(opened), cut


@pytest.mark.parametrize("lost", ["gone", "circle"])
def test_a_handoff_whose_context_is_not_whole_any_more_is_refused_in_one_sentence(again, lost):
    called = next(e for e in again.before if e.kind == "model_called" and e.path == "t1/1.0")
    context = called.payload.context
    bodies = {context: None} if lost == "gone" else {context: {"previous": context, "messages": []}}

    def body(digest):
        return bodies[digest] if digest in bodies else again.journal.body(digest)

    recording = Recording(again.result.session_id, again.before, body)

    with pytest.raises(RequestError) as refused:
        asyncio.run(rerun(Town().flow(), recording, called.handoff_id or ""))
    assert str(refused.value) == (
        f"The session {again.result.session_id!r} no longer holds all that {called.handoff_id!r} "
        "read, so it cannot be run again."
    )
