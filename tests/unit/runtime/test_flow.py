"""Flows that contradict themselves, and what is allowed but probably not meant."""

import pytest
from pydantic import BaseModel
from support.sessions import play

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    EventList,
    Flow,
    FlowError,
    HandoffRequest,
    Limits,
    RequestError,
    Tool,
    say,
    use,
)
from handoff_console.runtime.contract import ContextPolicy


class Invoices(BaseModel):
    invoices: list[str]


def list_invoices(customer_id: str) -> list[str]:
    """List the invoices of a customer."""
    return [customer_id]


def refund(amount: int) -> int:
    """Pay money back."""
    return amount


def takes_anything(*values: int) -> None:
    """Take anything."""


def takes_an_object(value: object.__class__) -> None:  # a type has no form in JSON
    """Take a class."""


def takes_nobody_knows(value: "Nobody") -> None:  # noqa: F821
    """Take what is not defined."""


BILLING = Agent("billing", tools=[Tool(list_invoices)], description="Invoices.")


def mistake(**flow) -> str:
    """Return the sentence with which a flow is refused."""
    with pytest.raises(FlowError) as refused:
        Flow("support", **flow)
    assert refused.value.flow == "support"
    return str(refused.value).removeprefix("Flow 'support' cannot run: ")


def triage(*edges: Edge, **options) -> list[Agent]:
    return [Agent("triage", edges=edges, **options), BILLING]


def test_a_flow_needs_an_agent():
    assert mistake(agents=[]) == "it has no agents; give it at least one."


def test_agents_have_names_of_their_own():
    assert mistake(agents=[Agent("a"), Agent("b"), Agent("a")]) == (
        "two agents are called 'a'; every agent needs a name of its own."
    )


def test_a_flow_starts_with_an_agent_it_has():
    assert mistake(agents=triage(), start="reception") == (
        "its start 'reception' is no agent of it; there are: billing, triage."
    )


def test_the_finish_floor_is_smaller_than_the_pool():
    assert mistake(agents=triage(), pool_tokens=900) == (
        "the finish floor of 1,000 tokens leaves nothing of a pool of 900; make the pool larger."
    )


def test_an_edge_leads_to_an_agent_of_the_flow():  # R54
    assert mistake(agents=triage(Edge.transfer("biling"))) == (
        "agent 'triage' hands off to 'biling', which is no agent of it; there are: billing, triage."
    )


def test_no_agent_hands_off_to_itself():
    assert mistake(agents=triage(Edge.transfer("triage"))) == (
        "agent 'triage' hands off to itself; remove that edge."
    )


def test_an_edge_allows_only_tools_that_the_target_owns():  # R4
    assert mistake(agents=triage(Edge.call("billing", allowed_tools=("refund",)))) == (
        "the edge 'triage' → 'billing' allows the tool 'refund', which 'billing' does not own; "
        "it owns: list_invoices."
    )


def test_an_edge_asks_for_a_schema_that_is_registered():  # R6
    assert mistake(agents=triage(Edge.call("billing", output_schema="Invoices"))) == (
        "the edge 'triage' → 'billing' asks for 'Invoices', which is no registered schema; there "
        "are: Text."
    )


def test_an_agent_answers_with_a_schema_that_is_registered():  # R6
    assert mistake(
        agents=[Agent("a", output_schema="Refunds")], schemas={"Invoices": Invoices}
    ) == (
        "agent 'a' answers with 'Refunds', which is no registered schema; there are: Invoices, "
        "Text."
    )


def test_an_agent_that_only_reads_has_no_tool_that_writes():  # R29
    assert mistake(agents=[Agent("a", tools=[Tool(refund, effect=Effect.EXTERNAL)])]) == (
        "agent 'a' only reads, but its tool 'refund' has effect 'external'; say "
        "`may_write=True`, or move the tool elsewhere."
    )
    Flow("support", agents=[Agent("a", tools=[Tool(refund, effect=Effect.WRITE)], may_write=True)])


def test_tools_of_an_agent_have_names_of_their_own():
    assert mistake(agents=[Agent("a", tools=[Tool(refund), Tool(list_invoices, "refund")])]) == (
        "agent 'a' has two tools called 'refund'; rename one."
    )
    assert mistake(agents=triage(Edge.call("billing"), Edge.call("billing", "Again."))) == (
        "agent 'triage' has two tools called 'delegate_to_billing'; rename one."
    )


def test_a_tool_is_not_called_as_a_handoff_is():
    assert mistake(agents=[Agent("a", tools=[Tool(refund, "transfer_to_savings")])]) == (
        "agent 'a' has a tool 'transfer_to_savings', but names that begin like this ask for "
        "handoffs; rename it."
    )


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (takes_anything, "its parameter 'values' cannot be given by name"),
        (takes_nobody_knows, "its parameters cannot be read: name 'Nobody' is not defined"),
    ],
)
def test_a_tool_can_be_described_to_a_model(function, reason):
    name = function.__name__

    assert mistake(agents=[Agent("a", tools=[Tool(function)])]) == (
        f"agent 'a' cannot be offered its tool '{name}': {reason}; give it named parameters of "
        "types that JSON has."
    )


def test_a_tools_parameters_have_types_that_json_has():
    said = mistake(agents=[Agent("a", tools=[Tool(takes_an_object)])])

    assert said.startswith(
        "agent 'a' cannot be offered its tool 'takes_an_object': a parameter has no form in JSON: "
    )
    assert "\n" not in said


def test_a_parameter_may_have_any_name():
    def find(schema: str, copy: int = 1, _x: int = 2) -> list:
        return [schema, copy, _x]

    tool = Tool(find)

    assert tool.mistake == ""
    assert list(tool.spec["parameters"]["properties"]) == ["schema", "copy", "_x"]
    assert tool.parse({"schema": "a", "_x": 5}) == {"schema": "a", "copy": 1, "_x": 5}


def test_all_mistakes_are_told_in_one_sentence_each():
    said = mistake(
        agents=[Agent("a", edges=[Edge.transfer("a"), Edge.transfer("nobody")])], start="b"
    )

    assert said == (
        "its start 'b' is no agent of it; there are: a. (2 more: agent 'a' hands off to itself; "
        "remove that edge; agent 'a' hands off to 'nobody', which is no agent of it; there are: a.)"
    )


# Before anything is recorded


def test_an_agent_without_a_model_is_refused_before_anything_is_recorded():
    played = play(Flow("support", agents=triage()))

    assert str(played.raised) == (
        "Flow 'support' cannot run: agent 'triage' has no model; give it one, or give the flow "
        "one, or pass `model=`."
    )
    assert played.events == []


@pytest.mark.parametrize(
    ("request_fields", "sentence"),
    [
        (
            {"allowed_tools": ("refund",)},
            "The request allows the tool 'refund', which 'billing' does not own; it owns: "
            "list_invoices.",
        ),
        (
            {"output_schema": "Invoices"},
            "The request asks for 'Invoices', which is no registered schema; there are: Text.",
        ),
    ],
)
def test_a_typed_request_that_does_not_fit_is_refused_before_anything_is_recorded(  # R4 R6
    request_fields, sentence
):
    flow = Flow("support", agents=[BILLING], model=lambda call: say("never"))

    played = play(flow, HandoffRequest(task="Find invoices", **request_fields))

    assert isinstance(played.raised, RequestError)
    assert str(played.raised) == sentence
    assert played.events == []


# Allowed, but probably not meant


def test_an_agent_with_many_tools_is_probably_two_agents():  # R76
    def tools(count: int) -> list[Tool]:
        return [Tool(list_invoices, f"tool_{number}") for number in range(count)]

    assert Flow("one", agents=[Agent("a", tools=tools(10))]).check() == []
    assert Flow("one", agents=[Agent("a", tools=tools(20))]).check() == [
        "Agent 'a' has 20 tools; with more than 10 it is probably two agents."
    ]


def test_a_single_agent_with_twenty_tools_still_runs():  # R76 R87
    tools = [Tool(list_invoices, f"tool_{number}") for number in range(20)]

    def model(call):
        return say("done") if call.results else use("tool_19", customer_id="4812")

    played = play(Flow("one", agents=[Agent("a", tools=tools, model=model)]))

    assert played.result.answer == "done"
    assert played.one("tool_returned").tool == "tool_19"


def test_an_edge_without_a_description_says_nothing_about_when_to_use_it():  # R58
    agents = [Agent("triage", edges=[Edge.transfer("billing")]), Agent("billing")]

    assert Flow("support", agents=agents).check()[0] == (
        "The edge 'triage' → 'billing' has no description, so nothing says when to use it."
    )


def test_an_edge_takes_the_description_of_its_target():  # R58
    flow = Flow("support", agents=triage(Edge.transfer("billing")))

    assert flow.check() == []
    assert flow.edge_description(flow.agents[0].edges[0]) == "Invoices."


# What a session records of a flow


def test_the_same_flow_has_the_same_digest_and_a_changed_prompt_another():
    def digest(flow: Flow) -> str:
        return play(flow).one("session_started").flow_digest

    def flow(prompt: str) -> Flow:
        return Flow("one", agents=[Agent("a", prompt, model=lambda call: say("hi"))])

    assert digest(flow("Help.")) == digest(flow("Help.")) != digest(flow("Help well."))


def test_the_snapshot_holds_what_a_re_run_needs():
    flow = Flow(
        "support",
        agents=triage(
            Edge.call("billing", allowed_tools=(), limits=Limits(max_steps=2)),
            prompt="Route the user.",
        ),
        model=lambda call: say("hi"),
        schemas={"Invoices": Invoices},
    )
    sink = EventList()

    play(flow, sink=sink)

    recorded = sink.body(sink.events[0].payload.flow_digest)
    (first, second) = recorded["agents"]
    assert (first["prompt"], second["tools"][0]["name"]) == ("Route the user.", "list_invoices")
    assert first["edges"][0]["limits"]["max_steps"] == 2
    assert first["edges"][0]["description"] == "Invoices."
    assert recorded["schemas"]["Invoices"]["required"] == ["invoices"]
    assert (recorded["pool_tokens"], recorded["max_handoffs"]) == (50_000, 3)


def test_a_flow_with_changes_leaves_the_first_as_it_was():
    flow = Flow("one", agents=[Agent("a")])

    assert flow.changed(pool_tokens=9_000).pool_tokens == 9_000
    assert flow.pool_tokens == 50_000


def test_a_policy_and_an_effect_may_be_given_by_their_words():
    edge = Edge.transfer("b", context="slice")
    tool = Tool(lambda: None, name="send", effect="external")

    assert edge.context is ContextPolicy.SLICE
    assert (tool.effect, tool.needs_approval) == (Effect.EXTERNAL, True)
    with pytest.raises(ValueError, match="'slices' is not a valid ContextPolicy"):
        Edge.transfer("b", context="slices")
