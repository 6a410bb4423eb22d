"""Putting the answers of a fork together.

Source: S2, "Ambiguous Intent in Multi-Domain Questions".
"""

from collections.abc import Sequence
from typing import Any

from handoff_console.runtime.answers import answer_text
from handoff_console.runtime.contract import HandoffResult, Status
from handoff_console.runtime.handoff import OpenHandoff

WORST_FIRST = (
    Status.ERROR,
    Status.LIMIT_REACHED,
    Status.NEEDS_INPUT,
    Status.NOT_FOUND,
    Status.OK,
)


def joined_result(
    branches: Sequence[OpenHandoff], results: Sequence[HandoffResult]
) -> HandoffResult:
    """Return the answers in the order they were asked for, under the worst of their statuses.

    No answer is lost because another one failed.
    """
    worst = min((result.status for result in results), key=WORST_FIRST.index)
    text = "\n".join(
        f"{branch.agent.name}: {answer_text(result)}"
        for branch, result in zip(branches, results, strict=True)
    )
    data: dict[str, Any] = {"text": text, **aggregator_inputs(branches, results)}
    notes = "joined by the runtime in the order they were asked for"
    return HandoffResult(status=worst, data=data, notes=notes)


def aggregator_inputs(
    branches: Sequence[OpenHandoff], results: Sequence[HandoffResult]
) -> dict[str, Any]:
    """Return what an aggregator is given: every branch's answer, with who gave it."""
    return {
        "answers": [
            {
                "agent": branch.agent.name,
                "task": branch.request.task,
                "status": result.status.value,
                "data": result.data,
                "notes": result.notes,
            }
            for branch, result in zip(branches, results, strict=True)
        ]
    }
