"""The attempts of a handoff side by side: how each was made, how it came out, what it cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.text import (
    amount,
    as_name,
    count,
    one_line,
    pretty,
    seconds,
)
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.lineage import Attempt
from handoff_console.store.analysis.repeats import Repeats, Spread, made_alike, repeats

MODE_WORDS: Mapping[str, str] = {
    "": "original",
    "verify": "verified",
    "what-if": "what if",
    "live-reads": "live reads",
    "live": "live",
    "continue": "continued",
}
"""Every way a re-run is made, as people say it."""

GROUP_FROM = 2
"""So many re-runs that were made alike are shown as repeats."""


@dataclass(frozen=True, slots=True)
class AttemptChip:
    """One attempt in the strip."""

    number: int
    name: str
    """`attempt 2`."""
    how: str
    """`original`, `retry`, `what if`, `continued`, …"""
    mode: str
    """The key of `how`; empty for runs of the original session."""
    session_id: str
    handoff_id: str
    outcome: str
    """A `Status` or a `State`: the key of its glyph, colour and word."""
    limit: str
    """For `limit_reached`, which limit."""
    steps: str
    """`6 steps`."""
    tokens: str
    """`1,065 tokens`; where recorded answers were used, `249 tokens spent, 816 saved`."""
    ran: str
    """`3 calls ran`, `8 replayed`, `4 calls ran · 2 replayed`: of models and tools."""
    duration: str
    edits: tuple[str, ...]
    """What was changed for it, a line each."""
    result: str
    """`same result as attempt 1`, or nothing."""
    diverged: str
    """Where it first asked for something else than was recorded; or nothing."""
    compared_with: int | None
    """The number of the attempt to compare it with: the one it repeats."""
    is_selected: bool
    title: str
    """All of it, for a tooltip and for screen readers."""


@dataclass(frozen=True, slots=True)
class RepeatsView:
    """Several attempts that were made the same way."""

    numbers: tuple[int, ...]
    name: str
    """`attempts 2 to 11`, or `attempts 2, 4 and 5`."""
    sentence: str
    """`8 of 10 came out ok; the true share lies between 49 % and 94 % (95 % sure).`"""
    outcomes: tuple[tuple[str, int], ...]
    """How many came out how, most first."""
    share: float | None
    """That passed, 0 to 1; so are the next two. None when none ended, or nobody was asked."""
    low: float
    high: float
    tokens: str
    """`1,065 tokens each`, or from where to where."""
    duration: str
    spent: str
    """By all of them together."""


@dataclass(frozen=True, slots=True)
class AttemptStrip:
    """All attempts of a handoff."""

    chips: tuple[AttemptChip, ...]
    repeats: tuple[RepeatsView, ...]
    sentence: str
    """`3 attempts, 1 ok`; that there is only the original."""


def attempt_strip(
    attempts: Sequence[Attempt], *, selected: tuple[str, str] | None = None
) -> AttemptStrip:
    """Return the attempts of a handoff as the strip shows them; of none, an empty strip.

    Args:
        attempts: In the order they began.
        selected: Session and handoff of the one that is looked at.
    """
    results: dict[str, int] = {}
    chips = []
    for attempt in attempts:
        first = results.setdefault(attempt.result, attempt.number) if attempt.result else None
        same = f"same result as attempt {first}" if first not in {None, attempt.number} else ""
        chips.append(_chip(attempt, same, (attempt.session_id, attempt.handoff_id) == selected))
    groups = [repeats(group) for group in made_alike(attempts) if len(group) >= GROUP_FROM]
    return AttemptStrip(tuple(chips), tuple(map(_repeats, groups)), _sentence(attempts))


def edit_lines(edits: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what was changed for a re-run, a line each; none when nothing was."""
    return tuple(_edit_lines(edits))


def _chip(attempt: Attempt, same: str, is_selected: bool) -> AttemptChip:
    figures, edits = attempt.figures, edit_lines(attempt.edits)
    how = MODE_WORDS.get(attempt.mode, one_line(attempt.mode, 20))
    if not attempt.mode and attempt.repeats:
        how = "retry"
    tokens = count(figures.tokens_used, "token")
    if attempt.saved_tokens:
        spent, saved = amount(figures.spent_tokens), amount(attempt.saved_tokens)
        tokens = f"{spent} tokens spent, {saved} saved"
    ran = _ran(figures.ran, figures.replayed)
    diverged = f"asked something else at {one_line(attempt.diverged_at, 60)}"
    diverged = diverged if attempt.diverged_at else ""
    limit = one_line(attempt.limit, 20)
    outcome = f"{attempt.outcome} ({limit})" if limit else attempt.outcome
    name = f"attempt {attempt.number}"
    steps = count(figures.steps, "step")
    parts = (
        name, how, outcome, steps, ran, tokens, seconds(figures.seconds), same, diverged,
        "; ".join(edits), moment(attempt.started_at),
    )  # fmt: skip
    return AttemptChip(
        number=attempt.number,
        name=name,
        how=how,
        mode=attempt.mode,
        session_id=attempt.session_id,
        handoff_id=attempt.handoff_id,
        outcome=attempt.outcome,
        limit=limit,
        steps=steps,
        tokens=tokens,
        ran=ran,
        duration=seconds(figures.seconds),
        edits=edits,
        result=same,
        diverged=diverged,
        compared_with=attempt.repeats,
        is_selected=is_selected,
        title=" · ".join(filter(None, parts)),
    )


def _ran(ran: int, replayed: int) -> str:
    parts = [f"{count(ran, 'call')} ran"] if ran or not replayed else []
    if replayed:
        parts.append(f"{amount(replayed)} replayed")
    return " · ".join(parts)


def _edit_lines(edits: Mapping[str, Any]) -> Iterable[str]:
    for name, value in edits.items():
        word = _EDIT_WORDS.get(name, one_line(name, 40))
        if isinstance(value, Mapping):
            between = " " if name == "tool_results" else "."
            for key, inner in value.items():
                shown = one_line(pretty(inner, 400), 80)
                yield f"{word}{between}{one_line(str(key), 40)} = {shown}"
        elif name == "without_inputs" and isinstance(value, list | tuple):
            yield from (f"without input {one_line(str(key), 40)}" for key in value)
        elif name == "prompt" and isinstance(value, str):
            yield f"another prompt: {one_line(value, 80)}"
        elif isinstance(value, list | tuple):
            shown = ", ".join(as_name(str(item)) for item in value) or "none"
            yield f"{word}: {one_line(shown, 80)}"
        else:
            yield f"{word} = {one_line(pretty(value, 400), 80)}"


_EDIT_WORDS = {
    "allowed_tools": "allowed tools",
    "claimed": "claimed",
    "goal": "goal of the packet",
    "summary": "summary of the packet",
    "armed": "writes again",
    "denied": "a person says no to",
    "output_schema": "answer as",
    "tool_results": "pretended result of",
}


def _sentence(attempts: Sequence[Attempt]) -> str:
    if not attempts:
        return "There is no such handoff."
    if len(attempts) == 1:
        return "It ran once."
    ok = sum(attempt.outcome == "ok" for attempt in attempts)
    return f"{count(len(attempts), 'attempt')}, {amount(ok)} of them ok."


def _repeats(found: Repeats) -> RepeatsView:
    passed = found.passed
    sentence = _not_drawn_anew(found)
    return RepeatsView(
        numbers=tuple(attempt.number for attempt in found.attempts),
        name=f"attempts {_numbers([attempt.number for attempt in found.attempts])}",
        sentence=sentence or _how_often(found),
        outcomes=tuple(found.outcomes.items()),
        share=None if sentence else passed.share,
        low=passed.low,
        high=passed.high,
        tokens=_range(found.tokens, lambda value: amount(round(value)), " tokens"),
        duration=_range(found.seconds, seconds, ""),
        spent=f"{count(found.spent_tokens, 'token')} spent in all",
    )


def _not_drawn_anew(found: Repeats) -> str:
    """Return what runs say whose answers were given; nothing where a model was asked each time."""
    first, times = found.attempts[0], len(found.attempts)
    if first.mode == Mode.VERIFY:
        return _verified(found)
    if first.graft:
        return (
            f"The same answers were taken over {count(times, 'time')}, so that this says nothing "
            "of how often it comes out so."
        )
    return ""


def _how_often(found: Repeats) -> str:
    passed = found.passed
    left = f"; {count(found.unfinished, 'is', 'are')} not finished" if found.unfinished else ""
    if not passed.total:
        return f"None has come to an end{left}."
    results = "all with the same result"
    if found.different_results > 1:
        results = f"with {count(found.different_results, 'different result')}"
    return (
        f"{passed.passed} of {passed.total} came out ok, {results}; the true share lies "
        f"between {round(100 * passed.low)} % and {round(100 * passed.high)} % (95 % sure){left}."
    )


def _verified(found: Repeats) -> str:
    times = f"Verified {count(len(found.attempts), 'time')}"
    parted = [attempt.diverged_at for attempt in found.attempts if attempt.diverged_at]
    if parted:
        which = "each time it" if len(parted) == len(found.attempts) else f"{len(parted)} of them"
        return (
            f"{times}: {which} asked for something else than was recorded (first at "
            f"{one_line(parted[0], 60)}), and ended there."
        )
    if found.unfinished:
        return f"{times}; {count(found.unfinished, 'is', 'are')} not finished."
    results = "all came to the same result"
    if found.different_results > 1:
        results = f"they came to {count(found.different_results, 'different result')}"
    return f"{times}, {results}: every answer was the recorded one."


def _numbers(numbers: Sequence[int]) -> str:
    """Return ascending numbers, with stretches of three or more named by their ends."""
    parts: list[str] = []
    stretch: list[int] = []
    for number in (*numbers, None):
        if stretch and number != stretch[-1] + 1:
            ends = f"{stretch[0]} to {stretch[-1]}"
            parts += [ends] if len(stretch) > 2 else map(str, stretch)
            stretch = []
        if number is not None:
            stretch.append(number)
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _range(spread: Spread | None, shown: Any, unit: str) -> str:
    if spread is None:
        return ""
    least, middle, most = (shown(value) for value in (spread.least, spread.median, spread.most))
    if least == most:
        return f"{least}{unit} each"
    return f"{least} to {most}{unit}, half of them up to {middle}"
