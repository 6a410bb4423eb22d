"""The attempts of a handoff side by side: each is opened, compared or run again from here."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from handoff_console.console.components.panel import Node, button, panel, pressed, status, tag
from handoff_console.console.viewmodels.attempts import AttemptChip, AttemptStrip, RepeatsView

STRIP, LINE = "attempts", "attempts_line"
SHOWN, SHOWN_ON_LINE = 12, 6
"""Of more attempts, the first one, the one that is looked at, and the newest are drawn; how many
are left out is said, and a click brings them into sight."""
MORE = "more"
"""What the reader wants who wants to see attempts that are left out."""


class Chosen(NamedTuple):
    """What the reader wants with an attempt."""

    what: str
    """`open`, `compare`, or `more`: to see the attempts from this one on."""
    number: int


def attempts_strip(
    strip: AttemptStrip,
    on_choice: Callable[[], None],
    *,
    first_shown: int | None = None,
    with_repeats: bool = True,
) -> None:
    """Draw the attempts.

    Args:
        strip: The attempts.
        on_choice: Runs when something was chosen (`chosen_attempt`).
        first_shown: From this number on; None shows the newest.
        with_repeats: Also how those fared that were made alike.
    """
    chips = _in_sight(strip.chips, SHOWN, first_shown)
    cards: list[Node] = []
    for before, chip in zip((None, *chips), chips, strict=False):
        cards += _left_out(before, chip)
        cards.append(_card(chip))
    head = tag("div.row.small", tag("b", "Attempts"), tag("span.quiet", strip.sentence))
    groups = [_repeats(group) for group in strip.repeats] if with_repeats else []
    panel(STRIP, [head, tag("div.strip", *cards), *groups], on_action=on_choice)


def attempts_line(
    strip: AttemptStrip,
    on_choice: Callable[[], None],
    *,
    first_shown: int | None = None,
    with_repeats: bool = False,
    to_compare: bool = False,
    shown: int = SHOWN_ON_LINE,
) -> None:
    """Draw the attempts one after the other, each with how it was made and how it came out.

    Args:
        strip: The attempts.
        on_choice: Runs when one was chosen (`chosen_attempt`).
        first_shown: From this number on; None shows the newest.
        with_repeats: Also how those fared that were made alike.
        to_compare: A click compares an attempt with the one it repeats; otherwise it opens it.
        shown: So many of them, and the one that is looked at.
    """
    chips = _in_sight(strip.chips, shown, first_shown)
    nodes: list[Node] = [tag("span.quiet.small", "Attempts")]
    for before, chip in zip((None, *chips), chips, strict=False):
        nodes += _left_out(before, chip)
        name = f"{chip.number} {chip.how}"
        selected = tag("b.small", name) if chip.is_selected else None
        act = "compare" if to_compare and chip.compared_with is not None else "open"
        opens = button(name, f"{act} {chip.number}", title=f"{act}: {chip.title}", link=True)
        nodes.append(tag("span.key", selected or opens, status(chip.outcome), title=chip.title))
        if chip.is_selected and chip.compared_with is not None and not to_compare:
            what = f"Compare with attempt {chip.compared_with}"
            nodes.append(button("compare", f"compare {chip.number}", title=what, link=True))
    groups = [_repeats(group) for group in strip.repeats] if with_repeats else []
    panel(LINE, [tag("div.attempts-line", *nodes), *groups], on_action=on_choice)


def chosen_attempt(key: str = LINE) -> Chosen | None:
    """Return what was just chosen in the line or the strip; only inside `on_choice`."""
    what, _, number = (pressed(key) or "").partition(" ")
    return Chosen(what, int(number)) if number.isdigit() else None


def _in_sight(
    chips: Sequence[AttemptChip], shown: int, first_shown: int | None
) -> Sequence[AttemptChip]:
    """Return the first attempt, the one that is looked at, and the newest, or those asked for.

    Where there are no more than `shown`, none is left out.
    """
    if len(chips) <= shown:
        return chips
    last_place = max(len(chips) - shown + 2, 0)
    place = last_place if first_shown is None else min(max(first_shown - 1, 0), last_place)
    kept = {chip.number for chip in (*chips[:1], *chips[place : place + shown - 2], *chips[-1:])}
    kept |= {chip.number for chip in chips if chip.is_selected}
    # To say that one is left out takes the room of that one.
    kept |= {number for number in range(1, len(chips)) if {number - 1, number + 1} <= kept}
    return [chip for chip in chips if chip.number in kept]


def _left_out(before: AttemptChip | None, chip: AttemptChip) -> list[Node]:
    """Return how many attempts stand between two that are drawn; nothing where none does."""
    between = chip.number - before.number - 1 if before else 0
    if not before or not between:
        return []
    said = f"… {between:,} more …"
    which = f"Show attempts {before.number + 1} to {chip.number - 1}"
    return [button(said, f"{MORE} {before.number + 1}", title=which, link=True)]


def _card(chip: AttemptChip) -> Node:
    limit = f" ({chip.limit})" if chip.limit else ""
    lines = [
        tag("div.row.small", tag("b", str(chip.number)), tag("span.chip", chip.how)),
        tag("div.row", status(chip.outcome), tag("span.small.quiet", limit)),
        *(tag("div.small.text.one-line", edit, title=edit) for edit in chip.edits[:EDITS_SHOWN]),
    ]
    if len(chip.edits) > EDITS_SHOWN:
        more = "\n".join(chip.edits[EDITS_SHOWN:])
        lines.append(
            tag("div.small.quiet", f"and {len(chip.edits) - EDITS_SHOWN} more changes", title=more)
        )
    lines += [
        tag("div.small.quiet.number", " · ".join(filter(None, (chip.steps, chip.duration)))),
        tag("div.small.quiet.number", chip.tokens),
        tag("div.small.quiet.number", chip.ran),
    ]
    lines += [tag("div.small.quiet", said) for said in (chip.result, chip.diverged) if said]
    acts = [button("Open", f"open {chip.number}", title=f"Open {chip.name}", link=True)]
    if chip.compared_with is not None:
        with_what = f"Compare with attempt {chip.compared_with}"
        acts.append(button("Compare", f"compare {chip.number}", title=with_what, link=True))
    kind = "div.attempt.chosen" if chip.is_selected else "div.attempt"
    return tag(kind, *lines, tag("div.row.small.acts", *acts), title=chip.title)


EDITS_SHOWN = 3


def _repeats(group: RepeatsView) -> Node:
    outcomes = ", ".join(f"{number} × {outcome}" for outcome, number in group.outcomes)
    rest = " · ".join(filter(None, (outcomes, group.tokens, group.duration, group.spent)))
    bar: list[Node] = []
    if group.share is not None:
        bar = [
            tag(
                "span.gauge.wide",
                tag("span.band", style_from=f"{group.low:.3f}", style_share=_width(group)),
                tag("span.mark", style_from=f"{group.share:.3f}"),
                title=f"{group.share:.0%} came out ok; the band is where the true share lies",
            )
        ]
    return tag(
        "div.repeats.small",
        tag("b", f"{group.name[:1].upper()}{group.name[1:]}"),
        *bar,
        tag("span", group.sentence),
        tag("span.quiet.number", rest),
    )


def _width(group: RepeatsView) -> str:
    return f"{group.high - group.low:.3f}"
