"""Which change flips an outcome, as it is shown: what will be tried, and what was found."""

from collections.abc import Iterable
from dataclasses import dataclass

from handoff_console.console.commands.bisecting import SearchPlan
from handoff_console.console.viewmodels.text import amount, count, one_line, pretty
from handoff_console.runtime.causes import Cause, Conclusion
from handoff_console.runtime.changes import Change

VALUE_CHARACTERS = 160

ChangeRow = tuple[str, str, str]
"""Name, what the failed attempt has, what the good one has."""


@dataclass(frozen=True, slots=True)
class FlipPlan:
    """What a search will try, before it starts."""

    sentence: str
    changes: tuple[ChangeRow, ...]
    cost: str
    """How many re-runs, and about how many tokens."""
    untried: str
    """What differs and cannot be tried; empty when nothing does."""
    flow_changes: tuple[str, ...]
    """What is otherwise than when it was recorded."""


@dataclass(frozen=True, slots=True)
class FlipAnswer:
    """What a search came to."""

    sentence: str
    outcome: str
    """The key of the colour: `ok` when it is sure, `needs_input` when it is not."""
    how_sure: str
    changes: tuple[ChangeRow, ...]
    evidence: tuple[str, ...]
    """For several changes: how often it came out well with all but one of them."""
    reruns: str


def flip_plan(ready: SearchPlan, repeats: int) -> FlipPlan:
    """Return what a search will try."""
    took, changes = ready.estimate, ready.changes
    likely, each = took.likely_reruns, took.tokens_each
    untried = ", ".join(one_line(name, 60) for name in changes.untried)
    return FlipPlan(
        sentence=_what_is_tried(took.changes),
        changes=tuple(_rows(changes.changes)),
        cost=(
            f"{_how_many(likely, took.most_reruns)} ({repeats} of each); about {amount(each)} "
            f"tokens each, {amount(likely * each)} in all."
        ),
        untried=f"Different too, but no re-run can change it: {untried}." if untried else "",
        flow_changes=tuple(one_line(change, 300) for change in ready.told),
    )


def _what_is_tried(changes: int) -> str:
    if not changes:
        return (
            "The two differ in nothing that a re-run can change: run one of them several times to "
            "see whether it comes out by chance."
        )
    together = ", alone and together" if changes > 1 else ""
    return f"{count(changes, 'difference')} between the two can be tried{together}."


def _how_many(likely: int, most: int) -> str:
    if likely == most:
        return count(most, "re-run")
    return f"About {count(likely, 're-run')}, at most {amount(most)}"


def flip_answer(found: Cause) -> FlipAnswer:
    """Return what a search came to."""
    is_found = found.conclusion is Conclusion.FOUND
    return FlipAnswer(
        sentence=one_line(found.sentence, 1_000),
        outcome="ok" if found.is_sure else "needs_input",
        how_sure=_how_sure(found) if is_found else "",
        changes=tuple(_rows(found.changes)),
        evidence=tuple(
            f"With {', '.join(one_line(change.name, 60) for change in one.changes)} alone: "
            f"{one.trials.passed} of {one.trials.total} came out well."
            for one in found.without_one
        ),
        reruns=f"{count(found.reruns, 're-run')} in all; none of them is recorded.",
    )


def _how_sure(found: Cause) -> str:
    share = f"{100 * found.chance:.2g} % of cases"
    if found.is_sure:
        return f"If the change did nothing, so clear a difference would come by chance in {share}."
    return (
        f"Not sure: if the change did nothing, such a difference would still come by chance in "
        f"{share}. More repeats make it surer."
    )


def _rows(changes: Iterable[Change]) -> Iterable[ChangeRow]:
    for change in changes:
        before, after = (
            "nothing" if value in (None, "") else one_line(pretty(value), VALUE_CHARACTERS)
            for value in (change.before, change.after)
        )
        yield one_line(change.name, 60), before, after
