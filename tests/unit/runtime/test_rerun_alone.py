"""A handoff that is run again alone finds around it what stood there when it was recorded."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from handoff_console.runtime import (
    Agent,
    Decision,
    Edge,
    Effect,
    EventList,
    Flow,
    HandoffResult,
    Limits,
    ModelCall,
    ModelReply,
    Recording,
    RequestError,
    Session,
    Status,
    Tool,
    TransientModelError,
    answer,
    delegate,
    hand_over,
    run,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.events import SessionClosed, hop_of, is_within
from handoff_console.runtime.ledger import MemoryLedger
from handoff_console.runtime.rerun import RerunResult, rerun
from handoff_console.runtime.rerun_player import Mode


def scan(serial: str) -> dict[str, str]:
    """Scan."""
    return {"serial": serial, "site": "hall 3"}


def remembering() -> Flow:
    """What the first hop's tool returned is known to all later ones."""
    names = ["first", "second", "third", "last"]
    agents = []
    for name, after in zip(names, [*names[1:], ""], strict=True):

        def work(call: ModelCall, after: str = after) -> ModelReply:
            if call.agent.name == "first" and not call.results:
                return use("scan", serial="SN-88213")
            return hand_over(after, "go on", fault="E42") if after else say("Ordered.")

        tools = [Tool(scan, inline=True, remembers=("serial", "site"))] if name == "first" else []
        edges = [Edge.transfer(after, "Next.")] if after else []
        agents.append(Agent(name, tools=tools, edges=edges, model=work))
    return Flow("chain", agents, max_handoffs=5)


def ping_pong() -> Flow:
    def back_and_forth(call: ModelCall) -> ModelReply:
        other = "left" if call.agent.name == "right" else "right"
        return hand_over(other, "not mine")

    agents = [
        Agent(name, edges=[Edge.transfer(other, "Other.")], model=back_and_forth)
        for name, other in (("left", "right"), ("right", "left"))
    ]
    return Flow("ping-pong", agents, max_handoffs=10)


def retried() -> Flow:
    tries: list[int] = []

    def worker(call: ModelCall) -> ModelReply:
        tries.append(call.attempt)
        if call.attempt == 1:
            raise TransientModelError("overloaded")
        return say("second time lucky")

    def root(call: ModelCall) -> ModelReply:
        return say(call.results[0].value["status"]) if call.results else delegate("worker", "Do.")

    return Flow(
        "retried",
        [
            Agent("root", edges=[Edge.call("worker", "W.")], model=root),
            Agent("worker", model=worker),
        ],
    )


def branching() -> Flow:
    """Both branches of a fork pass on, and nobody merges what they come back with."""

    def root(call: ModelCall) -> ModelReply:
        return together(hand_over("a", "one"), hand_over("b", "two"))

    def onward(call: ModelCall) -> ModelReply:
        return hand_over("clerk", f"for {call.agent.name}")

    def clerk(call: ModelCall) -> ModelReply:
        return say(f"noted {call.path}")

    edges = [Edge.transfer("a", "A."), Edge.transfer("b", "B.")]
    clerks = [Edge.transfer("clerk", "C.")]
    return Flow(
        "branching",
        [
            Agent("root", edges=edges, model=root),
            Agent("a", edges=clerks, model=onward),
            Agent("b", edges=clerks, model=onward),
            Agent("clerk", model=clerk),
        ],
        max_handoffs=9,
        max_edge_repeats=3,
    )


def recursive() -> Flow:
    """The grandchild may not call the agent that waits for it."""

    def work(call: ModelCall) -> ModelReply:
        if call.results:
            return say(f"{call.agent.name}: {call.results[0].content}")
        after = {"top": "middle", "middle": "low", "low": "middle"}[call.agent.name]
        return delegate(after, "Go on.")

    agents = [
        Agent(
            name,
            edges=[Edge.call(after, "Next.", limits=Limits(max_tokens=tokens))],
            model=work,
        )
        for name, after, tokens in (
            ("top", "middle", 9_000), ("middle", "low", 5_000), ("low", "middle", 2_000),
        )
    ]  # fmt: skip
    return Flow("recursive", agents, depth=3)


FLOWS: list[Callable[[], Flow]] = [remembering, ping_pong, retried, branching, recursive]


def recorded(flow: Flow, message: str = "Go.", **options: Any) -> Recording:
    sink = EventList()
    result = asyncio.run(run(flow, message, sink=sink, **options))
    return Recording(result.session_id, sink.events, sink.body)


def verified(flow: Flow, recording: Recording, handoff_id: str) -> RerunResult:
    return asyncio.run(rerun(flow, recording, handoff_id, sink=EventList()))


def opened(recording: Recording) -> dict[str, str]:
    """Handoff ids by path and attempt."""
    return {
        f"{event.path}#{event.attempt}": event.handoff_id or ""
        for event in recording.events
        if event.kind == "handoff_opened"
    }


@pytest.mark.parametrize("flow_of", FLOWS, ids=lambda flow_of: flow_of.__name__)
def test_every_handoff_gives_its_recorded_result_and_asks_nobody(flow_of):
    flow = flow_of()
    recording = recorded(flow)
    handoffs = opened(recording)

    for place, handoff_id in handoffs.items():
        came = verified(flow, recording, handoff_id)
        assert came.same_result, place
        assert came.recorded is not None
        assert (came.live_model_calls, came.live_tool_calls, came.first_divergence) == (0, 0, None)
    assert len(handoffs) >= 3


def test_a_hop_knows_what_the_session_had_learned_before_it():
    flow = remembering()
    recording = recorded(flow)
    sink = EventList()
    asyncio.run(rerun(flow, recording, "h3", sink=sink))

    learned = [sink.body(e.payload.value) for e in sink.events if e.kind == "state_set"]
    assert learned == [{"serial": "SN-88213"}, {"site": "hall 3"}, {"fault": "E42"}]


def test_the_transfers_before_it_count_so_that_the_same_loop_is_stopped():
    flow = ping_pong()
    recording = recorded(flow)
    came = verified(flow, recording, opened(recording)["t1~1#1"])

    assert came.session.status is Status.LIMIT_REACHED
    assert came.session.reason == "cycle"


def test_what_a_first_attempt_came_to_is_what_its_retry_did():
    flow = retried()
    recording = recorded(flow)
    first = verified(flow, recording, opened(recording)["t1/1.0#1"])
    second = verified(flow, recording, opened(recording)["t1/1.0#2"])

    assert first.session.answer == second.session.answer == "second time lucky"


def test_branches_of_a_fork_that_pass_on_do_so_at_places_of_their_own():
    recording = recorded(branching())

    assert sorted(opened(recording)) == [
        "t1#1", "t1~1.0#1", "t1~1.0~2#1", "t1~1.1#1", "t1~1.1~2#1",
    ]  # fmt: skip


def test_an_answer_that_the_runtime_joined_is_what_the_session_closes_with():
    flow = branching()
    recording = recorded(flow)
    (closed,) = (e.payload for e in recording.events if isinstance(e.payload, SessionClosed))
    answer_of = HandoffResult.model_validate(recording.body(closed.answer or ""))

    assert answer_of.notes == "joined by the runtime in the order they were asked for"
    assert (answer_of.data or {})["text"] == "a: noted t1~1.0~2\nb: noted t1~1.1~2"


def test_whoever_waited_no_longer_than_so_waits_no_longer_now():
    def root(call: ModelCall) -> ModelReply:
        return answer("ok", "enough") if call.results else delegate("slow", "Look.")

    def slow(call: ModelCall) -> ModelReply:
        return timed(use("look"), 4) if len(call.results) < 9 else say("found")

    def look() -> str:
        return "nothing"

    flow = Flow(
        "late",
        [
            Agent("root", edges=[Edge.call("slow", "S.", limits=Limits(max_steps=20))], model=root),
            Agent("slow", tools=[Tool(look, inline=True)], model=slow),
        ],
        limits=Limits(deadline_seconds=10),
    )
    sink = EventList()
    result = run_virtual(run(flow, "Go.", sink=sink, clock=VirtualClock()))
    recording = Recording(result.session_id, sink.events, sink.body)

    came = verified(flow, recording, "h2")

    assert came.recorded is not None
    assert came.recorded.status is Status.LIMIT_REACHED
    assert (came.same_result, came.session.reason) == (True, "deadline")


def with_a_person() -> Flow:
    def triage(call: ModelCall) -> ModelReply:
        return hand_over("human", "the customer is angry")

    return Flow("desk", [Agent("triage", edges=[Edge.transfer("human", "Angry.")], model=triage)])


def test_what_a_person_answered_is_answered_again():
    recording = recorded(with_a_person(), ask=lambda _: "I will call you.")
    came = verified(with_a_person(), recording, "h2")

    assert (came.same_result, came.session.answer) == (True, "I will call you.")


def test_what_waits_for_a_person_waits_for_the_same_again():
    waiting = recorded(with_a_person())
    came = verified(with_a_person(), waiting, "h1")

    assert (came.recorded, came.same_result) == (None, True)
    assert [one.path for one in came.session.waiting_for] == ["t1~1"]


def test_a_hop_of_a_later_turn_counts_only_its_own_turn():
    def desk(call: ModelCall) -> ModelReply:
        return hand_over("clerk", "it is theirs")

    flow = Flow(
        "turns",
        [
            Agent("desk", edges=[Edge.transfer("clerk", "C.", return_to="desk")], model=desk),
            Agent("clerk", model=lambda call: say(f"turn at {call.path}")),
        ],
        max_handoffs=1,
    )
    sink = EventList()

    async def talk() -> str:
        session = Session(flow, sink=sink)
        for message in ("Hello.", "And again."):
            await session.say(message)
        session.close()
        return session.id

    recording = Recording(asyncio.run(talk()), sink.events, sink.body)

    for handoff_id in opened(recording).values():
        assert verified(flow, recording, handoff_id).same_result


@pytest.mark.parametrize(
    ("path", "root", "inside"),
    [
        ("t1", "t1", True),
        ("t1/1.0", "t1", True),
        ("t1~1", "t1", True),
        ("t10", "t1", False),
        (None, "t1", False),
        ("t1", "t1~1", False),
        ("t1~2", "t1~1", True),
        ("t1~2/1.0", "t1~1", True),
        ("t1~10", "t1~2", True),
        ("t1~1", "t1~2", False),
        ("t1~1/2.0~1", "t1~2", False),
        ("t1~1.0~2", "t1~1.0", True),
        ("t1~1.1", "t1~1.0", False),
        ("t1~2", "t1~1.0", False),
        ("t1/1.0~2", "t1/1.0~1", True),
        ("t1/1.1~2", "t1/1.0~1", False),
    ],
)
def test_a_place_is_within_another_one_that_led_to_it(path, root, inside):
    assert is_within(path, root) is inside


@pytest.mark.parametrize(
    ("path", "base", "hop"),
    [
        ("t1", "t1", 0), ("t1~2", "t1", 2), ("t1/2.0~3", "t1/2.0", 3), ("t1~1/2.0", "t1~1/2.0", 0),
        ("t1~2.1", "t1~2.1", 2), ("t1~2.1~3", "t1~2.1", 3),
    ],
)  # fmt: skip
def test_a_hop_knows_its_chain_and_its_number(path, base, hop):
    assert hop_of(path) == (base, hop)


def test_verifying_does_no_act_again():
    sent: list[str] = []

    def send(to: str) -> str:
        sent.append(to)
        return f"sent to {to}"

    def clerk(call: ModelCall) -> ModelReply:
        return say("done") if call.results else use("send", to="bob")

    tool = Tool(send, effect=Effect.WRITE, inline=True)
    flow = Flow("mail", [Agent("clerk", tools=[tool], may_write=True, model=clerk)])
    recording = recorded(flow)

    assert verified(flow, recording, "h1").same_result
    assert sent == ["bob"]


def test_continuing_says_whether_the_whole_session_came_out_the_same():
    flow = remembering()
    recording = recorded(flow)
    came = asyncio.run(rerun(flow, recording, "h2", mode=Mode.CONTINUE, sink=EventList()))

    assert (came.same_result, came.live_model_calls) == (True, 0)


def test_an_act_that_continuing_comes_to_live_is_the_recorded_one_and_not_done_again():
    sent: list[str] = []

    def send(to: str) -> str:
        sent.append(to)
        return f"letter {len(sent)}"

    def clerk(call: ModelCall) -> ModelReply:
        return say(call.results[0].content) if call.results else use("send", to="bob")

    tool = Tool(send, effect=Effect.WRITE, inline=True)
    flow = Flow("mail", [Agent("clerk", tools=[tool], may_write=True, model=clerk)])
    ledger = MemoryLedger()
    recording = recorded(flow, ledger=ledger)
    sink = EventList()
    came = asyncio.run(
        rerun(
            flow, recording, "h1", mode=Mode.CONTINUE, edits=Edits(prompt="Be polite."),
            sink=sink, ledger=ledger, ask=yes,
        )
    )  # fmt: skip

    assert came.live_model_calls == 2
    assert (sent, came.session.answer) == (["bob"], "letter 1")
    assert request_ids(sink.events) == request_ids(recording.events)
    keys = [e.payload.idempotency_key for e in recording.events if e.kind == "tool_called"]
    assert [e.payload.idempotency_key for e in sink.events if e.kind == "tool_called"] == keys


def relay() -> tuple[Flow, list[str]]:
    """Two hops, and what the second one reads."""
    read: list[str] = []

    def first(call: ModelCall) -> ModelReply:
        return hand_over("second", "go on", summary="All is lost.", serial="A-1")

    def second(call: ModelCall) -> ModelReply:
        read.append(call.messages[-1]["content"])
        return say(call.packet.goal if call.packet else "")

    agents = [
        Agent("first", edges=[Edge.transfer("second")], model=first),
        Agent("second", model=second),
    ]
    return Flow("relay", agents), read


PACKET = Edits(goal="Find it.", summary="All is well.", claimed={"serial": "A-2"})


@pytest.mark.parametrize("mode", [Mode.WHAT_IF, Mode.CONTINUE])
def test_a_packet_is_changed_alone_and_in_the_whole_session(mode):
    flow, read = relay()
    recording = recorded(flow, "It is lost.")
    read.clear()
    sink = EventList()
    came = asyncio.run(rerun(flow, recording, "h2", mode=mode, edits=PACKET, sink=sink))

    assert came.session.answer == "Find it."
    assert read[0].splitlines()[:5] == [
        "Handoff from first to second",
        "Goal: Find it.",
        "Summary: All is well.",
        "Facts: ",
        "Claimed by first, not verified: serial=A-2",
    ]
    opened = next(
        e.payload for e in sink.events if e.kind == "handoff_opened" and e.handoff_id == "h2"
    )
    assert sink.body(opened.packet)["summary"] == "All is well."
    assert sink.body(sink.events[0].payload.edits) == {
        "goal": "Find it.", "summary": "All is well.", "claimed": {"serial": "A-2"},
    }  # fmt: skip


def test_what_has_no_packet_has_none_to_change():
    flow, _ = relay()
    recording = recorded(flow)

    with pytest.raises(RequestError, match="No packet came along with this handoff"):
        asyncio.run(rerun(flow, recording, "h1", mode=Mode.WHAT_IF, edits=PACKET))


def yes(asked: Any) -> Decision:
    return Decision(approval_id=asked.approval_id, approved=True, shown=asked.shown)


def request_ids(events: Any) -> set[str | None]:
    return {event.request_id for event in events if event.request_id}
