"""`flows`: the sample flows, and what one flow is made of."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.terminal import Terminal, fitted, shown_names, wrapped
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.prompt_folders import in_version, version_folders
from handoff_console.console.viewmodels.flow_page import AgentShown, ToolShown, flow_shown
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime import Agent, Flow
from handoff_console.runtime.contract import HandoffKind


def flows(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff flows`."""
    if arguments.flow is None:
        if arguments.prompts:
            raise CommandError("Prompt versions belong to a flow; name it: FLOW --prompts V.")
        _list(arguments, terminal)
        return 0
    loaded = load_flow(arguments.flow)
    flow = in_version(arguments.prompts or "", loaded, store_of(arguments))
    versions = tuple(version_folders(loaded, store_of(arguments)))
    if arguments.json:
        write_json(flow_form(flow, versions), terminal)
    else:
        _describe(flow, versions, arguments, terminal)
    return 0


def flow_form(flow: Flow, versions: Sequence[str]) -> dict[str, Any]:
    """Return `flows FLOW --json`; its prompt versions are given by label."""
    return {
        "flow": flow.name,
        "prompt_version": flow.prompt_version,
        "prompt_versions": list(versions),
        "description": flow.description,
        "start": flow.start,
        "examples": list(flow.examples),
        "limits": _limits_form(flow),
        "agents": [_agent_form(flow, agent) for agent in flow.agents],
        "warnings": flow.check(),
    }


def _list(arguments: Namespace, terminal: Terminal) -> None:
    from handoff_console import sample_runs

    samples = sample_runs.flows()
    if arguments.json:
        groups = {name: group for group, names in sample_runs.GROUPS.items() for name in names}
        write_json(
            [
                {
                    "flow": name,
                    "group": groups[name],
                    "title": sample.title,
                    "description": sample.description,
                    "agents": [agent.name for agent in sample.flow.agents],
                    "messages": list(sample.messages),
                }
                for name, sample in samples.items()
            ],
            terminal,
        )
        return
    longest = max(map(len, samples))
    for group, names in sample_runs.GROUPS.items():
        terminal.line(terminal.styled(group, "dim"))
        for name in names:
            sample = samples[name]
            terminal.line(terminal.styled(f"  {fitted(name, longest + 2)}", "strong"), sample.title)
            for message in sample.messages[:1]:
                text = one_line(message, terminal.columns - longest - 8)
                terminal.line(" " * (longest + 4), terminal.styled(f"“{text}”", "dim"))
        terminal.line()
    terminal.line(f"Run one:      {next_command(arguments, 'run', 'support')} --message TEXT")
    terminal.line("Look into it: handoff flows support")


def _describe(
    flow: Flow, versions: Sequence[str], arguments: Namespace, terminal: Terminal
) -> None:
    shown = flow_shown(flow, arguments.flow)
    terminal.line(terminal.styled(shown.name, "strong"))
    if shown.description:
        terminal.paragraph(shown.description)
    if versions:
        named = f"version {flow.prompt_version}" if flow.prompt_version else "the flow's own"
        terminal.paragraph(f"prompts: {named}; versions: {shown_names(versions)} (--prompts V)")
    terminal.line()
    for agent in shown.agents:
        _write_agent(agent, terminal)
    terminal.line(terminal.styled("limits of a request", "strong"))
    for label, text in shown.limits:
        terminal.line("  ", fitted(label, 16), one_line(text, terminal.columns - 18))
    for warning in shown.warnings:
        _warn(warning, terminal, "")
    if shown.examples:
        terminal.line()
        terminal.line("Try it:")
        for example in shown.examples[:3]:
            version = ("--prompts", arguments.prompts) if arguments.prompts else ()
            words = ("run", arguments.flow, *version, "--message", one_line(example, 200))
            terminal.line(terminal.styled(f"  {next_command(arguments, *words)}", "dim"))


def _write_agent(agent: AgentShown, terminal: Terminal) -> None:
    start = "  (starts)" if agent.is_start else ""
    terminal.line(terminal.styled(agent.name, "strong"), terminal.styled(start, "dim"))
    if agent.does:
        terminal.paragraph(agent.does, indent="  ")
    _write_list("prompt", agent.prompt_size, terminal)
    for label, text in agent.facts:
        if (label, text) != ("rights", "only reads"):
            _write_list(label, text, terminal)
    if agent.tools:
        _write_list("tools", shown_names([_tool_text(tool) for tool in agent.tools]), terminal)
    for edge in agent.edges:
        _write_list("→", f"{edge.way} {edge.target}: {edge.when}", terminal)
        policy = "; ".join(f"{label}: {text}" for label, text in edge.policy)
        _write_list("", policy, terminal, style="dim")
    for warning in agent.all_warnings:
        _warn(warning, terminal, "  ")
    terminal.line()


def _tool_text(tool: ToolShown) -> str:
    marks = [mark for mark in tool.marks if mark != "reads"]
    return f"{tool.name} ({', '.join(marks)})" if marks else tool.name


def _warn(text: str, terminal: Terminal, indent: str) -> None:
    terminal.paragraph(f"! {one_line(text, 300)}", style="warning", indent=indent)


def _write_list(name: str, text: str, terminal: Terminal, *, style: str = "") -> None:
    width = 11
    first, *rest = wrapped(text, terminal.columns - width - 2) or [""]
    for label, line in [(name, first), *(("", line) for line in rest)]:
        shown = terminal.styled(line, style) if style else line
        terminal.line(f"  {fitted(label, width)}", shown)


def _limits_form(flow: Flow) -> Mapping[str, Any]:
    return {
        "pool_tokens": flow.pool_tokens,
        "finish_floor_tokens": flow.finish_floor_tokens,
        "deadline_seconds": flow.limits.deadline_seconds,
        "max_steps": flow.limits.max_steps,
        "depth": flow.depth,
        "max_handoffs": flow.max_handoffs,
        "max_edge_repeats": flow.max_edge_repeats,
        "max_workers": flow.max_workers,
    }


def _agent_form(flow: Flow, agent: Agent) -> dict[str, Any]:
    return {
        "agent": agent.name,
        "description": agent.description,
        "prompt_characters": len(agent.prompt),
        "may_write": agent.may_write,
        "trust": agent.trust,
        "output_schema": agent.output_schema,
        "tools": [
            {"tool": t.name, "effect": t.effect.value, "approval": t.needs_approval}
            for t in agent.tools
        ],
        "edges": [
            {
                "target": edge.target,
                "kind": edge.via.value,
                "description": flow.edge_description(edge),
                "limits": flow.limits_of(edge).model_dump(),
                "context": edge.context.value if edge.via is HandoffKind.TRANSFER else None,
                "fields": edge.fields,
                "payload": list(edge.payload.model_fields) if edge.payload else None,
                "allowed_tools": edge.allowed_tools,
                "return_to": edge.return_to,
            }
            for edge in agent.edges
        ],
    }
