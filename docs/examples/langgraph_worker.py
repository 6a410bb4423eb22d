"""A LangGraph graph as a worker: behind our request, gate, limits and result.

The graph keeps its nodes and its state. What it is asked, how long it may take and what it came to
are ours: `handoff run docs/examples/langgraph_worker.py:flow`. Needs `pip install langgraph`; the
nodes below call no model, so it runs without a key.
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from handoff_console.runtime import Agent, CallableModel, Edge, Flow, Limits, delegate, say


class State(TypedDict, total=False):
    """What the nodes pass on."""

    question: str
    invoices: list[str]
    answer: str


def look_up(state: State) -> State:
    """Find the invoices."""
    return {"invoices": ["in_0042: 29.00 EUR", "in_0042: 29.00 EUR"]}


def conclude(state: State) -> State:
    """Say what they mean."""
    twice = len(state["invoices"]) != len(set(state["invoices"]))
    return {"answer": "in_0042 was charged twice" if twice else "nothing was charged twice"}


graph = StateGraph(State)
graph.add_node("look_up", look_up)
graph.add_node("conclude", conclude)
graph.add_edge(START, "look_up")
graph.add_edge("look_up", "conclude")
graph.add_edge("conclude", END)
billing = graph.compile()


async def ask_graph(agent: str, messages: list) -> str:
    """Run the graph on the request."""
    state = await billing.ainvoke({"question": messages[-1]["content"]})
    return state["answer"]


def desk(call):
    """Pass the question on, then the answer back; rules, no model."""
    if call.results:
        return say(call.results[0].value["data"]["text"])
    return delegate("billing", "Find out why the customer was charged twice", customer_id="4812")


flow = Flow(
    "graph",
    [
        Agent(
            "desk",
            model=desk,
            edges=[Edge.call("billing", "Invoices.", limits=Limits(max_tokens=4_000))],
        ),
        Agent("billing", "See the nodes of the graph.", model=CallableModel(ask_graph)),
    ],
)
