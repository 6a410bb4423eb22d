"""What a flow allows but probably does not mean, and the near misses that stay silent."""

from dataclasses import replace

import pytest

from handoff_console.runtime import Agent, Edge, Flow, Limits, Redaction, Tool, say
from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.redaction import SENSITIVE_KEYS

TRANSFER, CALL = Edge.transfer, Edge.call


def model(call):
    return say("ok")


def look_up(key: str) -> str:
    """Look something up."""
    return key


def tools(count: int) -> list[Tool]:
    return [Tool(look_up, name=f"tool_{number}") for number in range(count)]


def agent(name: str, *edges: Edge, **fields) -> Agent:
    fields.setdefault("model", lambda call: say("ok"))
    fields.setdefault("description", f"Does {name}.")
    return Agent(name, f"You are {name}.", edges=edges, **fields)


def warnings(*agents: Agent, **fields) -> list[str]:
    return Flow("f", list(agents), **fields).check()


def test_a_small_flow_of_distinct_agents_has_no_warning():
    assert warnings(agent("triage", TRANSFER("billing")), agent("billing")) == []
    assert warnings(agent("supervisor", CALL("worker")), agent("worker", tools=tools(2))) == []
    assert warnings(agent("alone")) == []


def test_a_key_that_the_record_itself_is_made_of_is_named():
    one = agent("one")
    keys = SENSITIVE_KEYS | {"name", "id", "customer_name"}

    assert warnings(one, redaction=Redaction(keys=keys)) == [
        "Its redaction removes what is called id, name, as parts of the record itself are called: "
        "a session can neither be read whole nor run again. Say a longer key, such as "
        "'customer_id'."
    ]
    assert warnings(one, redaction=Redaction(keys=SENSITIVE_KEYS | {"customer_name"})) == []
    assert warnings(one, redaction=Redaction.off()) == []


def test_more_than_ten_tools_are_probably_two_agents():  # R76
    assert warnings(agent("one", tools=tools(10))) == []
    assert warnings(agent("one", tools=tools(11))) == [
        "Agent 'one' has 11 tools; with more than 10 it is probably two agents."
    ]


def test_a_long_prompt_is_named_with_its_length():  # R77
    long = replace(agent("one"), prompt="x" * 4_001)

    assert warnings(replace(long, prompt="x" * 4_000)) == []
    assert warnings(long) == [
        "The prompt of agent 'one' has 4,001 characters; with more than 4,000 it probably says "
        "several things at once."
    ]


def test_an_edge_and_a_tool_that_nobody_describes_are_named():  # R58
    def silent(key: str) -> str:
        return key

    found = warnings(
        agent("triage", TRANSFER("billing"), tools=[Tool(silent)]), agent("billing", description="")
    )

    assert found == [
        "The tool 'silent' of agent 'triage' has no description, so nothing says what it does.",
        "The edge 'triage' → 'billing' has no description, so nothing says when to use it.",
    ]
    described = agent("triage", TRANSFER("billing", "Invoices."))
    assert warnings(described, agent("billing", description="")) == []


def test_a_tool_whose_parameters_have_no_type_is_named():
    loose = Tool(lambda order, cents=0: order, name="pay", description="Pays an order back.")

    assert warnings(agent("one", tools=[loose])) == [
        "The tool 'pay' of agent 'one' takes order, cents without a type, so whatever a model "
        "sends gets in; annotate the function."
    ]


def test_an_agent_in_the_middle_without_tools_and_with_one_way_on_only_passes_on():
    start, end = agent("triage", TRANSFER("middle")), agent("billing", tools=tools(1))

    assert warnings(start, agent("middle", TRANSFER("billing")), end) == [
        "Agent 'middle' has no tools and one way on, so it can only pass things on to 'billing'; "
        "hand off to 'billing' directly."
    ]


@pytest.mark.parametrize(
    "middle",
    [
        agent("middle", TRANSFER("billing"), tools=tools(1)),
        agent("middle", TRANSFER("billing"), TRANSFER("triage")),
        agent("middle", CALL("billing", limits=Limits(max_tokens=2_000))),
        agent("middle", TRANSFER("human", "A person.")),
    ],
    ids=["has a tool", "has two ways on", "keeps control", "turns to a person"],
)
def test_an_agent_that_can_do_more_than_pass_on_is_left_alone(middle):
    triage = agent("triage", TRANSFER("middle"), TRANSFER("billing"))

    assert warnings(triage, middle, agent("billing")) == []


def test_two_desks_that_hand_over_to_each_other_are_no_pass_through():
    found = warnings(
        agent("triage", TRANSFER("left"), TRANSFER("right")),
        agent("left", TRANSFER("right")),
        agent("right", TRANSFER("left")),
    )

    assert found == []


def test_an_agent_that_nothing_leads_to_is_named_and_an_aggregator_is_not():
    found = warnings(agent("triage"), agent("lost"))
    assert found == ["Agent 'lost' is never reached: no edge leads to it from 'triage'."]

    merging = warnings(agent("triage"), agent("merge"), aggregator="merge")
    assert merging == []


def test_agents_that_only_each_other_lead_to_are_never_reached():
    found = warnings(agent("a"), agent("b", TRANSFER("c")), agent("c", TRANSFER("b")))

    assert found == [
        "Agent 'b' is never reached: no edge leads to it from 'a'.",
        "Agent 'c' is never reached: no edge leads to it from 'a'.",
    ]


def test_a_call_that_would_nest_too_deep_is_always_refused():
    agents = agent("root", CALL("worker")), agent("worker", CALL("helper")), agent("helper")
    few = Limits(max_tokens=2_000)
    nested = agents[0], agent("worker", CALL("helper", limits=few)), agents[2]

    assert (
        "The edge 'worker' → 'helper' is always refused: calls may nest 1 deep, and 'worker' "
        "stands 1 deep. Raise `depth` of the flow, or remove it." in warnings(*agents)
    )
    assert warnings(*nested, depth=2) == []


def test_a_nested_call_that_wants_all_its_caller_has_can_never_be_reserved():
    def nested(tokens: int) -> list[str]:
        return warnings(
            agent("root", CALL("worker", limits=Limits(max_tokens=6_000))),
            agent("worker", CALL("helper", limits=Limits(max_tokens=tokens))),
            agent("helper"),
            depth=2,
        )

    assert nested(5_999) == []
    assert nested(6_000) == [
        "The edge 'worker' → 'helper' wants 6,000 tokens, which can never be reserved: 'worker' "
        "itself is granted at most 6,000, and some are spent on asking."
    ]


def test_an_edge_that_wants_more_than_the_pool_can_never_be_reserved():
    def of(edge: Edge) -> list[str]:
        return warnings(agent("root", edge), agent("worker"), pool_tokens=8_000)

    assert of(CALL("worker", limits=Limits(max_tokens=6_999))) == []
    assert of(TRANSFER("worker", limits=Limits(max_tokens=7_999))) == []
    assert of(CALL("worker", limits=Limits(max_tokens=7_000))) == [
        "The edge 'root' → 'worker' wants 7,000 tokens, which can never be reserved: the pool has, "
        "without the finish floor, 7,000, and some are spent on asking."
    ]
    assert of(TRANSFER("worker", limits=Limits(max_tokens=8_000))) == [
        "The edge 'root' → 'worker' wants 8,000 tokens, which can never be reserved: the pool has "
        "8,000, and some are spent on asking."
    ]


def test_a_profile_counts_as_the_limits_it_stands_for():
    found = warnings(
        agent("root", CALL("worker", limits="large")),
        agent("worker"),
        profiles={"large": Limits(max_tokens=90_000)},
    )

    assert len(found) == 1
    assert "wants 90,000 tokens" in found[0]


def test_a_less_trusted_agent_that_hands_over_unchecked_is_always_refused():  # R72
    low, high = agent("web", TRANSFER("pay")), agent("pay", trust=2)

    assert warnings(low, high) == [
        "The edge 'web' → 'pay' is always refused: 'web' (trust 1) is trusted less than 'pay' "
        "(trust 2), which checks nothing that comes in. Give it `ingress` checks."
    ]
    assert warnings(low, replace(high, ingress=(lambda request: None,))) == []
    assert warnings(replace(low, trust=2), high) == []


ONE_WOULD_DO = (
    "All agents have the same model, tools, rights and form of answer, and only hand over to each "
    "other: one agent would do."
)


def test_agents_that_differ_in_their_words_alone_are_one():  # R87
    triage = agent("triage", TRANSFER("billing"), model="live")
    billing = agent("billing", model="live")

    assert Flow("f", [triage, billing], model=model).check() == [ONE_WOULD_DO]


@pytest.mark.parametrize(
    "billing",
    [
        agent("billing", model="cheaper"),
        agent("billing", model="live", tools=tools(1)),
        agent("billing", model="live", trust=0),
        agent("billing", model="live", may_write=True),
        agent("billing", model="live", ingress=(lambda request: None,)),
        replace(agent("billing", model="live"), prompt="x" * 3_999),
    ],
    ids=["model", "tools", "trust", "rights", "checks", "much to say"],
)
def test_a_difference_that_counts_is_a_reason_for_two(billing):
    triage = agent("triage", TRANSFER("billing"), model="live")

    assert warnings(triage, billing) == []


def test_workers_with_a_context_of_their_own_are_a_reason_for_two():
    lead = agent("lead", CALL("worker"), model="live")

    assert warnings(lead, agent("worker", model="live")) == []
    assert lead.edges[0].via is HandoffKind.CALL


def test_a_person_or_an_aggregator_is_a_reason_for_two():
    a_person = agent("a", TRANSFER("b"), TRANSFER("human", "A person."), model="live")
    merging = agent("a", TRANSFER("b"), model="live")

    assert warnings(a_person, agent("b", model="live")) == []
    assert warnings(merging, agent("b", model="live"), aggregator="b") == []
