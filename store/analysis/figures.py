"""What a run took: outcome, steps, calls, tokens, time, and how much of it was real."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handoff_console.runtime.contract import State
from handoff_console.runtime.events import HandoffClosed, ModelReplied, ToolReturned
from handoff_console.store.analysis.handoff_work import HandoffWork
from handoff_console.store.analysis.nodes import HandoffNode, HandoffTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one handoff took, or several together."""

    outcome: str
    """A `Status` or a `State`; of several, of the one that answers for them."""
    limit: str
    """For `limit_reached`, which limit."""
    handoffs: int
    """Those that opened."""
    refused: int
    steps: int
    model_calls: int
    """Answers and failures of models; so are the two below that say how they came."""
    tool_calls: int
    """Results of tools; denied calls left out."""
    tokens_used: int
    """Input plus output, as charged; a recorded answer is charged as it was recorded."""
    seconds: float
    """From the first opening to the last close; recorded time counts as passed."""
    replayed: int
    """Answers of models and tools, and whole handoffs, that were taken from a recording."""
    ran: int
    """Answers of models and tools that were really asked."""
    saved_tokens: int
    """What the recorded answers had taken when they were real; part of `tokens_used`."""

    @property
    def spent_tokens(self) -> int:
        """What was really spent: `tokens_used` without what was saved; never below zero."""
        return max(self.tokens_used - self.saved_tokens, 0)


def figures_of(work: HandoffWork) -> Figures:
    """Return what one handoff took by itself, without what it called."""
    node = work.node
    replies = [reply for _, reply in work.of(ModelReplied)]
    results = [result for _, result in work.of(ToolReturned)]
    closed = [close for _, close in work.of(HandoffClosed)]
    answers = [*(r.replayed for r in replies), *(r.replayed for r in results)]
    whole = sum(close.replayed for close in closed)
    saved = sum(r.input_tokens + r.output_tokens for r in replies if r.replayed)
    saved += sum(close.tokens_used for close in closed if close.replayed)
    return Figures(
        outcome=node.outcome.value,
        limit=node.limit,
        handoffs=0 if node.outcome is State.REFUSED else 1,
        refused=1 if node.outcome is State.REFUSED else 0,
        steps=node.steps_used,
        model_calls=len(replies),
        tool_calls=len(results),
        tokens_used=node.tokens_used,
        seconds=_seconds([node]),
        replayed=sum(answers) + whole,
        ran=len(answers) - sum(answers),
        saved_tokens=saved,
    )


def totals(
    tree: HandoffTree,
    nodes: Sequence[HandoffNode],
    figures: Iterable[Figures],
    *,
    is_handoff: bool = False,
) -> Figures:
    """Return what handoffs took together; of none, nothing.

    Args:
        tree: The session's.
        nodes: All of it, or a handoff with what is below it, in pre-order.
        figures: Of each of them.
        is_handoff: A handoff is meant, also where it is all of the tree: its own outcome counts,
            since the end of its session may not have been read.
    """
    parts = list(figures)
    outcome, limit = tree.outcome, tree.limit
    if nodes and (is_handoff or len(nodes) < len(tree.nodes)):
        answering = tree.last_of_chain(nodes[0].handoff_id)
        if answering.handoff_id not in {node.handoff_id for node in nodes}:
            answering = nodes[0]  # a first attempt alone, without the retry that answered for it
        outcome, limit = answering.outcome, answering.limit
    sums = {name: sum(getattr(part, name) for part in parts) for name in _ADDED}
    return Figures(outcome=outcome.value, limit=limit, seconds=_seconds(nodes), **sums)


_ADDED = (
    "handoffs", "refused", "steps", "model_calls", "tool_calls", "tokens_used", "replayed", "ran",
    "saved_tokens",
)  # fmt: skip


def _seconds(nodes: Sequence[HandoffNode]) -> float:
    opened = [node.opened_seconds for node in nodes if node.opened_seconds is not None]
    closed = [node.closed_seconds for node in nodes if node.closed_seconds is not None]
    return round(max(max(closed) - min(opened), 0.0), 6) if opened and closed else 0.0
