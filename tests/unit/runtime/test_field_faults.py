"""Faults that users of other runtimes report, where no other test holds what is right here.

`docs/faults.md` names the test of every one of them.
"""

import asyncio
from itertools import pairwise

import pytest
from pydantic import BaseModel
from support.sessions import Watched, play

from handoff_console.runtime import (
    Agent,
    Approval,
    Decision,
    Edge,
    Effect,
    EventList,
    Flow,
    Limits,
    Recording,
    Tool,
    TransientModelError,
    answer,
    delegate,
    hand_over,
    resume,
    run,
    say,
    use,
)
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode

SMALL = Limits(max_tokens=2_000)


def flow_of(name: str, *agents: Agent, **options) -> tuple[Flow, Watched]:
    """Return a flow, and the model that remembers what its agents read."""
    model = Watched(None)
    models = {agent.name: agent.model for agent in agents}
    model.model = lambda call: models[call.agent.name](call)
    return Flow(name, agents, **options), model


@pytest.mark.parametrize("policy", ["packet", "slice", "full_history"])
def test_each_value_reaches_the_receiver_once(policy):  # OA#2171 OA#2157
    flow, model = flow_of(
        "orders",
        Agent(
            "triage",
            edges=[Edge.transfer("billing", "B.", context=policy)],
            model=lambda call: hand_over("billing", "it is broken", order_id="A-7007"),
        ),
        Agent("billing", model=lambda call: say("ok")),
    )

    play(flow, "My parcel is broken", model=model)

    read = "\n".join(message["content"] for message in model.read_by("billing"))
    assert read.count("A-7007") == (0 if policy == "full_history" else 1)
    assert read.count("My parcel is broken") == (2 if policy == "packet" else 1)


@pytest.mark.parametrize("target", ["triage", "transfer_to_billing", "billing_2", ""])
def test_a_target_that_is_itself_or_made_up_is_refused_with_the_valid_names(target):  # OA#238
    flow, model = flow_of(
        "f",
        Agent(
            "triage",
            edges=[Edge.transfer("billing", "B.")],
            model=lambda call: (
                say("gave up") if call.results else use(f"transfer_to_{target}", reason="x")
            ),
        ),
        Agent("billing", model=lambda call: say("ok")),
    )

    played = play(flow, model=model)

    rejected = played.one("handoff_rejected")
    assert (rejected.rule, rejected.target, rejected.choices) == ("target", target, ("billing",))
    assert "it may transfer to: billing" in model.read_by("triage", 2)[-1]["content"]
    assert played.result.answer == "gave up"
    assert played.routes() == ["user → triage"]


def test_every_step_is_sent_all_that_was_said_before_it():  # MA#4053 MA#3105 MA#4376
    def look(page: int) -> str:
        return f"page {page}"

    flow, model = flow_of(
        "f",
        Agent(
            "a",
            "Work.",
            tools=[Tool(look, inline=True)],
            model=lambda call: use("look", page=call.step) if call.step < 4 else say("done"),
        ),
    )

    play(flow, model=model)

    steps = [model.read_by("a", step) for step in (1, 2, 3, 4)]
    assert [len(messages) for messages in steps] == [2, 4, 6, 8]
    for before, after in pairwise(steps):
        assert after[: len(before)] == before


def test_no_receiver_is_asked_without_anything_to_read():  # MA#7573
    for policy in ("packet", "slice", "full_history"):
        flow, model = flow_of(
            "f",
            Agent(
                "triage",
                edges=[Edge.transfer("billing", "B.", context=policy)],
                model=lambda call: hand_over("billing", ""),
            ),
            Agent("billing", model=lambda call: say("ok")),
        )

        play(flow, "", model=model)

        assert [message["role"] for message in model.read_by("billing")][:2] == ["system", "user"]


def test_a_second_attempt_does_not_act_again_though_its_call_has_another_id():  # OA#4254
    paid: list[str] = []

    async def pay(bill: str) -> str:
        paid.append(bill)
        return f"paid {bill}"

    def worker(call):
        if not call.results:
            return use("pay", bill="B-1")
        if call.attempt == 1:
            raise TransientModelError("busy")
        return say(call.results[0].content)

    flow, model = flow_of(
        "f",
        Agent(
            "boss",
            edges=[Edge.call("worker", "W.")],
            model=lambda call: (
                say(call.results[0].content) if call.results else delegate("worker", "Pay B-1")
            ),
        ),
        Agent(
            "worker",
            tools=[Tool(pay, effect=Effect.WRITE)],
            may_write=True,
            model=worker,
        ),
    )

    played = play(flow, model=model)

    assert paid == ["B-1"]
    first, second = played.of("tool_called")
    assert first.idempotency_key == second.idempotency_key
    returned = played.of("tool_returned")
    assert [payload.from_ledger for payload in returned] == [False, True]
    contents = [played.sink.body(payload.result)["content"] for payload in returned]
    assert contents[0] == contents[1] == '<data from="pay">\npaid B-1\n</data>'


def test_an_approval_asked_for_two_levels_down_names_its_place_and_goes_on_there():  # OJ#680
    sent: list[str] = []

    def mail(to: str) -> str:
        sent.append(to)
        return f"sent to {to}"

    def passes(target):
        return lambda call: (
            say(call.results[0].content) if call.results else delegate(target, "Write to bob")
        )

    def nested() -> Flow:
        return Flow(
            "nested",
            [
                Agent("a", edges=[Edge.call("b", "B.")], model=passes("b")),
                Agent("b", edges=[Edge.call("c", "C.", limits=SMALL)], model=passes("c")),
                Agent(
                    "c",
                    tools=[Tool(mail, effect=Effect.EXTERNAL, inline=True)],
                    may_write=True,
                    model=lambda call: (
                        say(call.results[0].content) if call.results else use("mail", to="bob")
                    ),
                ),
            ],
            depth=2,
        )

    sink = EventList()
    first = asyncio.run(run(nested(), "Tell bob.", sink=sink))
    (approval,) = first.waiting_for
    assert isinstance(approval, Approval)
    asked = len([event for event in sink.events if event.kind == "model_called"])
    recording = Recording(first.session_id, list(sink.events), sink.body)
    yes = Decision(approval_id=approval.approval_id, approved=True, shown=approval.shown)
    last = asyncio.run(resume(nested(), recording, sink=sink, decisions=[yes]))

    assert (approval.agent, approval.path) == ("c", "t1/1.0/1.0")
    assert sent == ["bob"]
    assert "sent to bob" in last.answer
    calls = [event for event in sink.events if event.kind == "model_called"]
    assert [call.path for call in calls[asked:]] == ["t1/1.0/1.0", "t1/1.0", "t1"]


def test_running_again_allows_no_tool_that_the_recorded_request_did_not():  # inspector#4318
    deleted: list[str] = []

    def delete(name: str) -> str:
        deleted.append(name)
        return "gone"

    def look(name: str) -> str:
        return "there"

    def flow() -> Flow:
        return Flow(
            "f",
            [
                Agent(
                    "boss",
                    edges=[Edge.call("worker", "W.", allowed_tools=("look",))],
                    model=lambda call: (
                        say("done") if call.results else delegate("worker", "Tidy up")
                    ),
                ),
                Agent(
                    "worker",
                    tools=[
                        Tool(delete, effect=Effect.WRITE, inline=True),
                        Tool(look, inline=True),
                    ],
                    may_write=True,
                    model=lambda call: say("ok") if call.results else use("delete", name="all"),
                ),
            ],
        )

    sink = EventList()
    result = asyncio.run(run(flow(), "Tidy.", sink=sink))
    recording = Recording(result.session_id, list(sink.events), sink.body)
    for mode in Mode:
        again = EventList()
        again.bodies.update(sink.bodies)
        asyncio.run(rerun(flow(), recording, "h2", mode=mode, sink=again))
        denied = [event.payload for event in again.events if event.kind == "tool_denied"]
        assert [payload.rule for payload in denied] == ["not_allowed"], mode

    assert deleted == []


def test_running_one_handoff_again_asks_nobody_outside_it():  # LG#8458 LG#4987
    asked: list[str] = []

    def passes(name, target):
        def model(call):
            asked.append(name)
            return say("ok") if call.results else delegate(target, "Go on")

        return model

    def last(call):
        asked.append("c")
        return say("found")

    def flow() -> Flow:
        return Flow(
            "f",
            [
                Agent("a", edges=[Edge.call("b", "B.")], model=passes("a", "b")),
                Agent("b", edges=[Edge.call("c", "C.", limits=SMALL)], model=passes("b", "c")),
                Agent("c", model=last),
            ],
            depth=2,
        )

    sink = EventList()
    result = asyncio.run(run(flow(), "Go.", sink=sink))
    recording = Recording(result.session_id, list(sink.events), sink.body)
    asked.clear()
    again = EventList()
    again.bodies.update(sink.bodies)
    asyncio.run(rerun(flow(), recording, "h2", mode=Mode.LIVE, sink=again))

    assert asked == ["b", "c", "b"]
    assert {event.path for event in again.events if event.kind == "handoff_opened"} == {
        "t1/1.0",
        "t1/1.0/1.0",
    }


def test_a_receiver_that_needs_values_does_not_open_without_them():  # AU#5045 SU#205
    class Order(BaseModel):
        order_id: str
        why: str

    for given in ({}, {"order_id": "A-1"}, {"order_id": None, "why": "late"}):
        flow, model = flow_of(
            "f",
            Agent(
                "triage",
                edges=[Edge.transfer("refunds", "R.", payload=Order)],
                model=lambda call, given=given: (
                    say("gave up") if call.results else hand_over("refunds", "refund", **given)
                ),
            ),
            Agent("refunds", model=lambda call: say("ok")),
        )

        played = play(flow, model=model)

        assert played.one("handoff_rejected").rule == "request"
        assert played.routes() == ["user → triage"]
        assert played.result.answer == "gave up"


def test_a_child_never_gets_more_than_its_parent_has_left():  # PH#588 PH#589 OJ#444 DA#1698
    flow, model = flow_of(
        "f",
        Agent(
            "boss",
            edges=[Edge.call("worker", "W.", limits=Limits(max_tokens=4_000, deadline_seconds=9))],
            model=lambda call: say("done") if call.results else delegate("worker", "Look it up"),
        ),
        Agent(
            "worker",
            edges=[Edge.call("helper", "H.", limits=Limits(max_tokens=900, deadline_seconds=60))],
            model=lambda call: (
                answer("ok", "found") if call.results else delegate("helper", "Look there")
            ),
        ),
        Agent("helper", model=lambda call: say("there")),
        depth=2,
    )

    played = play(flow, model=model)

    opened = {payload.target: payload for payload in played.of("handoff_opened")}
    assert opened["worker"].grant_tokens == 4_000
    assert opened["helper"].grant_tokens == 900
    assert opened["helper"].deadline_seconds <= 9
