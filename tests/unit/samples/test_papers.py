"""The librarian whose shelf is an MCP server: run over stdio, and as it is recorded."""

import sys
from dataclasses import replace
from importlib.util import find_spec

import pytest
from support.samples import ran

from handoff_console.runtime import Effect, ToolError
from handoff_console.sample_runs import papers, sample

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the extra `mcp` is not installed")

ASKED = "Is there a paper on handoff?"
SAID = (
    "The shelf says: “Small packets between agents”: Agents that hand over four facts finish "
    "sooner than agents that hand over everything they read."
)


def test_a_worker_over_stdio_returns_and_its_results_are_untrusted():  # R50 R95
    session = ran(papers.flow, ASKED)

    assert session.answer == SAID
    returned = [e.payload for e in session.events("tool_returned")]
    assert [(r.tool, r.untrusted) for r in returned] == [
        ("find_papers", True),
        ("read_abstract", True),
    ]
    read = session.read_by("researcher")[-1]
    assert all(m["content"].startswith("<data from=") for m in read if m["role"] == "tool")


def test_what_is_recorded_is_what_the_server_answers():  # R95
    live, recorded = ran(papers.flow, ASKED), ran("papers", ASKED)

    assert live.sink.bodies == recorded.sink.bodies
    assert [e.kind for e in live.sink.events] == [e.kind for e in recorded.sink.events]


def test_the_flow_that_is_recorded_is_the_same_flow():
    assert sample("papers").recorded_flow.snapshot == papers.flow.snapshot


def test_the_shelf_is_narrow_and_only_reads():  # R51 R95
    tools = papers.flow.agents_by_name["researcher"].tools

    assert [(tool.name, tool.effect) for tool in tools] == [
        ("find_papers", Effect.READ),
        ("read_abstract", Effect.READ),
    ]
    assert replace(tools[0], effect=Effect.WRITE).needs_approval


def test_a_topic_without_a_paper_is_not_found():
    session = ran("papers", "Is there a paper about gardening?")

    assert (session.status, session.answer) == ("not_found", "there is no paper on gardening.")


def test_without_the_extra_the_flow_is_there_and_says_what_is_missing(monkeypatch):
    def missing(*_args):
        raise ToolError("the extra `mcp` is not installed.")

    monkeypatch.setattr(papers, "mcp_tools", missing)
    agents = [
        replace(agent, tools=papers._shelf()) if agent.tools else agent
        for agent in papers.flow.agents
    ]

    session = ran(papers.flow.changed(agents=agents), ASKED)

    assert session.status == "error"
    assert session.answer == ("The shelf could not be reached: the extra `mcp` is not installed.")


def test_without_the_extra_its_recording_can_still_be_verified(monkeypatch):
    name = "handoff_console.sample_runs.research_server"
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(sys.modules["handoff_console.sample_runs"], "research_server", False)

    assert papers.sample.recorded_flow is papers.flow
