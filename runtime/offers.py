"""What an agent is offered: the tools it may call this time, and its edges as special tools."""

from collections.abc import Sequence
from typing import Any

from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.canonical import json_schema
from handoff_console.runtime.flow import Flow


def offered_tools(flow: Flow, agent: Agent, allowed: Sequence[str]) -> list[dict[str, Any]]:
    """Return what an agent is offered: the tools allowed this time, and its edges as tools."""
    own = [tool.spec for tool in agent.tools if tool.name in allowed]
    return own + [edge_spec(flow, edge) for edge in agent.edges]


def edge_spec(flow: Flow, edge: Edge) -> dict[str, Any]:
    """Return an edge as the special tool by which a model asks for it."""
    target = flow.agent(edge.target)
    values = json_schema(edge.payload) if edge.payload else {"type": "object"}
    return {
        "name": edge.tool_name,
        "description": flow.edge_description(edge),
        "handoff": {"target": edge.target, "via": edge.via.value},
        "examples": list(target.examples),
        "parameters": {
            "type": "object",
            "properties": {
                "reason": {"type": "string"},
                "task": {"type": "string"},
                "payload": values,
                "summary": {"type": "string"},
            },
            "required": ["reason"],
        },
    }
