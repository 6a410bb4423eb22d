"""A flow as a session was recorded with it: its prompt version counts, not what is loaded."""

import asyncio
from dataclasses import replace

from handoff_console.runtime import Agent, Edge, EventList, Flow, Recording, run, say
from handoff_console.runtime.as_recorded import with_recorded_prompts
from handoff_console.runtime.prompts import AgentPrompt, PromptVersion

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

    found = with_recorded_prompts(FLOW, recorded(ran))

    assert found.prompt_version == "v2"
    assert found.snapshot == ran.snapshot


def test_a_call_and_a_transfer_to_the_same_agent_keep_what_was_said_of_each():
    edges = [Edge.call("billing", "For a part."), Edge.transfer("billing", "For the whole.")]
    flow = FLOW.changed(agents=[replace(FLOW.agents[0], edges=edges), *FLOW.agents[1:]])
    ran = PromptVersion("v3", {"triage": AgentPrompt("Route well.")}).applied_to(flow)

    found = with_recorded_prompts(flow, recorded(ran))

    assert found.snapshot == ran.snapshot
    assert [edge.description for edge in found.agent("triage").edges] == [
        "For a part.",
        "For the whole.",
    ]


def test_without_a_prompt_version_only_what_agents_were_told_does():
    """Whoever mends a description in the flow's file tries it by running the handoff again."""
    triage, *others = FLOW.agents
    told = FLOW.changed(agents=[Agent("triage", "Route!", edges=triage.edges, model=say), *others])

    found = with_recorded_prompts(told, recorded(FLOW))

    assert found.agent("triage").prompt == "Route."
    described = FLOW.changed(
        agents=[triage, Agent("billing", "Bill.", description="Money matters."), others[1]]
    )
    assert with_recorded_prompts(described, recorded(FLOW)).agent("billing").description == (
        "Money matters."
    )


def test_an_agent_that_is_new_since_stays_as_it_is():
    more = Agent("returns", "Return.", description="Parcels back.")

    found = with_recorded_prompts(
        FLOW.changed(agents=[*FLOW.agents, more]), recorded(V2.applied_to(FLOW))
    )

    assert found.agent("returns") == more
