"""What differs in one handoff, value by value, as the comparison shows it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from handoff_console.console.viewmodels.text import (
    amount,
    as_name,
    block,
    one_line,
    pretty,
    seconds,
    signed,
)
from handoff_console.store.analysis.diff import Pair
from handoff_console.store.analysis.differences import ABSENT, Aspect, Difference
from handoff_console.store.analysis.figures import Figures
from handoff_console.store.analysis.text_diff import Segment, text_diff

TEXT_CHARACTERS = 20_000
"""What is shown, and compared word by word, of one side of a difference."""
WHOLE = 1 << 40
AROUND_CHARACTERS = 100
"""So much of what both sides of a long text have stands before and after what differs."""
SHORT_CHARACTERS = 80
"""Values up to here stand on one line: before → after."""

ASPECT_WORDS: Mapping[Aspect, str] = {
    Aspect.SESSION: "settings",
    Aspect.HANDOFF: "handoff",
    Aspect.REQUEST: "request",
    Aspect.PACKET: "packet",
    Aspect.PROMPT: "prompt",
    Aspect.MODEL: "model",
    Aspect.OFFER: "offered tools",
    Aspect.MESSAGE: "messages",
    Aspect.REPLY: "replies",
    Aspect.TOOL_CALL: "tool calls",
    Aspect.TOOL_RESULT: "tool results",
    Aspect.STATUS: "status",
    Aspect.RESULT: "result",
}
"""Every aspect, as a heading."""


@dataclass(frozen=True, slots=True)
class FigureLine:
    """One figure of both runs."""

    name: str
    left: str
    right: str
    change: str
    """`+120`, `−3`; empty when it is the same."""


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """One value that is not the same on both sides."""

    aspect: str
    name: str
    left: str
    """Empty where that side has none, and `left_is_there` says so; so are the next."""
    right: str
    left_is_there: bool
    right_is_there: bool
    segments: tuple[Segment, ...]
    """Both texts word by word; none where a short value was simply replaced."""
    is_short: bool
    """Both sides fit on one line."""
    left_seq: int | None
    right_seq: int | None


@dataclass(frozen=True, slots=True)
class PairView:
    """All that differs in one handoff."""

    title: str
    route: str
    """Who asked whom."""
    change: str
    sentence: str
    figures: tuple[FigureLine, ...]
    """What both took by themselves; none where only one side has the handoff."""
    sections: tuple[tuple[str, tuple[DifferenceView, ...]], ...]
    """Headings, each with its differences, in the order in which things happened."""


def pair_view(pair: Pair) -> PairView:
    """Return all that differs in one handoff; long texts word by word."""
    node = pair.node
    sections: dict[str, list[DifferenceView]] = {}
    for difference in pair.differences:
        heading = ASPECT_WORDS[difference.aspect]
        sections.setdefault(heading, []).append(difference_view(difference))
    both = pair.left_figures is not None and pair.right_figures is not None
    return PairView(
        title=f"{as_name(node.agent)} at {one_line(node.path, 60)}",
        route=f"{as_name(node.source)} → {as_name(node.agent)}",
        change=pair.change,
        sentence=_PAIR_SENTENCES[pair.change],
        figures=(
            figure_lines(pair.left_figures, pair.right_figures)
            if both and pair.left_figures and pair.right_figures
            else ()
        ),
        sections=tuple((heading, tuple(lines)) for heading, lines in sections.items()),
    )


_PAIR_SENTENCES = {
    "same": "Nothing differs but what it may have taken.",
    "changed": "Both runs have it, and it is not the same.",
    "added": "Only the right run has it.",
    "removed": "Only the left run has it.",
}


def figure_lines(left: Figures, right: Figures) -> tuple[FigureLine, ...]:
    """Return what both took, figure by figure; those that are nought on both sides left out."""
    lines = []
    for name, field in _FIGURES.items():
        mine, theirs = getattr(left, field), getattr(right, field)
        if mine or theirs:
            lines.append(FigureLine(name, amount(mine), amount(theirs), signed(theirs - mine)))
    mine, theirs = seconds(left.seconds), seconds(right.seconds)
    later = right.seconds - left.seconds
    change = "" if mine == theirs else f"{'+' if later > 0 else '−'}{seconds(abs(later))}"
    return (*lines, FigureLine("time", mine, theirs, change))


_FIGURES = {
    "handoffs": "handoffs",
    "refused": "refused",
    "steps": "steps",
    "tool calls": "tool_calls",
    "tokens": "tokens_used",
    "saved tokens": "saved_tokens",
    "calls that ran": "ran",
    "calls replayed": "replayed",
}


def difference_view(found: Difference) -> DifferenceView:
    """Return one difference as it is shown; long texts word by word."""
    left, right = _around_the_change(found)
    offer = changed_offer(found)
    if offer and offer.is_code:
        left, right = "one version", "another version"
    is_short = fits_on_a_line(left) and fits_on_a_line(right)
    both = ABSENT not in (found.left, found.right)
    return DifferenceView(
        aspect=ASPECT_WORDS[found.aspect],
        name=one_line(f"{offer.tool}: {offer.part}" if offer else found.name, 120),
        left=left,
        right=right,
        left_is_there=found.left is not ABSENT,
        right_is_there=found.right is not ABSENT,
        segments=text_diff(left, right) if both and not is_short else (),
        is_short=is_short,
        left_seq=found.left_seq,
        right_seq=found.right_seq,
    )


def _around_the_change(found: Difference) -> tuple[str, str]:
    """Return both sides as text; of long ones what differs, and a little before and after it.

    Cut at their ends alone, two long texts may look the same where they are shown.
    """
    left, right = shown_value(found.left, WHOLE), shown_value(found.right, WHOLE)
    if ABSENT in (found.left, found.right) or max(len(left), len(right)) <= TEXT_CHARACTERS:
        return shown_value(found.left), shown_value(found.right)
    begins = _alike(left, right)
    most = min(len(left), len(right)) - begins
    ends = min(most, _alike(reversed(left), reversed(right)))
    before, after = max(begins - AROUND_CHARACTERS, 0), max(ends - AROUND_CHARACTERS, 0)
    texts = [text[before : len(text) - after] for text in (left, right)]
    same_before = f"[… {amount(before)} characters that are the same …]\n" if before else ""
    same_after = f"\n[… {amount(after)} characters that are the same …]" if after else ""
    shown = [f"{same_before}{block(text, TEXT_CHARACTERS)}{same_after}" for text in texts]
    return shown[0], shown[1]


def _alike(left: Iterable[str], right: Iterable[str]) -> int:
    """Return in how many signs two texts begin alike."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )


class ChangedOffer(NamedTuple):
    """What is another one about a tool that both sides are offered."""

    tool: str
    part: str
    """`source`, `schema of its arguments (properties.year)`, `effect`, …"""
    is_code: bool
    """Its two values are digests of code, which say nothing to anybody."""


_OFFER = re.compile(
    r"(?P<tool>.+?)\.(?P<part>source|parameters|description|effect)"
    r"(?:\.(?P<inside>.+))?"
)


def changed_offer(found: Difference) -> ChangedOffer | None:
    """Return what differs about an offered tool, in words.

    None for all other differences, and for what a tool has or has not: whether it needs a yes.
    """
    match = _OFFER.fullmatch(found.name) if found.aspect is Aspect.OFFER else None
    if match is None:
        return None
    part, inside = match["part"], match["inside"]
    if part == "parameters":
        part = f"schema of its arguments{f' ({inside})' if inside else ''}"
    return ChangedOffer(match["tool"], part, is_code=match["part"] == "source")


def shown_value(value: Any, limit: int = TEXT_CHARACTERS) -> str:
    """Return a recorded value as text, fit to be shown; nothing for what is not there.

    A short one stands on one line: forty calls of a tool are forty lines then.
    """
    if value is ABSENT:
        return ""
    if isinstance(value, str):
        return block(value, limit)
    short = json.dumps(value, ensure_ascii=False, default=str)
    return block(short, limit) if len(short) <= SHORT_CHARACTERS else pretty(value, limit)


def fits_on_a_line(text: str) -> bool:
    """Say whether a text is short enough to stand beside another one."""
    return len(text) <= SHORT_CHARACTERS and "\n" not in text
