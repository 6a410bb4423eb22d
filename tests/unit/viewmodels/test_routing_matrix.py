"""The misroute matrix in words, and what of it is right."""

import plotly.graph_objects as go
import pytest

from handoff_console.console.figures.misroutes import misroutes_figure
from handoff_console.console.viewmodels.routing_matrix import (
    difference_view,
    is_right,
    matrix_view,
    place_word,
)
from handoff_console.store.analysis.comparison.result import Matrix

ROWS = ("billing", "orders", "abstain")
COLUMNS = ("billing", "orders", "abstain", "verbal")
A = Matrix(ROWS, COLUMNS, ((8, 2, 0, 0), (3, 5, 0, 1), (1, 0, 4, 0)))
B = Matrix(ROWS, COLUMNS, ((9, 1, 0, 0), (0, 9, 0, 0), (2, 0, 3, 0)))
DIFFERENCE = Matrix(ROWS, COLUMNS, ((1, -1, 0, 0), (-3, 4, 0, -1), (1, 0, -1, 0)))
NOTHING = Matrix(ROWS, COLUMNS, ((0, 0, 0, 0),) * 3)


def cell(view, expected, decided):
    return next(it for it in view.cells if (it.expected, it.decided) == (expected, decided))


def test_the_summary_names_what_is_wrong_most_often():
    assert matrix_view(A).summary == (
        "17 of 24 cases went where they should. Most often wrong: orders → billing, 3 cases."
    )


def test_a_cell_says_how_many_of_its_row_and_where_they_went():
    found = cell(matrix_view(A), "orders", "verbal")

    assert (found.text, found.is_right) == ("1", False)
    assert found.title == "1 case of 9 for orders (11%): only said so instead"


def test_the_difference_names_what_became_better_and_what_worse():
    view = difference_view(DIFFERENCE, A)

    assert view.summary == (
        "Less often wrong: orders → billing (−3); more often wrong: nobody → billing (+1)."
    )
    assert cell(view, "orders", "orders").text == "+4"
    assert cell(view, "billing", "abstain").text == ""


def test_no_difference_is_stated():
    assert difference_view(NOTHING, A).summary == (
        "Both send as many cases from everywhere to everywhere: no difference."
    )


def test_without_a_case_there_is_nothing_to_say():
    assert matrix_view(NOTHING).summary == "There is no labelled case."


@pytest.mark.parametrize(
    ("expected", "decided", "right"),
    [
        ("billing", "billing", True),
        ("billing or orders", "orders", True),
        ("billing", "billing + orders", False),
        ("billing + orders", "orders + billing", True),
        ("billing + orders", "billing", False),
        ("abstain", "abstain", True),
        ("abstain", "none", False),
    ],
)
def test_a_decision_is_right_when_it_is_what_the_label_asks_for(expected, decided, right):
    assert is_right(expected, decided) is right


def test_what_is_no_agent_has_a_word_of_its_own():
    assert [place_word(it) for it in ("abstain", "verbal", "billing")] == [
        "nobody",
        "only said so",
        "billing",
    ]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("view", [matrix_view(A), difference_view(DIFFERENCE, A)])
def test_the_matrix_is_a_figure_that_plotly_accepts(view, dark):
    figure = misroutes_figure(view, dark=dark)

    assert len(go.Figure(figure).data) == 2


def test_every_cell_can_be_clicked_and_says_which_it_is():
    _, marks = misroutes_figure(matrix_view(A), dark=False)["data"]

    assert marks["customdata"][:5] == [
        ["billing", "billing"],
        ["billing", "orders"],
        ["billing", "abstain"],
        ["billing", "verbal"],
        ["orders", "billing"],
    ]


def test_right_cells_are_good_and_wrong_ones_bad_and_in_a_difference_fewer_wrong_is_good():
    shares, _ = misroutes_figure(matrix_view(A), dark=False)["data"]
    changes, _ = misroutes_figure(difference_view(DIFFERENCE, A), dark=False)["data"]

    assert shares["z"][0][0] > 0 > shares["z"][0][1]
    assert changes["z"][1][0] > 0
    assert changes["z"][2][2] < 0


def test_a_name_with_markup_stays_a_name():
    evil = Matrix(("<b>x</b>",), ("<b>x</b>",), ((1,),))

    figure = misroutes_figure(matrix_view(evil), dark=False)

    assert figure["layout"]["yaxis"]["ticktext"] == ["&lt;b&gt;x&lt;/b&gt;"]


def test_messages_that_ask_for_several_things_share_a_row():
    joined = Matrix(("a", "a + b", "b + a"), ("a", "several"), ((3, 0), (1, 1), (0, 2)))

    view = matrix_view(joined)

    assert view.rows == ("a", "several")
    assert [found.cases for found in view.cells] == [3, 0, 1, 3]
    assert cell(view, "several", "several").is_right
    assert not cell(view, "several", "a").is_right
    assert view.summary.startswith("6 of 7 cases went where they should.")


@pytest.mark.parametrize(
    ("agents", "cases", "wide"), [(8, 19, False), (8, 999, False), (8, 1_000, True), (14, 9, True)]
)
def test_a_matrix_that_would_not_be_legible_at_a_third_of_the_page_is_wide(agents, cases, wide):
    names = tuple(f"a{number}" for number in range(agents))
    counts = tuple(tuple(cases * (x == y) for x in range(agents)) for y in range(agents))

    assert matrix_view(Matrix(names, names, counts)).is_wide is wide
