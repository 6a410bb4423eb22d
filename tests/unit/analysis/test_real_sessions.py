"""The rules and the tree on sessions that the runtime itself recorded."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest

from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.contract import Limits
from handoff_console.runtime.events import EventList, HandoffRequested
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.models import Scripted, answer, delegate, hand_over, say, together, use
from handoff_console.runtime.session import run
from handoff_console.runtime.tool import Tool
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.context import contexts, packet_change
from handoff_console.store.analysis.findings import Judgement, judgement
from handoff_console.store.analysis.latency import transitions
from handoff_console.store.analysis.ledger_check import check


def list_invoices(customer: str = "") -> str:
    """List the invoices of a customer."""
    return f"two invoices of {customer}"


def refund(order: str) -> str:
    """Give money back."""
    return "done"


def support(**changes: Any) -> Flow:
    tool = Tool(list_invoices, inline=True)
    small, large = Limits(max_steps=3, max_tokens=4_000), Limits(max_tokens=16_000)
    flow = Flow(
        "support",
        [
            Agent(
                "triage",
                edges=[Edge.transfer("supervisor", limits=large), Edge.transfer("billing")],
            ),
            Agent(
                "supervisor",
                edges=[
                    Edge.call("billing", limits=small, allowed_tools=("list_invoices",)),
                    Edge.call("search", limits=small),
                    Edge.transfer("triage"),
                ],
            ),
            Agent(
                "billing",
                tools=[tool, Tool(refund, inline=True)],
                edges=[Edge.call("search", limits=Limits(max_tokens=1_000))],
            ),
            Agent("search"),
        ],
    )
    return flow.changed(**changes) if changes else flow


def recorded(
    scripts: dict[str, Sequence[Any]], message: str = "Why was I charged twice?", **changes: Any
) -> EventList:
    sink = EventList(b"key")
    model = Scripted(scripts, repeat_last=True)
    asyncio.run(run(support(**changes), message, sink=sink, model=model))
    return sink


def judged(sink: EventList) -> Judgement:
    result = judgement(sink.events, sink.body)
    asked = [e.handoff_id for e in sink.events if isinstance(e.payload, HandoffRequested)]
    assert sorted(asked) == sorted(node.handoff_id for node in result.tree.nodes)
    for ledger in ledgers(sink.events):
        assert check(ledger).adds_up, check(ledger).sentence
    without_tasks = judgement(sink.events, sink.body, tasks=False)
    assert (without_tasks.findings, without_tasks.verdict) == (result.findings, result.verdict)
    return result


def codes(result: Judgement) -> dict[str, str]:
    return {finding.code: finding.severity.value for finding in result.findings}


HEALTHY: dict[str, dict[str, Sequence[Any]]] = {
    "one agent": {"triage": [say("Hello.")]},
    "a transfer": {"triage": [hand_over("billing", "money")], "billing": [say("Charged once.")]},
    "two workers": {
        "triage": [hand_over("supervisor", "money")],
        "supervisor": [
            together(
                delegate("billing", "List the invoices", customer="4812"),
                delegate("search", "Find the policy", topic="proration"),
            ),
            say("Proration."),
        ],
        "billing": [use("list_invoices", customer="4812"), answer(total=2)],
        "search": [answer(policy="prorate")],
    },
    "nothing found": {
        "triage": [hand_over("supervisor", "money")],
        "supervisor": [delegate("search", "Find order 7", order="7"), answer("not_found", "none")],
        "search": [answer("not_found", "no order 7")],
    },
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_session_has_no_findings(name):
    result = judged(recorded(HEALTHY[name]))

    assert codes(result) == {}
    assert result.verdict.severity == "info"


def test_of_joined_branches_it_is_said_that_all_of_them_answered():
    def branch(name: str, *more: str) -> Agent:
        edges = [Edge.transfer(other, "Theirs.") for other in more]
        model = (lambda call: hand_over(more[0], "theirs")) if more else (lambda call: say(name))
        return Agent(name, edges=edges, model=model)

    agents = [branch("stock", "store"), branch("store"), branch("bank")]
    both = lambda call: together(hand_over("stock", "a"), hand_over("bank", "b"))  # noqa: E731 - a name
    desk = Agent(
        "desk", edges=[Edge.transfer("stock", "S."), Edge.transfer("bank", "B.")], model=both
    )

    def said(**options: Any) -> str:
        sink = EventList(b"key")
        asyncio.run(run(Flow("desk", [desk, *agents], **options), "Both, please", sink=sink))
        return judgement(sink.events).verdict.sentence

    assert said() == "store and bank answered after 3 transfers; nothing stands out."
    agents.append(branch("merger"))
    assert said(aggregator="merger").startswith("merger answered after 3 transfers;")
    agents[0] = branch("stock", "bank")  # which then answers in both branches
    assert said() == "bank answered after 3 transfers; nothing stands out."


def test_a_transfer_and_parallel_calls_lie_where_they_belong():
    sink = recorded(HEALTHY["two workers"])
    result = judged(sink)

    assert [(n.depth, n.agent, n.outcome, n.path) for n in result.tree.nodes] == [
        (0, "triage", "transferred", "t1"),
        (0, "supervisor", "ok", "t1~1"),
        (1, "billing", "ok", "t1~1/1.0"),
        (1, "search", "ok", "t1~1/1.1"),
    ]
    assert result.tree.nodes[2].task == "List the invoices"
    assert result.verdict.sentence == (
        "supervisor answered after 1 transfer and with 2 calls; nothing stands out."
    )
    assert [t.target for t in transitions(sink.events)] == ["supervisor"]
    seen = contexts(sink.events, "h3", sink.body)
    assert [context.is_whole for context in seen] == [True, True]
    assert [m.role for m in seen[1].messages] == ["system", "user", "assistant", "tool"]
    assert [m.is_new for m in seen[1].messages] == [False, False, True, True]
    assert packet_change(sink.events, "h2", sink.body) is not None


def test_a_worker_at_its_step_limit_whose_result_was_passed_off_as_an_answer():
    result = judged(
        recorded(
            {
                "triage": [hand_over("supervisor", "money")],
                "supervisor": [delegate("billing", "List all"), say("You were charged once.")],
                "billing": [use("list_invoices", customer="4812")],
            }
        )
    )

    assert codes(result) == {"limit_as_answer": "error"}
    assert (result.verdict.handoff_id, result.verdict.agent) == ("h3", "billing")


def test_the_same_with_an_answer_that_says_so():
    result = judged(
        recorded(
            {
                "triage": [hand_over("supervisor", "money")],
                "supervisor": [
                    delegate("billing", "List all"),
                    say("Charged once as far as seen; this is incomplete: billing hit its limit."),
                ],
                "billing": [use("list_invoices", customer="4812")],
            }
        )
    )

    assert codes(result) == {"limit_reached": "warning"}
    assert result.verdict.handoff_id == "h3"


def test_two_agents_that_never_keep_the_task():
    result = judged(
        recorded(
            {
                "triage": [hand_over("supervisor", "yours")],
                "supervisor": [hand_over("triage", "yours")],
            },
            max_handoffs=6,
        )
    )

    assert codes(result)["ping_pong"] == "error"
    assert result.verdict.sentence.startswith(
        "triage and supervisor passed the task back and forth"
    )
    refused = [n for n in result.tree.nodes if n.outcome == "refused"]
    assert {n.continues for n in refused} == {"h3"}
    assert {n.depth for n in result.tree.nodes} == {0}
    assert result.verdict.handoff_id == refused[0].handoff_id


def test_a_pool_that_is_too_small():
    result = judged(
        recorded(
            {"triage": [hand_over("supervisor", "money"), say("I cannot look into that.")]},
            pool_tokens=16_010,
        )
    )

    assert codes(result) == {"starved_pool": "warning"}
    assert result.verdict.sentence.startswith(
        "Too few tokens were left: triage could not hand off to supervisor when 15,"
    )
    assert result.verdict.agent == "triage"


def test_a_message_that_is_larger_than_the_whole_pool_is_not_called_an_empty_pool():
    result = judged(recorded({"triage": [say("Hello.")]}, "word " * 8_000, pool_tokens=5_000))

    assert codes(result) == {"starved_pool": "error"}
    needed = re.search(r"needs about ([\d,]+) tokens", result.verdict.sentence)[1]
    assert int(needed.replace(",", "")) > 8_000
    assert result.verdict.sentence == (
        f"triage had to stop: the message with the instructions needs about {needed} tokens, and "
        "the whole pool has 5,000."
    )
    finding = result.findings[0]
    assert finding.advice == (
        f"Give the request more than {needed} tokens (--pool, or pool_tokens of the flow), or "
        "shorten the message."
    )
    assert finding.evidence[0].reason == f"stopped: about {needed} tokens needed"


def test_a_grant_that_is_larger_than_the_whole_pool_is_not_called_an_empty_pool():
    result = judged(
        recorded(
            {"triage": [hand_over("supervisor", "money"), say("I cannot look into that.")]},
            pool_tokens=4_000,
        )
    )

    assert codes(result) == {"starved_pool": "warning"}
    assert result.verdict.sentence == (
        "triage could not hand off to supervisor: 16,000 tokens were to be reserved for it, and "
        "the whole pool has 4,000."
    )
    assert result.findings[0].evidence[0].reason == "refused: 16,000 tokens for supervisor"
    assert result.findings[0].advice == (
        "Lower max_tokens of the edge to supervisor, or give the request more than 16,000 tokens: "
        "--pool, or pool_tokens of the flow."
    )


def test_a_target_that_does_not_exist():
    result = judged(
        recorded({"triage": [hand_over("refunds_team", "money"), say("I cannot help with that.")]})
    )

    assert codes(result) == {"target_not_allowed": "warning"}
    assert result.tree.by_id["h2"].continues == "h1"


def test_a_tool_outside_the_allowed_ones():
    result = judged(
        recorded(
            {
                "triage": [hand_over("supervisor", "money")],
                "supervisor": [delegate("billing", "Refund order 7"), say("Not possible.")],
                "billing": [use("refund", order="7"), answer("error", "no way to refund")],
            }
        )
    )

    assert codes(result)["tool_denied"] == "error"
    assert result.verdict.sentence.startswith("billing called the tool refund")


def test_a_worker_called_below_the_depth():
    result = judged(
        recorded(
            {
                "triage": [hand_over("supervisor", "money")],
                "supervisor": [delegate("billing", "List all"), say("Charged once.")],
                "billing": [delegate("search", "Find it"), answer(total=1)],
            }
        )
    )

    assert codes(result) == {"depth_refused": "warning"}


def test_an_empty_answer_given_twice():
    result = judged(
        recorded(
            {
                "triage": [hand_over("supervisor", "money")],
                "supervisor": [delegate("billing", "List all"), answer("error", "billing failed")],
                "billing": [say("")],
            }
        )
    )

    assert codes(result) == {"output_rejected_twice": "error"}
    assert result.verdict.agent == "billing"
