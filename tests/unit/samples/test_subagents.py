"""Subagents: fifty files read by one, a typed review by another, a risky tool in a third."""

import pytest
from support.samples import ran, shipped, with_edge

from handoff_console.runtime import Effect, EventList
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.codebase import FILES

ASKED = sample("coding").messages[0]


@pytest.fixture(scope="module")
def recorded() -> EventList:
    return shipped("coding-rounding")


def closings(sink: EventList, agent: str):
    return [
        e.payload for e in sink.events if e.kind == "handoff_closed" and e.payload.target == agent
    ]


def estimates(sink: EventList, agent: str) -> list[int]:
    agents = {e.handoff_id: e.payload.target for e in sink.events if e.kind == "handoff_opened"}
    calls = [e for e in sink.events if e.kind == "model_called"]
    return [e.payload.estimate_tokens for e in calls if agents[e.handoff_id] == agent]


def test_fifty_files_are_read_and_the_coder_grows_by_under_1000_tokens(recorded):  # R44 R100
    (found,) = closings(recorded, "explorer")
    assert recorded.body(found.result)["data"]["files_read"] == len(FILES) == 50

    coder, explorer = estimates(recorded, "coder"), estimates(recorded, "explorer")
    assert coder[1] - coder[0] < 300
    assert coder[-1] - coder[0] < 1_000
    assert explorer[-1] - explorer[0] > 2_000


def test_no_file_s_text_reaches_the_coder():  # R44 R100
    session = ran("coding", ASKED)

    assert "from shop." not in str(session.read_by("coder"))
    assert "from shop." in str(session.read_by("explorer"))


def test_the_reviewer_answers_in_a_fixed_shape_and_changes_the_patch(recorded):  # R48 R100
    first, second = (recorded.body(end.result)["data"] for end in closings(recorded, "reviewer"))

    assert first == {
        "approved": False,
        "remarks": ["adding 0.5 rounds negative amounts the wrong way"],
    }
    assert second == {"approved": True, "remarks": []}


def test_a_review_in_any_other_shape_is_no_review():  # R48
    flow = with_edge("coding", "coder", "reviewer", output_schema="TestRun")

    session = ran(flow, ASKED)

    assert session.status == "error"
    assert session.answer.startswith("No patch passed the review: the answer did not fit TestRun")


def test_the_tool_that_runs_code_is_absent_from_every_other_agent():  # R48
    flow = sample("coding").flow
    owners = {a.name: [t.name for t in a.tools if t.effect is not Effect.READ] for a in flow.agents}

    assert owners == {"coder": [], "explorer": [], "reviewer": [], "runner": ["sandbox.run_tests"]}
    assert flow.agents_by_name["runner"].edges == ()
    session = ran("coding", ASKED)
    offered = {
        e.payload.agent: [tool["name"] for tool in session.sink.body(e.payload.tools)]
        for e in session.events("agent_activated")
    }
    assert [name for name, tools in offered.items() if "sandbox.run_tests" in tools] == ["runner"]


def test_without_its_tool_the_runner_says_so_and_the_coder_reports_it():
    session = ran(with_edge("coding", "coder", "runner", allowed_tools=()), ASKED)

    assert session.answer.startswith("The patch is reviewed but was not tested: tool not allowed")


def test_a_search_that_fails_changes_nothing():
    session = ran(with_edge("coding", "coder", "explorer", allowed_tools=()), ASKED)

    assert (session.status, len(session.opened())) == ("error", 1)
    assert session.answer.startswith("I changed nothing: tool not allowed")
