"""The graph of agents: allowed, used, refused and repeated edges, at most thirty agents."""

from typing import Any

from support.logs import Log

from handoff_console.console.viewmodels.agent_graph import AgentGraph, agent_graph
from handoff_console.store.analysis.tree import handoff_tree

FLOW = {
    "name": "support",
    "start": "triage",
    "agents": [
        {
            "name": "triage",
            "edges": [
                {"target": "billing", "via": "transfer"},
                {"target": "support", "via": "transfer"},
            ],
        },
        {"name": "billing", "edges": [{"target": "ledger", "via": "call"}]},
        {"name": "support", "edges": []},
        {"name": "ledger", "edges": []},
    ],
}


def graph_of(log: Log) -> AgentGraph:
    return agent_graph(handoff_tree(log.events), log.events, body=log.body)


def looks(graph: AgentGraph) -> dict[str, tuple[str, str]]:
    names = {node.key: node.name for node in graph.nodes}
    return {f"{names[e.source]} → {names[e.target]}": (e.look, e.label) for e in graph.edges}


def test_every_permitted_edge_is_there_used_or_not():
    log = Log(flow=FLOW).user("Help")
    billing = log.transfer(log.root("triage"), "billing")
    for _ in range(2):
        ledger = log.call(billing, "ledger", grant=500)
        log.step(ledger, tokens=100).close(ledger)
    graph = graph_of(log)

    assert looks(graph) == {
        "triage → billing": ("used", "1"),
        "triage → support": ("allowed", ""),
        "billing → ledger": ("used", "2"),
    }
    nodes = {node.name: node for node in graph.nodes}
    assert nodes["triage"].is_start
    assert (nodes["ledger"].handoffs, nodes["ledger"].tokens) == (2, 200)
    assert (nodes["support"].handoffs, nodes["support"].worst) == (0, "")
    assert graph.summary.startswith("3 agents acted. triage to billing 1 (used)")


def test_a_refused_handoff_is_an_edge_even_to_an_agent_that_does_not_exist():
    log = Log(flow=FLOW).user("Help")
    log.call(log.root("triage"), "fraud", refused="target")
    graph = graph_of(log)

    assert looks(graph)["triage → fraud"] == ("refused", "1 refused")
    fraud = next(node for node in graph.nodes if node.name == "fraud")
    assert (fraud.handoffs, fraud.worst, fraud.handoff_id) == (0, "refused", "h2")


def test_a_loop_is_marked_on_the_edge_that_repeats():
    log = Log(max_edge_repeats=1).user("Help")
    last = log.root("a")
    for agent in ("b", "a", "b"):
        last = log.transfer(last, agent)
    assert looks(graph_of(log)) == {"a → b": ("repeated", "2"), "b → a": ("used", "1")}

    log = Log().user("Help")
    log.transfer(log.root("a"), "b", refused="cycle")
    assert looks(graph_of(log))["a → b"] == ("repeated", "1 refused")


def test_the_same_transfer_in_two_turns_is_no_loop():
    log = Log()
    for _ in range(2):
        log.user("Help")
        log.close(log.transfer(log.root("a"), "b"))

    assert looks(graph_of(log)) == {"a → b": ("used", "2")}


def test_a_click_selects_the_worst_handoff_of_an_agent():
    log = Log().user("Help")
    root = log.root("supervisor")
    for status in ("ok", "error", "ok"):
        log.close(log.call(root, "billing"), status)

    billing = next(node for node in graph_of(log).nodes if node.name == "billing")
    assert (billing.worst, billing.handoff_id) == ("error", "h3")


def test_beyond_thirty_agents_the_least_active_are_folded():
    log = Log(pool_tokens=10**6).user("Help")
    root = log.root("supervisor")
    for number in range(50):
        for _ in range(2 if number < 5 else 1):
            log.close(log.call(root, f"worker{number}"))
    graph = graph_of(log)

    assert len(graph.nodes) == 30
    assert graph.folded == 22
    assert graph.nodes[-1].name == "22 other agents"
    assert looks(graph)["supervisor → 22 other agents"] == ("used", "22")
    assert {f"worker{n}" for n in range(5)} <= {node.name for node in graph.nodes}


def test_without_the_recorded_flow_there_is_what_acted():
    log = Log(flow=FLOW).user("Help")
    log.transfer(log.root("triage"), "billing")

    graph = agent_graph(handoff_tree(log.events), log.events)
    assert looks(graph) == {"triage → billing": ("used", "1")}


def test_an_empty_session_has_an_empty_graph():
    graph = agent_graph(handoff_tree([]), [])

    assert (graph.nodes, graph.edges) == ((), ())
    assert graph.summary == "0 agents acted. No handoff between agents"


def test_a_flow_that_is_damaged_breaks_nothing():
    broken: list[Any] = [7, {"agents": 3}, {"agents": [{"edges": [{"via": "call"}]}, "x"]}]
    for flow in broken:
        log = Log(flow=flow).user("Help")
        log.root("triage")
        assert [node.name for node in graph_of(log).nodes] == ["triage"]
