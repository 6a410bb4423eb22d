"""What the figures draw, and that recorded names stay names in them."""

import re

import plotly.graph_objects as go
import pytest
from support import recorded
from support.logs import Log

from handoff_console.console import theme
from handoff_console.console.figures.agent_graph import agent_graph_dot
from handoff_console.console.figures.burn_down import burn_down_figure
from handoff_console.console.viewmodels.agent_graph import (
    AgentEdge,
    AgentGraph,
    AgentNode,
    agent_graph,
)
from handoff_console.console.viewmodels.burn_down import burn_down
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.tree import handoff_tree


def pool_of(log, dark=False, colors=None):
    shown = burn_down(ledgers(log.events))
    figure = burn_down_figure(shown, last_seq=len(log.events), colors=colors or {}, dark=dark)
    return shown, figure


def graph_of(log, **look):
    events = log.events
    return agent_graph_dot(
        agent_graph(handoff_tree(events, body=log.body), events, body=log.body),
        **{"dark": False, **look},
    )


@pytest.mark.parametrize("dark", [False, True])
def test_the_burn_down_is_a_figure_that_plotly_accepts(dark):
    _, figure = pool_of(recorded.double_charge(), dark)

    assert len(go.Figure(figure).data) == len(figure["data"])


def test_free_reserved_and_spent_add_up_to_the_pool_at_every_point():
    shown, figure = pool_of(recorded.double_charge())
    bands = [trace["y"] for trace in figure["data"] if trace["mode"] == "lines"]

    assert {sum(values) for values in zip(*bands, strict=True)} == {shown.total_tokens} == {20_000}


def test_a_refused_reservation_is_marked_where_it_happened():
    _, figure = pool_of(recorded.double_charge())

    (refused,) = [trace for trace in figure["data"] if trace["name"].startswith("refused")]
    assert refused["x"] == [36]
    assert refused["marker"]["symbol"] == "x"


def test_the_last_state_of_the_pool_reaches_to_the_last_event():
    log = recorded.double_charge()

    _, figure = pool_of(log)

    assert figure["data"][0]["x"][-1] == len(log.events)
    assert figure["layout"]["xaxis"]["range"] == [1, len(log.events)]


def test_a_session_without_a_pool_is_an_empty_frame():
    _, figure = pool_of(Log())

    assert [trace["x"] for trace in figure["data"]] == [[], []]


def test_an_overdrawn_pool_is_drawn_as_empty():
    log = Log(pool_tokens=1_000).user("Go")
    log.step(log.root("a"), tokens=1_400)

    _, figure = pool_of(log)

    assert min(figure["data"][0]["y"]) == 0


def test_an_agents_name_is_text_in_the_legend_and_in_the_hover():
    log = Log().user("Go")
    log.step(log.root("<a href='//x'>%{y}</a>"), tokens=10)

    _, figure = pool_of(log)

    band = figure["data"][2]
    assert band["name"].startswith("&lt;a href=&#x27;//x&#x27;&gt;")
    assert band["hovertemplate"] == "%{y:,} %{fullData.name}<extra></extra>"


def test_the_graph_draws_what_was_used_what_was_refused_and_what_was_only_allowed():
    dot = graph_of(recorded.double_charge())

    assert 'label="1, 1 refused"' in dot
    assert 'label="▲ billing' in dot
    assert "label=refunds" in dot
    assert "peripheries=2" in dot


def edge_of(look, uses=0, refusals=0):
    """Return what Graphviz is told of one edge."""
    names = ("triage", "billing")
    nodes = [
        AgentNode(f"a{n}", name, 1, 10, "ok", "h1", False, name) for n, name in enumerate(names)
    ]
    edge = AgentEdge("a0", "a1", look, "call", uses, refusals, "")
    dot = agent_graph_dot(AgentGraph((*nodes,), (edge,), 0, ""), dark=False)
    (line,) = [line for line in dot.splitlines() if "a0 -> a1" in line]
    return dict(re.findall(r'(\w+)="?([^" \]]+)', line))


def test_what_was_refused_is_dashed_and_in_the_color_of_an_error_and_nothing_else_is_dashed():
    error, grey = theme.look("error").color(dark=False), theme.NEUTRAL
    refused, repeated = edge_of("refused", refusals=1), edge_of("repeated", uses=3)
    used, allowed = edge_of("used", uses=1), edge_of("allowed")

    assert (refused["style"], refused["color"]) == ("dashed", error)
    assert ["style" in edge for edge in (repeated, used, allowed)] == [False] * 3
    assert (repeated["color"], allowed["color"]) == (error, grey)
    assert used["color"] not in {error, grey}


def test_an_edge_is_the_wider_the_more_it_was_used_up_to_a_limit_and_thin_when_never():
    widths = [float(edge_of("used", uses=uses)["penwidth"]) for uses in (1, 2, 4, 16, 1_000)]

    assert widths == [1.2, 1.8, 2.4, 3.6, 3.6]
    assert float(edge_of("allowed")["penwidth"]) == 0.8


def test_a_session_s_refused_edge_is_drawn_as_one():
    log = Log(flow={"name": "f", "agents": [{"name": "triage"}, {"name": "billing"}]}).user("Go")
    log.call(log.root("triage"), "billing", refused="target")

    (line,) = [line for line in graph_of(log).splitlines() if "a0 -> a1" in line]
    assert "style=dashed" in line


def test_the_selected_agent_is_framed():
    dot = graph_of(recorded.double_charge(), selected="a2", dark=True)

    (line,) = [line for line in dot.splitlines() if line.strip().startswith("a2 [")]
    assert "penwidth=3" in line


@pytest.mark.parametrize(
    "name",
    ["<b>x</b>", "<>", "<script>alert(1)</script>", 'a"];evil [URL="//x"', "a\\N\\G", "{a|b}"],
)
def test_a_hostile_name_is_a_label_and_nothing_else(name):
    log = Log(flow={"name": "f", "agents": [{"name": name}]}).user("Go")
    log.step(log.root(name), tokens=10)

    dot = graph_of(log)

    assert "label=<" not in dot.replace(" = ", "=")
    assert "URL" not in dot.split("label=", 1)[0]
    (node,) = [line for line in dot.splitlines() if line.strip().startswith("a0 [")]
    assert node.count('label="') == 1
