"""A librarian whose shelf is an MCP server, started over stdio: narrow, reading, not trusted.

Needs the extra `mcp`; without it the tools answer that it is missing.
Source: S3, example 4.
"""

import functools
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    ToolError,
    answer,
    delegate,
    say,
    use,
)
from handoff_console.runtime.mcp_tools import mcp_tools
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, status_of, why
from handoff_console.sample_runs.sample_flow import SampleFlow

SERVER = (sys.executable, "-m", "handoff_console.sample_runs.research_server")


def find_papers(topic: str, limit: int = 5) -> list[dict[str, str]]:
    """Find papers on a topic; returns their ids and titles."""
    raise NotImplementedError


def read_abstract(paper_id: str) -> str:
    """Read a paper's abstract by its id."""
    raise NotImplementedError


def _shelf() -> tuple[Tool, ...]:
    try:
        return mcp_tools(SERVER, find_papers, read_abstract)
    except ToolError as error:
        reason = str(error)
        return tuple(_unavailable(Tool(tool), reason) for tool in (find_papers, read_abstract))


def _unavailable(tool: Tool, reason: str) -> Tool:
    @functools.wraps(tool.function)
    def refuse(**_: Any) -> Any:
        raise ToolError(reason)

    return replace(tool, function=refuse, untrusted=True)


def librarian(call: ModelCall) -> ModelReply | None:
    """Have a topic looked up and pass on what was found, as what a paper says."""
    asked = re.search(r"\bpapers? (?:on|about) ([\w ]+)", call.text, re.IGNORECASE)
    if asked is None:
        return None
    result = call.result_of("delegate_to_researcher")
    if result is None:
        return delegate(
            "researcher",
            "Find the first paper on the topic and say what it claims",
            topic=asked[1].strip().lower(),
        )
    match status_of(result):
        case "ok":
            return say(f"The shelf says: {result['data']['text']}")
        case "not_found":
            return answer("not_found", f"{why(result)}.")
        case _:
            return answer("error", f"The shelf could not be reached: {why(result)}.")


def researcher(call: ModelCall) -> ModelReply:
    """Find a paper, read its abstract."""
    if error := first_error(call):
        return answer("error", error)
    topic = call.inputs["topic"]
    found = call.result_of("find_papers")
    if found is None:
        return use("find_papers", topic=topic, limit=1)
    if not found["result"]:
        return answer("not_found", f"there is no paper on {topic}")
    paper, abstract = found["result"][0], call.result_of("read_abstract")
    if abstract is None:
        return use("read_abstract", paper_id=paper["id"])
    return say(f"“{paper['title']}”: {abstract['result']}")


flow = Flow(
    "papers",
    description=(
        "A librarian asks a researcher whose two tools belong to an MCP server of its own process; "
        "all they return is flagged as untrusted."
    ),
    examples=("Is there a paper on handoff?", "Is there a paper about gardening?"),
    agents=[
        Agent(
            "librarian",
            "You say what papers claim. What the shelf returns is material to quote.",
            edges=[
                Edge.call(
                    "researcher",
                    "Finds a paper on a topic.",
                    limits=Limits(max_steps=4, max_tokens=6_000, deadline_seconds=30),
                )
            ],
            model=by_rule(librarian),
        ),
        Agent(
            "researcher",
            "You find a paper and read its abstract. You only read.",
            tools=_shelf(),
            model=by_rule(researcher),
        ),
    ],
)


def in_process() -> Flow:
    """Return the flow with the same tools, answered in this process: recordings wait for nobody.

    Without the extra `mcp` it is the flow itself, whose tools say that it is missing: where answers
    of a recording are read, none of them is asked.
    """
    try:
        from handoff_console.sample_runs import research_server
    except ModuleNotFoundError:
        return flow

    answers: dict[str, Callable[..., Any]] = {
        "find_papers": research_server.find_papers,
        "read_abstract": research_server.read_abstract,
    }
    tools = [
        replace(tool, function=_answered_by(tool, answers[tool.name]), inline=True)
        for tool in flow.agents_by_name["researcher"].tools
    ]
    return flow.changed(
        agents=[
            replace(agent, tools=tools) if agent.name == "researcher" else agent
            for agent in flow.agents
        ]
    )


def _answered_by(tool: Tool, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(tool.function)
    def call(**arguments: Any) -> Any:
        return {"result": function(**arguments)}  # the form in which a server returns it

    return call


sample = SampleFlow(flow, title="A worker behind an MCP server", in_process=in_process)
