"""What a flow's page says: policies in words, and every warning at the place it is about."""

from pydantic import BaseModel

from handoff_console.console.viewmodels.flow_page import flow_shown
from handoff_console.runtime import Agent, Edge, Effect, Flow, Limits, Tool, say
from handoff_console.runtime.contract import ContextPolicy


class Wanted(BaseModel):
    order_id: str
    amount: int


def look(order_id: str) -> str:
    """Look an order up."""
    return order_id


def send(text: str) -> None:
    """Send it."""


def model(call):
    return say("ok")


FLOW = Flow(
    "shop",
    [
        Agent(
            "desk",
            "You are a desk.",
            edges=[
                Edge.call(
                    "worker", "Looks up.", payload=Wanted, allowed_tools=("look",), limits="short"
                ),
                Edge.transfer(
                    "clerk", "Writes.", context=ContextPolicy.FULL_HISTORY,
                    fields=("order_id",), return_to="desk",
                ),
            ],
            model=model,
        ),
        Agent("worker", description="Works.", tools=[Tool(look)], model=model, trust=2,
              ingress=[lambda request: None]),
        Agent(
            "clerk", description="Writes letters.", may_write=True, model=model,
            tools=[Tool(send, effect=Effect.EXTERNAL, untrusted=True, approval=True)],
        ),
    ],
    description="A shop.",
    profiles={"short": Limits(max_steps=2, max_tokens=900, deadline_seconds=1.5)},
    examples=("Hello",),
)  # fmt: skip


def test_the_policy_of_each_edge_is_said_in_words():
    call, transfer = flow_shown(FLOW, "shop").agents[0].edges

    assert (call.way, call.target, call.when) == ("calls", "worker", "Looks up.")
    assert call.policy == (
        ("goes along", "the request alone"),
        ("has to have", "order_id, amount"),
        ("may use", "look"),
        ("limits", "at most 2 steps, 900 tokens, 1.5 s (short)"),
    )
    assert (transfer.way, transfer.target) == ("hands off to", "clerk")
    assert transfer.policy == (
        ("goes along", "the whole conversation"),
        ("may see", "order_id"),
        ("limits", "at most 6 steps, 8,000 tokens, 30 s"),
        ("next turn", "goes to desk"),
    )


def test_tools_say_what_they_do_to_the_world_and_whether_a_person_is_asked():
    _, worker, clerk = flow_shown(FLOW, "shop").agents

    assert [(t.name, t.marks) for t in worker.tools] == [("look", ("reads",))]
    assert [(t.name, t.marks) for t in clerk.tools] == [
        ("send", ("reaches outside", "asks a person first", "untrusted"))
    ]
    assert ("rights", "may change things") in clerk.facts
    assert ("trust", "2") in worker.facts
    assert ("checks", "1 check of whatever comes in") in worker.facts


def test_warnings_stand_with_the_agent_the_edge_or_the_tool_that_they_are_about():
    def silent(order_id: str) -> None:
        pass

    flow = Flow(
        "odd",
        [
            Agent("a", edges=[Edge.transfer("b")], tools=[Tool(silent)], model=model),
            Agent("b", model=model),
            Agent("c", description="Far off.", model=model),
        ],
    )
    shown = flow_shown(flow, "odd.py:flow")
    a, _, c = shown.agents

    assert [w for tool in a.tools for w in tool.warnings] == [
        "The tool 'silent' of agent 'a' has no description, so nothing says what it does."
    ]
    assert [w for edge in a.edges for w in edge.warnings] == [
        "The edge 'a' → 'b' has no description, so nothing says when to use it."
    ]
    assert c.warnings == ("Agent 'c' is never reached: no edge leads to it from 'a'.",)
    assert sorted(sentence for _, sentence in shown.all_warnings) == sorted(flow.check())


def test_the_graph_has_every_allowed_way_and_nothing_else():
    graph = flow_shown(FLOW, "shop").graph

    assert [node.name for node in graph.nodes] == ["desk", "worker", "clerk"]
    assert graph.summary == "desk calls worker; desk hands off to clerk"
    assert {edge.look for edge in graph.edges} == {"allowed"}


def test_a_flow_without_a_model_is_shown_and_says_so():
    shown = flow_shown(Flow("bare", [Agent("a")]), "bare.py:flow")

    assert shown.agents[0].facts[0] == ("model", "none; say which with --model")
    assert shown.graph.summary == "No handoffs are allowed"
