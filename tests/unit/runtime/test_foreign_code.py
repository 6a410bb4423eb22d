"""Code and values of somebody else: whatever they do, the session ends with a status and a record.

Models, tools, checks and schemas are the users' own; none of them may take the program along, and
nothing they return may make a record that cannot be read.
"""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, field_validator
from support.sessions import Played, play

from handoff_console.runtime import (
    Agent,
    CallableModel,
    Decision,
    Edge,
    EventList,
    Flow,
    FlowError,
    HandoffRequest,
    Limits,
    ModelReply,
    Recording,
    RequestError,
    Session,
    Tool,
    ToolError,
    Usage,
    answer,
    delegate,
    hand_over,
    resume,
    run,
    say,
    use,
)
from handoff_console.runtime.canonical import as_json
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.events import load_payload, payload_text


class Wordless(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Mute(ToolError):
    """A tool's own error that cannot say it either."""

    __str__ = Wordless.__str__


class Nameless:
    """A value that cannot be shown, compared or hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise ValueError("no words")

    def __eq__(self, other: object) -> bool:
        raise ValueError("no equal")


def nested(depth: int) -> Any:
    value: Any = "at last"
    for _ in range(depth):
        value = [value]
    return value


CIRCLE: dict[str, Any] = {}
CIRCLE["again"] = CIRCLE

ERRORS = [
    (Wordless(), "Wordless"),
    (Mute(), "Mute"),
    (ValueError("\ud800"), "ValueError: \ud800"),
    (KeyError("order"), "KeyError: 'order'"),
    (StopIteration(), "StopIteration"),
    (RecursionError("too deep"), "RecursionError: too deep"),
    (SystemExit(3), "SystemExit: 3"),
    (BaseExceptionGroup("two", [SystemExit(1), ValueError()]), "BaseExceptionGroup: two (2 sub-"),
]
VALUES = {
    "not a number": float("nan"),
    "a number of 5,000 digits": 10**5000,
    "a circle": CIRCLE,
    "900 lists in each other": nested(900),
    "a set": {1, 2},
    "keys of several types": {1: "a", "1": "b", None: "c"},
    "half a character as a key": {"\ud800": 1},
    "bytes that are no text": b"\xff",
    "an object without words": Nameless(),
}


def readable(played: Played) -> Played:
    """Return a session whose record keeps the laws and can be read back."""
    assert played.raised is None, played.raised
    for event in played.events:
        fields = json.loads(payload_text(event.payload))
        load_payload(event.kind, event.payload.version, fields)
    kinds = Counter(played.kinds)
    assert kinds["handoff_opened"] == kinds["handoff_closed"]
    assert kinds["budget_reserved"] == kinds["budget_refunded"]
    assert kinds["model_called"] == kinds["model_replied"]
    assert kinds["tool_called"] == kinds["tool_returned"]
    assert played.kinds[-1] == "session_closed"
    return played


def alone(model: Any, **options: Any) -> Flow:
    return Flow("f", [Agent("a", model=model, **options)])


def pair(asks: ModelReply, edge: Edge, **target: Any) -> Flow:
    """Return a flow whose first agent hands over once, then says how that went."""

    def first(call: Any) -> ModelReply:
        return asks if call.step == 1 else say(str(call.messages[-1]["content"]))

    return Flow("f", [Agent("a", model=first, edges=[edge]), Agent("b", model=done, **target)])


def done(call: Any) -> ModelReply:
    return say("done")


def raising(error: BaseException) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(("error", "says"), ERRORS, ids=[says for _, says in ERRORS])
def test_whatever_a_model_raises_its_handoff_fails_with_a_sentence(error, says):
    class Own:
        name, offline, reads_prompt = "own", True, True
        reply = raising(error)

    async def fails(agent: str, messages: Any) -> str:
        raise error

    for model in (raising(error), CallableModel(fails), Own()):
        played = readable(play(alone(model)))
        assert played.status == "error"
        assert says in played.result.result.notes.replace("coroutine raised ", "")
        assert played.events[-1].elapsed_seconds == 0  # nobody waited for the deadline


@pytest.mark.parametrize(("error", "says"), ERRORS, ids=[says for _, says in ERRORS])
def test_whatever_a_tool_raises_the_model_reads_a_sentence(error, says):
    async def later() -> None:
        raise error

    def asks(call: Any) -> ModelReply:
        return say("done") if call.results else use("tool")

    def at_once() -> None:
        raise error

    for function in (at_once, later):
        played = readable(play(alone(asks, tools=[Tool(function, name="tool")])))
        assert played.status == "ok"
        assert says in played.one("tool_returned").error.replace("coroutine raised ", "")


def test_an_error_that_quotes_all_it_was_given_is_cut():
    played = readable(play(alone(raising(ValueError("x" * 1_000_000)))))

    notes = played.result.result.notes
    assert notes.endswith("x… (1000000 characters)")
    assert len(notes) < 2_100


@pytest.mark.parametrize(("error", "says"), ERRORS, ids=[says for _, says in ERRORS])
def test_a_check_that_fails_lets_nobody_in_and_says_so(error, says):
    def check(request: HandoffRequest) -> None:
        raise error

    flow = pair(hand_over("b", "why"), Edge.transfer("b", "B."), ingress=[check])
    played = readable(play(flow))

    assert played.routes() == ["user → a"]
    refused = played.one("handoff_rejected")
    assert refused.rule == "ingress"
    assert refused.reason.startswith("'b' did not take the request: its check 'check' failed (")
    assert says in refused.reason


@pytest.mark.parametrize("found", [False, True, 0, [], {}])
def test_a_check_that_returns_neither_a_text_nor_none_lets_nobody_in(found):
    flow = pair(hand_over("b", "why"), Edge.transfer("b", "B."), ingress=[lambda _: found])

    assert play(flow).one("handoff_rejected").reason == (
        "'b' did not take the request: its check '<lambda>' returned a "
        f"{type(found).__name__}; it has to return what is wrong as a text, or None."
    )


@pytest.mark.filterwarnings("error")
def test_a_check_that_would_have_to_be_awaited_lets_nobody_in():
    async def check(request: HandoffRequest) -> None:
        return None

    flow = pair(hand_over("b", "why"), Edge.transfer("b", "B."), ingress=[check])

    assert "returned a coroutine" in play(flow).one("handoff_rejected").reason


@pytest.mark.parametrize(("error", "says"), ERRORS, ids=[says for _, says in ERRORS])
def test_whatever_a_schema_raises_what_it_checks_does_not_fit(error, says):
    class Order(BaseModel):
        order: str = ""

        @field_validator("order", mode="before")
        @classmethod
        def known(cls, value: Any) -> Any:
            raise error

    for edge, asks in (
        (Edge.call("b", "B.", payload=Order), delegate("b", "Do it", order="A-1")),
        (Edge.transfer("b", "B.", payload=Order), hand_over("b", "why", order="A-1")),
    ):
        refused = readable(play(pair(asks, edge))).one("handoff_rejected")
        assert refused.rule == "request"
        assert refused.reason.startswith("'a' asked 'b' with an invalid request: ")

    def takes(order: Order) -> str:
        return "taken"

    flow = alone(lambda c: use("takes", order={"order": "A-1"}) if c.step == 1 else say("done"))
    flow = flow.changed(agents=[Agent("a", model=flow.agents[0].model, tools=[Tool(takes)])])
    assert readable(play(flow)).one("tool_denied").rule == "arguments"

    owes = Flow(
        "f",
        [Agent("a", model=lambda _: answer(order="A-1"), output_schema="Order")],
        schemas={"Order": Order},
    )
    played = readable(play(owes))
    assert (played.status, played.count("output_rejected")) == ("error", 2)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_whatever_a_model_hands_over_is_json_when_it_arrives(value):
    for edge, asks in (
        (Edge.call("b", "B."), delegate("b", "Do it", order=value)),
        (Edge.transfer("b", "B."), hand_over("b", "why", order=value)),
    ):
        played = readable(play(pair(asks, edge)))
        assert played.routes() == ["user → a", "a → b"]
        request = played.sink.body(played.one("handoff_requested", "h2").request)
        assert {"payload": request["inputs"]} == as_json({"payload": {"order": value}})


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_whatever_a_tool_returns_is_read_and_remembered_as_json(value):
    def look() -> dict[str, Any]:
        return {"found": value}

    def asks(call: Any) -> ModelReply:
        if call.results:
            return hand_over("b", "why", found=call.result_of("look")["found"])
        return use("look")

    tools = [Tool(look, remembers="found", inline=True)]  # type: ignore[arg-type]
    edges = [Edge.transfer("b", "B.")]
    flow = Flow("f", [Agent("a", model=asks, tools=tools, edges=edges), Agent("b", model=done)])
    played = readable(play(flow))

    assert played.status == "ok"
    assert played.sink.body(played.one("state_set").value) == as_json({"found": value})


def basket(*, ends: bool) -> Flow:
    """Return a flow whose tool puts one thing after the other into a basket that it goes on with.

    Args:
        ends: Whether its agent answers after two calls, or asks until it is stopped.
    """
    held: list[str] = []
    more = {"and": held}

    def put(thing: str) -> dict[str, Any]:
        held.append(thing)
        return {"held": held, "more": more}

    def asks(call: Any) -> ModelReply:
        return (
            say("done")
            if ends and len(call.results) == 2
            else use("put", thing="AB"[call.step % 2])
        )

    tools = [Tool(put, remembers=("held", "more"), inline=True)]
    return Flow("f", [Agent("a", model=asks, tools=tools)], limits=Limits(max_steps=2))


def test_what_a_tool_goes_on_changing_stays_known_as_it_was_returned():
    played = readable(play(basket(ends=True)))

    known = [(one.key, played.sink.body(one.value), one.conflict) for one in played.of("state_set")]
    assert known == [
        ("held", {"held": ["B"]}, False),
        ("more", {"more": {"and": ["B"]}}, False),
        ("held", {"held": ["B", "A"]}, True),
        ("more", {"more": {"and": ["B", "A"]}}, True),
    ]


def test_what_was_gathered_from_a_tool_stays_as_it_was_returned():
    gathered = readable(play(basket(ends=False))).result.result.data["gathered"]

    assert [one["result"]["held"] for one in gathered] == [["B"], ["B", "A"]]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_whatever_a_host_asks_with_and_knows_is_json_when_it_is_read(value):
    request = HandoffRequest(task="Find it", inputs={"order": value, "api_key": "k-1"})
    played = readable(play(alone(done), request, state={"serial": value}))

    assert played.status == "ok"
    body = played.sink.body(played.one("handoff_requested").request)
    inputs = {"order": value, "api_key": "[redacted: api_key]"}
    assert {"inputs": body["inputs"]} == as_json({"inputs": inputs})
    assert played.sink.body(played.one("state_set").value) == as_json({"serial": value})


def test_what_nests_without_end_is_cut_where_the_rest_of_the_program_can_follow():
    cut = as_json({"order": nested(900)})

    depth = 0
    while isinstance(cut, dict | list):
        cut = cut["order"] if isinstance(cut, dict) else cut[0]
        depth += 1
    assert (depth, cut) == (100, "[nested too deeply]")
    assert as_json(nested(99)) == nested(99)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"text": "x", "finish_reason": 5}, "its finish reason is a int; it has to be a text."),
        ({"text": ["x"]}, "its text is a list; it has to be a text."),
        ({"tool_calls": 5}, "its tool calls are a int; send a list."),
        ({"text": "x", "usage": (1.5, 2)}, "its usage is no pair of token counts; leave it out"),
        ({"text": "x", "usage": Usage(1.5, 2)}, "its usage is no pair of token counts; leave it"),
        ({"text": "x", "usage": Usage("1", 2)}, "its usage is no pair of token counts; leave it"),
        ({"text": "x", "usage": (10**30, 2)}, "its usage is no pair of token counts; leave it out"),
    ],
)
def test_a_reply_that_could_not_be_recorded_is_refused_with_a_sentence(reply, says):
    played = readable(play(alone(lambda _: reply)))

    assert played.status == "error"
    assert played.result.result.notes.startswith(f"its function failed: {says}")


@pytest.mark.parametrize("message", [None, 5, b"Hello", ["Hello"]])
def test_a_message_that_is_none_is_refused_before_anything_is_recorded(message):
    name = type(message).__name__
    with pytest.raises(
        RequestError,
        match=rf"^The message is of type {name}; it has to be a text or a HandoffRequest\.$",
    ):
        asyncio.run(run(alone(done), message))


@pytest.mark.parametrize("name", ["a\ud800", "a\0b", 7])
def test_a_session_id_that_cannot_be_written_is_refused_before_anything_is_recorded(name):
    sink = EventList()

    with pytest.raises(RequestError) as error:
        Session(
            Flow("desk", [Agent("one", model=lambda call: say("Hi."))]), sink=sink, session_id=name
        )

    assert str(error.value) == (
        f"The session id {name!r} cannot be recorded; use a text of letters, digits and `-`, or "
        "leave it out for a new one."
    )
    assert sink.events == []


class _Opaque:
    """Nothing that JSON has."""


class _Holds(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    what: _Opaque


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"pool_tokens": float("inf")}, "its pool_tokens is inf; say a whole number, 0 or more."),
        ({"depth": -1}, "its depth is -1; say a whole number, 0 or more."),
        ({"max_cost": "3"}, "its max_cost is '3'; say a number, 0 or more, or None."),
        ({"alert_tokens": 1.5}, "its alert_tokens is 1.5; say a whole number, 0 or more, or None."),
        ({"aggregator": "nobody"}, "its aggregator 'nobody' is no agent of it; there are: a."),
        ({"prices": {"m": 5}}, "its price of 'm' is 5; say Price(…)."),
        ({"profiles": {"p": 5}}, "its profile 'p' is 5; say Limits(…)."),
        ({"limits": None}, "its limits are None; say Limits(…)."),
        ({"schemas": {"S": dict}}, "its schema 'S' is <class 'dict'>, no pydantic model; say"),
        ({"schemas": {"S": _Holds}}, "its schema 'S', _Holds, has no form that a model can be"),
    ],
)
def test_a_flow_that_could_not_be_run_or_recorded_is_refused_when_it_is_made(options, says):
    with pytest.raises(FlowError) as raised:
        Flow("f", [Agent("a", model=done)], **options)

    assert str(raised.value).startswith(f"Flow 'f' cannot run: {says}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"payload": dict}, "the payload of the edge 'a' → 'b' is <class 'dict'>, no pydantic"),
        ({"limits": 5}, "the limits of the edge 'a' → 'b' are 5; say Limits(…) or the name of a"),
        ({"return_to": "c"}, "the edge 'a' → 'b' returns to 'c', which is no agent of it; there"),
    ],
)
def test_an_edge_that_could_not_be_taken_is_refused_when_the_flow_is_made(options, says):
    with pytest.raises(FlowError) as raised:
        pair(hand_over("b", "why"), Edge.transfer("b", "B.", **options))

    assert str(raised.value).startswith(f"Flow 'f' cannot run: {says}")


def test_one_name_stands_for_a_list_of_one():
    edge = Edge.transfer("b", "B.", fields="order_id", allowed_tools="look")

    assert (edge.fields, edge.allowed_tools) == (("order_id",), ("look",))
    assert Tool(done, remembers="serial").remembers == ("serial",)  # type: ignore[arg-type]
    flow = pair(
        hand_over("b", "why", order_id="A-1", order="secret plan"),
        Edge.transfer("b", "B.", fields="order_id"),  # `"order" in "order_id"` would be true
    )
    request = play(flow).one("handoff_requested", "h2").request
    played = play(flow)
    assert played.sink.body(request)["inputs"] == {"order_id": "A-1"}


def sends(text: str) -> str:
    """Send a text."""
    return f"sent {text}"


def mailer() -> Flow:
    """Return a flow whose agent sends a text, which a person has to approve."""

    def asks(call: Any) -> ModelReply:
        return say(str(call.results[0].value)) if call.results else use("sends", text="Hi")

    tools = [Tool(sends, effect="external")]  # type: ignore[arg-type]
    return Flow("mail", [Agent("a", model=asks, tools=tools, may_write=True)])


async def asked_later(what: Any) -> None:
    return None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (raising(OSError("no line")), "asking a person failed (OSError: no line)"),
        (raising(Wordless()), "asking a person failed (Wordless)"),
        (raising(SystemExit(3)), "asking a person failed (SystemExit: 3)"),
        (
            raising(BaseExceptionGroup("two", [SystemExit(1)])),
            "asking a person failed (BaseExceptionGroup: two (1 sub-exception))",
        ),
        (lambda _: True, "who was asked returned a bool; it has to return a Decision, or None"),
        (lambda _: "yes", "who was asked returned a str; it has to return a Decision, or None"),
        (asked_later, "who was asked returned a coroutine; it has to return a Decision, or None"),
    ],
)
def test_a_person_who_cannot_be_asked_is_waited_for_and_nothing_counts_as_a_yes(ask, says):
    played = play(mailer(), ask=ask)

    assert [type(one).__name__ for one in played.result.waiting_for] == ["Approval"]
    assert played.one("warning_raised").text == f"{says}; the session waits for the answer"
    assert (played.one("warning_raised").code, played.count("tool_called")) == ("not_asked", 0)
    assert played.kinds[-1] == "session_suspended"

    approval = played.result.waiting_for[0]
    recording = Recording("s1", tuple(played.events), played.sink.body)
    yes = Decision(approval_id=approval.approval_id, approved=True, shown=approval.shown)
    again = {"sink": played.sink, "clock": VirtualClock(), "decisions": [yes]}
    assert run_virtual(resume(mailer(), recording, **again)).answer == "sent Hi"


@pytest.mark.parametrize("arguments", [5, ["Hi"], {"text": CIRCLE}, {"txt": "Hi"}])
def test_arguments_that_are_none_are_no_approval(arguments):
    def edits(approval: Any) -> Decision:
        return Decision(
            approval_id=approval.approval_id,
            approved=True,
            shown=approval.shown,
            arguments=arguments,
        )

    played = readable(play(mailer(), ask=edits))
    assert played.one("approval_decided").reason == "invalid"
    assert played.count("tool_called") == 0
