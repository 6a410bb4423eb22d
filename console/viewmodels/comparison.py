"""Two runs side by side: where they first part, which handoffs differ, and in what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from handoff_console.console.viewmodels.attempts import (
    MODE_WORDS,
    AttemptStrip,
    RepeatsView,
    edit_lines,
)
from handoff_console.console.viewmodels.differences import (
    ASPECT_WORDS,
    DifferenceView,
    FigureLine,
    difference_view,
    figure_lines,
)
from handoff_console.console.viewmodels.first_difference import where_they_part
from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.text import amount, as_name, count, one_line, signed
from handoff_console.console.viewmodels.unanswered import unanswered, unanswered_sentence
from handoff_console.runtime.contract import State
from handoff_console.runtime.events import SessionStarted, UserMessageReceived
from handoff_console.store.analysis.bodies import read_fields
from handoff_console.store.analysis.diff import Comparison, Pair
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
    about: str
    """Of a session: its flow, what was asked, when. Of an attempt the page says so elsewhere."""
    edits: tuple[str, ...]
    outcome: str
    """A `Status` or a `State`: the key of its glyph, colour and word."""
    limit: str
    unanswered: str
    """How many calls a re-run refused since no answer was recorded; often empty."""
    waits: str
    """What to do about a run that waits for a person or was interrupted; empty for all others."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """One handoff in both runs, or in one of them, as a line of the outline."""

    place: int
    """In `Comparison.pairs`."""
    change: str
    """`same`, `changed`, `added` or `removed`."""
    depth: int
    """Below the first one."""
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
        sentence=where_they_part(found, is_one=_is_one(found, left, right)),
        counts=_counts(found),
        figures=figure_lines(found.left, found.right),
        payoffs=tuple(map(_payoff, payoffs(found, left, right))),
        settings=tuple(map(difference_view, found.settings)),
        rows=tuple(_row(place, pair, found) for place, pair in enumerate(found.pairs)),
        first=found.first,
    )


def _session_id(record: Record) -> str:
    return record.events[0].session_id if record.events else ""


def _is_one(found: Comparison, left: Record, right: Record) -> bool:
    """Say whether both sides are the same run."""
    ids = [
        (pair.left and pair.left.handoff_id, pair.right and pair.right.handoff_id)
        for pair in found.pairs
    ]
    return _session_id(left) == _session_id(right) and all(mine == other for mine, other in ids)


def _is_retry(found: Comparison, side: str) -> bool:
    """Say whether one side is a handoff that the runtime tried again by itself."""
    node = getattr(found.pairs[0], side) if found.path and found.pairs else None
    return node is not None and node.follows is not None


def _about(record: Record) -> str:
    started = next(iter(record.of(SessionStarted)), None)
    asked = next((payload.preview for _, payload in record.of(UserMessageReceived)), "")
    if started is None:
        return ""
    parts = started[1].flow, asked, moment(started[0].at)
    return " · ".join(one_line(part, 120) for part in parts if part)


def _run(record: Record, figures: Figures, name: str, *, is_retry: bool) -> RunView:
    started = next((payload for _, payload in record.of(SessionStarted)), None)
    mode = started.rerun_mode if started else ""
    edits = read_fields(record.body, started.edits) if started else {}
    return RunView(
        name=one_line(name, 60),
        session_id=_session_id(record),
        how="retry" if is_retry and not mode else MODE_WORDS.get(mode, one_line(mode, 20)),
        about=_about(record) if name.startswith(_session_id(record)) else "",
        edits=edit_lines(edits),
        outcome=figures.outcome,
        limit=one_line(figures.limit, 20),
        unanswered=unanswered_sentence(unanswered(record.events)),
        waits=_WAYS_ON.get(figures.outcome, ""),
    )


_WAYS_ON: Mapping[str, str] = {
    State.WAITING.value: "It waits for a person: open it to say yes, no, or what was asked.",
    State.INTERRUPTED.value: "Its process is gone: open it to go on with it.",
}


def _scope(found: Comparison) -> str:
    if found.path is None:
        return "whole sessions"
    agent = as_name(found.pairs[0].node.agent) if found.pairs else "nothing"
    return f"{agent} at {one_line(found.path, 60)} and what is below it"


def _counts(found: Comparison) -> str:
    parts = [f"{amount(number)} {change}" for change, number in found.counts.items() if number]
    return f"{count(len(found.pairs), 'handoff')}: {', '.join(parts) or 'none'}"


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


def _row(place: int, pair: Pair, found: Comparison) -> PairRow:
    node, left, right = pair.node, pair.left_figures, pair.right_figures
    is_first = place == found.first
    aspects = dict.fromkeys(ASPECT_WORDS[one.aspect] for one in pair.differences)
    says = ", ".join(aspects) if pair.change == "changed" else ""
    agent, task = one_line(node.agent, 60), one_line(node.task, 160)
    outcomes = left.outcome if left else "", right.outcome if right else ""
    words = "first difference" if is_first else ""
    tokens = (right.tokens_used if right else 0) - (left.tokens_used if left else 0)
    return PairRow(
        place=place,
        change=pair.change,
        depth=max(node.depth - found.pairs[0].node.depth, 0),
        agent=agent,
        task=task,
        path=one_line(node.path, 80),
        left_handoff_id=pair.left.handoff_id if pair.left else None,
        right_handoff_id=pair.right.handoff_id if pair.right else None,
        left_outcome=outcomes[0],
        right_outcome=outcomes[1],
        tokens_change=signed(tokens),
        says=says,
        is_first=is_first,
        label=", ".join(
            filter(None, [agent, pair.change, words, says, " then ".join(outcomes), task])
        ),
    )


def pairs_to_show(rows: Iterable[PairRow], *, only_changed: bool) -> tuple[PairRow, ...]:
    """Return the rows in sight; with `only_changed` those that are the same are left out."""
    return tuple(row for row in rows if not only_changed or row.change != "same")


def that_varies(strip: AttemptStrip, session_id: str, beside: str) -> RepeatsView | None:
    """Return the repeats that one run is one of, where they did not all come out alike.

    Where that is so, a comparison of this one run says little.

    Args:
        strip: The attempts.
        session_id: The run.
        beside: What it is compared with; where that is one of them too, there is nothing to say.
    """
    numbers = {chip.session_id: chip.number for chip in strip.chips}
    for group in strip.repeats:
        is_meant = numbers.get(session_id) in group.numbers
        if is_meant and len(group.outcomes) > 1 and numbers.get(beside) not in group.numbers:
            return group
    return None
