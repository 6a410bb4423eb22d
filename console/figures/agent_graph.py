"""The agents of a session as a Graphviz graph: what was allowed, used, refused, repeated."""

import math

import graphviz

from handoff_console.console import theme
from handoff_console.console.viewmodels.agent_graph import AgentEdge, AgentGraph, AgentNode
from handoff_console.console.viewmodels.text import count

ROOMY_AGENTS = 6
"""With more of them each gets one line, so that ten fit on the page without being shrunk."""
_FONT = "Source Sans, Helvetica, Arial, sans-serif"


def agent_graph_dot(shown: AgentGraph, *, dark: bool, selected: str | None = None) -> str:
    """Return the graph in Graphviz's own language; names in it are text, whatever they hold.

    Args:
        shown: The agents and what went between them.
        dark: For a dark page.
        selected: The key of the agent to frame.
    """
    ink = "#E6E8EB" if dark else "#31333F"
    graph = graphviz.Digraph("agents")
    compact = len(shown.nodes) > ROOMY_AGENTS
    nodesep, ranksep = ("0.1", "0.9") if compact else ("0.3", "0.45")
    graph.attr(rankdir="LR", bgcolor="transparent", nodesep=nodesep, ranksep=ranksep, pad="0.05")
    graph.attr(
        "node", shape="box", style="rounded,filled", fontname=_FONT, fontsize="14", fontcolor=ink
    )
    # Without a filling only the frame and the letters could be clicked.
    page = theme.DARK_BACKGROUND if dark else theme.LIGHT_BACKGROUND
    graph.attr("node", margin="0.12,0.05", height="0.3", fillcolor=page)
    graph.attr("edge", fontname=_FONT, fontsize="12", fontcolor=ink, arrowsize="0.7")
    for node in shown.nodes:
        _add_node(graph, node, compact=compact, dark=dark, selected=node.key == selected)
    for edge in shown.edges:
        _add_edge(graph, edge, dark=dark)
    return str(graph.source)


def _add_node(
    graph: graphviz.Digraph, node: AgentNode, *, compact: bool, dark: bool, selected: bool
) -> None:
    look = theme.look(node.worst) if node.worst else None
    lines = [f"{look.glyph} {node.name}" if look else node.name]
    if node.handoffs:
        lines.append(f"{count(node.tokens, 'token')}")
    graph.node(
        node.key,
        label=_text((" · " if compact else "\n").join(lines)),
        tooltip=_text(node.tooltip),
        color=look.color(dark=dark) if look else theme.NEUTRAL,
        penwidth="3" if selected else "1.4",
        peripheries="2" if node.is_start else "1",
    )


def _add_edge(graph: graphviz.Digraph, edge: AgentEdge, *, dark: bool) -> None:
    error = theme.look("error").color(dark=dark)
    used = "#C9CED6" if dark else "#4A505B"
    look = {
        "allowed": {"color": theme.NEUTRAL, "penwidth": "0.8"},
        "used": {"color": used},
        "refused": {"color": error, "style": "dashed"},
        "repeated": {"color": error},
    }[edge.look]
    width = 1.2 + min(2.4, 0.6 * math.log2(max(1, edge.uses)))
    graph.edge(
        edge.source,
        edge.target,
        label=_text(edge.label),
        tooltip=_text(f"{edge.look}, by {edge.via}"),
        arrowhead="normal" if edge.via == "call" else "vee",
        **{"penwidth": f"{width:.1f}", **look},
    )


def _text(text: str) -> str:
    # A label that begins with "<" and ends with ">" would be taken for markup, backslashes for
    # Graphviz's own signs.
    escaped = graphviz.escape(text).replace("\n", "\\n")
    return str(graphviz.nohtml(escaped))
