"""Matrices, agents, abstaining, forks, stability, leaks, changes: by hand."""

import dataclasses

import pytest
from support.experiments import case, experiment, trial, version

from handoff_console.store.analysis.comparison.abstaining import abstention, thresholds
from handoff_console.store.analysis.comparison.cases import Expect
from handoff_console.store.analysis.comparison.changes import description_changes
from handoff_console.store.analysis.comparison.compare import comparisons, leak_words, leaked_cases
from handoff_console.store.analysis.comparison.forks import fork_figures, stability
from handoff_console.store.analysis.comparison.judging import CaseTrials, is_right, stayed
from handoff_console.store.analysis.comparison.result import Interval
from handoff_console.store.analysis.comparison.trials import AgentText, Decided
from handoff_console.store.analysis.paired import Pairs, paired_interval


def side(expected, went, scores=None):
    cases = [case(number, label) for number, label in enumerate(expected)]
    given = scores or [None] * len(cases)
    return [
        CaseTrials(of, (trial(of, word, score=score),), 0, 0)
        for of, word, score in zip(cases, went, given, strict=True)
    ]


@pytest.mark.parametrize(
    ("label", "went", "right"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("a", "a+b", False),
        ("a or b", "b", True),
        ("a + b", "b+a", True),
        ("a + b", "a", False),
        ("a + b", "a+b+c", False),
        ("a", "-", False),
        ("a", "none", False),
        ("a", "verbal", False),
        ("a", "invalid", False),
        ("-", "-", True),
        ("-", "a", False),
        ("direct", "direct", True),
        ("direct", "a", False),
        ("direct", "verbal", False),
    ],
)
def test_a_decision_is_right_when_it_is_what_was_expected(label, went, right):  # R78
    assert trial(case(0, label), went).right is right


@pytest.mark.parametrize(
    ("expect", "knows", "announced", "decided"),
    [
        (Expect.ROUTE, True, False, Decided.NONE),
        (Expect.ROUTE, False, False, Decided.ABSTAIN),
        (Expect.ROUTE, True, True, Decided.VERBAL),
        (Expect.DIRECT, True, False, Decided.DIRECT),
        (Expect.DIRECT, True, True, Decided.VERBAL),
        (Expect.ABSTAIN, True, False, Decided.ABSTAIN),
        (Expect.ABSTAIN, False, False, Decided.ABSTAIN),
    ],
)
def test_a_reply_without_a_handoff_is_what_the_case_makes_of_it(expect, knows, announced, decided):
    of = dataclasses.replace(case(0, "a"), expected=(), expect=expect)

    assert stayed(of, knows=knows, announced=announced) is decided
    assert is_right(of, Decided.AGENTS, ("a",)) is False


def test_the_matrix_and_its_difference_have_the_same_rows_and_columns():
    went = {"v1": ["a", "b", "b", "-", "a+b"], "v2": ["a", "a", "a", "a", "verbal"]}
    (found,) = comparisons(experiment(["a", "a", "b", "-", "a + b"], went))

    assert found.matrix_a.rows == ("a", "b", "a + b", "abstain")
    assert found.matrix_a.columns == ("a", "b", "several", "abstain", "verbal")
    assert found.matrix_a.counts[0] == (1, 1, 0, 0, 0)
    assert found.matrix_difference.counts[0] == (1, -1, 0, 0, 0)
    assert sum(map(sum, found.matrix_difference.counts)) == 0


def test_each_agent_is_found_so_often_and_rightly():
    went = {"v1": ["a", "a", "b", "a", "-"], "v2": ["a", "b", "b", "b", "a"]}
    (found,) = comparisons(experiment(["a", "a", "b", "b", "-"], went))
    first, second = found.agents

    assert (first.agent, first.recall_a.passed, first.recall_b.passed) == ("a", 2, 1)
    assert (first.precision_a.passed, first.precision_a.total) == (2, 3)
    assert (first.precision_b.passed, first.precision_b.total) == (1, 2)
    assert (second.agent, second.recall_a.passed, second.recall_b.passed) == ("b", 1, 2)


def test_an_agent_that_a_label_names_twice_counts_once():
    (found,) = comparisons(experiment(["a or a", "a"], {"v1": ["a", "b"], "v2": ["a", "a"]}))

    (first, _) = found.agents
    assert (first.agent, first.recall_a.passed, first.recall_a.total) == ("a", 1, 2)
    assert (first.recall_b.passed, first.recall_b.total) == (2, 2)


def test_values_that_went_along_say_of_how_many_cases_first_of_a_then_of_b():
    made = experiment(["a"] * 3, {"v1": ["a"] * 3, "v2": ["a"] * 3})
    known = {"v1": (1.0, 0.5, 0.0), "v2": (1.0, None, 0.5)}
    trials = {
        label: tuple(
            dataclasses.replace(one, completeness=share)
            for one, share in zip(made.trials[label], shares, strict=True)
        )
        for label, shares in known.items()
    }

    (found,) = comparisons(dataclasses.replace(made, trials=trials))

    tile = next(one for one in found.tiles if one.key == "completeness")
    assert (tile.a, tile.b, tile.note) == (0.5, 0.75, "mean of 3 and 2 cases")


def test_abstaining_is_told_apart_from_accuracy():
    found = abstention(
        side(["a", "a", "b", "-", "-", "direct"], ["a", "-", "a", "-", "b", "direct"])
    )

    assert (found.recall.passed, found.recall.total) == (1, 2)
    assert (found.precision.passed, found.precision.total) == (1, 2)
    assert (found.false_abstain.passed, found.false_abstain.total) == (1, 3)
    assert (found.accuracy_when_routed.passed, found.accuracy_when_routed.total) == (1, 2)
    assert found.auroc is None


def test_the_score_tells_the_two_apart_as_often():
    found = abstention(side(["a", "a", "-", "-"], ["a", "a", "-", "a"], [3.0, 1.0, 0.5, 1.0]))

    assert found.auroc == pytest.approx((2 + 1.5) / 4)


def test_a_threshold_finds_right_what_was_right_when_it_ran():
    cases = side(["a", "a + b", "a or b"], ["a", "a", "b"], [3.0, 2.0, 1.0])

    first = thresholds(cases)[0]

    assert (first.accuracy.passed, first.accuracy.total) == (2, 3)
    assert first.accuracy == abstention(cases).accuracy_when_routed


def test_a_threshold_trades_coverage_for_accuracy():
    points = thresholds(side(["a", "a", "b", "-"], ["a", "a", "a", "a"], [3.0, 2.0, 1.0, 0.5]))

    assert [point.threshold for point in points] == [0.0, 0.5, 1.0, 2.0, 3.0]
    assert [point.coverage.passed for point in points] == [3, 3, 3, 2, 1]
    assert [point.accuracy.share for point in points] == [
        pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(2 / 3), 1.0, 1.0,
    ]  # fmt: skip
    assert [point.abstain_recall.passed for point in points] == [0, 0, 1, 1, 1]
    assert thresholds(side(["a"], ["a"])) == ()


def test_messages_with_several_requests_reach_so_many():
    found = fork_figures(side(["a + b", "a + b", "a", "a"], ["a+b", "a", "a+c", "a"]))

    assert found.coverage == 0.75
    assert (found.exact.passed, found.exact.total) == (1, 2)
    assert (found.over_forked.passed, found.over_forked.total) == (1, 4)
    assert fork_figures(side(["a"], ["a"])).coverage is None


def test_who_decides_alike_by_nature_is_asked_once():
    found = stability(side(["a"], ["a"]), 8, deterministic=True)

    assert (found.trials, found.pass_k, found.flaky.passed) == (1, 1.0, 0)
    assert stability([], 3, deterministic=False).pass_1 is None


def test_cases_that_stand_in_a_version_are_leaks_whatever_their_signs():
    leaky = version("v1", billing="Say: why was I charged twice?")
    texts = ["Why was I charged twice", "was I charged twice last month", "charged twice"]

    assert leaked_cases(leaky, texts) == ["Why was I charged twice"]


@pytest.mark.parametrize(
    ("leaked", "cases", "names", "said"),
    [
        (1, 240, ["v3"], "1 of 240 cases stands word for word in v3, which therefore knows its "
         "answer"),
        (2, 2_400, ["v3"], "2 of 2,400 cases stand word for word in v3, which therefore knows "
         "their answers"),
        (1, 1, ["v2", "v3"], "1 of 1 case stands word for word in v2 and v3 each, which therefore "
         "know its answer"),
    ],
)  # fmt: skip
def test_a_leak_is_told_in_the_number_of_its_cases(leaked, cases, names, said):
    assert leak_words(leaked, cases, names) == said


@pytest.mark.parametrize(
    ("went", "said"),
    [
        ("a a ?", "1 of 3 cases has no decision on a side and counts for nobody."),
        ("a ? ?", "2 of 3 cases have no decision on a side and count for nobody."),
    ],
)
def test_cases_without_a_decision_are_told_in_their_number(went, said):
    made = experiment(["a"] * 3, {"v1": ["a"] * 3, "v2": went.split()})

    assert said in comparisons(made)[0].warnings


def test_what_differs_is_listed_by_agent():
    a = version("v1", billing="Bills.", orders="Orders.")
    b = dataclasses.replace(
        version("v2", billing="Bills.", orders="Orders."),
        agents={
            "billing": AgentText("All bills.", ("my bill",)),
            "orders": AgentText("Orders.", instructions="Be kind."),
        },
    )

    found = description_changes(a, b)

    assert [(c.agent, c.field, c.before, c.after, c.routes) for c in found] == [
        ("billing", "description", "Bills.", "All bills.", True),
        ("billing", "examples", "", "my bill", True),
        ("orders", "instructions", "", "Be kind.", False),
    ]


def test_figures_of_both_sides_stand_beside_each_other():
    went = {"v1": ["a", "b", "-", "?"], "v2": ["a", "a", "a", "a"]}
    (found,) = comparisons(experiment(["a", "a", "-", "a"], went))
    tiles = {tile.key: tile for tile in found.tiles}

    assert next(iter(tiles)) == "accuracy"
    assert (tiles["accuracy"].a, tiles["accuracy"].b) == (pytest.approx(2 / 3), 0.75)
    assert (tiles["abstain_recall"].a, tiles["abstain_recall"].b) == (1.0, 0.0)
    low, high = paired_interval(Pairs(both=0, only_a=1, only_b=0, neither=0))
    assert tiles["abstain_recall"].difference == Interval(-100.0, 100 * low, 100 * high)
    low, high = paired_interval(Pairs(both=0, only_a=0, only_b=0, neither=2))
    assert tiles["false_abstain"].difference == Interval(0.0, 100 * low, 100 * high)
    assert (tiles["errors"].a, tiles["errors"].b) == (1.0, 0.0)
    assert found.counts["missing"] == 1
