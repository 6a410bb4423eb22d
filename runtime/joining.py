"""Putting the answers of a fork together.

Source: S2, "Ambiguous Intent in Multi-Domain Questions".
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from handoff_console.runtime.context import request_message
from handoff_console.runtime.contract import (
    RUNTIME,
    WORST_FIRST,
    HandoffKind,
    HandoffRequest,
    HandoffResult,
    Packet,
    answer_text,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.gate import Gate
from handoff_console.runtime.handoff import OpenHandoff


def aggregation(
    flow: Flow,
    gate: Gate,
    sender: OpenHandoff,
    branches: Sequence[OpenHandoff],
    results: Sequence[HandoffResult],
) -> OpenHandoff | None:
    """Ask for the hop that merges what a fork came back with.

    None when the flow declares no aggregator, or the pool has not enough left for one.
    """
    request = HandoffRequest(
        task="Merge the answers into one, and leave nothing out.",
        inputs=aggregator_inputs(answers_of(branches, results)),
        output_schema=sender.request.output_schema,
    )
    if not flow.aggregator or not gate.has_tokens(sender, request.limits.max_tokens):
        return None
    agent = flow.agent(flow.aggregator)
    tools = tuple(tool.name for tool in agent.tools)
    request = request.model_copy(update={"allowed_tools": tools})
    goal = branches[0].packet.goal if branches[0].packet else sender.request.task
    names = ", ".join(branch.agent.name for branch in branches)
    packet = Packet(RUNTIME, agent.name, goal, f"answers of {names}, in this order")
    base, _, hop = (branches[0].scope.path or "").rpartition("~")
    number = int(hop.partition(".")[0]) + 1
    merging = gate.places.prepared(
        gate.places.scope(sender.scope, f"{base}~{number}", parent_id=sender.scope.parent_id),
        RUNTIME,
        agent,
        HandoffKind.TRANSFER,
        request,
        bound_at=sender.bound_at,
        depth=sender.depth,
        depth_left=sender.depth_left,
        ancestors=sender.ancestors,
        hop=number,
        continues=sender.id,
        packet=packet,
        passed_on=[request_message(flow, request, packet)],
    )
    gate.requested(merging, "all branches came back")
    return merging


class Answered(NamedTuple):
    """What one branch of a fork came back with."""

    agent: str
    task: str
    result: HandoffResult


def answers_of(branches: Sequence[OpenHandoff], results: Sequence[HandoffResult]) -> list[Answered]:
    """Return the results of a fork with who gave them."""
    return [
        Answered(branch.agent.name, branch.request.task, result)
        for branch, result in zip(branches, results, strict=True)
    ]


def joined_result(answers: Sequence[Answered]) -> HandoffResult:
    """Return the answers in the order they were asked for, under the worst of their statuses.

    No answer is lost because another one failed.
    """
    worst = min((result.status for _, _, result in answers), key=WORST_FIRST.index)
    text = "\n".join(f"{agent}: {answer_text(result)}" for agent, _, result in answers)
    data: dict[str, Any] = {"text": text, **aggregator_inputs(answers)}
    notes = "joined by the runtime in the order they were asked for"
    return HandoffResult(status=worst, data=data, notes=notes)


def aggregator_inputs(answers: Sequence[Answered]) -> dict[str, Any]:
    """Return what an aggregator is given: every branch's answer, with who gave it."""
    return {
        "answers": [
            {
                "agent": agent,
                "task": task,
                "status": result.status.value,
                "data": result.data,
                "notes": result.notes,
            }
            for agent, task, result in answers
        ]
    }
