"""The top of a comparison, its figures and its curves, in words."""

from dataclasses import replace

import plotly.graph_objects as go
import pytest
from support.comparisons import CASES, V2, experiment, version

from handoff_console.console.figures.cost import cost_figure
from handoff_console.console.figures.dumbbell import dumbbell_figure
from handoff_console.console.figures.threshold import threshold_figure
from handoff_console.console.figures.trend import trend_figure
from handoff_console.console.viewmodels.compare_figures import (
    Trend,
    agent_pairs,
    cost_points,
    cost_words,
    threshold_curves,
    threshold_lines,
    trend_title,
)
from handoff_console.console.viewmodels.compare_page import (
    comparison_head,
    tile_view,
    verdict_view,
)
from handoff_console.console.viewmodels.compare_pairs import (
    abstention_lines,
    fork_lines,
    stability_lines,
    stability_note,
    worth_saying,
)
from handoff_console.store.analysis.comparison.compare import comparison
from handoff_console.store.analysis.comparison.result import (
    Direction,
    Interval,
    Outcome,
    Tile,
    TrendPoint,
)
from handoff_console.store.analysis.comparison.trend import trend_points
from handoff_console.store.analysis.proportions import proportion
from handoff_console.store.analysis.quantiles import Median, median_of


def compared(made=None):
    return comparison(made or experiment(), "v2", "v3")


def test_an_offline_score_stands_under_its_own_heading_and_says_what_it_is_not():
    head = comparison_head(compared())

    assert head.heading == "How separable are your descriptions"
    assert head.banner.startswith("Not a language model")
    assert not any("Not a language model" in warning for warning in head.warnings)


def test_a_models_score_is_called_routing():
    made = experiment()
    live = tuple(replace(it, offline=False, model="openai:gpt-5") for it in made.versions)

    head = comparison_head(compared(replace(made, versions=live)))

    assert (head.heading, head.banner) == ("Which version routes better", "")


def test_the_head_names_versions_data_model_mode_and_time():
    head = comparison_head(compared())

    assert (head.a, head.b) == ("v2", "v3")
    assert head.facts == (
        "desk · 8 cases · 01234567",
        "flow desk",
        "model offline:bm25",
        "first decision only",
        "2026-11-30 00:53:20 UTC",
    )


def test_the_three_figures_that_matter_stand_first():
    head = comparison_head(compared())

    assert [tile.name for tile in head.first] == [
        "Right first time",
        "Held back what nobody is for",
        "Held back what somebody is for",
    ]
    assert (head.first[0].a, head.first[0].b) == ("50.0 %", "62.5 %")
    assert head.first[0].word == "cannot tell"
    assert (head.first[1].sign, head.first[1].word) == ("=", "no difference")


@pytest.mark.parametrize(
    ("outcome", "direction", "word", "sign"),
    [
        (Outcome.PASS, Direction.BETTER, "Better", "▲"),
        (Outcome.PASS, Direction.NO_DIFFERENCE, "No difference", "="),
        (Outcome.PASS, Direction.UNCLEAR, "No worse", "="),
        (Outcome.PASS, Direction.WORSE, "Slightly worse, within the margin", "▼"),
        (Outcome.INCONCLUSIVE, Direction.UNCLEAR, "Cannot tell", "?"),
        (Outcome.FAIL, Direction.WORSE, "Worse", "▼"),
        (Outcome.FAIL, Direction.BETTER, "Does not pass", "✕"),
        (Outcome.INCOMPLETE, Direction.UNCLEAR, "Not complete", "◌"),
        (Outcome.NO_TEST, Direction.UNCLEAR, "Cannot be compared", "–"),
    ],
)
def test_a_tie_that_passes_reads_unlike_a_winner(outcome, direction, word, sign):
    found = replace(compared().verdict, outcome=outcome, direction=direction)

    view = verdict_view(found)

    assert (view.word, view.sign) == (word, sign)
    assert view.sentence == found.sentence


@pytest.mark.parametrize(
    ("tile", "sign", "word", "change"),
    [
        (
            Tile("t", "T", 0.5, 0.7, "share", True, Interval(20, 5, 35)),
            "▲", "better", "+20.0 points [+5.0, +35.0]",
        ),
        (
            Tile("t", "T", 0.5, 0.7, "share", False, Interval(20, 5, 35)),
            "▼", "worse", "+20.0 points [+5.0, +35.0]",
        ),
        (
            Tile("t", "T", 0.5, 0.55, "share", True, Interval(5, -5, 15)),
            "?", "cannot tell", "+5.0 points [−5.0, +15.0]",
        ),
        (
            Tile("t", "T", 40, 40, "tokens", False, Interval(0, 0, 0)),
            "=", "no difference", "±0 tokens [±0, ±0]",
        ),
        (Tile("t", "T", 1.5, 1.25, "handoffs", False), "", "lower", "−0.25"),
        (Tile("t", "T", None, 1.25, "handoffs", False), "", "not measured", ""),
    ],
)  # fmt: skip
def test_a_figure_says_whether_it_is_a_difference(tile, sign, word, change):
    view = tile_view(tile)

    assert (view.sign, view.word, view.change) == (sign, word, change)


def test_abstention_is_said_apart_from_accuracy():
    lines = {line.name: (line.a, line.b) for line in abstention_lines(compared())}

    assert lines["Held back what nobody is for"] == (
        "100.0 % of 1 [21 to 100 %]",
        "100.0 % of 1 [21 to 100 %]",
    )
    assert lines["Right when it handed off"][0].startswith("42.9 % of 7")


def test_forks_and_stability_have_their_words():
    found = compared()

    assert fork_lines(found)[0].a == "50.0 %"
    assert fork_lines(found)[0].b == "100.0 %"
    assert [line.name for line in stability_lines(found)] == ["Right in one run"]
    assert stability_note(found) == ("v2 and v3 always answer the same: one trial stands for all.")


def test_what_nobody_measured_is_not_worth_saying():
    single = [case for case in CASES if not case.expected_all]
    made = experiment(["billing"] * 7, ["orders"] * 7, cases=single)

    assert not worth_saying(fork_lines(compared(made))[:2])


def test_agents_are_pairs_of_shares_with_a_sign():
    found = compared()

    pairs = {pair.agent: pair for pair in agent_pairs(found.agents, "recall")}
    assert (pairs["billing"].a.passed, pairs["billing"].b.passed) == (2, 1)
    assert pairs["billing"].mark == "="
    assert {pair.mark for pair in agent_pairs(found.agents, "precision")} == {""}
    figure = dumbbell_figure(tuple(pairs.values()), ("v2", "v3"), dark=True)
    assert len(go.Figure(figure).data) == 3
    assert figure["layout"]["yaxis"]["ticktext"] == ["billing =", "orders =", "tech ="]


def test_a_threshold_says_what_each_version_would_do():
    curves = threshold_curves(compared())

    low, high = threshold_lines(curves, 0.0), threshold_lines(curves, 99.0)
    assert [line.name for line in low] == ["v2", "v3"]
    assert low[0].handed_off.startswith("100.0 %")
    assert high[0].handed_off.startswith("0.0 %")
    figure = threshold_figure(curves, 1.0, dark=False)
    assert len(go.Figure(figure).data) >= 4


def test_a_router_without_scores_has_no_threshold():
    made = experiment()
    bare = {label: tuple(replace(it, scores=()) for it in of) for label, of in made.trials.items()}

    assert threshold_curves(compared(replace(made, trials=bare))) == ()


def test_the_trend_has_a_line_for_each_version():
    points = tuple(
        TrendPoint(f"e{n}", 1_796_000_000.0 + n, label, "h", "offline:bm25", proportion(n, 4))
        for n in (1, 2)
        for label in ("v2", "<b>v3</b>")
    )

    trend = Trend(points)

    assert trend.versions == ("v2", "<b>v3</b>")
    figure = go.Figure(trend_figure(trend, (), dark=True))
    assert [trace.name for trace in figure.data] == ["v2", "&lt;b&gt;v3&lt;/b&gt;"]
    assert figure.data[0].hovertext[0] == (
        "v2, 2026-11-30 00:53:21 UTC: 25.0 % of 4 [5 to 70 %]; offline:bm25"
    )
    assert trend_title(replace(points[0], is_baseline=True), "v2").startswith("v2, the baseline, ")


def test_two_texts_of_one_label_are_two_lines():
    """v2 ran twice, was edited and ran again: its score has not changed, it is another version."""
    points = [cost_point(n, "v2", None, n, text) for n, text in ((1, "a"), (2, "a"), (3, "b"))]

    figure = go.Figure(trend_figure(Trend((*points,)), (compared_text("v2", "b"),), dark=False))

    drawn = [(it.name, len(it.x), it.line.dash, it.marker.symbol) for it in figure.data]
    assert drawn == [
        ("v2, earlier text", 2, "dot", "circle-open"),
        ("v2", 1, "solid", "circle"),
    ]
    assert figure.data[0].line.color == figure.data[1].line.color
    assert figure.data[0].hovertext[0].startswith("v2, earlier text, ")


def compared_text(label, version_hash, model="offline:bm25"):
    return replace(version(label, V2), version_hash=version_hash, model=model)


def cost_point(number, label, tokens, right=6, version_hash="h", model="offline:bm25"):
    return TrendPoint(
        f"e{number}", 1.0 + number, label, version_hash, model, proportion(right, 8),
        offline=True, tokens=tokens, tokens_estimated=True,
    )  # fmt: skip


def test_cost_stands_beside_accuracy_once_a_version_the_cheapest_first():
    points = [
        cost_point(1, "<b>v3</b>", Median(1_090.0, 1_060.0, 1_120.0, 8)),
        cost_point(1, "v2", Median(744.0, 744.0, 744.0, 8), right=4),
        cost_point(2, "v2", Median(744.0, 744.0, 744.0, 8), right=5),
        cost_point(2, "v2", Median(700.0, 690.0, 710.0, 8), version_hash="edited"),
        cost_point(2, "v4", None),
    ]

    found = cost_points(points, (compared_text("v2", "edited"), compared_text("v4", "h")))

    assert [(it.name, it.right_words, it.tokens_words, it.is_shown) for it in found] == [
        ("v2", "75.0 % of 8 [41 to 93 %]", "700 [690 to 710], estimated", True),
        ("v2, earlier text", "62.5 % of 8 [31 to 86 %]", "744, estimated", False),
        ("<b>v3</b>", "75.0 % of 8 [41 to 93 %]", "1,090 [1,060 to 1,120], estimated", False),
    ]
    figure = go.Figure(cost_figure(found, ("<b>v3</b>", "v2", "v4"), dark=False))
    assert [trace.name for trace in figure.data] == [
        "v2",
        "v2, earlier text",
        "&lt;b&gt;v3&lt;/b&gt;",
    ]
    assert [trace.marker.size for trace in figure.data] == [12, 8, 8]
    assert [trace.marker.symbol for trace in figure.data] == ["diamond", "diamond", "circle"]
    assert (figure.data[2].error_x.arrayminus, figure.data[2].error_x.array) == ((30.0,), (30.0,))


def names_of_texts(shown, *points):
    """Return what the texts of labels are called, the one that ran first before the others."""
    of = [
        cost_point(n, "v2", Median(n, n, n, 8), version_hash=text, model=model)
        for n, (text, model) in enumerate(points)
    ]
    return [it.name for it in cost_points(of, [compared_text("v2", *one) for one in shown])]


BM25, SMALL = "offline:bm25", "openai:small"


def test_each_text_of_a_label_is_told_by_how_far_it_is_from_the_one_that_is_compared():
    ran = [("a", BM25), ("b", BM25), ("c", BM25)]

    assert names_of_texts([("c", BM25)], *ran) == ["v2, 2 texts earlier", "v2, earlier text", "v2"]
    assert names_of_texts([("b", BM25)], *ran) == ["v2, earlier text", "v2", "v2, later text"]
    assert names_of_texts([], *ran) == ["v2, 2 texts earlier", "v2, earlier text", "v2"]


def test_a_text_that_ran_again_last_is_not_called_an_earlier_one():
    ran = [("a", BM25), ("b", BM25), ("a", BM25)]

    assert names_of_texts([("a", BM25)], *ran) == ["v2, earlier text", "v2"]


def test_texts_are_counted_for_each_model_by_itself():
    ran = [("a", BM25), ("b", SMALL), ("c", SMALL)]

    assert names_of_texts([("a", BM25)], *ran) == [
        "v2, offline:bm25",
        "v2, earlier text, openai:small",
        "v2, openai:small",
    ]


@pytest.mark.parametrize(
    ("cases", "ending"),
    [
        (6, "Lines are 95 % intervals."),
        (5, "Lines are 95 % intervals; those of tokens go from the least to the most under 6 "
         "cases."),
    ],
)  # fmt: skip
def test_a_line_over_a_handful_of_cases_is_not_called_an_interval_that_holds(cases, ending):
    few = median_of([float(number) for number in range(cases)])

    assert cost_words(cost_points([cost_point(1, "v2", few)], ())).endswith(ending)


def test_an_experiment_has_a_point_for_each_version():
    points = trend_points(experiment())

    assert [(it.label, it.accuracy.passed, it.accuracy.total) for it in points] == [
        ("v2", 4, 8),
        ("v3", 5, 8),
    ]
    assert {(it.tokens, it.offline, it.tokens_estimated) for it in points} == {
        (Median(40.0, 40.0, 40.0, 8), True, True)
    }


def test_versions_that_say_the_same_are_not_called_a_tie_of_numbers():
    made = experiment()
    same = version("v3", V2, routing_hash="routing-of-v2")

    head = comparison_head(compared(replace(made, versions=(made.versions[0], same))))

    assert head.verdict.word == "Cannot be compared"
    assert "invisible to the offline model" in head.verdict.sentence


def test_the_figure_of_accuracy_never_says_more_than_the_test():
    found = compared()
    sure = replace(found.tiles[0], difference=Interval(5.0, 0.4, 9.6))

    head = comparison_head(replace(found, tiles=(sure, *found.tiles[1:])))

    assert found.verdict.direction is Direction.UNCLEAR
    assert head.first[0].word == "cannot tell"


def test_a_difference_over_fewer_cases_than_its_sides_says_so():
    tile = Tile(
        "observed", "Never handed on", 0.5, 0.6, "share", True, Interval(5, -1, 11),
        proportion(5, 10), proportion(9, 15), "of 10 and 15",
    )  # fmt: skip

    assert tile_view(tile).note == "of 10 and 15; the difference is of those that both have"
