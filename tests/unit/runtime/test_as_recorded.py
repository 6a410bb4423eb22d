"""A flow as a session was recorded with it: its prompts, edges and limits, not what is loaded."""

import asyncio
from dataclasses import replace

import pytest

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    Limits,
    Recording,
    Redaction,
    Tool,
    hand_over,
    run,
    say,
)
from handoff_console.runtime.as_recorded import as_recorded
from handoff_console.runtime.prompts import AgentPrompt, PromptVersion
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode

FLOW = Flow(
    "support",
    agents=[
        Agent(
            "triage",
            "Route.",
            edges=[Edge.transfer("billing", "Money."), Edge.transfer("sales")],
            model=lambda call: say("done"),
        ),
        Agent("billing", "Bill.", description="Invoices.", model=lambda call: say("done")),
        Agent("sales", "Sell.", description="Offers.", model=lambda call: say("done")),
    ],
)
V2 = PromptVersion(
    "v2",
    {
        "triage": AgentPrompt("Route well.", targets=("billing",), threshold=1.5),
        "billing": AgentPrompt(handoff_description="Charges.", examples=("Why twice?",)),
    },
)


def recorded(flow: Flow) -> Recording:
    sink = EventList()
    result = asyncio.run(run(flow, "Hi.", sink=sink))
    return Recording(result.session_id, list(sink.events), sink.body)


def test_all_that_a_prompt_version_said_comes_from_the_record():
    ran = V2.applied_to(FLOW)

    found = as_recorded(FLOW, recorded(ran))

    assert found.prompt_version == "v2"
    assert found.snapshot == ran.snapshot


def test_a_prompt_that_other_redaction_rules_leave_a_mark_in_is_the_flows_own():
    asks, *others = FLOW.agents
    said = FLOW.changed(agents=[replace(asks, prompt="Route. token=abc123xyz"), *others])
    now = said.changed(redaction=Redaction.off())

    found = as_recorded(now, recorded(said))

    assert found.agent("triage").prompt == "Route. token=abc123xyz"


def test_a_call_and_a_transfer_to_the_same_agent_keep_what_was_said_of_each():
    edges = [Edge.call("billing", "For a part."), Edge.transfer("billing", "For the whole.")]
    flow = FLOW.changed(agents=[replace(FLOW.agents[0], edges=edges), *FLOW.agents[1:]])
    ran = PromptVersion("v3", {"triage": AgentPrompt("Route well.")}).applied_to(flow)

    found = as_recorded(flow, recorded(ran))

    assert found.snapshot == ran.snapshot
    assert [edge.description for edge in found.agent("triage").edges] == [
        "For a part.",
        "For the whole.",
    ]


def test_without_a_prompt_version_descriptions_are_those_of_the_flow():
    """Whoever mends a description in the flow's file tries it by running the handoff again."""
    triage, *others = FLOW.agents
    told = FLOW.changed(agents=[Agent("triage", "Route!", edges=triage.edges, model=say), *others])

    found = as_recorded(told, recorded(FLOW))

    assert found.agent("triage").prompt == "Route."
    described = FLOW.changed(
        agents=[triage, Agent("billing", "Bill.", description="Money matters."), others[1]]
    )
    assert as_recorded(described, recorded(FLOW)).agent("billing").description == ("Money matters.")


def test_an_agent_that_is_new_since_stays_as_it_is():
    more = Agent("returns", "Return.", description="Parcels back.")

    found = as_recorded(FLOW.changed(agents=[*FLOW.agents, more]), recorded(V2.applied_to(FLOW)))

    assert found.agent("returns") == more


def lookup(customer: str) -> str:
    """Look a customer up."""
    return customer


PASSED_ON = Flow(
    "desk",
    agents=[
        Agent(
            "triage",
            "Route.",
            edges=[Edge.transfer("billing", "Money.")],
            model=lambda call: hand_over("billing", "money"),
        ),
        Agent(
            "billing",
            "Bill.",
            tools=[Tool(lookup)],
            model=lambda call: say(f"{len(call.messages)} messages, {len(call.tools)} tools"),
        ),
    ],
)


def with_edge(edge: Edge, **changes) -> Flow:
    triage, billing = PASSED_ON.agents
    return PASSED_ON.changed(agents=[replace(triage, edges=[edge]), billing], **changes)


@pytest.mark.parametrize("mode", [Mode.VERIFY, Mode.WHAT_IF, Mode.CONTINUE])
@pytest.mark.parametrize(
    "edge",
    [
        Edge.transfer("billing", "Money.", context="full_history"),
        Edge.transfer("billing", "Money.", allowed_tools=()),
        Edge.transfer("billing", "Money.", limits=Limits(max_tokens=100)),
        Edge.call("billing", "Money."),
    ],
)
def test_an_edge_that_was_changed_since_is_as_it_was_recorded(edge, mode):
    came = asyncio.run(rerun(with_edge(edge), recorded(PASSED_ON), "h1", mode=mode))

    assert came.same_result
    assert came.session.answer == "2 messages, 1 tools"
    assert came.first_divergence is None


def test_the_limits_of_a_flow_are_as_they_were_recorded():
    lower = PASSED_ON.changed(
        limits=Limits(max_steps=1, max_tokens=10), max_result_bytes=5, start="billing"
    )

    assert as_recorded(lower, recorded(PASSED_ON)).snapshot == PASSED_ON.snapshot


def test_a_record_neither_adds_an_edge_nor_lets_a_new_one_in():
    triage, billing = PASSED_ON.agents
    other = replace(triage, edges=[Edge.call("checker")])
    flow = PASSED_ON.changed(agents=[other, billing, Agent("checker", "Check.")])

    found = as_recorded(flow, recorded(PASSED_ON))

    assert list(found.agent("triage").edges) == []


def test_of_what_an_edge_names_only_what_is_still_there_comes_back():
    edge = Edge.transfer("billing", "Money.", allowed_tools=("lookup",), return_to="triage")
    ran = recorded(with_edge(edge))
    triage, billing = PASSED_ON.agents
    toolless = PASSED_ON.changed(agents=[triage, replace(billing, tools=())])

    found = as_recorded(toolless, ran).agent("triage").edges[0]

    assert (found.allowed_tools, found.return_to) == ((), "triage")


def test_a_prompt_that_is_the_same_is_not_replaced_by_what_redaction_left_of_it():
    triage, billing = FLOW.agents[0], FLOW.agents[1]
    secret = "Test with card 4111 1111 1111 1111."
    flow = FLOW.changed(agents=[replace(triage, prompt=secret), billing, FLOW.agents[2]])

    assert as_recorded(flow, recorded(flow)).agent("triage").prompt == secret


def test_a_tool_that_is_gone_is_not_named_to_its_agent():
    triage, billing = PASSED_ON.agents
    toolless = replace(billing, tools=(), model=lambda call: say(call.messages[-1]["content"]))
    flow = PASSED_ON.changed(agents=[triage, toolless])

    came = asyncio.run(rerun(flow, recorded(PASSED_ON), "h2", mode=Mode.WHAT_IF))

    assert "Tools you may call: none" in came.session.answer
