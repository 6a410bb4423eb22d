"""The five checks of S0, "Testing handoffs", that run on every change.  # R86"""

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from support.sessions import Watched, play

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    Tool,
    delegate,
    say,
    timed,
    together,
    use,
)

MARKER = "PRIVATE-5f1c"


class Invoices(BaseModel):
    invoices: list[str]


def list_invoices(customer_id: str) -> list[str]:
    """List the invoices of a customer."""
    return [f"INV-{customer_id}"]


def drop_tables() -> str:
    """Do what no worker may do."""
    raise AssertionError("it ran")


def supervisor(worker, *, edge=None, boss=None, **flow) -> tuple[Flow, Watched]:
    """Return a flow in which a supervisor asks one worker, and the model that is watched."""

    def ask(call):
        result = call.result_of("delegate_to_worker")
        return delegate("worker", "Find it", customer_id="4812") if result is None else say("Done.")

    agents = [
        Agent(
            "boss",
            f"Be kind. {MARKER}",
            edges=[edge or Edge.call("worker", "Looks up invoices.")],
            model=boss or ask,
        ),
        Agent("worker", "Work.", tools=[Tool(list_invoices), Tool(drop_tables)], model=worker),
    ]
    models = {agent.name: agent.model for agent in agents}
    watched = Watched(lambda call: models[call.agent.name](call))
    return Flow("checks", agents, schemas={"Invoices": Invoices}, **flow), watched


def test_a_disallowed_tool_gives_the_model_an_error_message_not_a_tool_result():  # R19 R86
    def worker(call):
        return say("I may not.") if call.results else use("drop_tables")

    edge = Edge.call("worker", "Works.", allowed_tools=("list_invoices",))
    flow, model = supervisor(worker, edge=edge)

    played = play(flow, model=model)

    told = model.read_by("worker", 2)[-1]
    assert told["role"] == "tool"
    assert told["content"] == (
        "{\"error\":\"tool not allowed: 'worker' asked for 'drop_tables'; it may call: "
        'list_invoices."}'
    )
    assert played.count("tool_called") == played.count("tool_returned") == 0
    denied = played.one("tool_denied")
    assert (denied.rule, denied.tool, denied.allowed) == (
        "not_allowed",
        "drop_tables",
        ("list_invoices",),
    )
    assert played.one("handoff_closed", "h2").steps_used == 2  # it counts as a step


def test_a_worker_that_never_answers_stops_at_exactly_max_steps():  # R16 R86
    edge = Edge.call("worker", "Works.", limits=Limits(max_steps=4))
    flow, model = supervisor(lambda call: use("list_invoices", customer_id="1"), edge=edge)

    played = play(flow, model=model)

    assert played.asked_models().count("worker") == 4
    closed = played.one("handoff_closed", "h2")
    assert (closed.status, closed.reason, closed.steps_used) == ("limit_reached", "steps", 4)


def test_malformed_output_is_retried_once_and_is_then_an_error_result():  # R12 R86
    edge = Edge.call("worker", "Works.", output_schema="Invoices")
    flow, model = supervisor(lambda call: say("They are INV-1 and INV-2, I think."), edge=edge)

    played = play(flow, model=model)

    assert played.asked_models().count("worker") == 2
    assert model.read_by("worker", 2)[-1] == {
        "role": "user",
        "content": "Your answer was not accepted: the answer is no JSON object with status, data "
        "and notes.",
    }
    closed = played.one("handoff_closed", "h2")
    assert (closed.status, closed.ended_by) == ("error", "failed")
    assert '"status":"error"' in model.read_by("boss", 2)[-1]["content"]


@given(
    pool=st.integers(1_001, 40_000),
    wanted=st.lists(st.integers(1, 9_000), min_size=1, max_size=6),
    used=st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 4_000)), min_size=6, max_size=6),
)
def test_worker_budgets_never_add_up_to_more_than_the_pool(pool, wanted, used):  # R26 R86
    def boss(call):
        if call.results:
            return say("Done.")
        return together(*(delegate(f"w{place}", "Find it") for place in range(len(wanted))))

    workers = [
        Agent(f"w{place}", model=lambda call, place=place: timed(say("ok"), 1, tokens=used[place]))
        for place in range(len(wanted))
    ]
    edges = [
        Edge.call(worker.name, "Works.", limits=Limits(max_tokens=tokens))
        for worker, tokens in zip(workers, wanted, strict=True)
    ]
    played = play(Flow("f", [Agent("boss", edges=edges, model=boss), *workers], pool_tokens=pool))

    reserved: dict[str, int] = {}
    spent = 0
    for event in played.events:
        match event.kind:
            case "budget_reserved":
                reserved[event.handoff_id] = event.payload.tokens
            case "budget_charged":
                spent += event.payload.tokens
            case "budget_refunded":
                del reserved[event.handoff_id]
        if event.kind == "budget_reserved":
            assert sum(reserved.values()) + spent <= pool
    assert reserved == {}


def test_a_worker_reads_nothing_of_the_supervisors_private_instructions():  # R7 R86
    def boss(call):
        if call.results:
            return say("Done.")
        return delegate("worker", "Find it", customer_id="4812", copied="on-purpose-77")

    flow, model = supervisor(lambda call: say("found"), boss=boss)

    play(flow, f"My secret hobby is chess. {MARKER}", model=model)

    read = str(model.read_by("worker"))
    assert MARKER not in read
    assert "chess" not in read
    assert "on-purpose-77" in read
    assert MARKER in str(model.read_by("boss"))


def test_the_worker_reads_its_own_prompt_and_the_request_alone():  # R7 R2
    flow, model = supervisor(lambda call: say("found"))

    play(flow, model=model)

    system, request = model.read_by("worker")
    assert system["content"].startswith("Work.")
    assert request["content"].splitlines() == [
        "Task: Find it",
        'Inputs: {"customer_id":"4812"}',
        "Tools you may call: list_invoices, drop_tables",
        "Answer with: Text",
        "Limits: 6 steps, 8000 tokens, 30 seconds",
    ]
