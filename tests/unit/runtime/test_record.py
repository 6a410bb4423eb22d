"""What the record of a session says, and what can be told from it alone."""

import asyncio
import gc
import re
import weakref
from pathlib import Path

import pytest
from support.sessions import SOMEWHERE, play

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    Limits,
    Origin,
    Status,
    Tool,
    answer,
    delegate,
    hand_over,
    run,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.options import new_session_id
from handoff_console.runtime.session import Session


def find_order(order_id: str) -> dict:
    """Find an order."""
    return {"order_id": order_id}


def shop() -> Flow:
    """Return a flow with two parallel workers, a tool and a transfer."""

    def boss(call):
        if call.results:
            return hand_over("closer", "all is there")
        return together(delegate("one", "Find it", n=1), delegate("two", "Find it", n=2))

    def worker(call):
        if not call.results:
            return use("find_order", order_id=f"A-{call.inputs['n']}")
        return timed(answer("ok", "found"), 2, tokens=(100, 20))

    edges = [Edge.call("one", "O."), Edge.call("two", "T."), Edge.transfer("closer", "C.")]
    return Flow(
        "shop",
        [
            Agent("boss", edges=edges, model=boss),
            Agent("one", tools=[Tool(find_order)], model=worker),
            Agent("two", tools=[Tool(find_order)], model=worker),
            Agent("closer", model=lambda call: say("Bye.")),
        ],
    )


def test_one_agent_without_edges_runs_through_the_same_runner():  # R87
    played = play(Flow("simple", [Agent("solo", model=lambda call: say("Hello."))]))

    assert (played.status, played.result.answer) == (Status.OK, "Hello.")
    assert played.kinds == [
        "session_started",
        "user_message_received",
        "handoff_requested",
        "handoff_opened",
        "agent_activated",
        "model_called",
        "model_replied",
        "budget_charged",
        "handoff_closed",
        "session_closed",
    ]


def test_every_closed_handoff_says_who_what_how_and_how_long():  # R34
    played = play(shop())

    closed = [event for event in played.events if event.kind == "handoff_closed"]
    assert len(closed) == 4
    for event in closed:
        said = event.payload
        assert event.request_id == "s1/t1"
        assert said.target in ("boss", "one", "two", "closer")
        assert re.fullmatch("[0-9a-f]{32}", said.inputs_hash)
        assert said.status or said.ended_by == "transferred"
        assert said.steps_used >= 1
        assert said.duration_seconds >= 0


def test_equal_inputs_have_equal_hashes_and_others_have_others():  # R34
    played = play(shop())

    hashes = {p.target: p.inputs_hash for p in played.of("handoff_closed")}
    assert hashes["one"] != hashes["two"]
    assert hashes["boss"] == hashes["closer"]  # neither has any


def test_the_tree_and_the_statuses_need_no_body():  # R35
    from handoff_console.store.analysis.tree import handoff_tree

    played = play(shop())

    def rows() -> list:
        nodes = handoff_tree(played.events).nodes
        return [(node.handoff_id, node.parent_id, node.outcome.value) for node in nodes]

    before = rows()
    played.sink.bodies.clear()
    assert rows() == before
    assert before == [
        ("h1", None, "transferred"),
        ("h2", "h1", "ok"),
        ("h3", "h1", "ok"),
        ("h4", None, "ok"),
    ]


def test_everything_of_a_request_shares_its_id_its_trace_and_its_pool():  # R24 R37
    played = play(shop())

    assert {event.request_id for event in played.events[1:]} == {"s1/t1"}
    assert re.fullmatch("[0-9a-f]{32}", played.one("user_message_received").trace_id)
    opened = [event for event in played.events if event.kind == "handoff_opened"]
    assert [event.handoff_id for event in opened] == ["h1", "h2", "h3", "h4"]
    # The id of a request names its pool, too.
    assert {event.request_id for event in opened} == {"s1/t1"}
    pool = {
        sum((e.payload.free, e.payload.open, e.payload.spent))
        for e in played.events
        if e.kind.startswith("budget_")
    }
    assert pool == {played.one("user_message_received").pool_tokens}


def test_the_burn_down_is_read_from_the_events_alone():  # R28
    played = play(shop())

    series = [
        (event.elapsed_seconds, event.payload.spent)
        for event in played.events
        if event.kind == "budget_charged"
    ]
    spent = [tokens for _, tokens in series]
    assert spent == sorted(spent)
    assert spent[-1] == played.one("session_closed").pool_spent == played.result.tokens_used


def test_who_asked_whom_and_why_is_said_of_each_handoff():  # R36
    played = play(shop())

    assert [(p.source, p.target, p.via, p.reason) for p in played.of("handoff_requested")] == [
        ("user", "boss", "call", "the user's request"),
        ("boss", "one", "call", "Find it"),
        ("boss", "two", "call", "Find it"),
        ("boss", "closer", "transfer", "all is there"),
    ]


def test_where_a_session_comes_from_is_recorded():
    origin = Origin(
        flow_source="support",
        kind="batch",
        metadata={"label": "billing", "note": "token: abcdef"},
        seed=7,
        process=SOMEWHERE,
    )
    flow = Flow("one", [Agent("solo", model=lambda call: say("ok"))], prompt_version="v2")

    started = play(flow, origin=origin).one("session_started")

    assert (started.flow, started.flow_source, started.origin, started.seed) == (
        "one",
        "support",
        "batch",
        7,
    )
    assert started.metadata == {"label": "billing", "note": "token: [redacted: token]"}
    assert (started.host, started.boot, started.pid) == ("host", "boot", 4812)
    assert (started.prompt_version, started.offline) == ("v2", True)


def test_a_session_of_this_process_says_so():
    import os

    assert play(shop(), origin=Origin()).one("session_started").pid == os.getpid()


def test_a_session_without_a_sink_is_dropped():
    from handoff_console.runtime import run
    from handoff_console.runtime.clock import run_virtual

    result = run_virtual(run(shop(), "Hi"))

    assert result.answer == "Bye."


def test_ids_of_sessions_sort_by_time_and_differ():
    class Clock:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        def now(self) -> float:
            return self.seconds

        def elapsed(self) -> float:
            return self.seconds

    early, late = new_session_id(Clock(1_767_603_600.0)), new_session_id(Clock(1_767_603_601.0))

    assert re.fullmatch(r"20260105-090000-[0-9a-f]{8}", early)
    assert early < late
    assert new_session_id(Clock(0)) != new_session_id(Clock(0))


@pytest.mark.parametrize("message", ["", "  ", "\x00\u202e<script>", "x" * 100_000, "half \ud83d"])
def test_any_message_can_be_said(message):
    played = play(Flow("one", [Agent("solo", model=lambda call: say("ok"))]), message)

    assert played.status is Status.OK or played.result.reason == "tokens"
    assert played.kinds[-1] == "session_closed"
    assert len(played.one("user_message_received").preview) <= 200


# Several turns


def talk(flow: Flow, *messages: str) -> tuple[EventList, list]:
    """Return the record of a conversation, and the results of its turns."""
    from handoff_console.runtime.clock import VirtualClock, run_virtual

    sink = EventList(b"key")

    async def session() -> list:
        conversation = Session(flow, sink=sink, clock=VirtualClock(), session_id="s1")
        results = [await conversation.say(message) for message in messages]
        conversation.close()
        return results

    return sink, run_virtual(session())


def test_each_turn_is_a_request_with_a_pool_and_counters_of_its_own():
    sink, results = talk(shop(), "one", "two")

    received = [event for event in sink.events if event.kind == "user_message_received"]
    assert [event.request_id for event in received] == ["s1/t1", "s1/t2"]
    assert len({event.payload.trace_id for event in received}) == 2
    assert [result.answer for result in results] == ["Bye.", "Bye."]
    assert [event.seq for event in sink.events] == list(range(1, len(sink.events) + 1))
    ids = [event.handoff_id for event in sink.events if event.kind == "handoff_requested"]
    assert ids == [f"h{number}" for number in range(1, len(ids) + 1)]


def test_the_next_turn_begins_with_who_answered_and_reads_what_was_said():
    heard = []

    def billing(call):
        heard.append((call.text, [message["content"] for message in call.messages[1:]]))
        return say(f"Answer {len(heard)}.")

    flow = Flow(
        "support",
        [
            Agent("triage", edges=[Edge.transfer("billing", "B.")],
                  model=lambda call: hand_over("billing", "yours")),
            Agent("billing", model=billing),
        ],
    )  # fmt: skip

    sink, _ = talk(flow, "Why twice?", "And\nnow?")

    opened = [event.payload.target for event in sink.events if event.kind == "handoff_opened"]
    assert opened == ["triage", "billing", "billing"]
    assert heard[1] == ("And\nnow?", ["Why twice?", "Answer 1.", "And\nnow?"])


def test_an_edge_may_say_who_takes_the_next_turn():
    flow = Flow(
        "support",
        [
            Agent("triage", edges=[Edge.transfer("billing", "B.", return_to="triage")],
                  model=lambda call: hand_over("billing", "yours")),
            Agent("billing", model=lambda call: say("ok")),
        ],
    )  # fmt: skip

    sink, _ = talk(flow, "one", "two")

    opened = [event.payload.target for event in sink.events if event.kind == "handoff_opened"]
    assert opened == ["triage", "billing", "triage", "billing"]


def test_the_cap_of_a_session_counts_the_calls_of_all_its_turns():  # R21
    def boss(call):
        return say("ok") if call.results else delegate("worker", "Do it")

    flow = Flow(
        "support",
        [
            Agent("boss", edges=[Edge.call("worker", "W.")], model=boss),
            Agent("worker", model=lambda call: say("ok")),
        ],
        max_workers_per_session=1,
    )

    sink, _ = talk(flow, "one", "two")

    (refused,) = [event for event in sink.events if event.kind == "handoff_rejected"]
    assert (refused.turn, refused.payload.rule) == (2, "workers")


def test_a_conversation_that_nobody_began_records_nothing():
    sink = EventList()

    Session(shop(), sink=sink).close()

    assert sink.events == []


# The suite itself


def test_no_test_of_the_runtime_sleeps_for_long():  # R85
    folder = Path(__file__).parent
    slept = re.compile(r"time\.sleep\(([\d.]+)\)")
    for path in folder.glob("test_*.py"):
        for seconds in slept.findall(path.read_text("utf-8")):
            assert float(seconds) <= 0.1, path.name


def test_a_session_in_virtual_time_takes_none():  # R85
    import time

    began = time.process_time()
    flow = Flow(
        "slow",
        [Agent("solo", model=lambda call: timed(say("ok"), 3_000))],
        limits=Limits(deadline_seconds=10_000),
    )

    played = play(flow)

    assert played.events[-1].elapsed_seconds == 3_000
    assert time.process_time() - began < 2


def test_a_session_leaves_the_memory_when_nobody_holds_it_any_more():
    async def look() -> str:  # no plain function: a thread goes when it likes
        """Look."""
        return "There."

    def boss(call):
        return say("Done.") if call.results else delegate("worker", "Look")

    worker = Agent(
        "worker", tools=[Tool(look)], model=lambda c: use("look") if not c.results else say("Seen.")
    )
    flow = Flow("looks", [Agent("boss", edges=[Edge.call("worker", "W.")], model=boss), worker])

    async def ran() -> weakref.ref:
        session = Session(flow, clock=SystemClock())
        assert (await session.say("Look")).answer == "Done."
        session.close()
        return weakref.ref(session.parts.people)

    gc.disable()  # whatever hangs in a circle stays
    try:
        assert asyncio.run(ran())() is None
    finally:
        gc.enable()


class Counting(EventList):
    """Remembers each body that it was given, as often as it was."""

    def __init__(self):
        super().__init__()
        self.given: list[str] = []

    def keep(self, digest, body, session_id):
        self.given.append(digest)
        super().keep(digest, body, session_id)


def test_arguments_that_a_tool_is_called_with_are_kept_once():
    sink = Counting()
    asyncio.run(run(shop(), "Where are A-1 and A-2?", sink=sink))

    called = [e.payload.arguments for e in sink.events if e.kind == "tool_called"]
    assert [sink.given.count(arguments) for arguments in called] == [1, 1]


def test_a_part_of_the_flow_is_kept_once_a_session():
    def passing(target):
        return lambda call: hand_over(target, "on") if call.step == 1 else say("Done.")

    agents = [
        Agent("a", "Prompt of a.", edges=[Edge.transfer("b", "B.")], model=passing("b")),
        Agent("b", "Prompt of b.", edges=[Edge.transfer("a", "A.")], model=passing("a")),
    ]
    sink = Counting()
    asyncio.run(run(Flow("round", agents, max_edge_repeats=2), "Go", sink=sink))

    prompts = [e.payload.prompt for e in sink.events if e.kind == "agent_activated"]
    assert len(prompts) > len(set(prompts)) == 2
    assert [sink.given.count(prompt) for prompt in set(prompts)] == [1, 1]
