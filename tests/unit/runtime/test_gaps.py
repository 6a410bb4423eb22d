"""Values that were left out of a record: which of them are missed, and how they are said again."""

import asyncio
import json
from dataclasses import replace

import pytest
from support.sessions import Watched, play

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    Flow,
    HandoffRequest,
    Recording,
    Redaction,
    RequestError,
    Tool,
    delegate,
    resume,
    say,
    use,
)
from handoff_console.runtime.clock import VirtualClock
from handoff_console.runtime.events import EventList
from handoff_console.runtime.filling import filled, with_bodies
from handoff_console.runtime.gaps import Gap, gaps

CARD, OTHER = "4111 1111 1111 1111", "5500 0000 0000 0004"
RULES = Redaction()


def shop(asked: Watched | None = None, **tools: object) -> Flow:
    """Return a flow whose clerk looks a customer up and then answers."""

    async def look_up(customer: str) -> dict:
        return {"customer": customer, "password": "hunter2", **tools}

    model = asked or (lambda call: use("look_up", customer="bob") if call.step == 1 else say("ok"))
    return Flow("shop", [Agent("clerk", tools=[Tool(look_up)], model=model)])


def recorded(flow: Flow, message: str | HandoffRequest, *, until: str = "", times: int = 1):
    """Return a record as a process leaves it that is killed at the n-th event of a kind."""
    played = play(flow, message)
    events, seen = [], 0
    for event in played.events:
        events.append(event)
        seen += event.kind == until
        if until and seen == times:
            break
    return Recording("s1", events, played.sink.body), played


def test_of_a_session_that_is_over_nothing_is_missed():
    whole, _ = recorded(shop(), f"My card is {CARD}.")

    assert gaps(whole) == []


def test_what_the_user_said_is_missed_while_a_handoff_is_open():
    begun, _ = recorded(shop(), f"My card is {CARD}.", until="model_called")

    assert gaps(begun) == [Gap("message", "card number", 1, "My card is [redacted: card number].")]


def test_what_a_tool_returned_is_missed_by_its_step_and_call():
    begun, _ = recorded(shop(), "Hello.", until="tool_returned")

    assert [(gap.place, gap.name, gap.marks) for gap in gaps(begun)] == [
        ("h1 call 1.0", "password", 1)
    ]


def test_a_tool_that_was_called_with_a_value_says_it_again_and_another_says_one_of_its_own():
    def find(number: str) -> str:
        return number if number == CARD else f"There is {OTHER}."

    def clerk(call):
        calls = use("find", number=CARD), use("find", number="1"), say("Done.")
        return calls[len(call.results)]

    flow = Flow("shop", [Agent("clerk", tools=[Tool(find)], model=clerk)])
    begun, _ = recorded(flow, "Find it.", until="tool_returned", times=2)

    assert [(one.place, one.repeats) for one in gaps(begun)] == [
        ("h1 step 1", True),
        ("h1 call 1.0", True),
        ("h1 call 2.0", False),
    ]


def test_a_value_that_stands_twice_is_missed_twice_in_one_place():
    begun, _ = recorded(shop(), f"Not {CARD} but {OTHER}.", until="model_called")

    assert [(gap.place, gap.marks) for gap in gaps(begun)] == [("message", 2)]


def desk() -> Flow:
    """Return a flow whose chief has a worker look something up, and says something else."""

    async def secret() -> dict:
        return {"token": "abc"}

    def chief(call):
        if call.step == 1:
            return delegate("worker", task="Look it up.", tools=["secret"])
        return say("done")

    worker = Agent(
        "worker",
        tools=[Tool(secret)],
        model=lambda call: use("secret") if call.step == 1 else say("found"),
    )
    return Flow("desk", [Agent("chief", edges=[Edge("worker", via="call")], model=chief), worker])


def test_what_only_a_finished_worker_read_is_missed_by_nobody():
    begun, _ = recorded(desk(), "Hello.", until="handoff_closed")

    assert gaps(begun) == []


def test_what_an_open_worker_read_is_missed():
    begun, _ = recorded(desk(), "Hello.", until="tool_returned")

    assert [gap.place for gap in gaps(begun)] == ["h2 call 1.0"]


def test_with_the_values_the_record_says_what_was_said():
    begun, _ = recorded(shop(), f"Not {CARD} but {OTHER}.", until="tool_returned")

    whole = filled(begun, {"card number": [CARD, OTHER], "password": ["hunter2"]}, RULES)

    assert gaps(whole) == []
    said = begun.events[1].payload.message
    assert whole.body(said)["content"] == f"Not {CARD} but {OTHER}."
    assert begun.body(said)["content"] == (
        "Not [redacted: card number] but [redacted: card number]."
    )


def test_one_value_stands_for_every_mark_of_its_name():
    begun, _ = recorded(shop(), f"{CARD}, I say {CARD}.", until="model_called")

    whole = filled(begun, {"card number": [CARD]}, RULES)

    assert whole.body(begun.events[1].payload.message)["content"] == f"{CARD}, I say {CARD}."


def test_a_value_for_one_place_goes_before_one_for_all():
    begun, _ = recorded(shop(card=OTHER), f"My card is {CARD}.", until="tool_returned")

    values = {"card number": [CARD], "card number in h1 call 1.0": [OTHER], "password": ["x"]}
    whole = filled(begun, values, RULES)

    returned = next(e.payload for e in begun.events if e.kind == "tool_returned")
    assert OTHER in whole.body(returned.result)["content"]
    assert CARD in whole.body(begun.events[1].payload.message)["content"]


@pytest.mark.parametrize("value", ["4111", "[redacted: password]", f"{CARD} and {OTHER}"])
def test_what_would_not_be_left_out_again_as_it_was_is_refused(value):
    begun, _ = recorded(shop(), f"My card is {CARD}.", until="model_called")

    with pytest.raises(RequestError) as refused:
        filled(begun, {"card number": [value]}, RULES)

    assert str(refused.value) == (
        "What is given for card number is not what was left out in message: written down it would "
        "not stand there as it does. Give the value as it was said, with all that belongs to it."
    )


def test_where_the_rules_are_others_a_right_value_is_refused_with_what_to_do():
    begun, _ = recorded(shop(), f"My card is {CARD}.", until="model_called")

    with pytest.raises(RequestError) as refused:
        filled(begun, {"card number": [CARD]}, Redaction(patterns=False))

    assert str(refused.value).endswith(
        "with all that belongs to it. The redaction rules differ from the recorded ones: by now "
        "they no longer leave out what has the form of a secret. As long as they do, a right value "
        "is refused too: put the recorded rules back into the flow, or leave the mark."
    )


def test_where_the_record_does_not_tell_its_rules_that_is_said_of_a_value_that_is_refused():
    begun, _ = recorded(shop(), f"My card is {CARD}.", until="model_called")
    digest = begun.events[0].payload.flow_digest
    snapshot = {k: v for k, v in begun.body(digest).items() if k != "redaction"}
    earlier = replace(begun, body=lambda name: snapshot if name == digest else begun.body(name))

    whole = filled(earlier, {"card number": [CARD]}, RULES)
    with pytest.raises(RequestError) as refused:
        filled(earlier, {"card number": [CARD]}, Redaction(patterns=False))

    assert whole.body(begun.events[1].payload.message)["content"] == f"My card is {CARD}."
    assert str(refused.value).endswith(
        "with all that belongs to it. This record does not say by which redaction rules it was "
        "written: if the flow's are others by now, put the former ones back into it."
    )


def test_another_value_of_the_same_form_is_not_told_from_the_one_that_was_said():
    begun, _ = recorded(shop(), f"My card is {CARD}.", until="model_called")

    whole = filled(begun, {"card number": [OTHER]}, RULES)

    assert whole.body(begun.events[1].payload.message)["content"] == f"My card is {OTHER}."


def test_a_name_that_nothing_was_left_out_by_is_refused():
    begun, _ = recorded(shop(), f"My card is {CARD}.", until="model_called")

    with pytest.raises(RequestError) as refused:
        filled(begun, {"cart": ["x"]}, RULES)

    assert str(refused.value) == (
        "No value 'cart' was left out of session 's1'; left out were: card number."
    )


def test_as_many_values_as_marks_are_taken_or_one():
    begun, _ = recorded(shop(), f"Not {CARD} but {OTHER}, nor {CARD}.", until="model_called")

    with pytest.raises(RequestError) as refused:
        filled(begun, {"card number": [CARD, OTHER]}, RULES)

    assert str(refused.value) == (
        "'card number' was left out 3 times in message, and 2 values are given for it; give one "
        "for all, or 3."
    )


def gone_on(flow: Flow, recording: Recording, sink: EventList):
    return asyncio.run(resume(flow, recording, sink=sink, clock=VirtualClock()))


def test_a_session_goes_on_with_the_values_themselves_and_its_record_with_marks():
    begun, first = recorded(shop(), f"My card is {CARD}.", until="tool_returned")
    asked = Watched(lambda _: say("ok"))
    sink = EventList(first.sink.digest_key)

    whole = filled(begun, {"card number": [CARD], "password": ["hunter2"]}, RULES)
    result = gone_on(shop(asked), whole, sink)

    assert result.answer == "ok"
    assert [message["content"] for message in asked.read_by("clerk", 2)][1] == f"My card is {CARD}."
    assert "hunter2" in asked.read_by("clerk", 2)[-1]["content"]
    assert not [body for body in sink.bodies.values() if b"4111" in body or b"hunter2" in body]


def test_without_them_its_agents_read_marks():
    begun, first = recorded(shop(), f"My card is {CARD}.", until="tool_returned")
    asked = Watched(lambda _: say("ok"))

    gone_on(shop(asked), begun, EventList(first.sink.digest_key))

    assert asked.read_by("clerk", 2)[1]["content"] == "My card is [redacted: card number]."


def test_a_typed_request_has_its_task_again():
    request = HandoffRequest(task=f"Charge {CARD}.", allowed_tools=("look_up",))
    begun, _ = recorded(shop(), request, until="model_called")

    asked = next(e.payload for e in begun.events if e.kind == "handoff_requested").request
    whole = filled(begun, {"card number": [CARD]}, RULES)

    assert [gap.place for gap in gaps(begun)] == ["message"]
    assert whole.body(asked)["task"] == f"Charge {CARD}."


def test_what_the_gate_removed_stays_removed():
    """A worker never read that value, so nobody who goes on from its record reads it."""

    def chief(call):
        return delegate("worker", task=f"Charge {CARD}.", note=CARD)

    flow = Flow(
        "desk",
        [
            Agent("chief", edges=[Edge("worker", via="call")], model=chief),
            Agent("worker", model=lambda _: say("ok")),
        ],
    )
    begun, _ = recorded(flow, "Hello.", until="handoff_opened", times=2)
    request = [e.payload for e in begun.events if e.kind == "handoff_requested"][1].request

    whole = filled(begun, {"card number": [CARD]}, RULES)

    assert whole.body(request)["task"] == f"Charge {CARD}."
    assert whole.body(request)["inputs"] == {"note": "[redacted: card number]"}


def test_what_a_process_kept_for_itself_makes_its_record_whole():
    originals: dict[str, str] = {}
    played = play(shop(), f"My card is {CARD}.", originals=originals)
    whole = with_bodies(Recording("s1", played.events, played.sink.body), originals)

    assert whole.body(played.of("user_message_received")[0].message)["content"] == (
        f"My card is {CARD}."
    )
    roles = [json.loads(text).get("role") for text in originals.values()]
    assert sorted(filter(None, roles)) == ["tool", "user"]


def test_of_two_that_are_written_alike_it_knows_neither():
    originals: dict[str, str] = {}

    async def note(text: str) -> str:
        return "noted"

    steps = [use("note", text=CARD), use("note", text=OTHER), say("ok")]
    flow = Flow(
        "shop",
        [
            Agent(
                "clerk",
                tools=[Tool(note, effect=Effect.READ)],
                model=lambda call: steps[call.step - 1],
            )
        ],
    )
    played = play(flow, "Note both.", originals=originals)

    arguments = {event.payload.arguments for event in played.events if event.kind == "tool_called"}
    assert [originals[digest] for digest in arguments] == [""]
    whole = with_bodies(Recording("s1", played.events, played.sink.body), originals)
    assert whole.body(arguments.pop()) == {"text": "[redacted: card number]"}
