"""Where an offline router would send a request: what versions disagree about is labelled first."""

from collections.abc import Callable, Mapping

from handoff_console.runtime import Flow
from handoff_console.runtime.models.bm25 import Ranking, decide

NOBODY = "abstain"


def routable_agents(flow: Flow) -> Mapping[str, str]:
    """Return whom the first agent of a flow may hand off to, with what it reads of each."""
    start = flow.agent(flow.start)
    return {edge.target: flow.edge_description(edge) for edge in start.edges}


def offline_guess(flow: Flow) -> Callable[[str], str]:
    """Return a function that says where the words of a flow's descriptions would send a request.

    It is the `offline:bm25` router without a session around it: an agent's name, or `abstain`.
    """
    start = flow.agent(flow.start)
    examples = {agent.name: agent.examples for agent in flow.agents}
    ranking = Ranking(
        {
            name: " ".join([description, *examples.get(name, ())])
            for name, description in routable_agents(flow).items()
        }
    )

    def guess(text: str) -> str:
        best = decide(ranking.scores(text), start.threshold)
        return best.target if best else NOBODY

    return guess
