import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.experiments import experiment, version

from handoff_console.store.analysis.comparison.compare import comparison, comparisons
from handoff_console.store.analysis.comparison.gate import Gate
from handoff_console.store.analysis.comparison.pairing import why_no_test
from handoff_console.store.analysis.comparison.result import Change, Direction, Outcome
from handoff_console.store.analysis.comparison.verdict import worst
from handoff_console.store.analysis.comparison.wording import p_text, signed
from handoff_console.store.analysis.paired import holm


def flips(both: int, improved: int, regressed: int, neither: int = 0, **options):
    """An experiment of v1 and v2 with so many cases of each kind."""
    a = ["a"] * both + ["b"] * improved + ["a"] * regressed + ["b"] * neither
    b = ["a"] * both + ["a"] * improved + ["b"] * regressed + ["b"] * neither
    return experiment(["a"] * len(a), {"v1": a, "v2": b}, **options)


def judged(found, gate=Gate()):  # noqa: B008
    return comparisons(found, gate)[0].verdict


@pytest.mark.parametrize(
    ("numbers", "gate", "outcome", "direction"),
    [
        ((150, 36, 11, 43), Gate(), Outcome.PASS, Direction.BETTER),
        ((240, 0, 0), Gate(), Outcome.PASS, Direction.NO_DIFFERENCE),
        ((900, 10, 12), Gate(), Outcome.PASS, Direction.UNCLEAR),
        ((100, 10, 12), Gate(), Outcome.INCONCLUSIVE, Direction.UNCLEAR),
        ((20, 0, 0), Gate(), Outcome.INCONCLUSIVE, Direction.NO_DIFFERENCE),
        ((100, 2, 40), Gate(), Outcome.FAIL, Direction.WORSE),
        ((186, 2, 14, 40), Gate(), Outcome.FAIL, Direction.WORSE),
        ((3_000, 15, 40), Gate(), Outcome.PASS, Direction.WORSE),
        ((100, 30, 1), Gate(min_accuracy=0.999), Outcome.FAIL, Direction.BETTER),
        ((100, 30, 1), Gate(min_accuracy=0.99), Outcome.PASS, Direction.BETTER),
    ],
)
def test_the_verdict_follows_the_table(numbers, gate, outcome, direction):  # R84
    found = judged(flips(*numbers), gate)

    assert (found.outcome, found.direction) == (outcome, direction)


def test_a_critical_case_that_regressed_fails_when_asked():
    found = flips(100, 30, 1, critical=[130])

    assert judged(found).outcome is Outcome.PASS
    assert judged(found).critical_regressed == 1
    failed = judged(found, Gate(no_critical_regressions=True))
    assert (failed.outcome, failed.reasons) == (Outcome.FAIL, ("1 critical case has regressed.",))


def test_a_drop_inside_the_margin_passes_with_a_note():
    found = judged(flips(3_000, 15, 40))

    assert found.reasons == ("It is worse, but by less than the 2 points allowed.",)


def test_what_is_missing_never_passes():
    went = {"v1": ["a"] * 240, "v2": ["a"] * 239 + ["?"]}
    found = experiment(["a"] * 240, went)

    assert judged(found).outcome is Outcome.INCOMPLETE
    assert judged(found).reasons[0] == (
        "1 of 240 cases has no decision on a side (1 because the model could not be asked); at "
        "most 0 may. What is missing never passes. Why it could not be asked: the server is down"
    )
    assert judged(found, Gate(max_errors=1)).outcome is Outcome.PASS


def test_of_several_reasons_why_a_model_could_not_be_asked_the_most_frequent_is_said():
    found = experiment(["a"] * 3, {"v1": ["a"] * 3, "v2": ["?"] * 3})
    first, *rest = found.trials["v2"]
    trials = {**found.trials, "v2": (dataclasses.replace(first, problem="no key"), *rest)}

    (reason,) = judged(dataclasses.replace(found, trials=trials)).reasons[1:]

    assert reason.endswith(" Why it could not be asked in 2 of them: the server is down")


def test_what_was_stopped_is_not_told_as_a_model_that_could_not_be_asked():
    found = experiment(["a"] * 3, {"v1": ["a"] * 3, "v2": ["a", "", ""]})

    assert judged(found).reasons == (
        "2 of 3 cases have no decision on a side; at most 0 may. What is missing never passes.",
    )


def test_a_failure_is_said_before_what_is_missing():
    went = {"v1": ["a"] * 100, "v2": ["b"] * 60 + ["a"] * 39 + ["?"]}

    assert judged(experiment(["a"] * 100, went)).outcome is Outcome.FAIL


def test_nothing_decided_is_incomplete():
    found = experiment(["a", "a"], {"v1": ["a", "a"], "v2": ["?", "?"]})

    assert judged(found).outcome is Outcome.INCOMPLETE
    assert judged(found).p is None


def test_the_sentence_says_who_by_how_much_and_how_sure():
    found = judged(flips(150, 36, 11, 43, critical=[186]))

    assert found.sentence == (
        "v2 routes better than v1: 77.5 % vs 67.1 %, +10.4 points [+4.9, +15.9], exact p = 0.0003, "
        "240 paired cases; 36 improved, 11 regressed (1 critical)."
    )


def test_an_offline_score_speaks_of_descriptions_and_not_of_routing():
    found = judged(flips(150, 36, 11, 43, offline=True))

    assert found.sentence.startswith("The agents are easier to tell apart by v2 than by v1: ")


def test_what_the_data_cannot_tell_says_how_many_cases_would():
    found = judged(flips(100, 10, 12))

    assert found.sentence.startswith("The data cannot tell v2 from v1: 90.2 % vs 91.8 %, −1.6")
    assert found.sentence.endswith("Seeing a difference of 2 points takes about 3,700 cases.")


def test_a_tie_that_passes_reads_unlike_a_winner():
    tie, winner, same = (
        judged(flips(*numbers)).sentence for numbers in [(900, 10, 12), (150, 36, 11), (240, 0, 0)]
    )

    assert tie.startswith(
        "v2 is not clearly different from v1, and no drop of more than 2 points: "
    )
    assert tie.endswith(" Seeing a difference of 2 points takes about 1,100 cases.")
    assert winner.startswith("v2 routes better than v1")
    assert same == (
        "No difference: v1 and v2 route alike; each gets 100.0 % of 240 cases right, the same ones."
    )


@given(*(st.integers(0, 60) for _ in range(4)))
def test_swapping_the_sides_turns_the_difference_round_and_keeps_p(both, up, down, neither):
    if not both + up + down + neither:
        return
    found = flips(both, up, down, neither)
    there, back = (comparison(found, *labels).verdict for labels in (("v1", "v2"), ("v2", "v1")))

    assert there.p == back.p
    assert there.difference.points == -back.difference.points
    assert there.difference.low == pytest.approx(-back.difference.high, abs=1e-9)
    assert (there.improved, there.regressed) == (back.regressed, back.improved)
    turned = {Direction.BETTER: Direction.WORSE, Direction.WORSE: Direction.BETTER}
    assert back.direction is turned.get(there.direction, there.direction)


def test_offline_and_live_are_never_paired():
    found = flips(100, 30, 1)
    mixed = dataclasses.replace(
        found, versions=(version("v1", offline=True), version("v2", offline=False))
    )

    verdict = judged(mixed)

    assert (verdict.outcome, verdict.p, verdict.difference) == (Outcome.NO_TEST, None, None)
    assert "an offline score is no model's score" in verdict.sentence


def test_what_an_offline_router_does_not_read_is_invisible_and_not_zero():
    a, b = (version(label, offline=True, reads="same") for label in ("v1", "v2"))

    assert "invisible to the offline model" in why_no_test(a, b)
    assert why_no_test(version("v1", reads="same"), version("v2", reads="same")) == ""


def test_large_counts_in_the_sentence_have_their_thousands_apart():
    assert "; 2,400 improved, 1,100 regressed" in judged(flips(1_000, 2_400, 1_100)).sentence


def test_several_candidates_are_adjusted_together():
    went = {
        "v1": ["a"] * 100,
        "v2": ["b"] * 9 + ["a"] * 91,
        "v3": ["b"] * 6 + ["a"] * 94,
    }
    found = comparisons(experiment(["a"] * 100, went))
    raw = [one.verdict.p for one in found]

    assert [one.verdict.p_adjusted for one in found] == holm(raw)
    assert "after Holm" in found[0].verdict.sentence


def test_paraphrases_count_less():
    alone = flips(60, 20, 8)
    groups = [f"g{place // 4}" for place in range(88)]
    grouped = flips(60, 20, 8, groups=groups)

    narrow, wide = (judged(found).difference for found in (alone, grouped))

    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)
    assert any("paraphrases" in text for text in comparisons(grouped)[0].warnings)


def test_the_case_is_the_unit_and_not_the_trial():
    went = {"v1": ["a b b", "a a b", "a a a"], "v2": ["a a b", "a a a", "b b a"]}
    (found,) = comparisons(experiment(["a"] * 3, went, trials_each=3))

    assert [row.change for row in found.rows] == [
        Change.IMPROVED,
        Change.BOTH_RIGHT,
        Change.REGRESSED,
    ]
    assert found.verdict.paired == 3
    assert [row.flaky for row in found.rows] == [True, True, True]
    assert found.stability_a.pass_k == pytest.approx(1 / 3)
    assert found.stability_a.pass_1 == pytest.approx((1 / 3 + 2 / 3 + 1) / 3)


def test_numbers_are_written_as_they_are_read():
    assert [signed(points) for points in (10.44, -1.05, 0.04, -0.0)] == [
        "+10.4", "−1.1", "0.0", "0.0",
    ]  # fmt: skip
    assert [p_text(p) for p in (0.00001, 0.0003, 0.031, 0.2, None)] == [
        "< 0.0001", "= 0.0003", "= 0.031", "= 0.20", "not known",
    ]  # fmt: skip


def test_a_p_beside_the_level_shows_on_which_side_it_lies():
    assert [p_text(p) for p in (0.05, 0.0501, 0.04996, 0.0500004, 0.0494)] == [
        "= 0.050", "= 0.0501", "= 0.04996", "= 0.0500004", "= 0.049",
    ]  # fmt: skip


def test_a_close_call_says_why_an_interval_without_zero_is_no_clear_difference():
    verdict = judged(flips(104, 22, 10, 104))

    assert verdict.outcome is Outcome.PASS
    assert verdict.sentence == (
        "v2 is not clearly different from v1, and no drop of more than 2 points: 52.5 % vs "
        "47.5 %, +5.0 points [+0.4, +9.6], exact p = 0.0501, 240 paired cases; 22 improved, 10 "
        "regressed. A close call: the interval leaves 0 out, but the exact test is what decides, "
        "and its p is not below 0.05. Seeing a difference of 2 points takes about 2,800 cases."
    )


def test_a_pair_alone_says_what_it_says_among_all_candidates():
    expected, a = ["a"] * 60, ["b"] * 12 + ["a"] * 48
    made = experiment(
        expected,
        {"v1": a, "v2": ["a"] * 6 + ["b"] * 6 + a[12:], "v3": ["b"] * 9 + ["a"] * 51},
    )
    strict = Gate(max_drop_points=1.0, alpha=0.04, max_errors=3)
    made = dataclasses.replace(made, settings={"seed": 7, **vars(strict)})

    alone = [comparison(made, "v1", label).verdict for label in ("v2", "v3")]

    assert alone == [one.verdict for one in comparisons(made, strict)]
    assert (alone[0].p, alone[0].p_adjusted) == (0.03125, 0.0625)
    assert alone[0].direction is Direction.UNCLEAR
    assert comparison(made, "v2", "v1").verdict.p_adjusted == 0.03125


def test_the_worst_of_several_counts():
    assert worst([Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.FAIL]) is Outcome.FAIL
    assert worst([Outcome.PASS, Outcome.INCOMPLETE]) is Outcome.INCOMPLETE
    assert worst([Outcome.PASS]) is Outcome.PASS
