"""Supervisor and workers: what goes down, what comes back, and what the supervisor does then."""

import pytest
from pydantic import BaseModel
from support.sessions import Watched, play

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    ModelReply,
    Scripted,
    Status,
    Tool,
    ToolError,
    TransientModelError,
    TransientToolError,
    answer,
    delegate,
    say,
    timed,
    together,
    use,
)


class Lookup(BaseModel):
    customer_id: str


class Invoices(BaseModel):
    invoices: list[str]


def list_invoices(customer_id: str) -> list[str]:
    """List the invoices of a customer."""
    return [f"INV-{customer_id}"]


def flow(*workers: Agent, edges: list[Edge] | None = None, boss=None, **options) -> Flow:
    """Return a flow whose `boss` may call all workers."""
    edges = edges or [Edge.call(worker.name, "Works.") for worker in workers]
    return Flow(
        "support",
        [Agent("boss", "Ask.", edges=edges, model=boss or ask_once), *workers],
        schemas={"Invoices": Invoices},
        **options,
    )


def ask_once(call) -> ModelReply:
    """Ask the only worker once, then answer with what came back."""
    if not call.results:
        return delegate("worker", "Find the invoices", customer_id="4812")
    return say(f"Back: {call.results[-1].content}")


def worker(model, **options) -> Agent:
    return Agent("worker", "Work.", model=model, **options)


# One call


def test_a_call_is_a_child_that_returns_to_its_caller():  # R38 R44
    played = play(flow(worker(lambda call: answer("ok", "found", invoices=["INV-1"]))))

    assert [
        (e.handoff_id, e.parent_id, e.path) for e in played.events if e.kind == "handoff_opened"
    ]
    opened = [e for e in played.events if e.kind == "handoff_opened"]
    assert [(e.handoff_id, e.parent_id, e.path) for e in opened] == [
        ("h1", None, "t1"),
        ("h2", "h1", "t1/1.0"),
    ]
    assert played.result.answer == (
        'Back: {"data":{"invoices":["INV-1"]},"notes":"found","status":"ok","steps_used":1}'
    )


def test_the_callers_context_grows_by_the_result_alone():  # R15 R44
    def work(call):
        if len(call.results) < 3:
            return use("list_invoices", customer_id="secret-page")
        return answer("ok", "three pages read")

    model = Watched(Scripted({}))
    agents = flow(worker(work, tools=[Tool(list_invoices)]))
    models = {"boss": ask_once, "worker": work}
    model.model = lambda call: models[call.agent.name](call)

    play(agents, model=model)

    before, after = model.read_by("boss", 1), model.read_by("boss", 2)
    assert after[: len(before)] == before
    assert [message["role"] for message in after[len(before) :]] == ["assistant", "tool"]
    assert "secret-page" not in str(after)


def test_a_worker_cannot_reach_another_worker():  # R38
    def work(call):
        return say("gave up") if call.results else delegate("other", "Help me")

    played = play(flow(worker(work), Agent("other", model=lambda call: say("no"))))

    refused = played.one("handoff_rejected")
    assert (refused.rule, refused.target, refused.choices) == ("target", "other", ())
    assert refused.reason == "'worker' may not delegate to 'other'; it may delegate to: nobody."


def test_only_declared_values_reach_the_worker():  # R3
    def boss(call):
        if call.results:
            return say("ok")
        return delegate("worker", "Find it", customer_id="4812", mood="angry")

    model = Watched(None)
    declared = flow(
        worker(lambda call: say("found")),
        edges=[Edge.call("worker", "Works.", payload=Lookup)],
        boss=boss,
    )
    model.model = lambda call: boss(call) if call.agent.name == "boss" else say("found")

    play(declared, model=model)

    assert 'Inputs: {"customer_id":"4812"}' in model.read_by("worker")[1]["content"]
    assert "angry" not in str(model.read_by("worker"))


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (delegate("worker", "Find it"), "customer_id: Field required"),
        (
            delegate("worker", "Find it", customer_id=[{"role": "user", "content": "hi"}]),
            "customer_id: Input should be a valid string",
        ),
        (delegate("worker", "Find it.\nAnd pay it.", customer_id="1"), "task: the task has several "
         "lines; say it in one sentence on one line"),
    ],
)  # fmt: skip
def test_a_request_that_is_incomplete_or_says_too_much_opens_nothing(asked, problem):  # R1 R2 R3
    played = play(
        flow(
            worker(lambda call: say("never")),
            edges=[Edge.call("worker", "Works.", payload=Lookup)],
            boss=lambda call: say("I could not ask.") if call.results else asked,
        )
    )

    refused = played.one("handoff_rejected")
    assert refused.rule == "request"
    assert refused.reason == f"'boss' asked 'worker' with an invalid request: {problem}."
    assert played.asked_models() == ["boss", "boss"]
    assert played.result.answer == "I could not ask."


def test_a_conversation_in_the_inputs_is_refused_where_no_schema_says_more():  # R3
    talk = [{"role": "user", "content": "my card is …"}]

    played = play(
        flow(
            worker(lambda call: say("never")),
            boss=lambda call: say("no") if call.results else delegate("worker", "Do", talk=talk),
        )
    )

    assert "input 'talk' is a list of messages" in played.one("handoff_rejected").reason


def test_a_request_may_be_narrower_than_the_target():  # R4 R5
    edge = Edge.call(
        "worker",
        "Works.",
        allowed_tools=(),
        limits=Limits(max_steps=2, max_tokens=900, deadline_seconds=5),
    )

    played = play(flow(worker(lambda call: say("hi"), tools=[Tool(list_invoices)]), edges=[edge]))

    opened = played.one("handoff_opened", "h2")
    assert (opened.allowed_tools, opened.max_steps) == ((), 2)
    assert (opened.max_tokens, opened.grant_tokens, opened.deadline_seconds) == (900, 900, 5)


def test_defaults_are_filled_in_and_recorded():  # R5
    opened = play(flow(worker(lambda call: say("hi")))).one("handoff_opened", "h2")

    assert (opened.max_steps, opened.max_tokens, opened.deadline_seconds) == (6, 8_000, 30.0)
    assert (opened.output_schema, opened.depth, opened.depth_left) == ("Text", 1, 0)


# What comes back, and what follows (R9)


@pytest.mark.parametrize(
    ("said", "status", "calls_of_worker"),
    [
        (answer("ok", "done"), "ok", 1),
        (answer("not_found", "no such customer"), "not_found", 1),  # R10
        (answer("needs_input", "which customer?"), "needs_input", 1),
        (answer("error", "the ledger is closed"), "error", 1),  # R11
        (answer("error", "the ledger is busy", transient=True), "error", 2),  # R11
    ],
)
def test_only_a_transient_error_is_tried_again_and_only_once(said, status, calls_of_worker):  # R9
    played = play(flow(worker(lambda call: said)))

    assert played.asked_models() == ["boss", *["worker"] * calls_of_worker, "boss"]
    assert played.of("handoff_closed")[-2].status == status
    assert f'"status":"{status}"' in played.result.answer


def test_a_second_attempt_has_an_id_of_its_own_at_the_same_place():  # R11
    script = Scripted(
        {
            "boss": [delegate("worker", "Find it"), say("Done.")],
            "worker@t1/1.0": [answer("error", "busy", transient=True)],
            "worker@t1/1.0#2": [answer("ok", "found")],
        }
    )

    played = play(flow(worker(None)), model=script)

    requested = [e for e in played.events if e.kind == "handoff_requested"]
    assert [(e.handoff_id, e.path, e.attempt) for e in requested] == [
        ("h1", "t1", 1),
        ("h2", "t1/1.0", 1),
        ("h3", "t1/1.0", 2),
    ]
    again = requested[2].payload
    assert (again.follows, again.reason) == ("h2", "tried again: busy")
    assert played.one("handoff_opened", "h3").follows == "h2"
    assert played.status is Status.OK


@pytest.mark.parametrize(
    ("raised", "attempts"),
    [(TransientModelError("busy"), 2), (TimeoutError(), 2), (ConnectionResetError(), 2)],
)
def test_a_model_that_fails_for_a_moment_makes_its_handoff_transient(raised, attempts):  # R11
    script = Scripted({"boss": [delegate("worker", "Find it"), say("Done.")], "worker": [raised]})

    played = play(flow(worker(None)), model=script)

    assert played.asked_models().count("worker") == attempts


def test_no_second_attempt_is_made_without_tokens_for_it():
    script = Scripted(
        {
            "boss": [delegate("worker", "Find it"), say("Done.")],
            "worker": [timed(answer("error", "busy", transient=True), 0, tokens=(4_000, 100))],
        }
    )

    played = play(flow(worker(None), pool_tokens=10_000), model=script)

    assert played.asked_models() == ["boss", "worker", "boss"]


def test_a_missing_value_becomes_a_question_to_the_user():  # R9
    def boss(call):
        back = call.result_of("delegate_to_worker")
        return answer("needs_input", back["notes"]) if back else delegate("worker", "Find it")

    played = play(flow(worker(lambda call: answer("needs_input", "Which customer?")), boss=boss))

    assert (played.status, played.result.answer) == (Status.NEEDS_INPUT, "Which customer?")
    assert played.one("input_requested").question == "Which customer?"
    assert played.one("session_closed").status == "needs_input"


def test_what_a_stopped_worker_gathered_reaches_its_caller_as_incomplete():  # R14
    edge = Edge.call("worker", "Works.", limits=Limits(max_steps=2))

    played = play(
        flow(
            worker(
                lambda call: use("list_invoices", customer_id=str(call.step)),
                tools=[Tool(list_invoices)],
            ),
            edges=[edge],
        )
    )

    assert played.result.answer == (
        'Back: {"data":{"gathered":[{"result":["INV-1"],"tool":"list_invoices"},'
        '{"result":["INV-2"],"tool":"list_invoices"}]},"notes":"step cap hit: 2 steps",'
        '"status":"limit_reached","steps_used":2}'
    )


def test_what_was_gathered_is_capped_like_any_result():  # R15
    def pages(number: int) -> str:
        return "x" * 6_000

    edge = Edge.call("worker", "Works.", limits=Limits(max_steps=5, max_tokens=60_000))
    played = play(
        flow(
            worker(lambda call: use("pages", number=call.step), tools=[Tool(pages)]),
            edges=[edge],
            pool_tokens=100_000,
        )
    )

    result = played.sink.body(played.one("handoff_closed", "h2").result)
    assert len(result["data"]["gathered"]) == 2
    assert result["data"]["left_out"] == 3
    assert len(played.sink.bodies[played.one("handoff_closed", "h2").result]) < 16_000


def test_an_invalid_answer_reaches_nobody_but_its_worker():  # R13
    model = Watched(None)
    edge = Edge.call("worker", "Works.", output_schema="Invoices")
    agents = flow(worker(None), edges=[edge])
    model.model = lambda call: (
        ask_once(call) if call.agent.name == "boss" else say('{"status": "ok", "EVIL-77": 1}')
    )

    played = play(agents, model=model)

    assert played.count("output_rejected") == 2
    assert [p.final for p in played.of("output_rejected")] == [False, True]
    assert "EVIL-77" not in str(model.read_by("boss", 2))
    closed = played.one("handoff_closed", "h2")
    assert "EVIL-77" in played.sink.body(closed.quarantined)["content"]
    assert closed.notes == "the answer did not fit Invoices; only the operator can read it"


def test_a_repaired_answer_is_an_answer():  # R12
    script = Scripted(
        {
            "boss": [delegate("worker", "Find it"), say("Done.")],
            "worker": [say("INV-1"), answer("ok", invoices=["INV-1"])],
        }
    )
    edge = Edge.call("worker", "Works.", output_schema="Invoices")

    played = play(flow(worker(None), edges=[edge]), model=script)

    assert played.one("handoff_closed", "h2").status == "ok"
    assert [p.repair for p in played.of("model_called", "h2")] == [False, True]


def test_an_answer_that_never_fits_does_not_outlive_its_step_cap():  # R12
    edge = Edge.call("worker", "Works.", output_schema="Invoices", limits=Limits(max_steps=1))

    played = play(flow(worker(lambda call: say("INV-1")), edges=[edge]))

    assert played.asked_models().count("worker") == 1
    assert played.one("output_rejected").final is True


def test_a_result_may_not_be_a_transcript():  # R15
    played = play(flow(worker(lambda call: say("x" * 600)), max_result_bytes=500))

    assert played.one("handoff_closed", "h2").status == "error"
    assert played.of("output_rejected")[0].problem == (
        "the answer has 600 bytes; a result may have 500: send what was asked for."
    )


# Several calls


def three(call):
    """Ask three workers in one reply."""
    if call.results:
        return say(" ".join(str(result.value["notes"]) for result in call.results))
    return together(*(delegate(f"w{place}", f"Task {place}") for place in range(3)))


def three_workers(*models) -> list[Agent]:
    return [Agent(f"w{place}", model=model) for place, model in enumerate(models)]


def test_workers_of_one_reply_overlap_and_their_results_keep_the_order_asked():  # R41 R42
    seconds = [30, 10, 20]
    workers = three_workers(
        *(
            lambda call, place=place: timed(answer("ok", f"result {place}"), seconds[place])
            for place in range(3)
        )
    )
    edges = [
        Edge.call(agent.name, "Works.", limits=Limits(deadline_seconds=60)) for agent in workers
    ]

    played = play(flow(*workers, edges=edges, boss=three))

    assert played.result.answer == "result 0 result 1 result 2"
    closed = [
        (e.handoff_id, e.elapsed_seconds) for e in played.events if e.kind == "handoff_closed"
    ]
    assert closed == [("h3", 10), ("h4", 20), ("h2", 30), ("h1", 30)]
    assert played.one("fork_joined").handoff_ids == ("h2", "h3", "h4")
    assert played.one("fork_joined").statuses == ("ok", "ok", "ok")


def test_all_are_judged_and_reserved_before_any_begins():
    played = play(flow(*three_workers(*[lambda call: answer("ok", "x")] * 3), boss=three))

    kinds = played.kinds
    fork = kinds.index("fork_opened")
    assert kinds[fork - 6 : fork] == ["handoff_requested", "budget_reserved"] * 3
    assert kinds[fork + 1] == "handoff_opened"
    assert played.one("fork_opened").handoff_ids == ("h2", "h3", "h4")
    fork_id = played.one("fork_opened").fork_id
    assert [p.fork_id for p in played.of("handoff_opened")] == [None, *[fork_id] * 3]


def test_one_that_fails_leaves_the_others_their_results():
    def broken(call):
        raise RuntimeError("boom")

    workers = three_workers(
        lambda call: answer("ok", "one"), broken, lambda c: answer("ok", "three")
    )

    played = play(flow(*workers, boss=three))

    assert played.result.answer == "one its function failed: RuntimeError: boom three"
    assert played.one("fork_joined").statuses == ("ok", "error", "ok")


@pytest.mark.parametrize("count", [8, 50])
def test_a_fan_out_stays_inside_a_small_pool(count):  # R26 R27 R74
    def boss(call):
        if call.results:
            found = sum('"status":"ok"' in result.content for result in call.results)
            return say(f"{found} of {len(call.results)}")
        asked = together(*(delegate("worker", f"Task {n}") for n in range(count)))
        return timed(asked, 0, tokens=(200, 100))

    edge = Edge.call("worker", "Works.", limits=Limits(max_tokens=1_000))
    played = play(
        flow(
            worker(lambda call: timed(answer("ok"), 1, tokens=(600, 100))),
            edges=[edge],
            boss=boss,
            pool_tokens=8_000,
            finish_floor_tokens=5_000,
            max_workers=100,
        )
    )

    assert played.result.answer == f"2 of {count}"
    rejected = played.of("handoff_rejected")
    assert {p.rule for p in rejected} == {"pool"}
    assert len(rejected) == count - 2
    assert rejected[0].reason == (
        "limit_reached: 1000 tokens cannot be reserved for 'worker'; 700 can. Answer with what "
        "you have."
    )
    assert played.count("budget_overdrawn") == 0


def test_the_eleventh_worker_of_ten_is_refused_with_a_sentence():  # R21 R74
    def boss(call):
        if call.results:
            return say("Done.")
        return together(*(delegate("worker", f"Task {n}") for n in range(11)))

    edge = Edge.call("worker", "Works.", limits=Limits(max_tokens=1_000))
    played = play(flow(worker(lambda call: answer("ok")), edges=[edge], boss=boss))

    refused = played.one("handoff_rejected", "h12")
    assert refused.rule == "workers"
    assert refused.reason == (
        "'boss' may not call 'worker': this request has called 10 workers of at most 10. Go on "
        "with the results you have."
    )


def test_a_session_has_a_cap_of_its_own():  # R21
    def boss(call):
        return say("Done.") if len(call.results) == 3 else delegate("worker", f"Task {call.step}")

    played = play(flow(worker(lambda call: answer("ok")), boss=boss, max_workers_per_session=2))

    assert played.one("handoff_rejected").reason == (
        "'boss' may not call 'worker': this session has called 2 workers of at most 2. Go on with "
        "the results you have."
    )


# Nesting


def nested(depth: int) -> Flow:
    def middle(call):
        return (
            say("done") if call.results else delegate(call.tools[-1]["handoff"]["target"], "Go on")
        )

    small = Limits(max_tokens=4_000)
    return Flow(
        "nested",
        [
            Agent("top", edges=[Edge.call("middle", "M.")], model=middle),
            Agent("middle", edges=[Edge.call("bottom", "B.", limits=small)], model=middle),
            Agent("bottom", edges=[Edge.call("top", "T.")], model=middle),
        ],
        depth=depth,
    )


@pytest.mark.parametrize(
    ("depth", "routes", "refused"),
    [
        (0, ["user → top"], "'top' may not call 'middle'"),
        (1, ["user → top", "top → middle"], "'middle' may not call 'bottom'"),
    ],
)
def test_calls_nest_as_deep_as_the_flow_says(depth, routes, refused):  # R20
    played = play(nested(depth))

    assert played.routes() == routes
    assert played.one("handoff_rejected").reason == (
        f"{refused}: no depth is left, calls may nest {depth} deep. Do the task yourself or answer "
        "with what you have."
    )
    assert [p.depth_left for p in played.of("handoff_opened")] == list(range(depth, -1, -1))


def test_a_worker_has_no_depth_unless_the_flow_gives_some():  # R20
    assert Flow("f", [Agent("a")]).depth == 1
    assert play(nested(1)).of("handoff_opened")[1].depth_left == 0


def test_nobody_calls_who_waits_for_this_very_answer():
    played = play(nested(5))

    refused = played.one("handoff_rejected")
    assert refused.rule == "cycle"
    assert refused.reason == ("'bottom' may not call 'top', which is waiting for this very answer.")
    assert played.one("cycle_stopped").transitions == (
        "top → middle",
        "middle → bottom",
        "bottom → top",
    )
    assert played.status is Status.OK


def test_a_nested_grant_is_carved_from_its_callers():
    tokens = Limits(max_tokens=3_000)
    agents = [
        Agent("top", edges=[Edge.call("middle", "M.")], model=ask("middle")),
        Agent("middle", edges=[Edge.call("bottom", "B.", limits=tokens)], model=ask("bottom")),
        Agent("bottom", model=lambda call: timed(answer("ok"), 0, tokens=(100, 0))),
    ]

    played = play(Flow("nested", agents, depth=2, pool_tokens=10_000))

    reserved = played.of("budget_reserved")
    assert [p.tokens for p in reserved] == [8_000, 3_000]
    assert reserved[0].free == reserved[1].free
    assert played.one("budget_refunded", "h3").tokens == 2_900


def ask(name: str):
    return lambda call: say("done") if call.results else delegate(name, "Go on")


def test_a_childs_deadline_is_within_its_callers_rest():
    agents = [
        Agent(
            "top", edges=[Edge.call("middle", "M.", limits=Limits(deadline_seconds=10))],
            model=ask("middle"),
        ),
        Agent(
            "middle", edges=[Edge.call("bottom", "B.", limits=Limits(max_tokens=4_000))],
            model=lambda call: (
                say("done") if call.results else timed(delegate("bottom", "Go on"), 4)
            ),
        ),
        Agent("bottom", model=lambda call: timed(say("late"), 60)),
    ]  # fmt: skip

    played = play(Flow("nested", agents, depth=2))

    assert [p.deadline_seconds for p in played.of("handoff_opened")] == [120, 10, 6]
    closed = [
        (e.handoff_id, e.payload.reason, e.elapsed_seconds)
        for e in played.events
        if e.kind == "handoff_closed"
    ]
    assert closed == [("h3", "deadline", 10), ("h2", "deadline", 10), ("h1", "", 10)]


# Tools


def test_a_tool_that_fails_is_an_error_that_the_worker_reads_and_may_survive():
    def busy(page: int) -> str:
        raise TransientToolError("the ledger is busy")

    def closed(page: int) -> str:
        raise ToolError("the ledger is closed")

    def work(call):
        if call.step == 1:
            return together(use("busy", page=1), use("closed", page=1))
        return answer("error", call.results[0].value["error"], transient=True)

    played = play(flow(worker(work, tools=[Tool(busy), Tool(closed)])))

    assert [(p.error, p.transient) for p in played.of("tool_returned", "h2")] == [
        ("the ledger is busy", True),
        ("the ledger is closed", False),
    ]
    assert played.asked_models().count("worker") == 4  # tried again once


def test_arguments_that_do_not_fit_never_reach_the_tool():
    def work(call):
        return say("sorry") if call.results else use("list_invoices", customer=4812)

    played = play(flow(worker(work, tools=[Tool(list_invoices)])))

    assert played.one("tool_denied").reason == (
        "the arguments of 'list_invoices' do not fit: customer_id: Field required; customer: "
        "Extra inputs are not permitted"
    )
    assert played.count("tool_called") == 0


def test_every_tool_call_says_who_asked_and_why():  # R36
    def work(call):
        if not call.results:
            return together(use("list_invoices", customer_id="1"), text="I need the invoices.")
        if len(call.results) == 1:
            return use("list_invoices", customer_id="2")
        return say("found")

    played = play(flow(worker(work, tools=[Tool(list_invoices)])))

    assert [p.reason for p in played.of("tool_called")] == [
        "I need the invoices.",
        "asked for by worker in step 2",
    ]


def test_a_hundred_and_fifty_calls_nest_on_no_more_stack_than_sixteen():
    deepest = 150

    def asks(number: int):
        def model(call) -> ModelReply:
            if call.results:
                return say(call.results[-1].value["data"]["text"])
            return delegate(f"n{number + 1}", "Go deeper")

        return model

    def agent(number: int) -> Agent:
        if number == deepest:
            return Agent(f"n{number}", model=lambda call: say("At the bottom."))
        limits = Limits(max_tokens=1_000_000 - 5_000 * number, deadline_seconds=60)
        edge = Edge.call(f"n{number + 1}", "Deeper.", limits=limits)
        return Agent(f"n{number}", model=asks(number), edges=[edge])

    many = {"max_workers": deepest, "max_workers_per_session": deepest}
    agents = [agent(number) for number in range(deepest + 1)]
    played = play(Flow("well", agents, depth=deepest, pool_tokens=10_000_000, **many))

    assert played.result.answer == "At the bottom."
    assert max(opened.depth for opened in played.of("handoff_opened")) == deepest
