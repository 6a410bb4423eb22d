"""Routing by the words of the handoff descriptions: Okapi BM25, with nothing to download.

Not a language model. It measures how well the descriptions tell the agents apart. It reads the
descriptions, the examples, the allowed targets and the threshold, nothing else. Score 0 or a tie is
no decision: it then says that it does not know, and never takes the first agent.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009);
k1 = 1.2, b = 0.75 as there.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.contract import HandoffKind, Status
from handoff_console.runtime.events import NO_MATCH
from handoff_console.runtime.models.base import ModelCall, ModelReply, ToolResult
from handoff_console.runtime.models.replies import answer, delegate, hand_over, say

K1, B = 1.2, 0.75
_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    "a about am an and any are as at be been by can could d did do does don for from get give had "
    "has have how i if in is it its just let ll m me my need of on or our please re s should so "
    "some t tell that the their them there this to up us ve want was we were what when where "
    "which who why will with would you your".split()
)


@dataclass(frozen=True)
class Score:
    """How well one target fits a message."""

    target: str
    score: float
    matched: tuple[str, ...]
    """The words of the message that its description has."""


class Ranking:
    """The descriptions of some targets, ready to be searched."""

    def __init__(self, descriptions: Mapping[str, str]) -> None:
        self._counts = {name: Counter(words(text)) for name, text in descriptions.items()}
        lengths = {name: sum(count.values()) for name, count in self._counts.items()}
        mean = (sum(lengths.values()) / len(lengths) if lengths else 0) or 1
        self._weights = {name: K1 * (1 - B + B * n / mean) for name, n in lengths.items()}
        seen = Counter(word for count in self._counts.values() for word in count)
        total = len(self._counts)
        self._idf = {w: math.log(1 + (total - n + 0.5) / (n + 0.5)) for w, n in seen.items()}

    def scores(self, message: str) -> list[Score]:
        """Return every target with its score, best first; equal scores by name."""
        asked = [word for word in dict.fromkeys(words(message)) if word in self._idf]
        found = []
        for name, count in self._counts.items():
            matched = tuple(word for word in asked if count[word])
            score = sum(
                self._idf[word] * count[word] * (K1 + 1) / (count[word] + self._weights[name])
                for word in matched
            )
            found.append(Score(name, round(score, 6), matched))
        return sorted(found, key=lambda item: (-item.score, item.target))


def words(text: str) -> list[str]:
    """Return the words that count: lower case, no stop words, English plural endings cut."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]


def decide(scores: Sequence[Score], threshold: float = 0.0) -> Score | None:
    """Return the target to hand off to; None where nothing matches, or the best are equal."""
    if not scores or scores[0].score <= 0 or scores[0].score < threshold:
        return None
    if len(scores) > 1 and scores[1].score == scores[0].score:
        return None
    return scores[0]


class Bm25:
    """A router that hands off to the target whose description fits the message best."""

    name = "offline:bm25"
    offline, reads_prompt = True, False

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Hand off, or say that it does not know."""
        edges = {spec["handoff"]["target"]: spec for spec in call.tools if "handoff" in spec}
        if call.results:
            return _told(call.results[-1])
        scores = self.scores(call)
        best = decide(scores, call.agent.threshold)
        if best is None:
            return say(_does_not_know(scores), finish_reason=NO_MATCH)
        how = f"matched: {', '.join(best.matched)}" if best.matched else "nearest"
        reason = f"{how} (score {best.score:.2f})"
        if edges[best.target]["handoff"]["via"] == HandoffKind.TRANSFER:
            return hand_over(best.target, reason)
        return delegate(best.target, " ".join(call.text.split()), reason=reason)

    def scores(self, call: ModelCall) -> list[Score]:
        """Return how well each agent that may be asked fits the message, best first."""
        return self.scores_of(call.text, call.tools)

    def scores_of(self, text: str, tools: Sequence[Mapping[str, Any]]) -> list[Score]:
        """Return how well each agent that these tools hand off to fits a text, best first."""
        specs = [spec for spec in tools if "handoff" in spec]
        texts = tuple((spec["handoff"]["target"], _described(spec)) for spec in specs)
        return _ranking(texts).scores(text)


def _told(result: ToolResult) -> ModelReply:
    """Pass on what came back; a refusal and half an answer are called what they are."""
    value = result.value
    if isinstance(value, dict) and "refused" in value:
        return answer(Status.ERROR, f"The handoff was refused: {value.get('reason')}")
    if isinstance(value, dict) and value.get("status") == Status.LIMIT_REACHED:
        found = canonical_text(value.get("data"))
        return say(f"This is incomplete ({value.get('notes')}). Found so far: {found}")
    return say(result.content)


def _described(spec: Mapping[str, Any]) -> str:
    return " ".join([spec["description"], *spec.get("examples", ())])


@lru_cache(maxsize=64)
def _ranking(texts: tuple[tuple[str, str], ...]) -> Ranking:
    return Ranking(dict(texts))


def _does_not_know(scores: Sequence[Score]) -> str:
    if scores and scores[0].score > 0:
        tied = [item.target for item in scores if item.score == scores[0].score]
        if len(tied) > 1:
            return f"I do not know who should take this: {' and '.join(tied)} fit equally well."
        return f"I do not know who should take this: {tied[0]} fits best, but under the threshold."
    return "I do not know who should take this: no agent's description has any of its words."


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
