"""`flows`: the sample flows, and what one flow is made of."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import next_command
from handoff_console.console.cli.terminal import Terminal, fitted, shown_names, wrapped
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.viewmodels.text import amount, as_name, count, one_line, seconds
from handoff_console.runtime import Agent, Effect, Flow, Limits, Tool
from handoff_console.runtime.contract import HandoffKind


def flows(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff flows`."""
    if arguments.flow is None:
        _list(arguments, terminal)
        return 0
    flow = load_flow(arguments.flow).flow
    if arguments.json:
        write_json(flow_form(flow), terminal)
    else:
        _describe(flow, arguments, terminal)
    return 0


def flow_form(flow: Flow) -> dict[str, Any]:
    """Return `flows FLOW --json`."""
    return {
        "flow": flow.name,
        "description": flow.description,
        "start": flow.start,
        "examples": list(flow.examples),
        "limits": _request_limits(flow),
        "agents": [_agent_form(flow, agent) for agent in flow.agents],
        "warnings": flow.check(),
    }


def _list(arguments: Namespace, terminal: Terminal) -> None:
    from handoff_console import sample_runs

    samples = sample_runs.flows()
    if arguments.json:
        write_json(
            [
                {
                    "flow": name,
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
    for name, sample in samples.items():
        terminal.line(terminal.styled(fitted(name, longest + 2), "strong"), sample.title)
        for message in sample.messages[:1]:
            text = one_line(message, terminal.columns - longest - 6)
            terminal.line(" " * (longest + 2), terminal.styled(f"“{text}”", "dim"))
    terminal.line()
    terminal.line(f"Run one:      {next_command(arguments, 'run', 'support')} --message TEXT")
    terminal.line("Look into it: handoff flows support")


def _describe(flow: Flow, arguments: Namespace, terminal: Terminal) -> None:
    terminal.line(terminal.styled(one_line(flow.name, 60), "strong"))
    if flow.description:
        terminal.paragraph(one_line(flow.description, 600))
    terminal.line()
    for agent in flow.agents:
        _write_agent(flow, agent, terminal)
    terminal.line(terminal.styled("limits of a request", "strong"))
    for name, value in _request_limits(flow).items():
        shown = amount(value) if isinstance(value, int) else str(value)
        terminal.line("  ", fitted(name.replace("_", " "), 24), shown)
    for warning in flow.check():
        terminal.paragraph(f"! {one_line(warning, 300)}", style="warning")
    if flow.examples:
        terminal.line()
        terminal.line("Try it:")
        for example in flow.examples[:3]:
            words = ("run", arguments.flow, "--message", one_line(example, 200))
            terminal.line(terminal.styled(f"  {next_command(arguments, *words)}", "dim"))


def _write_agent(flow: Flow, agent: Agent, terminal: Terminal) -> None:
    start = "  (starts)" if agent.name == flow.start else ""
    terminal.line(terminal.styled(as_name(agent.name), "strong"), terminal.styled(start, "dim"))
    if agent.description:
        terminal.paragraph(one_line(agent.description, 300), indent="  ")
    _write_list("prompt", f"{amount(len(agent.prompt))} characters", terminal)
    if agent.tools:
        _write_list("tools", shown_names([_tool_text(tool) for tool in agent.tools]), terminal)
    for edge in agent.edges:
        way = "calls" if edge.via is HandoffKind.CALL else "hands off to"
        text = f"{way} {as_name(edge.target)}: {one_line(flow.edge_description(edge), 200)}"
        limits = f" ({_limits_text(flow.limits_of(edge))})" if edge.via is HandoffKind.CALL else ""
        _write_list("→", text + limits, terminal)
    terminal.line()


def _tool_text(tool: Tool) -> str:
    marks = [] if tool.effect is Effect.READ else [str(tool.effect)]
    marks += ["asks a person"] if tool.needs_approval else []
    marks += ["untrusted"] if tool.untrusted else []
    return f"{tool.name} ({', '.join(marks)})" if marks else tool.name


def _write_list(name: str, text: str, terminal: Terminal) -> None:
    first, *rest = wrapped(text, terminal.columns - 9) or [""]
    terminal.line(f"  {name:<7}{first}")
    for line in rest:
        terminal.line(" " * 9, line)


def _limits_text(limits: Limits) -> str:
    return (
        f"at most {count(limits.max_steps, 'step')}, {amount(limits.max_tokens)} tokens, "
        f"{seconds(limits.deadline_seconds)}"
    )


def _request_limits(flow: Flow) -> Mapping[str, Any]:
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
        "tools": [{"tool": tool.name, "effect": tool.effect.value} for tool in agent.tools],
        "edges": [
            {
                "target": edge.target,
                "kind": edge.via.value,
                "description": flow.edge_description(edge),
                "limits": flow.limits_of(edge).model_dump(),
            }
            for edge in agent.edges
        ],
    }
