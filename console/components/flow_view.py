"""A flow on the page: the list to choose from, and one agent's card with its prompt and edges."""

from collections.abc import Callable, Mapping, Sequence

from handoff_console.console.components.panel import Node, button, panel, pressed, tag
from handoff_console.console.viewmodels.flow_page import AgentShown, EdgeShown, FlowShown, ToolShown
from handoff_console.console.viewmodels.text import count, one_line

LIST, AGENTS, ODD, VERSIONS = "flow_list", "flow_agents", "flow_warnings", "flow_versions"
_OWN = "own"
"""A version is a folder; `=` before its name keeps it apart from this word."""


def show_flow_list(
    groups: Mapping[str, Sequence[tuple[str, str, str]]], on_choose: Callable[[], None]
) -> None:
    """Draw the flows there are, by group.

    Args:
        groups: For each heading the flows under it: name, title, and what it shows.
        on_choose: Runs when one was chosen (`chosen_flow`).
    """
    nodes: list[Node] = []
    for heading, flows in groups.items():
        nodes.append(tag("h3", heading))
        rows = [
            tag(
                "tr",
                tag("td.flow-title", button(one_line(title, 80), name, link=True, title=name)),
                tag("td.text", one_line(does, 300)),
            )
            for name, title, does in flows
        ]
        nodes.append(tag("table", tag("tbody", *rows)))
    panel(LIST, nodes, on_action=on_choose)


def chosen_flow() -> str | None:
    """Return the flow that was just chosen; only inside `on_choose`."""
    return pressed(LIST)


def show_versions(labels: Sequence[str], chosen: str, on_choose: Callable[[], None]) -> None:
    """Draw the prompt versions that a flow can be shown with; nothing for a flow without any.

    Args:
        labels: The versions.
        chosen: The one that is shown; empty for the flow's own prompts.
        on_choose: Runs when another was chosen (`chosen_version`).
    """
    if not labels:
        return
    shown = [("", "the flow's own"), *((label, one_line(label, 40)) for label in labels)]
    nodes = [
        tag("b", name)
        if label == chosen
        else button(name, f"={label}" if label else _OWN, link=True)
        for label, name in shown
    ]
    panel(
        VERSIONS,
        [tag("div.row", tag("span.quiet", "Prompts"), *nodes)],
        on_action=on_choose,
    )


def chosen_version() -> str:
    """Return the version that was just chosen; empty for the flow's own; only in `on_choose`."""
    return (pressed(VERSIONS) or "").removeprefix(_OWN).removeprefix("=")


def show_warnings(flow: FlowShown, on_agent: Callable[[], None]) -> None:
    """Draw what is allowed but probably not meant; one about an agent leads to it."""
    rows = [
        tag(
            "li.text",
            said,
            *([" ", button(f"→ {one_line(key, 40)}", key, link=True)] if key else []),
        )
        for key, said in flow.all_warnings
    ]
    if not rows:
        panel(ODD, [tag("p.quiet", "✓ Nothing about this flow looks unintended.")])
        return
    head = f"{count(len(rows), 'thing is', 'things are')} allowed, but probably not meant"
    panel(
        ODD,
        [tag("div.verdict", tag("b", head), tag("ul", *rows), outcome="needs_input")],
        on_action=on_agent,
    )


def warned_agent() -> str | None:
    """Return the agent of the warning that was just pressed; only inside `on_agent`."""
    return pressed(ODD)


def show_agents(flow: FlowShown, selected: str, on_agent: Callable[[], None]) -> None:
    """Draw a row for each agent.

    Args:
        flow: The flow.
        selected: The agent whose card is shown.
        on_agent: Runs when one was chosen (`chosen_agent`).
    """
    head = tag("tr", *(tag("th", word) for word in ("agent", "tools", "handoffs", "prompt", "")))
    rows = [
        tag(
            "tr.selected" if agent.key == selected else "tr",
            tag("td", button(agent.name, agent.key, link=True)),
            tag("td.number", str(len(agent.tools) or "–")),
            tag("td.number", str(len(agent.edges) or "–")),
            tag("td.number", agent.prompt_size),
            tag("td.small", tag("span.quiet", _remark(agent))),
        )
        for agent in flow.agents
    ]
    panel(
        AGENTS,
        [tag("table", tag("thead", head), tag("tbody", *rows))],
        on_action=on_agent,
    )


def chosen_agent() -> str | None:
    """Return the agent that was just chosen; only inside `on_agent`."""
    return pressed(AGENTS)


def show_agent(agent: AgentShown) -> None:
    """Draw an agent's card."""
    facts: list[Node] = []
    for label, text in agent.facts:
        facts += [tag("dt", label), tag("dd.text", text)]
    prompt = (
        tag(
            "details",
            tag("summary", f"Its prompt, {agent.prompt_size}"),
            tag("pre", agent.prompt),
        )
        if agent.prompt
        else tag("p.quiet", "It has no prompt.")
    )
    panel(
        "flow_agent",
        [
            tag(
                "div.row",
                tag("span.big.text", agent.name),
                *([tag("span.chip", "starts")] if agent.is_start else []),
            ),
            *([tag("p.text", agent.does)] if agent.does else []),
            *_warnings(agent.warnings),
            tag("dl", *facts),
            prompt,
            tag("h3", f"Tools ({len(agent.tools)})"),
            *_tools(agent.tools),
            tag("h3", f"May hand off to ({len(agent.edges)})"),
            *([_edge(edge) for edge in agent.edges] or [tag("p.quiet", "Nobody: it answers.")]),
        ],
        subject=agent.key,
    )


def _remark(agent: AgentShown) -> str:
    parts = ["starts"] if agent.is_start else []
    if agent.all_warnings:
        parts.append(f"! {count(len(agent.all_warnings), 'warning')}")
    return " · ".join(parts)


def _tools(tools: Sequence[ToolShown]) -> list[Node]:
    if not tools:
        return [tag("p.quiet", "None.")]
    rows = [
        tag(
            "tr",
            tag("td.text", tool.name),
            tag("td", *(part for mark in tool.marks for part in (_mark(mark, tool), " "))),
            tag("td.text", tool.does or "–", *_warnings(tool.warnings)),
        )
        for tool in tools
    ]
    return [tag("table", tag("tbody", *rows))]


def _mark(mark: str, tool: ToolShown) -> Node:
    loud = tool.effect != "read" and mark != "asks a person first"
    return tag("span.tinted.small" if loud else "span.chip", mark, outcome="needs_input")


def _edge(edge: EdgeShown) -> Node:
    policy: list[Node] = []
    for label, text in edge.policy:
        policy += [tag("dt", label), tag("dd.text", text)]
    return tag(
        "div.message",
        tag("div", tag("span.quiet", f"{edge.way} "), tag("b.text", edge.target)),
        tag("div.text", edge.when or "Nothing says when."),
        *_warnings(edge.warnings),
        tag("dl.small", *policy),
    )


def _warnings(said: Sequence[str]) -> list[Node]:
    return [tag("p.problem.text", f"! {one}", outcome="needs_input") for one in said]
