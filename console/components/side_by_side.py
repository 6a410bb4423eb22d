"""Two runs side by side: where they first part, which handoffs differ, and in what."""

from collections.abc import Callable, Sequence

from handoff_console.console.components.panel import Node, button, panel, pressed, status, tag
from handoff_console.console.viewmodels.attempts import RepeatsView
from handoff_console.console.viewmodels.comparison import ComparisonView, PairRow, RunView
from handoff_console.console.viewmodels.differences import DifferenceView, FigureLine, PairView
from handoff_console.console.viewmodels.text import count
from handoff_console.store.analysis.text_diff import Segment, Side

HEAD, ROWS, PAIR = "sides_head", "sides_rows", "sides_pair"
ROWS_SHOWN = 200
HEAD_CHARACTERS = 20
"""A longer name of a run does not fit above a column of figures."""
AROUND_CHARACTERS = 120
"""So much of what both sides have stands before and after what differs."""
DIFFERENCES_SHOWN = 10
"""Of one kind; the rest unfolds."""
LINES_SHOWN = 12
CHARACTERS_SHOWN = 800
"""So much of a value that only one side has, or that is another altogether; the rest unfolds."""


def show_head(
    view: ComparisonView, on_open: Callable[[], None], varies: RepeatsView | None = None
) -> None:
    """Draw both runs, and where they first part.

    Args:
        view: The comparison.
        on_open: Runs when one of the two was chosen.
        varies: The repeats that the right run is one of, where they came out differently: that is
            the answer then, and this one run an example.
    """
    outcome = "needs_input" if varies or view.first is not None else "ok"
    said = [tag("b.text", view.sentence)]
    if varies:
        often = f"{', '.join(f'{number} × {one}' for one, number in varies.outcomes)}: it varies."
        example = f"{view.right.name[:1].upper()}{view.right.name[1:]} is one of them. "
        said = [
            tag("b.text", f"{varies.name[:1].upper()}{varies.name[1:]} came out {often}"),
            tag("div.text", example + view.sentence),
        ]
    said.append(tag("div.small.quiet.text", f"{view.scope} · {view.counts}"))
    sides = tag("div.sides", _run(view.left, "left"), _run(view.right, "right"))
    verdict = tag("div.verdict", *said, outcome=outcome, role="status")
    panel(HEAD, [sides, verdict], on_action=on_open)


def chosen_side() -> str:
    """Return which run was just chosen, `left` or `right`; only inside `on_open`."""
    return pressed(HEAD) or ""


def show_rows(
    view: ComparisonView,
    rows: Sequence[PairRow],
    selected: int | None,
    height: str,
    on_pick: Callable[[], None],
) -> None:
    """Draw what both took, and the handoffs.

    Args:
        view: The comparison.
        rows: The handoffs to show.
        selected: The place of the one that is looked at.
        height: A CSS length.
        on_pick: Runs when another one was chosen (`picked_pair`).
    """
    names = view.left.name, view.right.name
    heads = names if max(map(len, names)) <= HEAD_CHARACTERS else ("left", "right")
    nodes: list[Node] = [_figures(view.figures, *heads)]
    nodes += [tag("p.small.text", sentence) for sentence in view.payoffs]
    if view.settings:
        nodes.append(tag("h3", "Settings that differ"))
        nodes += [_difference(one) for one in view.settings]
    nodes.append(tag("h3", "Handoffs"))
    if not rows:
        nodes.append(tag("p.quiet", "None differs."))
    nodes.append(tag("div", *(_row(row, row.place == selected) for row in rows[:ROWS_SHOWN])))
    if len(rows) > ROWS_SHOWN:
        nodes.append(tag("p.quiet", f"Showing {ROWS_SHOWN} of {len(rows):,}."))
    panel(ROWS, nodes, height=height, on_action=on_pick)


def picked_pair() -> int | None:
    """Return the place of the handoff that was just chosen; only inside `on_pick`."""
    action = pressed(ROWS) or ""
    return int(action) if action.isdigit() else None


def show_pair(pair: PairView | None, place: int | None) -> None:
    """Draw all that differs in one handoff; None says that there is nothing to choose."""
    if pair is None:
        panel(PAIR, [tag("p.quiet", "There is nothing that differs to look at.")])
        return
    nodes: list[Node] = [
        tag("div.row", tag("span.big.text", pair.title), tag("span.quiet.text", pair.route)),
        tag("p.quiet", pair.sentence),
    ]
    changed = [line for line in pair.figures if line.change]
    if changed:
        said = ", ".join(f"{line.name} {line.left} → {line.right}" for line in changed)
        nodes.append(tag("p.small.quiet.number", said))
    for heading, differences in pair.sections:
        nodes.append(tag("h3", f"{heading[:1].upper()}{heading[1:]}"))
        nodes += [_difference(one) for one in differences[:DIFFERENCES_SHOWN]]
        if len(differences) > DIFFERENCES_SHOWN:
            rest = [_difference(one) for one in differences[DIFFERENCES_SHOWN:]]
            said = count(len(rest), "more difference")
            nodes.append(tag("details", tag("summary.small", said), *rest))
    panel(PAIR, nodes, subject=f"pair {place}")


def _run(run: RunView, side: str) -> Node:
    limit = [tag("span.small.quiet", f"({run.limit})")] if run.limit else []
    return tag(
        "div.side",
        tag(
            "div.row",
            tag("b.text", run.name),
            tag("span.chip", run.how),
            status(run.outcome),
            *limit,
            button("Open", side, title=f"Open session {run.session_id}", link=True),
        ),
        *([tag("div.small.quiet.text.one-line", run.about, title=run.about)] if run.about else []),
        *(tag("div.small.text.one-line", edit, title=edit) for edit in run.edits),
        *([tag("div.small.text.problem", f"▲ {run.unanswered}")] if run.unanswered else []),
        *([tag("div.small.problem", run.waits, outcome="needs_input")] if run.waits else []),
    )


def _figures(lines: Sequence[FigureLine], left: str, right: str) -> Node:
    heads = [tag("th", name, scope="col") for name in ("", left, right, "change")]
    rows = [
        tag(
            "tr",
            tag("td.quiet", line.name),
            tag("td.number", line.left),
            tag("td.number", line.right),
            tag("td.number", line.change or "–"),
        )
        for line in lines
    ]
    return tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))


def _row(row: PairRow, is_selected: bool) -> Node:
    name = button(row.agent, str(row.place), title=row.label, link=True)
    outcomes = [status(one) for one in dict.fromkeys((row.left_outcome, row.right_outcome)) if one]
    arrow = [tag("span.quiet", "→")] if len(outcomes) > 1 else []
    first = [tag("span.chip", "first difference")] if row.is_first else []
    side = {"added": "only right", "removed": "only left"}.get(row.change, row.says or row.change)
    return tag(
        "div.pair.chosen" if is_selected else "div.pair",
        tag(
            "div.row",
            *([tag("span.quiet", "· " * row.depth)] if row.depth else []),
            name,
            outcomes[0] if outcomes else "",
            *arrow,
            *outcomes[1:],
            *first,
            tag("span.end.number.small.quiet", row.tokens_change and f"{row.tokens_change} tokens"),
        ),
        tag("div.small.quiet.text.one-line", f"{side} · {row.task}", title=row.task),
        aria_current="true" if is_selected else "false",
    )


def _difference(one: DifferenceView) -> Node:
    left = (one.left_is_there and one.left) or "nothing"
    right = (one.right_is_there and one.right) or "nothing"
    name = tag("span.small.quiet.text", one.name)
    if one.is_short:
        return tag(
            "div.difference",
            name,
            tag("del.text.gone", left),
            tag("span.quiet", "→"),
            tag("ins.text.came", right),
        )
    if one.segments:
        return tag("div.difference.long", name, tag("pre", *map(_segment, one.segments)))
    sides: list[Node] = []
    if one.left_is_there:
        sides += _folded("pre.gone", left)
    if one.right_is_there:
        sides += _folded("pre.came", right)
    return tag("div.difference.long", name, *sides)


def _folded(kind: str, text: str) -> list[Node]:
    """Return a text whose further part unfolds, so that what differs below stays in sight."""
    lines = text.split("\n")
    first = "\n".join(lines[:LINES_SHOWN])
    if len(lines) > LINES_SHOWN + 1 and len(first) <= CHARACTERS_SHOWN:
        said, rest = count(len(lines) - LINES_SHOWN, "more line"), "\n".join(lines[LINES_SHOWN:])
    elif len(text) > 2 * CHARACTERS_SHOWN:
        first, rest = text[:CHARACTERS_SHOWN], text[CHARACTERS_SHOWN:]
        said = count(len(rest), "more character")
    else:
        return [tag(kind, text)]
    return [tag(kind, first), tag("details", tag("summary.small", said), tag(kind, rest))]


def _segment(part: Segment) -> Node:
    if part.side is Side.BOTH:
        return _shortened(part.text)
    return tag("del.gone" if part.side is Side.LEFT else "ins.came", part.text)


def _shortened(text: str) -> str:
    """Return what both sides have, with the middle of a long stretch left out."""
    left_out = len(text) - 2 * AROUND_CHARACTERS
    if left_out < AROUND_CHARACTERS:
        return text
    return (
        f"{text[:AROUND_CHARACTERS]}\n[… {left_out:,} characters that are the same …]\n"
        f"{text[-AROUND_CHARACTERS:]}"
    )
