"""Flows: what can be run, and what each is made of, before anybody runs it."""

import shlex

import streamlit as st

from handoff_console.console import runs, state
from handoff_console.console.components import flow_view
from handoff_console.console.components.graph_click import graph_click, picked_node
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.figures.agent_graph import agent_graph_dot
from handoff_console.console.screens.broken_flows import show_broken_flows
from handoff_console.console.viewmodels.flow_page import AgentShown, FlowShown
from handoff_console.console.viewmodels.text import as_name
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.sample_runs import GROUPS
from handoff_console.sample_runs.sample_flow import SampleFlow

OWN = "Yours"
HOW_TO_ADD = "`handoff open --flow path/to/file.py:name` shows a flow of your own here."


def flow_list() -> None:
    """Draw all flows, by what they show."""
    flows = runs.startable()
    groups = {OWN: [name for name in flows if name in runs.named_flows()], **GROUPS}
    flow_view.show_flow_list(
        {
            heading: [
                (name, flows[name].title, _line(name, flows[name], is_own=heading == OWN))
                for name in names
            ]
            for heading, names in groups.items()
            if names
        },
        lambda: state.choose_flow(flow_view.chosen_flow() or ""),
    )
    if not groups[OWN]:
        st.caption(HOW_TO_ADD)


def _line(name: str, sample: SampleFlow, *, is_own: bool) -> str:
    """Return what stands beside a flow; of the user's own also the file, as two may have a name."""
    if not is_own:
        return _sentence(sample)
    agents = ", ".join(as_name(agent.name) for agent in sample.flow.agents)
    return f"{name} · {_sentence(sample) or agents}"


def _sentence(sample: SampleFlow) -> str:
    return sample.description.replace("`", "")


def one_flow(name: str) -> None:
    """Draw one flow: its warnings, its graph, its agents, its limits, and the selected agent."""
    sample = runs.startable()[name]
    shown, prompts = _with_prompts(name)
    agent = _selected(shown)
    _head(shown, sample, prompts)
    versions = runs.prompt_versions(name)
    flow_view.show_versions(
        versions, prompts, lambda: state.choose_prompts(flow_view.chosen_version())
    )
    flow_view.show_warnings(shown, lambda: state.choose_agent(flow_view.warned_agent()))
    left, right = st.columns([11, 9], gap="medium")
    with left:
        _graph(shown, agent)
        flow_view.show_agents(
            shown, agent.key, lambda: state.choose_agent(flow_view.chosen_agent())
        )
        _limits(shown)
        _commands(shown, prompts)
    with right:
        flow_view.show_agent(agent)


def _with_prompts(name: str) -> tuple[FlowShown, str]:
    """Return the flow with the prompts that the address names, or with its own where it cannot."""
    prompts = state.linked_prompts()
    try:
        return runs.flow_page(name, prompts), prompts
    except HandoffConsoleError as error:
        panel("unknown_prompts", [tag("div.verdict.text", str(error), outcome="error")])
        return runs.flow_page(name), ""


def _selected(shown: FlowShown) -> AgentShown:
    wanted = state.linked_agent()
    first = next((agent for agent in shown.agents if agent.is_start), shown.agents[0])
    return next((agent for agent in shown.agents if agent.key == wanted), first)


def _head(shown: FlowShown, sample: SampleFlow, prompts: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("← All flows", on_click=lambda: state.choose_flow(""), type="tertiary")
        title = [tag("span.quiet.text", shown.name)] if shown.name != sample.title else []
        panel("flow_head", [tag("div.row", tag("span.big.text", sample.title), *title)])
        label = "▶ Run it with its own prompts" if prompts else "▶ Run it"
        if st.button(label, type="primary", key="run_flow"):
            st.switch_page("screens/live.py", query_params=state.address_of_flow(shown.source))
    if shown.description:
        panel("flow_about", [tag("p.text", _sentence(sample))])


def _graph(shown: FlowShown, agent: AgentShown) -> None:
    keys = {node.key: node.name for node in shown.graph.nodes}
    names = {one.name: one.key for one in shown.agents}
    picked = next((key for key, name in keys.items() if name == agent.name), None)
    dot = agent_graph_dot(shown.graph, dark=state.is_dark(), selected=picked)

    def on_pick() -> None:
        state.choose_agent(names.get(keys.get(picked_node() or "", "")))

    with st.container(key="flow_graph"):
        st.graphviz_chart(dot, alt=shown.graph.summary)
    st.caption(
        "Open arrow: hands off for good. Filled arrow: calls and waits. Double frame: starts."
    )
    graph_click("flow_graph", on_pick)


def _limits(shown: FlowShown) -> None:
    rows = [node for label, text in shown.limits for node in (tag("dt", label), tag("dd", text))]
    panel("flow_limits", [tag("h3", "Limits of each request"), tag("dl", *rows)])


def _commands(shown: FlowShown, prompts: str) -> None:
    panel("flow_commands", [tag("h3", "The same from a shell")])
    source = [shown.source, *(["--prompts", prompts] if prompts else [])]
    words = [["handoff", "flows", *source], ["handoff", "run", *source, "--message"]]
    example = shlex.quote(shown.examples[0]) if shown.examples else "TEXT"
    st.code(
        f"{shlex.join(words[0])}\n{shlex.join(words[1])} {example}", language=None, wrap_lines=True
    )


linked = state.linked_flow()
show_broken_flows()
if linked and linked not in runs.startable() and linked not in runs.named_flows():
    panel("unknown_flow", [tag("div.verdict.text", runs.why_not(linked), outcome="error")])
if linked in runs.startable():
    one_flow(linked)
else:
    flow_list()
