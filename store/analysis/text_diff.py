"""What differs between two texts, word by word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from handoff_console.store.analysis.common_runs import Effort, common_runs, gaps

LONG_CHARACTERS = 20_000
"""Longer texts are compared line by line first, and word by word where their lines differ."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Side(StrEnum):
    """Which of two texts has a segment."""

    BOTH = "both"
    LEFT = "left"
    """Only the first: it was removed."""
    RIGHT = "right"
    """Only the second: it was added."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text, as one side or both have it."""

    side: Side
    text: str


def text_diff(left: str, right: str) -> tuple[Segment, ...]:
    """Return two texts as segments, in order: what both have, what only one has.

    Put together, the segments of BOTH and LEFT are the left text, those of BOTH and RIGHT the right
    one. At each place what is removed stands before what is added. White space between two changes
    is changed with them. Two equal texts are one segment, two empty ones none. The time grows with
    the length of the texts, not with its square: where they have too little in common to find it
    quickly, they are given as replaced.
    """
    if left == right:
        return (Segment(Side.BOTH, left),) if left else ()
    if len(left) + len(right) > LONG_CHARACTERS:
        return tuple(_folded(_joined(_by_line(left, right))))
    return tuple(_folded(list(_by_word(left, right, Effort()))))


def _by_line(left: str, right: str) -> Iterator[Segment]:
    effort = Effort()
    removed = ""
    for segment in _segments(_LINE.findall(left), _LINE.findall(right), effort):
        if segment.side is Side.LEFT:
            removed = segment.text
            continue
        if segment.side is Side.RIGHT:
            yield from _by_word(removed, segment.text, effort)
        else:
            yield from _by_word(removed, "", effort)
            yield segment
        removed = ""
    yield from _by_word(removed, "", effort)


def _by_word(left: str, right: str, effort: Effort) -> Iterator[Segment]:
    return _segments(_WORD.findall(left), _WORD.findall(right), effort)


def _segments(mine: list[str], theirs: list[str], effort: Effort) -> Iterator[Segment]:
    runs = common_runs(mine, theirs, effort)
    between = {(gap.left_start, gap.right_start): gap for gap in gaps(runs, len(mine), len(theirs))}
    left = right = 0
    for run in (*runs, None):
        gap = between.get((left, right))
        if gap is not None:
            if gap.left_end > left:
                yield Segment(Side.LEFT, "".join(mine[left : gap.left_end]))
            if gap.right_end > right:
                yield Segment(Side.RIGHT, "".join(theirs[right : gap.right_end]))
        if run is not None:
            left, right = run.left + run.length, run.right + run.length
            yield Segment(Side.BOTH, "".join(mine[run.left : left]))


def _joined(segments: Iterator[Segment]) -> list[Segment]:
    """Put stretches together that both sides have and only the end of a line keeps apart."""
    found: list[Segment] = []
    for segment in segments:
        if found and segment.side is Side.BOTH and found[-1].side is Side.BOTH:
            found[-1] = Segment(Side.BOTH, found[-1].text + segment.text)
        else:
            found.append(segment)
    return found


def _folded(segments: list[Segment]) -> Iterator[Segment]:
    """Make one change of changes that only white space keeps apart."""
    removed: list[str] = []
    added: list[str] = []
    for number, segment in enumerate(segments):
        inside = 0 < number < len(segments) - 1 and segment.text.isspace()
        if segment.side is not Side.RIGHT and (segment.side is Side.LEFT or inside):
            removed.append(segment.text)
        if segment.side is not Side.LEFT and (segment.side is Side.RIGHT or inside):
            added.append(segment.text)
        if segment.side is Side.BOTH and not inside:
            yield from _change(removed, added)
            yield segment
            removed, added = [], []
    yield from _change(removed, added)


def _change(removed: list[str], added: list[str]) -> Iterator[Segment]:
    if removed:
        yield Segment(Side.LEFT, "".join(removed))
    if added:
        yield Segment(Side.RIGHT, "".join(added))
