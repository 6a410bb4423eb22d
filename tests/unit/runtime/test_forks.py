"""One message for several agents: a fork of transfers, and how their answers come together."""

import asyncio
import itertools
from typing import Any

import pytest

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    ModelCall,
    ModelReply,
    Status,
    Tool,
    answer,
    hand_over,
    run,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual

QUESTION = "Where is my order, and how do I change my IBAN?"


def flow(**options: Any) -> Flow:
    def triage(call: ModelCall) -> ModelReply:
        return together(hand_over("orders", "where is it"), hand_over("account", "change an IBAN"))

    def merge(call: ModelCall) -> ModelReply:
        return say(" ".join(item["data"]["text"] for item in call.inputs["answers"]))

    agents = [
        Agent(
            "triage",
            edges=[Edge.transfer("orders", "Orders."), Edge.transfer("account", "Bank data.")],
            model=triage,
        ),
        Agent("orders", model=lambda call: say("It arrives on Friday.")),
        Agent("account", model=lambda call: say("Change it under Settings.")),
        Agent("merge", model=merge),
    ]
    return Flow("fork", agents, **options)


def events(sink: EventList, kind: str) -> list[Any]:
    return [event.payload for event in sink.events if event.kind == kind]


# R45 R98
def test_two_requests_in_one_message_go_to_two_agents_and_come_back_as_one_answer():
    sink = EventList()
    result = asyncio.run(run(flow(aggregator="merge"), QUESTION, sink=sink))

    assert result.answer == "It arrives on Friday. Change it under Settings."
    (opened,), (joined,) = events(sink, "fork_opened"), events(sink, "fork_joined")
    assert opened.handoff_ids == joined.handoff_ids == ("h2", "h3")
    paths = [event.path for event in sink.events if event.kind == "handoff_opened"]
    assert paths == ["t1", "t1~1.0", "t1~1.1", "t1~2"]


def test_without_an_aggregator_the_runtime_joins_the_answers_in_order_and_says_so():
    result = asyncio.run(run(flow(), QUESTION))

    expected = "orders: It arrives on Friday.\naccount: Change it under Settings."
    assert (result.status, result.answer) == (Status.OK, expected)
    assert result.result.notes == "joined by the runtime in the order they were asked for"


@pytest.mark.parametrize(
    ("down", "joined"),
    [
        ("orders", "orders: It is down.\naccount: Change it under Settings."),
        ("account", "orders: It arrives on Friday.\naccount: It is down."),
    ],
)
def test_one_branch_that_fails_leaves_the_other_its_answer(down, joined):  # R45
    agents = [
        agent
        if agent.name != down
        else Agent(down, model=lambda call: answer(Status.ERROR, "It is down."))
        for agent in flow().agents
    ]
    result = asyncio.run(run(flow().changed(agents=agents), QUESTION))

    assert result.status is Status.ERROR
    assert result.answer == joined


def test_the_same_transfer_asked_for_twice_is_one():
    def triage(call: ModelCall) -> ModelReply:
        return together(hand_over("orders", "where"), hand_over("orders", "where"))

    agents = [
        Agent("triage", edges=[Edge.transfer("orders", "Orders.")], model=triage),
        Agent("orders", model=lambda call: say("Friday.")),
    ]
    sink = EventList()
    result = asyncio.run(run(Flow("twice", agents), "Where is it?", sink=sink))

    assert result.answer == "Friday."
    assert [payload.target for payload in events(sink, "handoff_opened")] == ["triage", "orders"]


@pytest.mark.parametrize("order", list(itertools.permutations((0.1, 0.2, 0.3))))
# R42
def test_the_outcome_does_not_depend_on_what_finishes_first(order):
    tool_seconds, orders_seconds, account_seconds = order

    async def look() -> str:
        await asyncio.sleep(tool_seconds)
        return "seen"

    def triage(call: ModelCall) -> ModelReply:
        return together(
            hand_over("orders", "where"), use("look"), hand_over("account", "change an IBAN")
        )

    agents = [
        Agent(
            "triage",
            tools=[Tool(look)],
            edges=[Edge.transfer("orders", "Orders."), Edge.transfer("account", "Bank data.")],
            model=triage,
        ),
        Agent("orders", model=lambda call: timed(say("Friday."), orders_seconds)),
        Agent("account", model=lambda call: timed(say("Settings."), account_seconds)),
    ]
    sink = EventList()
    result = run_virtual(run(Flow("order", agents), QUESTION, sink=sink, clock=VirtualClock()))

    assert result.answer == "orders: Friday.\naccount: Settings."
    kinds = [event.kind for event in sink.events]
    assert kinds.index("tool_returned") < kinds.index("fork_opened")
    (joined,) = events(sink, "fork_joined")
    assert joined.handoff_ids == ("h2", "h3")


def test_a_fork_reserves_for_all_or_refuses_who_does_not_fit():
    sink = EventList()
    asyncio.run(run(flow(pool_tokens=10_000), QUESTION, sink=sink))

    assert [payload.target for payload in events(sink, "handoff_rejected")] == ["account"]
    assert [payload.rule for payload in events(sink, "handoff_rejected")] == ["pool"]
