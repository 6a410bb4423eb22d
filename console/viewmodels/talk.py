"""A session as a conversation: what the user said, and what came back, turn by turn."""

from collections.abc import Callable
from dataclasses import dataclass

from handoff_console.console.viewmodels.text import as_name, block
from handoff_console.store.analysis.nodes import HandoffNode, HandoffTree

SAID_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the user, and the answer to it."""

    number: int
    said: str
    agent: str
    """Who answers, or is at it: the last of the chain."""
    outcome: str
    """A `Status` or `State`."""
    answer: str
    """Empty while there is none."""


def turns(tree: HandoffTree, answer_of: Callable[[HandoffNode], str]) -> tuple[Turn, ...]:
    """Return the turns of a session, in order; none before the user said something.

    Args:
        tree: Its handoffs.
        answer_of: Gives what the user was told by a handoff; empty for nothing.
    """
    roots: dict[int, HandoffNode] = {}
    for node in tree.nodes:
        if node.depth == 0:
            roots.setdefault(node.turn, node)
    found = []
    for number, root in sorted(roots.items()):
        last = tree.last_of_chain(root.handoff_id)
        found.append(
            Turn(
                number=number,
                said=block(root.task, SAID_CHARACTERS),
                agent=as_name(last.agent),
                outcome=last.outcome.value,
                answer=block(answer_of(last), SAID_CHARACTERS),
            )
        )
    return tuple(found)
