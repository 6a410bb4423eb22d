"""What the host knows of a session, and what agents only claim."""

import asyncio
from dataclasses import dataclass

import pytest
from support.sessions import Watched, play

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    Limits,
    Recording,
    Tool,
    hand_over,
    resume,
    say,
    use,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.recorder import Recorder, Scope
from handoff_console.runtime.redaction import Redaction
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.runtime.state import SessionState, heard


@dataclass
class Order:
    order_id: str
    serial: str
    error: str


SERIAL = "SN-0000-77A1"
ERROR = "E-1007: checksum mismatch at 2026-01-05T09:00:00Z\n  in block 4"


def find_order(order_id: str) -> Order:
    """Find an order."""
    return Order(order_id, SERIAL, ERROR)


def with_state(work) -> EventList:
    sink = EventList()

    async def session() -> None:
        work(SessionState(Recorder(sink, "s1", VirtualClock(), Redaction())))

    run_virtual(session())
    return sink


def test_a_key_is_set_once_and_another_value_is_a_visible_conflict():  # R64
    values = []

    def work(state: SessionState) -> None:
        for value in ("A-1", "A-1", "A-2", "A-2", "A-1"):
            state.set(Scope(), "order_id", value)
        values.append(dict(state.values))

    sink = with_state(work)

    assert values == [{"order_id": "A-1"}]
    assert [(e.payload.conflict, sink.body(e.payload.value)) for e in sink.events] == [
        (False, {"order_id": "A-1"}),
        (True, {"order_id": "A-2"}),
    ]


@pytest.mark.parametrize(
    ("value", "confirmed"),
    [
        ("A-1001", True),  # the user said it
        ("INV-7", True),  # a tool returned it
        (4812, True),
        (["A-1001", "INV-7"], True),
        ({"order": {"id": "A-1001", "note": None}}, True),
        ({"id": "INV-7", "open": True}, True),  # exactly as the tool returned it
        ("A-1002", False),
        ("no", False),  # too short to be more than chance
        (True, False),
        ([], False),
        ({}, False),
        (None, False),
        ({"order": "A-1001", "refund_approved": True}, False),
        ({"order": "A-1001", "state": "paid twice"}, False),
    ],
)
def test_a_value_is_a_fact_when_something_confirms_it(value, confirmed):  # R62
    found = []

    def work(state: SessionState) -> None:
        found.append(
            state.split(
                {"it": value},
                known=[{"result": [{"id": "INV-7", "open": True}, 4812]}],
                said=["My order A-1001 has no invoice"],
            )
        )

    with_state(work)

    assert found == [({"it": value}, {}) if confirmed else ({}, {"it": value})]


def test_what_contradicts_the_state_is_a_claim():  # R62 R64
    found = []

    def work(state: SessionState) -> None:
        state.set(Scope(), "order_id", "A-1001")
        said = ["My order A-1002"]
        found.append(state.split({"order_id": "A-1002"}, known=[], said=said))
        found.append(state.split({"order_id": "A-1001"}, known=[], said=[]))

    with_state(work)

    assert found == [({}, {"order_id": "A-1002"}), ({"order_id": "A-1001"}, {})]


def test_what_people_said_are_the_messages_of_role_user():
    messages = [
        {"role": "system", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "tool", "content": "c"},
    ]

    assert heard(messages) == ["b"]


def test_exact_values_survive_a_chain_of_four_hops():  # R70
    def first(call):
        return hand_over("b", "on") if call.results else use("find_order", order_id="A-1001")

    def passes_on(target):
        return lambda call: hand_over(target, "on", summary="They have some trouble.")

    flow = Flow(
        "chain",
        [
            Agent(
                "a",
                tools=[Tool(find_order, remembers=("serial", "error"))],
                edges=[Edge.transfer("b", "B.")],
                model=first,
            ),
            Agent("b", edges=[Edge.transfer("c", "C.")], model=passes_on("c")),
            Agent("c", edges=[Edge.transfer("d", "D.")], model=passes_on("d")),
            Agent("d", edges=[Edge.transfer("e", "E.")], model=passes_on("e")),
            Agent("e", model=lambda call: say("ok")),
        ],
        max_handoffs=4,
    )

    played = play(flow, "My order A-1001 does not start")

    packet = played.sink.body(played.of("handoff_opened")[-1].packet)
    assert packet["facts"] == {"serial": SERIAL, "error": ERROR}
    assert [p.key for p in played.of("state_set")] == ["serial", "error"]


def test_a_claim_is_told_from_a_fact():  # R62
    flow = Flow(
        "claims",
        [
            Agent(
                "a",
                edges=[Edge.transfer("b", "B.")],
                model=lambda call: hand_over("b", "on", order_id="A-1001", refund="approved"),
            ),
            Agent("b", model=lambda call: say("ok")),
        ],
    )
    model = Watched(None)
    models = {agent.name: agent.model for agent in flow.agents}
    model.model = lambda call: models[call.agent.name](call)

    played = play(flow, "My order A-1001 is broken", model=model)

    lines = model.read_by("b")[1]["content"].splitlines()
    assert lines[3:5] == [
        "Facts: order_id=A-1001",
        "Claimed by a, not verified: refund=approved",
    ]
    packet = played.sink.body(played.one("handoff_opened", "h2").packet)
    assert (packet["facts"], packet["claimed"]) == ({"order_id": "A-1001"}, {"refund": "approved"})


@pytest.mark.parametrize(
    "payload", [{"items": []}, {"items": {}}, {"deep": [[{}], None]}, {"yes": True}]
)
def test_an_empty_value_goes_along_as_a_claim(payload):
    flow = Flow(
        "empty",
        [
            Agent(
                "a",
                edges=[Edge.transfer("b", "B.")],
                model=lambda call: hand_over("b", "x", **payload),
            ),
            Agent("b", model=lambda call: say("ok")),
        ],
    )

    played = play(flow)

    packet = played.sink.body(played.one("handoff_opened", "h2").packet)
    assert packet["claimed"] == payload


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), b"\xff", Order("A", "S", "E"), [{"a": {3}}], 1e400]
)
def test_whatever_a_tool_returns_can_be_gathered_and_handed_over(value):
    def anything() -> object:
        """Return something."""
        return value

    def model(call):
        return hand_over("b", "on", order_id="A-1") if len(call.results) == 2 else use("anything")

    flow = Flow(
        "any",
        [
            Agent(
                "a",
                tools=[Tool(anything, remembers=("order_id", "a"))],
                edges=[Edge.transfer("b", "B.")],
                model=model,
            ),
            Agent("b", model=lambda call: say("ok")),
        ],
    )

    assert play(flow).result.answer == "ok"
    stopped = play(flow.changed(limits=Limits(max_steps=1, max_tokens=50_000)))
    assert len(stopped.result.result.data["gathered"]) == 1


def desk() -> Flow:
    """A desk whose triage transfers at once."""
    triage = Agent(
        "triage",
        edges=[Edge.transfer("billing")],
        model=lambda call: hand_over("billing", "a bill"),
    )
    billing = Agent("billing", description="bills", model=lambda call: say("done"))
    return Flow("desk", [triage, billing])


def facts_told(sink: EventList) -> list[dict]:
    packets = [e.payload.packet for e in sink.events if e.kind == "handoff_opened"]
    return [sink.body(packet)["facts"] for packet in packets if packet]


def test_what_the_host_knows_from_the_start_goes_along_as_a_fact():
    known = {"order_id": "A-1001", "plan": {"name": "gold"}}
    done = play(desk(), "My bill", state=known)

    assert done.kinds[:4] == [
        "session_started",
        "state_set",
        "state_set",
        "user_message_received",
    ]
    assert facts_told(done.sink) == [known]


def test_a_session_goes_on_with_what_its_host_knew_without_being_told_again():
    known = {"order_id": "A-1001"}
    whole = play(desk(), "My bill", state=known)
    cut = [event for event in whole.events if event.seq <= 5]
    again = EventList(b"key")
    again.bodies.update(whole.sink.bodies)

    asyncio.run(resume(desk(), Recording("s1", cut, whole.sink.body), sink=again))

    assert "state_set" not in [event.kind for event in again.events]
    assert facts_told(again) == [known]


def test_a_session_that_is_resumed_knows_what_its_record_says_whatever_its_host_says_now():
    whole = play(desk(), "My bill", state={"order_id": "A-1001"})
    cut = Recording("s1", [one for one in whole.events if one.seq <= 12], whole.sink.body)
    again = EventList(b"key")
    again.bodies.update(whole.sink.bodies)

    asyncio.run(resume(desk(), cut, sink=again, state={"order_id": "B-2", "customer": "4812"}))

    told = [body for body in again.bodies.values() if b"4812" in body or b"B-2" in body]
    assert (told, "state_set" in [event.kind for event in again.events]) == ([], False)


def test_a_session_that_is_run_again_as_a_whole_begins_with_what_its_host_knew():
    whole = play(desk(), "My bill", state={"order_id": "A-1001"})
    again = EventList(b"key")

    done = asyncio.run(
        rerun(
            desk(),
            Recording("s1", whole.events, whole.sink.body),
            "h2",
            mode=Mode.CONTINUE,
            sink=again,
        )
    )

    assert done.same_result
    assert facts_told(again) == [{"order_id": "A-1001"}]
