"""Two runs side by side: where they first part, which handoffs differ, and in what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from handoff_console.console.viewmodels.attempts import MODE_WORDS, edit_lines
from handoff_console.console.viewmodels.differences import (
    ASPECT_WORDS,
    DifferenceView,
    FigureLine,
    changed_offer,
    difference_view,
    figure_lines,
    fits_on_a_line,
    shown_value,
)
from handoff_console.console.viewmodels.text import amount, as_name, count, one_line, signed
from handoff_console.console.viewmodels.unanswered import unanswered, unanswered_sentence
from handoff_console.runtime.contract import State
from handoff_console.runtime.events import SessionStarted
from handoff_console.store.analysis.bodies import read_fields
from handoff_console.store.analysis.diff import Comparison, Pair
from handoff_console.store.analysis.differences import ABSENT, Aspect, Difference
from handoff_console.store.analysis.figures import Figures
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.payoff import Payoff, payoffs


@dataclass(frozen=True, slots=True)
class RunView:
    """One of the two runs."""

    name: str
    """`attempt 2`, or the session's id."""
    session_id: str
    how: str
    """`original`, `what if`, …"""
    edits: tuple[str, ...]
    outcome: str
    """A `Status` or a `State`: the key of its glyph, colour and word."""
    limit: str
    unanswered: str
    """How many calls a re-run refused since no answer was recorded; often empty."""
    waits: str
    """What to do about a run that waits for a person; empty for all others."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """One handoff in both runs, or in one of them, as a line of the outline."""

    place: int
    """In `Comparison.pairs`."""
    change: str
    """`same`, `changed`, `added` or `removed`."""
    depth: int
    agent: str
    task: str
    path: str
    left_handoff_id: str | None
    right_handoff_id: str | None
    left_outcome: str
    """Empty where that side does not have it; so is the next."""
    right_outcome: str
    tokens_change: str
    says: str
    """What differs, in a few words: `request, tool results, status`."""
    is_first: bool
    """Here the two runs first part."""
    label: str
    """What a screen reader says of the row."""


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """What the comparison shows before a handoff is chosen."""

    left: RunView
    right: RunView
    scope: str
    """`billing at t1/2.0 and what is below it`; `whole sessions`."""
    sentence: str
    """Where the two first part, or that nothing differs."""
    counts: str
    """`12 handoffs: 9 same, 2 changed, 1 added`."""
    figures: tuple[FigureLine, ...]
    payoffs: tuple[str, ...]
    """After how many steps a transfer has paid off, a sentence each; often none."""
    settings: tuple[DifferenceView, ...]
    rows: tuple[PairRow, ...]
    first: int | None
    """The row to select at first; None when nothing differs."""


def comparison_view(
    found: Comparison,
    left: Record,
    right: Record,
    *,
    names: tuple[str, str] | None = None,
) -> ComparisonView:
    """Return a comparison as the screen shows it.

    Args:
        found: What was compared.
        left: The record of one side.
        right: Of the other one.
        names: What to call them; by default their sessions' ids.
    """
    names = names or (_session_id(left), _session_id(right))
    return ComparisonView(
        left=_run(left, found.left, names[0], is_retry=_is_retry(found, "left")),
        right=_run(right, found.right, names[1], is_retry=_is_retry(found, "right")),
        scope=_scope(found),
        sentence=_sentence(found),
        counts=_counts(found),
        figures=figure_lines(found.left, found.right),
        payoffs=tuple(map(_payoff, payoffs(found, left, right))),
        settings=tuple(map(difference_view, found.settings)),
        rows=tuple(_row(place, pair, found.first) for place, pair in enumerate(found.pairs)),
        first=found.first,
    )


def _session_id(record: Record) -> str:
    return record.events[0].session_id if record.events else ""


def _is_retry(found: Comparison, side: str) -> bool:
    """Say whether one side is a handoff that the runtime tried again by itself."""
    node = getattr(found.pairs[0], side) if found.path and found.pairs else None
    return node is not None and node.follows is not None


def _run(record: Record, figures: Figures, name: str, *, is_retry: bool) -> RunView:
    started = next((payload for _, payload in record.of(SessionStarted)), None)
    mode = started.rerun_mode if started else ""
    edits = read_fields(record.body, started.edits) if started else {}
    return RunView(
        name=one_line(name, 60),
        session_id=_session_id(record),
        how="retry" if is_retry and not mode else MODE_WORDS.get(mode, one_line(mode, 20)),
        edits=edit_lines(edits),
        outcome=figures.outcome,
        limit=one_line(figures.limit, 20),
        unanswered=unanswered_sentence(unanswered(record.events)),
        waits=_WAITS if figures.outcome == State.WAITING.value else "",
    )


_WAITS = "It waits for a person: open it to say yes, no, or what was asked."


def _scope(found: Comparison) -> str:
    if found.path is None:
        return "whole sessions"
    agent = as_name(found.pairs[0].node.agent) if found.pairs else "nothing"
    return f"{agent} at {one_line(found.path, 60)} and what is below it"


def _counts(found: Comparison) -> str:
    parts = [f"{amount(number)} {change}" for change, number in found.counts.items() if number]
    return f"{count(len(found.pairs), 'handoff')}: {', '.join(parts) or 'none'}"


def _sentence(found: Comparison) -> str:
    pair, first = found.first_pair, found.first_difference
    if pair is None or first is None:
        if found.settings:
            return "All handoffs are the same; only the sessions' settings differ."
        return "Nothing differs but what the runs took."
    where = f"{as_name(pair.node.agent)} ({one_line(pair.node.path, 60)})"
    if first.aspect is Aspect.HANDOFF:
        side = "right" if pair.change == "added" else "left"
        return f"They first part at {where}, which only the {side} run has."
    another = "another"
    if ABSENT in (first.left, first.right):
        another = "a further" if first.left is ABSENT else "no"
    what = _FIRST[first.aspect].format(name=one_line(first.name, 60), another=another)
    offer, change = changed_offer(first), _change(first)
    if offer:
        what = f"its tool {as_name(offer.tool)} has another {one_line(offer.part, 60)}"
        change = "" if offer.is_code else change
    end = "" if change.endswith((".", "!", "?")) else "."
    return f"They first part at {where}: {what}{f': {change}' if change else ''}{end}"


_FIRST: Mapping[Aspect, str] = {
    Aspect.SESSION: "the setting {name} is another one",
    Aspect.REQUEST: "its request has {another} {name}",
    Aspect.PACKET: "its packet has {another} {name}",
    Aspect.PROMPT: "it works with another prompt",
    Aspect.MODEL: "it asks another model",
    Aspect.OFFER: "it is offered something else ({name})",
    Aspect.MESSAGE: "it reads something else ({name})",
    Aspect.REPLY: "the model answers otherwise ({name})",
    Aspect.TOOL_CALL: "a tool is called otherwise ({name})",
    Aspect.TOOL_RESULT: "a tool returns something else ({name})",
    Aspect.STATUS: "it ends otherwise",
    Aspect.RESULT: "its result has {another} {name}",
}


def _payoff(found: Payoff) -> str:
    agent, kept_by = as_name(found.agent), as_name(found.kept_by)
    tokens = (
        f"{amount(found.tokens)} tokens by then, against {amount(found.kept_tokens)} where "
        f"{kept_by} did it itself"
    )
    if found.after_steps is None:
        return (
            f"The transfer to {agent} has not paid off in {count(found.steps, 'step')}: {tokens}."
        )
    steps = count(found.after_steps, "step")
    return f"The transfer to {agent} has paid off after {steps}: {tokens}."


def _change(difference: Difference) -> str:
    """Return a short change, `4813 → 4812`; nothing for a long one."""
    left, right = shown_value(difference.left), shown_value(difference.right)
    if not (fits_on_a_line(left) and fits_on_a_line(right)):
        return ""
    return f"{left or 'nothing'} → {right or 'nothing'}"


def _row(place: int, pair: Pair, first: int | None) -> PairRow:
    node, left, right = pair.node, pair.left_figures, pair.right_figures
    aspects = dict.fromkeys(ASPECT_WORDS[found.aspect] for found in pair.differences)
    says = ", ".join(aspects) if pair.change == "changed" else ""
    agent, task = one_line(node.agent, 60), one_line(node.task, 160)
    outcomes = left.outcome if left else "", right.outcome if right else ""
    words = "first difference" if place == first else ""
    tokens = (right.tokens_used if right else 0) - (left.tokens_used if left else 0)
    return PairRow(
        place=place,
        change=pair.change,
        depth=node.depth,
        agent=agent,
        task=task,
        path=one_line(node.path, 80),
        left_handoff_id=pair.left.handoff_id if pair.left else None,
        right_handoff_id=pair.right.handoff_id if pair.right else None,
        left_outcome=outcomes[0],
        right_outcome=outcomes[1],
        tokens_change=signed(tokens),
        says=says,
        is_first=place == first,
        label=", ".join(
            filter(None, [agent, pair.change, words, says, " then ".join(outcomes), task])
        ),
    )


def pairs_to_show(rows: Iterable[PairRow], *, only_changed: bool) -> tuple[PairRow, ...]:
    """Return the rows in sight; with `only_changed` those that are the same are left out."""
    return tuple(row for row in rows if not only_changed or row.change != "same")
