"""What an agent is in the middle of: the model it asked, or the tool that has not come back."""

from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import ModelCalled, ModelReplied, ToolCalled, ToolReturned
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name


def at_work(record: Record, node: HandoffNode, *, past: bool = False) -> str:
    """Return what an open handoff is doing, as the middle of a sentence about its agent.

    `is at work`, `waits for its model in step 2`, `is calling refund in step 2`.

    Args:
        record: The session's.
        node: The handoff.
        past: In the past tense.
    """
    was, waited = ("was", "waited") if past else ("is", "waits")
    step = f" in step {node.steps_used}" if node.steps_used else ""
    if tools := unanswered_tools(record, node):
        names = " and ".join(dict.fromkeys(as_name(tool.tool) for tool in tools))
        return f"{was} calling {names}{step}"
    if _asked_its_model(record, node):
        return f"{waited} for its model{step}"
    return f"{was} at work{step}"


def unanswered_tools(record: Record, node: HandoffNode) -> list[ToolCalled]:
    """Return the tools that an open handoff called and that did not come back."""
    back = {
        (returned.step, returned.index)
        for event, returned in record.of(ToolReturned)
        if event.handoff_id == node.handoff_id
    }
    return [
        called
        for event, called in record.of(ToolCalled)
        if event.handoff_id == node.handoff_id and (called.step, called.index) not in back
    ]


def may_have_acted(record: Record, node: HandoffNode) -> bool:
    """Say whether one of these tools changes something: nobody knows then whether it did."""
    return any(tool.effect is not Effect.READ for tool in unanswered_tools(record, node))


def _asked_its_model(record: Record, node: HandoffNode) -> bool:
    asked = sum(event.handoff_id == node.handoff_id for event, _ in record.of(ModelCalled))
    answered = sum(event.handoff_id == node.handoff_id for event, _ in record.of(ModelReplied))
    return asked > answered
