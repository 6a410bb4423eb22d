"""A small MCP server, `research`, that a flow can use as a worker: `python -m …research_server`.

It speaks over stdio and knows a handful of invented papers. Needs the extra `mcp`.
"""

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False)

PAPERS = {
    "P1": {
        "title": "Small packets between agents",
        "topics": ["handoff", "context"],
        "abstract": "Agents that hand over four facts finish sooner than agents that hand over "
        "everything they read.",
    },
    "P2": {
        "title": "One pool for a tree of workers",
        "topics": ["handoff", "budget"],
        "abstract": "Tokens that are reserved before a worker starts are never spent twice.",
    },
    "P3": {
        "title": "When to stop a loop",
        "topics": ["cycle", "limits"],
        "abstract": "Two agents that send a task back and forth have stopped working on it.",
    },
}

server = MCPServer("research")


@server.tool(annotations=READS)
def find_papers(topic: str, limit: int = 5) -> list[dict[str, str]]:
    """Find papers on a topic; returns their ids and titles."""
    word = topic.strip().lower()
    found = [
        {"id": number, "title": str(paper["title"])}
        for number, paper in PAPERS.items()
        if word in str(paper["title"]).lower() or word in paper["topics"]
    ]
    return found[: max(limit, 0)]


@server.tool(annotations=READS)
def read_abstract(paper_id: str) -> str:
    """Read a paper's abstract by its id."""
    if paper_id not in PAPERS:
        raise ToolError(f"There is no paper {paper_id!r}; there are: {', '.join(PAPERS)}.")
    return str(PAPERS[paper_id]["abstract"])


@server.tool(annotations=WRITES)
def submit_review(paper_id: str, text: str) -> str:
    """Submit a review of a paper."""
    return f"The review of {paper_id} ({len(text)} characters) was submitted."


if __name__ == "__main__":
    server.run()
