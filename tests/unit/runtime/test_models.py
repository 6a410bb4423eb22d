"""Models that need no network, and what the runtime makes of any reply."""

import asyncio
import re
import threading
from typing import Any

import pytest
from support.sessions import Watched, play

from handoff_console.runtime import (
    Agent,
    CallableModel,
    Edge,
    EventList,
    Flow,
    FlowError,
    HandoffRequest,
    Limits,
    ModelCall,
    ModelReply,
    Rules,
    Scripted,
    Status,
    Tool,
    Usage,
    answer,
    delegate,
    run,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.errors import ModelError, TransientModelError
from handoff_console.runtime.models import Bm25, as_model, as_reply


def solo(model: Any, **options: Any) -> Flow:
    return Flow("one", agents=[Agent("solo", "Answer.", model=model, **options)])


def look_up(page: int = 1) -> int:
    return page


# Scripted


def test_a_script_is_read_by_agent_and_step():
    model = Scripted({"solo": [use("look_up", page=2), say("found")]})

    played = play(solo(model, tools=[Tool(look_up)]))

    assert played.result.answer == "found"
    assert played.one("session_started").models == {"solo": "scripted"}


def test_parallel_workers_cannot_take_each_others_lines():  # R85
    flow = Flow(
        "support",
        agents=[
            Agent("boss", edges=[Edge.call("worker", "Works.")]),
            Agent("worker"),
        ],
    )
    script = Scripted(
        {
            "boss": [together(delegate("worker", "one"), delegate("worker", "two")), say("both")],
            "worker@t1/1.0": [timed(answer("ok", name="first"), 30)],
            "worker@t1/1.1": [timed(answer("ok", name="second"), 1)],
        }
    )

    played = play(flow, model=script)

    results = [played.sink.body(p.result) for p in played.of("handoff_closed")]
    assert [result["data"] for result in results[:2]] == [{"name": "second"}, {"name": "first"}]


def test_a_second_attempt_may_have_a_script_of_its_own():
    script = Scripted(
        {
            "boss": [delegate("worker", "work"), say("done")],
            "worker@t1/1.0": [answer("error", "busy", transient=True)],
            "worker@t1/1.0#2": [answer("ok", "worked")],
        }
    )
    flow = Flow("f", agents=[Agent("boss", edges=[Edge.call("worker", "W.")]), Agent("worker")])

    played = play(flow, model=script)

    assert [p.status for p in played.of("handoff_closed")] == ["error", "ok", "ok"]


def test_a_script_that_is_over_is_an_error_that_names_it():
    played = play(solo(Scripted({"solo": [use("look_up")]}), tools=[Tool(look_up)]))

    assert played.status is Status.ERROR
    assert played.result.answer == (
        "the model failed: The script of 'solo@t1' has 1 replies; step 2 has none."
    )


def test_a_script_may_say_its_last_line_again():
    model = Scripted({"solo": [use("look_up")]}, repeat_last=True)

    played = play(solo(model, tools=[Tool(look_up)]).changed(limits=Limits(max_steps=4)))

    assert played.count("model_called") == 4
    assert played.status is Status.LIMIT_REACHED


def test_an_agent_without_a_script_is_an_error_even_when_lines_repeat():
    played = play(solo(Scripted({"other": [say("hi")]}, repeat_last=True)))

    assert "The script of 'solo@t1' has 0 replies" in played.result.answer


def test_an_exception_in_a_script_is_raised():
    played = play(solo(Scripted({"solo": [ModelError("out of order")]})))

    assert (played.status, played.result.answer) == (
        Status.ERROR,
        "the model failed: out of order",
    )


# Rules


def test_a_rule_answers_from_what_was_asked():
    played = play(solo(lambda call: say(f"You said: {call.text}")), "Hello")

    assert played.result.answer == "You said: Hello"
    assert played.one("agent_activated").reads_prompt is False


def test_a_rule_may_be_async_and_may_return_plain_text():
    async def rule(call) -> str:
        await asyncio.sleep(3)
        return "later"

    played = play(solo(rule))

    assert played.result.answer == "later"
    assert played.one("model_replied").latency_seconds == 3


def test_a_message_that_no_rule_matches_gets_an_honest_answer():
    played = play(solo(Rules(lambda call: None)))

    assert played.result.answer == (
        "I do not know how to help with that: solo follows rules here, and none of them matches "
        "this message."
    )


def test_a_rule_that_breaks_is_a_result_not_a_crash():
    played = play(solo(lambda call: call.nothing))

    assert played.status is Status.ERROR
    assert played.result.answer.startswith("its function failed: AttributeError: ")
    assert played.kinds[-1] == "session_closed"


def test_a_rule_that_breaks_says_where_in_its_own_file():
    replied = play(solo(lambda call: call.nothing)).one("model_replied")

    assert replied.error.startswith("AttributeError: ")
    assert re.fullmatch(r"test_models\.py, line \d+", replied.raised_at)


@pytest.mark.parametrize("function", [lambda call: 7, lambda agent, messages: 7])
def test_a_function_that_returns_what_is_no_reply_is_told_of_and_not_the_model(function):
    replied = play(solo(function)).one("model_replied")

    assert replied.error == (
        "it returned int; it has to return text, a ModelReply, or a dict of a ModelReply's fields."
    )
    assert replied.raised_at == f"test_models.py, line {function.__code__.co_firstlineno}"


def test_what_a_function_raises_on_purpose_stays_what_it_is():
    def busy(call):
        raise TransientModelError("come back later")

    replied = play(solo(busy)).of("model_replied")[0]

    assert (replied.error, replied.transient, replied.raised_at) == ("come back later", True, "")


@pytest.mark.parametrize("function", [lambda: "x", lambda a, b, c: "x", lambda call, *, key: "x"])
def test_a_function_that_cannot_be_called_is_refused_before_anything_runs(function):
    line = function.__code__.co_firstlineno
    said = (
        f"the model of 'solo' is the function '<lambda>' (test_models.py, line {line}), which "
        "cannot be called with one argument, `(call)`, nor with two, `(agent, messages)`; change "
        "what it takes."
    )

    with pytest.raises(FlowError, match=re.escape(said)):
        Flow("f", [Agent("solo", model=function)])
    with pytest.raises(FlowError, match=re.escape(said)):
        as_model(function, "f", "solo")


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda call: "x", Rules),
        (lambda call, key=1: "x", Rules),
        (lambda call=None: "x", Rules),
        (lambda agent, messages: "x", CallableModel),
        (lambda agent, messages, key=1: "x", CallableModel),
        (lambda *asked: "x", CallableModel),
    ],
)
def test_how_many_arguments_it_needs_says_what_a_function_is(function, kind):
    assert type(as_model(function, "f", "solo")) is kind


# Functions of one's own


def test_a_function_of_agent_and_messages_is_a_model():
    heard = []

    def mine(agent: str, messages: list) -> str:
        heard.append((agent, [message["role"] for message in messages]))
        return "mine"

    played = play(solo(mine))

    assert played.result.answer == "mine"
    assert heard == [("solo", ["system", "user"])]
    assert played.one("session_started").models == {"solo": "callable:mine"}
    assert played.one("session_started").offline is False


def test_a_coroutine_of_agent_and_messages_is_a_model():
    async def mine(agent: str, messages: list) -> dict:
        await asyncio.sleep(2)
        return {"text": "mine", "usage": {"input_tokens": 30, "output_tokens": 12}}

    played = play(solo(mine))

    assert played.result.answer == "mine"
    assert played.one("budget_charged").tokens == 42
    assert played.one("handoff_closed").measured is True


def test_a_function_that_blocks_is_left_at_the_deadline():  # R18
    released = threading.Event()

    def blocks(agent: str, messages: list) -> str:
        released.wait(10)
        return "too late"

    flow = solo(blocks).changed(limits=Limits(deadline_seconds=0.1))
    sink = EventList()
    try:
        result = asyncio.run(run(flow, "Hello", sink=sink))
    finally:
        released.set()

    assert (result.status, result.reason) == (Status.LIMIT_REACHED, "deadline")


def test_a_function_that_is_offline_is_not_given_a_thread():
    def where(agent: str, messages: list) -> str:
        return threading.current_thread().name

    def ask(model: CallableModel) -> str:
        return asyncio.run(run(solo(model), "Hello")).answer

    assert ask(CallableModel(where, offline=True)) == "MainThread"
    assert ask(CallableModel(where)) == "callable:where"


# What a reply may look like


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        ("text", ModelReply(text="text")),
        (ModelReply(text="text"), ModelReply(text="text")),
        ({"text": None}, ModelReply(text="")),
        ({"text": "a", "usage": (3, 4)}, ModelReply(text="a", usage=Usage(3, 4))),
        (
            {"tool_calls": [{"name": "look_up", "arguments": '{"page": 2}'}]},
            ModelReply(
                tool_calls=({"id": "", "name": "look_up", "arguments": {"page": 2}},),
            ),
        ),
        (
            {
                "tool_calls": [
                    {"id": "c1", "name": "look_up", "arguments": None, "type": "function"}
                ]
            },
            ModelReply(tool_calls=({"id": "c1", "name": "look_up", "arguments": {}},)),
        ),
        (
            {"tool_calls": [{"id": 7, "name": "look_up", "arguments": "{broken"}]},
            ModelReply(
                tool_calls=(
                    {"id": "", "name": "look_up", "arguments": {}, "malformed": "{broken"},
                ),
            ),
        ),
        (
            {"tool_calls": [{"name": "look_up", "arguments": [1]}]},
            ModelReply(
                tool_calls=({"id": "", "name": "look_up", "arguments": {}, "malformed": "[1]"},),
            ),
        ),
    ],
)
def test_a_reply_is_read_from_what_a_model_returns(value, reply):
    assert as_reply(value) == reply


RETURNED = (
    "The model returned {}; it has to return text, a ModelReply, or a dict of a ModelReply's "
    "fields."
)
NAMELESS = "The model asked for a tool without a name; a call has a name and arguments."
USELESS = "The model's usage is no pair of token counts; leave it out where it is not known."


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, RETURNED.format("NoneType")),
        (b"text", RETURNED.format("bytes")),
        (
            {"content": "x", "text": "y"},
            "The model's reply has unknown fields: content; it may have: finish_reason, "
            "first_token_seconds, latency_seconds, text, tool_calls, usage.",
        ),
        ({"text": 5}, "The model's text is a int; it has to be a text."),
        ({"tool_calls": ["look_up"]}, NAMELESS),
        ({"tool_calls": [{"name": ""}]}, NAMELESS),
        ({"usage": (-1, 4)}, USELESS),
        ({"usage": {"tokens": 4}}, USELESS),
        (ModelReply(usage=Usage(-5, 0)), USELESS),
    ],
)
def test_what_is_no_reply_is_told_in_one_sentence(value, sentence):
    with pytest.raises(ModelError) as refused:
        as_reply(value)
    assert str(refused.value) == sentence


class Careless:
    """A model of somebody else, which returns what it likes."""

    name, offline, reads_prompt = "careless", False, True

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)

    async def reply(self, call: Any, /) -> Any:
        return self._replies[call.step - 1]


@pytest.mark.parametrize("reply", [None, 5, {"tool_calls": [None]}, {"usage": "many"}, object()])
def test_a_model_that_returns_nonsense_is_a_result_not_a_crash(reply):
    played = play(solo(Careless(reply)))

    assert played.status is Status.ERROR
    assert played.result.answer.startswith("the model failed: The model")
    assert played.kinds[-1] == "session_closed"


def test_arguments_that_are_no_json_object_are_told_to_the_model():
    model = Watched(
        Careless({"tool_calls": [{"name": "look_up", "arguments": "{broken"}]}, "sorry")
    )

    played = play(solo(model, tools=[Tool(look_up)]))

    assert played.one("tool_denied").reason == "the arguments of 'look_up' are no JSON object."
    assert "are no JSON object" in model.read_by("solo", 2)[-1]["content"]


def test_arguments_that_nest_too_deeply_are_recorded_and_refused():
    deep: Any = 1
    for _ in range(3_000):
        deep = [deep]

    played = play(solo(Careless(use("look_up", page=deep), "sorry"), tools=[Tool(look_up)]))

    assert played.result.answer == "sorry"
    assert played.one("tool_denied").rule == "arguments"


def test_calls_keep_the_ids_a_model_gives_while_they_are_different():
    def call(identity: str) -> dict:
        return {"tool_calls": [{"id": identity, "name": "look_up", "arguments": {}}]}

    played = play(
        solo(Careless(call("a"), call("b"), call("a"), call(""), "done"), tools=[Tool(look_up)])
    )

    assert [p.call_id for p in played.of("tool_called")] == ["a", "b", "h1.3.0", "h1.4.0"]


def test_two_calls_with_one_id_in_one_reply_get_ids_of_their_own():
    twice = [{"id": "a", "name": "look_up", "arguments": {}}] * 2

    played = play(solo(Careless({"tool_calls": twice}, "done"), tools=[Tool(look_up)]))

    assert [p.call_id for p in played.of("tool_called")] == ["h1.1.0", "h1.1.1"]


# Which model an agent gets


def test_the_callers_models_come_before_the_flows():
    flow = Flow(
        "f",
        agents=[Agent("a", model=lambda call: say("the agent's"))],
        model=lambda call: say("the flow's"),
    )

    def answers(**options: Any) -> str:
        return play(flow, **options).result.answer

    assert answers() == "the agent's"
    assert answers(model=lambda call: say("the caller's")) == "the caller's"
    assert answers(model="offline:bm25", models={"a": lambda call: say("by name")}) == "by name"
    bare = flow.changed(agents=[Agent("a")])
    assert play(bare).result.answer == "the flow's"


def test_a_model_for_an_agent_that_is_none_of_the_flow_is_refused():
    played = play(solo(lambda call: say("hi")), models={"sola": "offline:bm25"})

    assert str(played.raised) == (
        "Flow 'one' cannot run: a model is given for 'sola', which is no agent of it; there are: "
        "solo."
    )
    assert played.events == []


def test_a_name_stands_for_a_model():
    assert isinstance(as_model("offline:bm25", "f", "a"), Bm25)


@pytest.mark.parametrize("value", [5, Bm25, None])
def test_what_is_no_model_is_refused(value):
    with pytest.raises(
        FlowError, match=r"^Flow 'f' cannot run: agent 'a' has no model; give it one"
    ):
        as_model(value, "f", "a")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(FlowError) as refused:
        as_model("offline:bm52", "f", "a")

    assert str(refused.value).startswith(
        "Flow 'f' cannot run: agent 'a' wants the model 'offline:bm52'; there are: offline:bm25, "
    )


# What came back


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('<data from="look">\n{"a":1}\n</data>', {"a": 1}),
        ("plain text", "plain text"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_result_is_read_as_json_where_it_is_some(content, value):
    flow = solo(lambda call: say("ok"))
    message = {"role": "tool", "tool_call_id": "c", "name": "look", "content": content}
    call = ModelCall(
        flow=flow,
        agent=flow.agents[0],
        messages=[message],
        tools=[],
        request=HandoffRequest(task="x"),
    )

    assert call.result_of("look") == value
    assert call.result_of("nothing") is None


# Short ways to write replies


def test_several_asks_make_one_reply_in_their_order():
    reply = together(use("a", x=1), delegate("w", "find it", customer_id="1"), text="Looking.")

    assert [call["name"] for call in reply.tool_calls] == ["a", "delegate_to_w"]
    assert reply.tool_calls[1]["arguments"] == {
        "reason": "find it",
        "task": "find it",
        "payload": {"customer_id": "1"},
    }


def test_a_timed_reply_keeps_what_it_says():
    reply = timed(say("text", usage=Usage(1, 2), finish_reason="stop"), 3)

    assert reply == ModelReply(
        text="text", usage=Usage(1, 2), finish_reason="stop", latency_seconds=3
    )
    assert timed(say("text"), 3, tokens=(5, 6)).usage == Usage(5, 6)
