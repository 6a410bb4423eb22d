"""The top of a comparison on the page: warnings, the verdict in words, three tiles."""

from collections.abc import Iterable, Sequence

from handoff_console.console.components.compare_panel import compare_panel, figure_table
from handoff_console.console.components.panel import Node, tag
from handoff_console.console.viewmodels.compare_page import (
    ComparisonHead,
    TileView,
    VerdictView,
)
from handoff_console.console.viewmodels.compare_pairs import PairLine


def show_comparison_head(head: ComparisonHead) -> None:
    """Draw what was compared, what the gate says, and the figures that matter first."""
    nodes = [
        tag(
            "div.row",
            tag("span.heading", head.heading),
            tag("b.text", f"{head.a} → {head.b}"),
            tag("span.quiet.small.text", " · ".join(head.facts)),
        )
    ]
    if head.banner:
        nodes.append(tag("div.small.quiet", head.banner))
    nodes += [
        tag("div.small.warning.text", f"⚠ {it}", outcome="needs_input") for it in head.warnings
    ]
    nodes.append(verdict_node(head.verdict))
    if head.best:
        nodes.append(tag("div.best.text", head.best, title=head.best_note))
    nodes.append(tiles_node(head.first))
    compare_panel("comparison_head", nodes)


def verdict_node(verdict: VerdictView) -> Node:
    """Return the verdict: sign, word, sentence, and why."""
    return tag(
        "div.verdict",
        tag("div.word", f"{verdict.sign} {verdict.word}"),
        tag("div.sentence.text", verdict.sentence),
        *(tag("div.small.quiet.text", reason) for reason in verdict.reasons),
        outcome=verdict.tone,
        role="status",
    )


def tiles_node(tiles: Sequence[TileView]) -> Node:
    """Return figures as tiles: before → after, and whether that is a difference."""
    return tag("div.tiles", *map(_tile, tiles))


def show_other_figures(key: str, tiles: Iterable[TileView], names: tuple[str, str]) -> None:
    """Draw the figures that stand under the first ones, a row each."""
    rows = [
        (
            tile.name,
            f"{tile.a} {tile.a_range}".strip(),
            f"{tile.b} {tile.b_range}".strip(),
            tile.change or "–",
            " · ".join(filter(None, (f"{tile.sign} {tile.word}".strip(), tile.note))),
        )
        for tile in tiles
    ]
    compare_panel(key, [figure_table(("", *names, "difference", ""), rows)])


def show_pair_lines(
    key: str, lines: Iterable[PairLine], names: tuple[str, str], note: str = ""
) -> None:
    """Draw figures of both sides with what each means, and a sentence under them."""
    rows = [(line.name, line.a, line.b, line.meaning) for line in lines]
    nodes = [figure_table(("", *names, ""), rows)]
    if note:
        nodes.append(tag("p.quiet.small", note))
    compare_panel(key, nodes)


def _tile(tile: TileView) -> Node:
    ranges = " → ".join(filter(None, (tile.a_range, tile.b_range)))
    judged = f"{tile.sign} {tile.word}".strip()
    return tag(
        "div.tile",
        tag("div.small.quiet.text", tile.name),
        tag(
            "div.values",
            tag("span.value.before", tile.a),
            tag("span.quiet", "→"),
            tag("span.value", tile.b),
            tag("span.judged.small", judged, outcome=tile.tone),
        ),
        *([tag("div.small.number", tile.change)] if tile.change else []),
        *([tag("div.small.quiet.number", ranges)] if ranges else []),
        *([tag("div.small.quiet.text", tile.note)] if tile.note else []),
    )
