"""Live models against a real HTTP server on this machine."""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from support.chat_server import Call, ChatServer, Drops, Hangs, Raw, Received, Refuses, Says

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    FlowError,
    Limits,
    ModelError,
    Price,
    SessionResult,
    Status,
    Tool,
    run,
)
from handoff_console.runtime.context import unanswered
from handoff_console.runtime.events import (
    BudgetCharged,
    FirstTokenReceived,
    HandoffClosed,
    ModelCalled,
    ModelReplied,
    SessionStarted,
    ToolDenied,
    UserMessageReceived,
)
from handoff_console.runtime.models.provider import ProviderModel

pytest.importorskip("pydantic_ai", reason="the extra `live` is not installed")

KEY = "test-key-of-nobody"
SOON = (("retry-after-ms", "1"),)
MODELS = ["openai:m?stream=true", "openai:m?stream=false"]
both_ways = pytest.mark.parametrize("model", MODELS, ids=["streamed", "whole"])
CLAUDES = ["anthropic:claude-m?stream=true", "anthropic:claude-m?stream=false"]
claude_both_ways = pytest.mark.parametrize("model", CLAUDES, ids=["streamed", "whole"])
every_way = pytest.mark.parametrize("model", [*MODELS, *CLAUDES])


@pytest.fixture(autouse=True)
def only_what_a_test_sets(monkeypatch):
    for name in ("OPENAI", "ANTHROPIC", "HANDOFF"):
        for part in ("BASE_URL", "API_KEY", "AUTH_TOKEN"):
            monkeypatch.delenv(f"{name}_{part}", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def serve(monkeypatch):
    """Start a server with a script, and make it the one that all live models ask."""
    started: list[ChatServer] = []

    def start(*lines: Any, **options: Any) -> ChatServer:
        server = ChatServer(*lines, **options)
        started.append(server.__enter__())
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("HANDOFF_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.host)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        return server

    yield start
    for server in started:
        server.__exit__()


def list_invoices(customer_id: str) -> str:
    """List the invoices of a customer."""
    return f"INV-1 and INV-2 of {customer_id}"


LIST = Tool(list_invoices, name="billing.list_invoices", inline=True)
SOLO = Flow("one", [Agent("solo", "You answer.", tools=[LIST])])
SUPPORT = Flow(
    "support",
    [
        Agent("triage", "You route.", edges=[Edge.transfer("billing")]),
        Agent(
            "billing",
            "You know invoices.",
            description="Invoices and charges.",
            examples=["Why was I charged twice?"],
            tools=[LIST],
        ),
    ],
)


def ask(
    model: str, flow: Flow = SOLO, text: str = "Why twice?", **changes: Any
) -> tuple[SessionResult, EventList]:
    log = EventList()
    flow = flow.changed(**changes)
    return asyncio.run(run(flow, text, sink=log, model=model, session_id="s1")), log


def of(log: EventList, kind: type) -> Sequence[Any]:
    return [event.payload for event in log.events if isinstance(event.payload, kind)]


@both_ways
def test_an_answer_comes_with_its_usage_and_why_it_ended(serve, model):
    serve(Says("You were not.", usage=(120, 15), finish_reason="length"))

    result, log = ask(model)

    assert (result.status, result.answer, result.tokens_used) == (Status.OK, "You were not.", 135)
    (replied,) = of(log, ModelReplied)
    assert (replied.input_tokens, replied.output_tokens, replied.measured) == (120, 15, True)
    assert replied.finish_reason == "length"


@pytest.mark.parametrize("model", [*MODELS, "anthropic:m", "server:m"])
def test_a_provider_is_told_the_trace_of_the_request(serve, model):  # R37
    server = serve(Says("You were not."), Says("You were not."))

    _, log = ask(model)

    (received,) = of(log, UserMessageReceived)
    header = server.received[0].headers["traceparent"]
    assert re.fullmatch(rf"00-{received.trace_id}-[0-9a-f]{{16}}-01", header)


@both_ways
def test_a_whole_session_transfers_and_uses_a_tool(serve, model):
    payload = {"customer_id": "4812"}
    server = serve(
        Says(calls=(Call("transfer_to_billing", {"reason": "money", "payload": payload}),)),
        Says("I look.", calls=(Call("billing__list_invoices", payload, "call_7"),)),
        Says("You have two invoices."),
    )

    result, log = ask(model, SUPPORT)

    assert (result.status, result.answer) == (Status.OK, "You have two invoices.")
    closed = of(log, HandoffClosed)
    assert [(c.target, c.ended_by.value) for c in closed] == [
        ("triage", "transferred"),
        ("billing", "answered"),
    ]
    triage, billing, after_tool = server.bodies
    assert "You route." in triage["messages"][0]["content"]
    assert "You route." not in json.dumps(billing)
    assert after_tool["messages"][2] == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": "call_7",
                "type": "function",
                "function": {
                    "name": "billing__list_invoices",
                    "arguments": '{"customer_id":"4812"}',
                },
            }
        ],
    }
    assert after_tool["messages"][3]["tool_call_id"] == "call_7"
    assert "INV-1 and INV-2 of 4812" in after_tool["messages"][3]["content"]


@both_ways
def test_every_recorded_context_is_one_that_providers_take(serve, model):
    serve(
        Says(calls=(Call("billing__list_invoices", {"customer_id": "1"}), Call("nope", {}, "c2"))),
        Says(calls=(Call("billing__list_invoices", "{broken", "c3"),)),
        Says("Done."),
    )

    _, log = ask(model)

    for called in of(log, ModelCalled):
        messages: list[Any] = []
        node = log.body(called.context)
        while node:
            messages = [log.body(digest) for digest in node["messages"]] + messages
            node = log.body(node["previous"]) if node["previous"] else None
        assert unanswered(messages) == []


def test_a_model_reads_which_requests_belong_to_whom(serve):
    server = serve(Says("Hello."))

    ask("openai:m", SUPPORT)

    (tool,) = server.bodies[0]["tools"]
    assert tool["function"]["description"] == (
        "Invoices and charges.\nRequests that belong there: Why was I charged twice?"
    )


def test_a_payload_of_any_shape_stays_possible(serve):
    server = serve(Says("Hello."))

    ask("openai:m", SUPPORT)

    parameters = server.bodies[0]["tools"][0]["function"]["parameters"]
    assert "additionalProperties" not in parameters["properties"]["payload"]
    assert "strict" not in server.bodies[0]["tools"][0]["function"]


# R81
def test_a_stream_says_when_it_began_and_a_whole_answer_does_not(serve):
    serve(Says("One."), Says("Two."))

    _, streamed = ask("openai:m")
    _, whole = ask("openai:m?stream=false")

    kinds = [type(event.payload) for event in streamed.events]
    assert kinds.index(ModelCalled) < kinds.index(FirstTokenReceived) < kinds.index(ModelReplied)
    assert of(whole, FirstTokenReceived) == []


# R17
@both_ways
def test_usage_that_is_missing_is_estimated_and_flagged(serve, model):
    serve(Says("You were not.", usage=None))

    result, log = ask(model)

    (called,), (replied,), (charged,) = (
        of(log, kind) for kind in (ModelCalled, ModelReplied, BudgetCharged)
    )
    assert replied.measured is False
    assert replied.input_tokens == called.estimate_tokens > 0
    assert replied.output_tokens > 0
    assert (charged.estimated, result.tokens_used) == (True, charged.tokens)


@both_ways
def test_zeros_count_as_missing_usage(serve, model):
    serve(Says("You were not.", usage=(0, 0)))

    _, log = ask(model)

    assert of(log, ModelReplied)[0].measured is False


@both_ways
def test_too_many_requests_are_asked_again_when_the_provider_says(serve, model):
    server = serve(Refuses(429, "slow down", "rate_limit_exceeded", SOON), Says("Hello."))

    result, log = ask(model)

    assert (result.answer, len(server.received)) == ("Hello.", 2)
    assert [call.try_number for call in of(log, ModelCalled)] == [1, 2]
    first, second = of(log, ModelReplied)
    assert first.error == "openai:m: status 429, rate_limit_exceeded: slow down"
    assert (first.transient, first.input_tokens, second.error) == (True, 0, "")


def test_retry_after_in_seconds_is_kept_to(serve):
    serve(Refuses(429, headers=(("Retry-After", "60"),)))
    limits = Limits(max_steps=3, max_tokens=10_000, deadline_seconds=20)

    result, log = ask("openai:m", limits=limits)

    assert (result.status, result.answer) == (
        Status.ERROR,
        "the model failed: openai:m: status 429: not now",
    )
    assert log.events[-1].elapsed_seconds < 10


@both_ways
def test_a_server_that_stays_broken_is_asked_three_times_and_no_more(serve, model):
    server = serve(*(Refuses(500, "oops", headers=SOON) for _ in range(9)))

    result, log = ask(model)

    assert (result.status, len(server.received)) == (Status.ERROR, 3)
    assert result.answer == "the model failed 3 times: openai:m: status 500: oops"
    assert of(log, BudgetCharged) == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            Refuses(401, f"bad key {KEY}", "invalid_api_key"),
            "status 401, invalid_api_key: bad key [key] (check OPENAI_API_KEY)",
        ),
        (
            Refuses(404, "no such model", "model_not_found"),
            "status 404, model_not_found: no such model (check the model's name, and "
            "OPENAI_BASE_URL where it is set)",
        ),
        (Refuses(400, "too long"), "status 400: too long"),
        (
            Refuses(429, "nothing left", "insufficient_quota"),
            "status 429, insufficient_quota: nothing left",
        ),
        (
            Refuses(500, "never again", headers=(("x-should-retry", "false"),)),
            "status 500: never again",
        ),
    ],
    ids=["key", "model", "request", "quota", "told so"],
)
def test_what_will_not_pass_is_asked_once(serve, line, says):
    server = serve(line)

    result, _ = ask("openai:m")

    assert result.answer == f"the model failed: openai:m: {says}"
    assert len(server.received) == 1


@pytest.mark.parametrize("model", ["openai:m", "anthropic:claude-m"])
def test_a_providers_word_for_an_error_is_one_short_line_like_its_reason(serve, model):
    serve(Refuses(400, "too\nlong", f"a\r\n\tword {'x' * 400}"))

    result, _ = ask(model)

    word = f"a word {'x' * 293}…"
    assert result.answer == f"the model failed: {model}: status 400, {word}: too long"


@pytest.mark.parametrize(
    "line", [Refuses(400, "x" * 295 + KEY), Refuses(400, "no", "x" * 295 + KEY)]
)
def test_a_key_is_no_part_of_a_reason_that_is_cut_short(serve, line):
    serve(line)

    result, _ = ask("openai:m")

    assert f"{'x' * 295}[key]" in result.answer
    assert KEY[:5] not in result.answer


@both_ways
def test_a_model_that_hangs_ends_at_the_deadline_and_is_asked_once(serve, model):
    server = serve(Says("Loaded."), Hangs())
    limits = Limits(max_steps=3, max_tokens=10_000, deadline_seconds=2.0)
    ask(model)  # loads the provider's own package, for which two seconds can be too few

    result, log = ask(model, limits=limits)

    assert (result.status, result.reason) == (Status.LIMIT_REACHED, "deadline")
    assert 2.0 <= log.events[-1].elapsed_seconds < 10.0
    assert len(server.received) == 2
    (replied,) = of(log, ModelReplied)
    assert (replied.error, replied.measured) == ("no reply by the deadline", False)


def test_a_body_that_is_cut_off_is_asked_for_again_and_charged(serve):
    serve(Raw('{"choices": [{'), Says("Hello."))

    result, log = ask("openai:m?stream=false&backoff_seconds=0")

    assert result.answer == "Hello."
    first, _ = of(log, ModelReplied)
    assert (first.transient, first.measured) == (True, False)
    assert first.input_tokens == of(log, ModelCalled)[0].estimate_tokens


@every_way
@pytest.mark.parametrize(
    "body",
    ["<html>Please log in</html>", "{}", "", '{"content": ['],
    ids=["html", "{}", "empty", "cut"],
)
def test_an_answer_that_is_no_completion_says_what_to_check(serve, model, body):
    server = serve(Raw(body, "text/html" if "<" in body else "application/json"))

    result, _ = ask(f"{model}&max_tries=1")

    assert result.status is Status.ERROR
    assert result.answer.startswith(f"the model failed: {model.partition('?')[0]}: ")
    assert len(server.received) == 1


@every_way
def test_a_connection_that_is_closed_without_an_answer_is_tried_again(serve, model):
    server = serve(Drops(), Says("Hello."))

    result, log = ask(f"{model}&backoff_seconds=0")

    assert (result.answer, len(server.received)) == ("Hello.", 2)
    assert of(log, ModelReplied)[0].error == (
        f"{model.partition('?')[0]}: {server.host if 'claude' in model else server.url} "
        "closed the connection before the answer was complete."
    )


BROKEN_OFF = Says("Half an ans", breaks_off=True)
CALL_BROKEN_OFF = Says(
    calls=(Call("billing__list_invoices", {"customer_id": "1"}),), breaks_off=True
)


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("openai:m", BROKEN_OFF),
        ("openai:m", CALL_BROKEN_OFF),
        # Anthropic says the end of a message in an event of its own.
        ("openai:m", Says("Half an ans", finish_reason=None, usage=None)),
        ("anthropic:claude-m", BROKEN_OFF),
        ("anthropic:claude-m", CALL_BROKEN_OFF),
    ],
)
def test_half_an_answer_is_not_taken_for_one(serve, model, line):
    serve(line, Says("A whole one."))

    result, log = ask(f"{model}?backoff_seconds=0")

    assert result.answer == "A whole one."
    first, _ = of(log, ModelReplied)
    assert (first.transient, first.reply, first.measured) == (True, None, False)
    assert first.input_tokens > 0


@both_ways
def test_a_finish_reason_that_nobody_gave_is_not_made_up(serve, model):
    serve(Says("Hello.", finish_reason=None))

    _, log = ask(model)

    assert of(log, ModelReplied)[0].finish_reason == ""


@both_ways
@pytest.mark.parametrize("arguments", ['{"customer_id": ', '["4812"]', "4812"])
def test_broken_arguments_reach_the_runtime_and_not_the_tool(serve, model, arguments):
    server = serve(Says(calls=(Call("billing__list_invoices", arguments),)), Says("Sorry."))

    result, log = ask(model)

    (denied,) = of(log, ToolDenied)
    assert (denied.tool, denied.rule) == ("billing.list_invoices", "arguments")
    sent_back = server.bodies[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent_back) == {"malformed": arguments}
    assert result.answer == "Sorry."


@both_ways
def test_half_characters_are_replaced_on_the_way_out_since_no_request_can_carry_them(serve, model):
    call = Call("billing__list_invoices", {"customer_id": "\ud800"})
    server = serve(Says("cut \udfff", calls=(call,)), Says("Done."))

    result, _ = ask(model, text="half \ud83d")

    assert result.answer == "Done."
    asked, said, returned = server.bodies[1]["messages"][1:]
    assert asked["content"] == "half \ufffd"
    assert said["content"] == "cut \ufffd"
    assert said["tool_calls"][0]["function"]["arguments"] == '{"customer_id":"\ufffd"}'
    assert "INV-1 and INV-2 of \ufffd" in returned["content"]


@both_ways
def test_a_tool_without_arguments_may_be_called_with_an_empty_text(serve, model):
    def today() -> str:
        """Tell the date."""
        return "Monday"

    flow = Flow("one", [Agent("solo", tools=[Tool(today, inline=True)])])
    server = serve(Says(calls=(Call("today", ""),)), Says("It is Monday."))

    ask(model, flow)

    assert "Monday" in server.bodies[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("model", "field"), [("openai:m", "max_completion_tokens"), ("server:m", "max_tokens")]
)
def test_the_room_for_the_answer_is_sent_in_the_field_that_is_understood(serve, model, field):
    server = serve(Says("Hello."))

    _, log = ask(f"{model}?max_output_tokens=500&temperature=0.5")

    body = server.bodies[0]
    limits = {key: body[key] for key in body if key.startswith("max_")}
    assert limits == {field: 500}
    assert body["temperature"] == 0.5
    assert of(log, ModelCalled)[0].max_output_tokens == 500


def test_the_settings_of_a_call_are_recorded_and_the_key_is_not(serve):
    serve(Says("Hello."))

    _, log = ask("openai:m?temperature=0.5")

    assert log.body(of(log, ModelCalled)[0].settings) == {
        "stream": True,
        "temperature": 0.5,
        "max_output_tokens": 4_096,
        "max_tries": 3,
    }
    recorded = repr(log.events) + repr(list(log.bodies.values()))
    assert KEY not in recorded
    (started,) = of(log, SessionStarted)
    assert (started.models, started.offline) == ({"solo": "openai:m"}, False)


# R49
def test_agents_may_have_different_models_with_prices_of_their_own(serve):
    serve(
        Says(calls=(Call("transfer_to_billing", {"reason": "money"}),), usage=(1_000, 100)),
        Says("Two invoices.", usage=(2_000, 200)),
    )
    flow = SUPPORT.changed(prices={"openai:small": Price(1.0, 10.0)})
    log = EventList()

    asyncio.run(
        run(flow, "Hello", sink=log, models={"triage": "openai:small", "billing": "server:own"})
    )

    assert [(c.target, c.tokens_used, c.cost) for c in of(log, HandoffClosed)] == [
        ("triage", 1_100, 0.002),
        ("billing", 2_200, None),
    ]


def test_calls_of_one_loop_share_a_connection_and_the_next_loop_has_its_own(serve):
    payload = {"customer_id": "4812"}
    call = Says(calls=(Call("billing__list_invoices", payload),))
    server = serve(call, Says("Once."), Says("Twice."))

    ask("openai:m")
    ask("openai:m")

    first, second, third = (received.client_port for received in server.received)
    assert first == second != third


def test_what_the_openai_key_is_sent_as(serve):
    server = serve(Says("Hello."))

    ask("openai:m")

    received: Received = server.received[0]
    assert (received.path, received.headers["authorization"]) == (
        "/v1/chat/completions",
        f"Bearer {KEY}",
    )


@pytest.mark.parametrize("stream", ["true", "false"])
def test_anthropic_is_asked_in_its_own_words(serve, stream):
    payload = {"customer_id": "4812"}
    server = serve(
        Says("I look.", calls=(Call("billing__list_invoices", payload, "toolu_1"),)),
        Says("Two invoices.", usage=(300, 20)),
    )

    result, log = ask(f"anthropic:claude-m?stream={stream}")

    assert result.answer == "Two invoices."
    received = server.received[1]
    assert received.path == "/v1/messages"
    assert any(KEY in value for value in received.headers.values())
    assert received.body["max_tokens"] == 4_096
    asked, answered = received.body["messages"][1:3]
    assert asked["content"][-1] == {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "billing__list_invoices",
        "input": payload,
    }
    assert answered["content"][0]["tool_use_id"] == "toolu_1"
    last = of(log, ModelReplied)[-1]
    assert (last.input_tokens, last.output_tokens, last.finish_reason) == (300, 20, "stop")


@claude_both_ways
@pytest.mark.parametrize(
    ("status", "code"),
    [(429, "rate_limit_error"), (500, "api_error"), (529, "overloaded_error")],
)
def test_anthropic_is_asked_again_after_what_may_pass(serve, model, status, code):
    server = serve(Refuses(status, "not now", code, SOON), Says("Hello."))

    result, log = ask(f"{model}&backoff_seconds=0")

    assert (result.answer, len(server.received)) == ("Hello.", 2)
    first, second = of(log, ModelReplied)
    assert first.error == f"anthropic:claude-m: status {status}, {code}: not now"
    assert (first.transient, first.input_tokens, second.error) == (True, 0, "")


@claude_both_ways
def test_anthropic_is_asked_three_times_and_no_more(serve, model):
    server = serve(*(Refuses(529, "busy", "overloaded_error", SOON) for _ in range(9)))

    result, log = ask(f"{model}&backoff_seconds=0")

    assert (result.status, len(server.received)) == (Status.ERROR, 3)
    assert of(log, BudgetCharged) == []


@claude_both_ways
@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            Refuses(401, f"bad key {KEY}", "authentication_error"),
            "status 401, authentication_error: bad key [key] (check ANTHROPIC_API_KEY)",
        ),
        (
            Refuses(404, "no such model", "not_found_error"),
            "status 404, not_found_error: no such model (check the model's name, and "
            "ANTHROPIC_BASE_URL where it is set)",
        ),
        (
            Refuses(400, "too long", "invalid_request_error"),
            "status 400, invalid_request_error: too long",
        ),
    ],
    ids=["key", "model", "request"],
)
def test_what_will_not_pass_is_asked_of_anthropic_once(serve, model, line, says):
    server = serve(line)

    result, _ = ask(model)

    assert result.answer == f"the model failed: anthropic:claude-m: {says}"
    assert len(server.received) == 1


@claude_both_ways
def test_anthropic_that_hangs_ends_at_the_deadline_and_is_asked_once(serve, model):
    server = serve(Says("Loaded."), Hangs())
    limits = Limits(max_steps=3, max_tokens=10_000, deadline_seconds=2.0)
    ask(model)  # loads the provider's own package, for which two seconds can be too few

    result, log = ask(model, limits=limits)

    assert (result.status, result.reason) == (Status.LIMIT_REACHED, "deadline")
    assert 2.0 <= log.events[-1].elapsed_seconds < 10.0
    assert len(server.received) == 2


@claude_both_ways
def test_anthropic_that_does_not_say_what_it_took_is_estimated_and_flagged(serve, model):
    serve(Says("Hello.", usage=None))

    result, log = ask(model)

    assert result.answer == "Hello."
    (replied,) = of(log, ModelReplied)
    assert (replied.measured, of(log, BudgetCharged)[0].estimated) == (False, True)
    assert replied.input_tokens == of(log, ModelCalled)[0].estimate_tokens


def test_anthropic_that_is_overloaded_in_the_middle_of_an_answer_is_asked_again(serve):
    error = {"type": "overloaded_error", "message": "Overloaded"}
    event = f"event: error\ndata: {json.dumps({'type': 'error', 'error': error})}\n\n"
    server = serve(Raw(event, "text/event-stream"), Says("Hello."))

    result, log = ask("anthropic:claude-m?stream=true&backoff_seconds=0")

    assert (result.answer, len(server.received)) == ("Hello.", 2)
    assert "overloaded_error: Overloaded" in of(log, ModelReplied)[0].error


def test_broken_arguments_of_anthropic_reach_the_runtime_and_not_the_tool(serve):
    serve(
        Says(calls=(Call("billing__list_invoices", '{"customer_id": '),)),
        Says("Then not."),
    )

    result, log = ask("anthropic:claude-m?stream=true")

    assert result.answer == "Then not."
    (denied,) = of(log, ToolDenied)
    assert denied.rule == "arguments"


def test_ids_of_the_runtime_are_written_as_anthropic_wants_them(serve):
    payload = {"customer_id": "4812"}
    same_id = (Call("billing__list_invoices", payload), Call("billing__list_invoices", payload))
    server = serve(Says(calls=same_id), Says("Done."))

    ask("anthropic:claude-m?stream=false")

    asked = server.bodies[1]["messages"][1]["content"]
    assert [block["id"] for block in asked] == ["h1__1__0", "h1__1__1"]


def test_an_address_where_nobody_listens_is_named(serve, monkeypatch):
    with ChatServer() as gone:
        address = gone.url
    monkeypatch.setenv("HANDOFF_BASE_URL", address)

    result, log = ask("server:m?backoff_seconds=0&max_tries=2")

    assert result.answer == (
        f"the model failed 2 times: server:m: {address} cannot be reached; check the address and "
        "the network."
    )
    assert of(log, BudgetCharged) == []


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.openai", None)

    with pytest.raises(ModelError) as refused:
        ProviderModel("openai:m")

    assert str(refused.value) == (
        "The model 'openai:m' needs the extra `live`, which is not installed: "
        "pip install 'handoff-console[live]'."
    )
    with pytest.raises(FlowError, match="agent 'solo': The model 'openai:m' needs the extra"):
        ask("openai:m")


def test_a_model_shows_its_name_and_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    assert repr(ProviderModel("openai:m?temperature=0")) == "ProviderModel('openai:m')"
