"""What another pool or other limits would have done, as the slider beside the burn-down says it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from handoff_console.console.viewmodels.text import amount, as_name, count, one_line
from handoff_console.store.analysis.what_if import Fate, HandoffFate, PoolMarks, WhatIf

FATE_WORDS: Mapping[Fate, str] = {
    Fate.REFUSED: "refused",
    Fate.CUT: "cut short",
    Fate.NOT_ASKED: "not asked",
    Fate.OPENED: "let through",
    Fate.GOES_ON: "goes on",
    Fate.DEPENDS: "depends",
    Fate.SAME: "as recorded",
}
"""Every fate, as people say it; in the order in which they are counted."""

_LIMIT_WORDS = {
    "pool": "the pool",
    "tokens": "its tokens",
    "steps": "its steps",
    "deadline": "its deadline",
    "handoffs": "the count of transfers",
    "workers": "the count of calls",
    "cycle": "the count of repeated transfers",
    "depth": "the depth",
}


@dataclass(frozen=True, slots=True)
class FateLine:
    """One handoff that would have fared otherwise."""

    handoff_id: str
    agent: str
    recorded: str
    """Its outcome: the key of its glyph, colour and word."""
    fate: str
    """In a word or two."""
    why: str
    """`the pool has 2,300 of the 3,000 tokens it asks for`."""
    seq: int | None
    """The event to go to."""
    takes_away: bool
    """Something that is recorded would not have come about."""
    alike: int = 1
    """How many handoffs of this agent fare just so; the first of them is the one that is named."""


@dataclass(frozen=True, slots=True)
class WhatIfView:
    """What the panel says for one position of its sliders."""

    sentence: str
    """`Nothing would have changed.`; `3 handoffs would have fared otherwise: 1 refused, …`."""
    lines: tuple[FateLine, ...]
    """Only what would have changed, in the order it was asked for."""
    spent: str
    """`4,200 tokens`, or from where to where."""
    unknown: tuple[str, ...]
    """What the record cannot say."""
    marks: tuple[tuple[int, str], ...]
    """Sizes of the pool to mark on its slider, each with what it stands for."""


def what_if_view(found: WhatIf, marks: PoolMarks | None = None) -> WhatIfView:
    """Return what a change would have done, as it is shown.

    Args:
        found: The answer.
        marks: Of the pool's slider; None for a session without a request.
    """
    low, high = found.spent_low_tokens, found.spent_high_tokens
    spent = count(low, "token") if low == high else f"{amount(low)} to {amount(high)} tokens"
    return WhatIfView(
        sentence=_sentence(found),
        lines=tuple(map(_line, found.changed)),
        spent=f"{spent} spent",
        unknown=tuple(one_line(sentence, 300) for sentence in found.unknown),
        marks=tuple(_marks(marks)) if marks else (),
    )


def _marks(marks: PoolMarks) -> list[tuple[int, str]]:
    shown = [(marks.as_recorded_tokens, "the least that changes nothing")]
    enough = marks.without_refusals_tokens
    if enough is not None and enough != marks.as_recorded_tokens:
        shown.append((enough, "enough for all that was refused"))
    return shown


def _sentence(found: WhatIf) -> str:
    if not found.changed:
        return "Nothing would have changed."
    fates = Counter(handoff.fate for handoff in found.changed)
    parts = [f"{amount(fates[fate])} {word}" for fate, word in FATE_WORDS.items() if fates[fate]]
    return f"{count(len(found.changed), 'handoff')} would have fared otherwise: {', '.join(parts)}."


def grouped(lines: Iterable[FateLine]) -> tuple[FateLine, ...]:
    """Make one line of those that say the same of the same agent: a thousand say no more."""
    groups: dict[tuple[str, str, str, str], list[FateLine]] = {}
    for line in lines:
        groups.setdefault((line.agent, line.recorded, line.fate, line.why), []).append(line)
    return tuple(replace(first, alike=1 + len(more)) for first, *more in groups.values())


def _line(handoff: HandoffFate) -> FateLine:
    return FateLine(
        handoff_id=handoff.handoff_id,
        agent=as_name(handoff.agent),
        recorded=handoff.recorded,
        fate=FATE_WORDS[handoff.fate],
        why=_why(handoff),
        seq=handoff.seq,
        takes_away=handoff.fate in {Fate.REFUSED, Fate.CUT, Fate.NOT_ASKED},
    )


def _why(handoff: HandoffFate) -> str:
    limit = _LIMIT_WORDS.get(handoff.limit, one_line(handoff.limit, 30))
    needed, available = handoff.needed_tokens, handoff.available_tokens
    if handoff.fate is Fate.REFUSED and handoff.limit == "pool":
        return f"the pool has {amount(available)} of the {count(needed, 'token')} it asks for"
    if handoff.fate is Fate.CUT and handoff.limit in {"tokens", "pool"}:
        left = count(available, "token is", "tokens are")
        return f"{left} left, and its next step takes about {amount(needed)}"
    return _REASONS[handoff.fate].format(limit=limit)


_REASONS = {
    Fate.REFUSED: "{limit} does not let it through",
    Fate.CUT: "{limit} would have ended it",
    Fate.NOT_ASKED: "whoever asks for it does not come so far",
    Fate.OPENED: "{limit} lets it through",
    Fate.GOES_ON: "{limit} would not end it any more",
    Fate.DEPENDS: "depends on what is not recorded",
    Fate.SAME: "",
}
