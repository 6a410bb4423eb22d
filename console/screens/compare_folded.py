"""What stands folded under a comparison: each part is made when it is opened."""

from collections.abc import Callable

import streamlit as st

from handoff_console.console import compare_queries, state
from handoff_console.console import compare_state as where
from handoff_console.console.components.compare_head import show_other_figures, show_pair_lines
from handoff_console.console.components.compare_panel import compare_panel, figure_table
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.figures.cost import cost_figure
from handoff_console.console.figures.dumbbell import dumbbell_figure
from handoff_console.console.figures.misroutes import misroutes_figure
from handoff_console.console.figures.threshold import threshold_figure
from handoff_console.console.figures.trend import trend_figure
from handoff_console.console.viewmodels.compare_figures import (
    MEASURE_WORDS,
    Measure,
    Trend,
    agent_pairs,
    cost_points,
    cost_words,
    threshold_curves,
    threshold_lines,
)
from handoff_console.console.viewmodels.compare_page import comparison_head
from handoff_console.console.viewmodels.compare_pairs import (
    abstention_lines,
    fork_lines,
    stability_lines,
    stability_note,
    worth_saying,
)
from handoff_console.console.viewmodels.compare_rows import cell_words, matching
from handoff_console.console.viewmodels.routing_matrix import difference_view, matrix_view
from handoff_console.console.viewmodels.text import count, one_line
from handoff_console.store.analysis.comparison.result import Comparison

PLAIN = {"displayModeBar": False}
Names = tuple[str, str]


def show(found: Comparison) -> None:
    """Draw the folded parts; those that have nothing to say are left out."""
    names = (one_line(found.a.label, 40), one_line(found.b.label, 40))
    _fold("Where requests went: misroutes of A and B, and B − A", "misroutes", _misroutes, found)
    if found.agents:
        _fold("Agent by agent: recall and precision", "agents", _agents, found)
    if worth_saying(abstention_lines(found)):
        _fold(
            "Requests that nobody is for: abstention, apart from accuracy",
            "abstain",
            _abstain,
            found,
        )
    if threshold_curves(found):
        _fold("What a threshold would do", "threshold", _threshold, found)
    if worth_saying(fork_lines(found)):
        _fold(
            "Messages that ask for several things: fork coverage",
            "forks",
            lambda it: show_pair_lines("forks", fork_lines(it), names),
            found,
        )
    if comparison_head(found).others:
        _fold(
            "Handoffs, churn, completeness, time and tokens",
            "others",
            lambda it: show_other_figures("others", comparison_head(it).others, names),
            found,
        )
    _fold("Stability over trials", "stability", _stability, found)
    _fold("Every change between the two versions", "changes", _changes, found)
    _fold("Cost against accuracy, and earlier experiments on these cases", "trend", _trend, found)


def _fold(title: str, key: str, draw: Callable[[Comparison], None], found: Comparison) -> None:
    with st.expander(title, key=f"fold-{key}", on_change="rerun") as fold:
        if fold.open:
            draw(found)


def _misroutes(found: Comparison) -> None:
    a, b = matrix_view(found.matrix_a), matrix_view(found.matrix_b)
    change = difference_view(found.matrix_difference, found.matrix_a)
    titles = (
        (one_line(found.a.label, 40), "a", a),
        (one_line(found.b.label, 40), "b", b),
        ("B − A: what changed", "", change),
    )
    how = (
        "Row: who should get it. Column: where it went. Framed: right. Click a cell to see its "
        "cases above."
    )
    nodes = [tag("p.small.quiet", how)]
    wanted = where.wanted_cases()
    cell = cell_words(wanted, (titles[0][0], titles[1][0]))
    if cell:
        shown = count(len(matching(found, wanted)), "case")
        nodes.append(tag("p.small.text", f"Shown above: {shown} ({cell})."))
    compare_panel("misroutes_how", nodes)
    wide = any(view.is_wide for _, _, view in titles)
    places = [st.container() for _ in titles] if wide else st.columns(3)
    for column, (title, side, view) in zip(places, titles, strict=True):
        with column:
            panel(f"matrix_title_{side}", [tag("b.text", title)])
            st.plotly_chart(
                misroutes_figure(view, dark=state.is_dark()),
                key=f"matrix-{side}",
                on_select=lambda side=side: _on_cell(side),
                selection_mode="points",
                config=PLAIN,
                alt=view.summary,
            )
            panel(f"matrix_says_{side}", [tag("p.small.text", view.summary)])


def _on_cell(side: str) -> None:
    chosen = st.session_state.get(f"matrix-{side}") or {}
    points = chosen.get("selection", {}).get("points", [])
    if points:
        expected, decided = points[0]["customdata"]
        where.want_cell(side, expected, decided)


def _agents(found: Comparison) -> None:
    names = (one_line(found.a.label, 40), one_line(found.b.label, 40))
    panel(
        "agents_legend",
        [
            tag(
                "p.small.quiet.text",
                f"○ {names[0]}   ◆ {names[1]}, each with its 95 % interval. "
                "Recall: ▲ ▼ beside a name is a change beyond chance (after Holm), = cannot be "
                "told.",
            )
        ],
    )
    measures: tuple[Measure, ...] = ("recall", "precision")
    for column, measure in zip(st.columns(2), measures, strict=True):
        with column:
            pairs = agent_pairs(found.agents, measure)
            panel(f"agents_{measure}", [tag("b", MEASURE_WORDS[measure])])
            st.plotly_chart(
                dumbbell_figure(pairs, names, dark=state.is_dark()),
                key=f"dumbbell-{measure}",
                config=PLAIN,
                alt="; ".join(pair.title for pair in pairs),
            )


def _abstain(found: Comparison) -> None:
    names = (one_line(found.a.label, 40), one_line(found.b.label, 40))
    show_pair_lines("abstention", abstention_lines(found), names)


def _threshold(found: Comparison) -> None:
    curves = threshold_curves(found)
    top = max((point.threshold for curve in curves for point in curve.points), default=0.0)
    threshold = st.slider(
        "An agent has to score at least",
        0.0,
        float(top) or 1.0,
        float(max(_threshold_now(found), 0.0)),
        key="threshold",
    )
    lines = threshold_lines(curves, threshold)
    rows = [(it.name, it.handed_off, it.right, it.held_back) for it in lines]
    heads = ("", "handed off", "right when handed off", "held back, of those nobody is for")
    compare_panel("threshold_says", [figure_table(heads, rows)])
    st.plotly_chart(
        threshold_figure(curves, threshold, dark=state.is_dark()),
        key="threshold_chart",
        config=PLAIN,
        alt="; ".join(" ".join(row) for row in rows),
    )


def _threshold_now(found: Comparison) -> float:
    return max((text.threshold for text in found.b.agents.values()), default=0.0)


def _stability(found: Comparison) -> None:
    names = (one_line(found.a.label, 40), one_line(found.b.label, 40))
    show_pair_lines("stability", stability_lines(found), names, stability_note(found))


def _changes(found: Comparison) -> None:
    from handoff_console.console.components.compare_case import change_nodes
    from handoff_console.console.viewmodels.compare_case import all_changes

    changes = all_changes(found)
    nodes = [node for change in changes for node in change_nodes(change)]
    same = tag("p.quiet", "No difference: both versions say the same of every agent.")
    compare_panel("all_changes", nodes or [same])


def _trend(found: Comparison) -> None:
    trend = Trend(compare_queries.trend(found))
    _cost(found, trend)
    if len({point.experiment_id for point in trend.points}) < 2:
        panel(
            "trend_says",
            [tag("p.quiet", "This is the first experiment of its kind on these cases.")],
        )
        return
    compared = (found.a, found.b)
    names = [line.name for line in trend.lines(compared)]
    panel("trend_title", [tag("b", "Right first time, experiment by experiment")])
    st.plotly_chart(
        trend_figure(trend, compared, dark=state.is_dark()),
        key="trend_chart",
        config=PLAIN,
        alt=f"Labelled accuracy of {', '.join(names)} over experiments",
    )


def _cost(found: Comparison, trend: Trend) -> None:
    points = cost_points(trend.points, (found.a, found.b))
    rows = [(point.name, point.right_words, point.tokens_words) for point in points]
    heads = ("", "right first time", "tokens a case (median)")
    how = tag("p.small.quiet", cost_words(points))
    compare_panel("cost_says", [how, figure_table(heads, rows)])
    st.plotly_chart(
        cost_figure(points, trend.versions, dark=state.is_dark()),
        key="cost_chart",
        config=PLAIN,
        alt="; ".join(
            f"{name}: {right} right, {tokens} tokens a case" for name, right, tokens in rows
        ),
    )
