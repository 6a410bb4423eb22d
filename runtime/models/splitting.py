"""A router that takes a message apart before it scores: each part may go to an agent of its own."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.models.base import ModelCall, ModelReply
from handoff_console.runtime.models.bm25 import Bm25, Score, decide
from handoff_console.runtime.models.replies import delegate, hand_over, together

_BREAK = re.compile(r"(?<=[.;?!])\s+|\s*,?\s+(?:and|also|but|plus)\s+|,\s+", re.IGNORECASE)
"""Where a sentence or a part of one ends."""
_SHORTEST_WORDS = 3
"""A part with fewer words belongs to what stands before it."""


class Splitting(Bm25):
    """Hands each part of a message to the agent that fits it, all at once.

    Args:
        router: Who scores; where it finds one agent for all parts, that one gets the whole message.
    """

    def __init__(self, router: Bm25) -> None:
        self._router = router
        self.name = f"{router.name}-split"

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Hand off to each agent that a part of the message is for, in the order of the parts."""
        parts = parts_of(call.text)
        if call.results or len(parts) < 2:
            return await self._router.reply(call)
        found: dict[str, str] = {}
        for part in parts:
            best = decide(self._router.scores_of(part, call.tools), call.agent.threshold)
            if best is not None:
                found.setdefault(best.target, part)
        if len(found) < 2:
            return await self._router.reply(call)
        ways = {s["handoff"]["target"]: s["handoff"]["via"] for s in call.tools if "handoff" in s}
        return together(*(_asked(target, part, ways) for target, part in found.items()))

    def scores_of(self, text: str, tools: Sequence[Mapping[str, Any]]) -> list[Score]:
        """Return how well each agent fits a text as a whole."""
        return self._router.scores_of(text, tools)


def parts_of(text: str) -> Sequence[str]:
    """Return the parts of a message, in order; one that is no longer than a word or two is none."""
    found: list[str] = []
    for part in filter(None, map(str.strip, _BREAK.split(text))):
        if found and len(part.split()) < _SHORTEST_WORDS:
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found


def _asked(target: str, part: str, ways: dict[str, str]) -> ModelReply:
    if ways[target] == HandoffKind.TRANSFER:
        return hand_over(target, "a part of the message is for it", task=part)
    return delegate(target, part, reason="a part of the message is for it")
